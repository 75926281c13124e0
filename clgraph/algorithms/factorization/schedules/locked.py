"""Training strategies that lock users and items in a sweep
(edge_locked.cl, node_locked.cl), and Hogwild without locks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan, clear, slice_size, wait_by_slices
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import by_descending_degree, ordered_ratings
from clgraph.arguments import Seed, check_choice, checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.errors import DeviceTimeoutError
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.primitives.types import MAX_ITEMS
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

_EDGES, _NODES = "factorization/edge_locked.cl", "factorization/node_locked.cl"
_RATINGS_PER_SLOT = 32  # A slot of the kernel processes this number of ratings in a pass.
_GROUPS_PER_UNIT = 8  # Passes after the first have at most this number of work-groups per compute unit.
# If items have at least 8 ratings on average, a sub-group owns an item by default; otherwise a work-item owns it.
_MANY_RATINGS = 8
_MAX_AHEAD = 16  # The host enqueues at most this number of passes before it reads how many items are still listed.
# The host gives up after 40 reads in a row at which the list of unfinished items has the same length.
# Some reads of an unchanged length are normal, because an item stays listed until its last rating is done.
_MAX_STALLS = 40
Team = Literal["work_item", "sub_group"]


def hogwild(problem: FactorizationProblem, facts: DeviceFacts, *, shuffle: bool = True, seed: Seed = 0) -> Recipe:
    """Return the recipe of training steps on all ratings at once.

    Steps on one user or item may overwrite each other.

    With *shuffle* ratings are visited in a random order, which *seed* determines. Otherwise they are sorted by user,
    then item, so that neighbouring work-items conflict. This baseline does not keep the serial semantics.
    """
    return Recipe(
        _by_slices(problem, facts, "factorization/hogwild.cl:hogwild"),
        lambda: Setting(prepare=partial(ordered_ratings, shuffle=shuffle, seed=seed)),
    )


def edge_locked(problem: FactorizationProblem, facts: DeviceFacts, *, shuffle: bool = True, seed: Seed = 0) -> Recipe:
    """Return the recipe that, for each rating, locks its user and item, makes a training step, and unlocks them.

    A rating with a locked vertex is deferred. With *shuffle* ratings are visited in a random order, which *seed*
    determines. Otherwise they are sorted by user, then item, so that neighbouring work-items compete for one lock.
    """
    first_pass = _by_slices(problem, facts, f"{_EDGES}:lock_all", _RATINGS_PER_SLOT)
    return Recipe(
        (clear("sizes"), *first_pass, Use(_deferred_edges)),
        lambda: Setting(
            arrays=_edge_arrays(problem),
            defines={"RATINGS_PER_SLOT": _RATINGS_PER_SLOT},
            prepare=partial(_prepare, source=_EDGES, shuffle=shuffle, seed=seed),
        ),
    )


def node_locked(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    per: Team | None = None,
    locks: int | None = None,
    shuffle: bool = True,
    seed: Seed = 0,
) -> Recipe:
    """Return the recipe in which a team of work-items keeps an item's row of factors and locks only users.

    Ratings of locked users are deferred. *per* is the team that owns an item: a slot ("work_item"), or a whole
    "sub_group", which is the default if items have enough ratings. A team locks at most *locks* users at a time. With
    *shuffle* the ratings of an item are visited in a random order, which *seed* determines. Otherwise they are sorted
    by user, so that items compete for the same users.
    """
    return Recipe(
        (
            clear("sizes"),
            Use(lambda plan: _ItemTeams(plan, per, locks)),
            Use(lambda plan: plan.used[-1].later_passes()),
        ),
        lambda: Setting(
            arrays={
                "user_locks": Array(problem.stats.n_users, np.uint32, zeroed=True),
                "n_pending": Array(problem.stats.n_items, problem.offset_type),
                "pending": Array(problem.n, problem.offset_type),
                "next_list": Array(problem.n_rated_items, np.int32),
                "list_after": Array(problem.n_rated_items, np.int32),
            },
            prepare=partial(_prepare, source=_NODES, shuffle=shuffle, seed=seed, by_item=True),
        ),
    )


def hybrid_locked(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    *,
    per: Team | None = None,
    locks: int | None = None,
    shuffle: bool = True,
    seed: Seed = 0,
) -> Recipe:
    """Return the recipe of one pass of :func:`node_locked`, followed by :func:`edge_locked` on the deferred ratings.

    The options are the same as in :func:`node_locked`.
    """

    def prepare(plan: FactorizationPlan) -> dict[str, Any]:
        prepared = _prepare(plan, source=_EDGES, shuffle=shuffle, seed=seed, by_item=True)
        return {**prepared, "pending": plan.arrays["deferred"]}

    return Recipe(
        (clear("sizes"), Use(lambda plan: _ItemTeams(plan, per, locks, DEFER_TO_LIST=1)), Use(_deferred_edges)),
        lambda: Setting(
            arrays={
                **_edge_arrays(problem),
                "n_pending": Array(1, problem.offset_type),
                "next_list": Array(1, np.int32),
            },
            defines={"RATINGS_PER_SLOT": _RATINGS_PER_SLOT},
            prepare=prepare,
        ),
    )


def _prepare(
    plan: FactorizationPlan, *, source: str, shuffle: bool, seed: Seed, by_item: bool = False
) -> dict[str, Any]:
    """Return the ordered ratings, and an array for the lengths of the lists of
    deferred ratings that kernels of *source* fill.
    """
    sizes = plan.session.empty(plan.program(source).constant("N_LISTS"), np.uint32)
    return {**ordered_ratings(plan, shuffle=shuffle, seed=seed, by_item=by_item), "sizes": sizes}


def _edge_arrays(problem: FactorizationProblem) -> dict[str, Array]:
    """Return the arrays of edge locking: the locks, and two lists of deferred ratings.

    Pass 0 fills the first list.
    """
    return {
        "user_locks": Array(problem.stats.n_users, np.uint32, zeroed=True),
        "item_locks": Array(problem.stats.n_items, np.uint32, zeroed=True),
        "deferred": Array(problem.n, problem.offset_type),
        "deferred_again": Array(problem.n, problem.offset_type),
    }


def _deferred_edges(plan: FactorizationPlan) -> _Passes:
    """Return the later passes of edge locking, over the ratings that pass 0 has deferred."""
    program = plan.program(_EDGES)
    lists = plan.arrays["deferred"], plan.arrays["deferred_again"]
    launches = tuple(
        program.bind("lock_deferred", 1, plan.scope, pass_number=0, list=read, deferred=written)
        for written, read in (lists, lists[::-1])
    )
    ratings_per_group = program.work_group_size // plan.lanes * _RATINGS_PER_SLOT
    most = _GROUPS_PER_UNIT * plan.session.facts.compute_units

    def n_groups(n_left: int) -> int:
        return max(1, min(most, -(-n_left // ratings_per_group)))

    return _Passes(plan, launches, n_groups, plan.problem.n)


def _by_slices(
    problem: FactorizationProblem, facts: DeviceFacts, kernel: str, ratings_per_slot: int = 1
) -> tuple[Phase, ...]:
    """Return launches of *kernel* that each process a slice of the ratings, and together all ratings."""
    n, size, lanes = problem.n, slice_size(problem, facts), row_layout(problem.rank, facts).lanes
    return tuple(
        Phase(kernel, -(-(end - begin) // ratings_per_slot) * lanes, {"begin": begin, "end": end})
        for begin, end in ((begin, min(n, begin + size)) for begin in range(0, n, size))
    )  # fmt: skip


class _Passes:
    """Passes 1, 2, … over lists of deferred ratings that shrink.

    The host enqueues several passes before it reads a length.

    Pass k reads the list whose length is ``sizes[k % 3]``, appends unfinished entries to the next list, and clears the
    length of the list after the next. Two buffers hold the lists alternately: ``launches[k % 2]`` runs pass k, with
    ``pass_number`` k.

    Parameters
    ----------
    plan : FactorizationPlan
        A plan whose scope has ``sizes``.
    launches : pair of Launch
    n_groups : callable
        ``n_groups(length)`` returns the number of work-groups for a list. A list is never longer than earlier ones.
    most : int
        An upper bound on the length of the first list.
    """

    def __init__(
        self, plan: FactorizationPlan, launches: tuple[Launch, ...], n_groups: Callable[[int], int], most: int
    ) -> None:
        self._sizes: DeviceArray = plan.scope["sizes"]
        self._launches, self._n_groups, self._most = launches, n_groups, most

    def run(self) -> None:
        """Run passes over deferred ratings until their list is empty.

        Raises
        ------
        DeviceTimeoutError
            Many passes in a row did not shorten the list.
        """
        number, ahead, left, stalls = 0, 2, self._most, 0
        while left:
            groups = self._n_groups(left)
            for _ in range(ahead):
                number += 1
                launch = self._launches[number % 2]
                launch.set(pass_number=number)
                launch(groups)
            before, left = left, self._sizes.item((number + 1) % self._sizes.size)
            stalls = stalls + 1 if left == before else 0
            if stalls == _MAX_STALLS:
                raise DeviceTimeoutError(
                    f"{launch.kernel}: {left} entries are left after {number} passes, no fewer than before"
                )
            ahead = min(2 * ahead, _MAX_AHEAD)


class _ItemTeams:
    """The first pass of node locking, in which teams process all items.

    The ratings of *plan* must be sorted by item.
    """

    def __init__(self, plan: FactorizationPlan, per: Team | None, locks: int | None, **defines: int) -> None:
        ratings, session = plan.problem.ratings, plan.session
        if per is None:
            per = "sub_group" if ratings.stats.mean_item_degree >= _MANY_RATINGS else "work_item"
        check_choice("per", per, ("work_item", "sub_group"))
        self._plan, self._team = plan, session.facts.sub_group_size if per == "sub_group" else plan.lanes
        most = self._team if locks is None else min(self._team, checked_count("locks", locks, MAX_ITEMS))
        self._program = plan.build(_NODES, PER_SUB_GROUP=int(per == "sub_group"), MOST_LOCKS=most, **defines)
        degrees = np.diff(ratings.item_offsets)
        order = by_descending_degree(degrees)  # Items with the most ratings start first, because they take the longest.
        ends, size = np.cumsum(degrees[order]), slice_size(plan.problem, session.facts)
        cuts = np.unique([0, *np.searchsorted(ends, np.arange(size, ratings.n_ratings, size)), order.size])
        plan.scope["offsets"] = session.upload(ratings.item_offsets.astype(plan.problem.offset_type))
        items, self._n_items = session.upload(order.astype(np.int32)), order.size
        self._launches = [self._bind(first, last, list=items) for first, last in pairwise(cuts.tolist())]
        self._n_ratings: list[int] = np.diff(np.append(0, ends)[cuts]).tolist()

    def _bind(self, first: int = 0, last: int = 0, **lists: Any) -> Launch:
        own = {"pass_number": 0, "first": first, "last": last, **lists}
        return self._program.bind("lock_users", (last - first) * self._team, self._plan.scope, **own)

    def run(self) -> None:
        """Enqueue the first pass of node locking, over all items."""
        launches = zip(self._launches, self._n_ratings, strict=True)
        wait_by_slices(self._plan, ((launch(), n_ratings) for launch, n_ratings in launches))

    def later_passes(self) -> _Passes:
        """Return the later passes of node locking, over the items that still have ratings to process."""
        lists = self._plan.arrays["next_list"], self._plan.arrays["list_after"]
        launches = tuple(self._bind(list=read, next_list=written) for written, read in (lists, lists[::-1]))
        group = self._program.work_group_size
        return _Passes(self._plan, launches, lambda n_left: max(1, -(-n_left * self._team // group)), self._n_items)
