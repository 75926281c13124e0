"""Training sweeps in supersteps.

The ratings of a superstep share no user or item; a barrier separates supersteps.

In the strategies of this file, matchings (AGM-E) and diagonals (Diag), a slot processes a rating
(cl/factorization/superstep.cl).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import RatingArrays, row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import enqueue_order, gather_ratings, stable_order
from clgraph.algorithms.factorization.schedules.matchings import find_matchings
from clgraph.arguments import Seed, check_choice, checked_seed
from clgraph.device.facts import DeviceFacts
from clgraph.errors import UnsupportedStrategyError
from clgraph.model.recipe import Array, Recipe, Setting, Use
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch, Program

LINGER = 5000  # A work-group at a grid barrier polls this often while it waits for other work-groups to start.
# Size of the persistent work-groups in work-items, and number of persistent work-groups per compute unit.
# Persistent work-groups are few, so that all are resident and grid barriers are short.
GRID_WG_SIZE, GROUPS_PER_UNIT = 512, 1
# One CPU core finishes a superstep of fewer than 512 ratings before two cores would have started.
CPU_TAIL_RATINGS = 512
STATUS = {"status": Array(1, np.uint32, zeroed=True)}
# The host waits after 2^16 passes over the slots on a GPU, or 2^20 on a CPU, which take about 0.1 s.
_TURNS, _CPU_TURNS = 1 << 16, 1 << 20
_SOURCE = "factorization/superstep.cl"
# With 16 lanes or more per rating, a group has so few slots that two groups per compute unit are faster than one.
_MANY_LANES = 16
_RESIDENT_ITEMS = 2048  # A compute unit of a GPU holds this number of work-items at the same time.
_TAIL_WG_SIZE = 512  # Size of the single work-group that runs small supersteps.
_TAIL_TURNS = 4  # A work-group makes 4 passes over its slots of ratings in the time that a launch takes.
_CPU_WG_SIZE = 64
# If the rows of factors in a superstep have at least 128 MiB, the time of a launch is negligible.
_GRID_BYTES = 1 << 27

FindKeys = Callable[[FactorizationPlan, RatingArrays], tuple[DeviceArray, int]]


def matching_edge(
    problem: FactorizationProblem, facts: DeviceFacts, *, seed: Seed = 0, barrier: str = "auto"
) -> Recipe:
    """Return the recipe of a sweep in supersteps that are maximal matchings of the ratings.

    *seed* determines the matchings.

    *barrier* separates supersteps: the end of a kernel ("launch"), or a grid barrier inside a persistent kernel
    ("grid"), if the device has one.
    """

    def find_keys(plan: FactorizationPlan, given: RatingArrays) -> tuple[DeviceArray, int]:
        n_users, n_items = problem.ratings.shape
        return find_matchings(plan, (given["items"], n_items), (given["users"], n_users), seed=seed)

    return _recipe(facts, find_keys, barrier)


def diagonal(problem: FactorizationProblem, facts: DeviceFacts, *, seed: Seed = 0, barrier: str = "auto") -> Recipe:
    """Return the recipe of a sweep over the diagonals of the matrix that have ratings, one superstep per diagonal.

    Two ratings on the same diagonal, item − user, share no user and no item. Neither do ratings on diagonals that are
    max(n_users, n_items) apart. So such diagonals are merged, and at most max(n_users, n_items) are left.

    The study launches rank × ratings work-items in two dimensions. Here the lanes of a slot form the dimension of the
    rank. The lanes are neighbours, so their loads of a row are one access, and shuffles sum up the product of two rows.
    The model's layout sets the number of lanes by the rank and the sub-group size.

    *barrier* is as for :func:`matching_edge`. The order is fixed, so *seed* has no effect.
    """
    checked_seed(seed)
    modulus = max(problem.ratings.shape)

    def find_keys(plan: FactorizationPlan, given: RatingArrays) -> tuple[DeviceArray, int]:
        keys = plan.session.empty(plan.problem.n, np.uint32)
        enqueue_order(plan, "superstep_order", "diagonals", given, modulus=modulus, keys=keys)
        return keys, modulus

    return _recipe(facts, find_keys, barrier)


def has_grid_barrier(facts: DeviceFacts) -> bool:
    """Return whether a device has a grid barrier, at which the work-groups
    of a persistent kernel wait for each other.
    """
    return facts.dialect.has_grid_barrier


def checked_barrier(facts: DeviceFacts, barrier: str, allowed: tuple[str, ...]) -> str:
    """Return the option *barrier*, or raise an error if it is not *allowed* or the device does not support it."""
    check_choice("barrier", barrier, allowed)
    if barrier == "grid" and not has_grid_barrier(facts):
        raise UnsupportedStrategyError(f"barrier='grid': {facts.name} has no device-wide barrier")
    return barrier


def slots(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return the number of ratings that a work-group of a persistent training kernel processes at a time."""
    return CPU_TAIL_RATINGS if facts.is_cpu else GRID_WG_SIZE // row_layout(problem.rank, facts).lanes


class Supersteps:
    """A training sweep as a list of supersteps, which are grouped into segments.

    Segments are grouped into ranges.

    A segment is one large superstep, or several small ones that a single work-group runs. A range of segments is
    enqueued without a wait.

    Attributes
    ----------
    order : DeviceArray
        Positions of the ratings in the order of the sweep.
    offsets : int64 array
        Indices into *order* at which supersteps begin, and the end.
    segments, ranges : int64 array
        Indices of the supersteps at which segments begin, and of the segments at which ranges begin; with ends.
    barrier : str
        The separation of supersteps: ``"launch"``, ``"grid"`` or ``"group"``.
    """

    order: DeviceArray
    offsets: NDArray[np.int64]

    def __init__(self, plan: FactorizationPlan, barrier: str) -> None:
        self.plan, self.session, self.barrier = plan, plan.session, barrier
        self.persistent: Launch
        self._control: DeviceArray

    def cut(self, turns: NDArray[np.int64], joins: NDArray[np.bool_]) -> None:
        """Group the supersteps of a sweep into segments, and the segments into ranges.

        *turns* is the time of each superstep. *joins* tells whether a superstep may be in the same segment as the
        superstep before it.
        """
        time = np.cumsum(turns) // (_CPU_TURNS if self.session.facts.is_cpu else _TURNS)
        begins = np.flatnonzero(~joins | (np.diff(time, prepend=-1) > 0))
        self.segments = np.append(begins, turns.size)
        self.ranges = np.append(np.flatnonzero(np.diff(time[begins], prepend=-1)), begins.size)

    def bind_persistent(self, program: Program, kernel: str, n_groups: int, scope: dict[str, Any]) -> None:
        """Bind a persistent kernel of *n_groups* work-groups that runs a whole range of supersteps."""
        self._control = self.session.zeros(program.constant("GRID_CONTROL_WORDS"), np.uint32)
        self.persistent = program.bind(
            kernel,
            n_groups * program.work_group_size,
            {**self.plan.scope, **scope},
            first=0,
            last=0,
            control=self._control,
            segments=self.session.upload(self.segments.astype(np.uint32)),
        )

    def run(self) -> None:
        """Enqueue one training sweep.

        The host waits for each range of supersteps before the next one, but reads nothing back.
        """
        self.plan.arrays["status"].fill(0)
        event = None
        with typed_errors("enqueueing a sweep"):
            for first, last in pairwise(self.ranges.tolist()):
                if event is not None:
                    self.session.wait(event)
                event = self.enqueue(first, last)

    def enqueue(self, first: int, last: int) -> Any:
        """Enqueue the segments of supersteps from *first* to *last*, and return the event of the last launch."""
        self._control.fill(0)
        return launch_over(self.persistent, first=first, last=last)


def launch_over(launch: Launch, n_groups: int | None = None, /, **limits: int) -> cl.Event:
    """Set the range arguments *limits* of *launch*, enqueue the launch and return its event.

    *n_groups* may replace its size.
    """
    launch.set(**limits)
    return launch(n_groups)


def _recipe(facts: DeviceFacts, find_keys: FindKeys, barrier: str) -> Recipe:
    checked_barrier(facts, barrier, ("auto", "launch", "grid"))
    return Recipe((Use(lambda plan: RatingSupersteps(plan, find_keys, barrier)),), partial(Setting, arrays=STATUS))


class RatingSupersteps(Supersteps):
    """A training sweep in supersteps of equal keys.

    *find_keys* returns each rating's key, and a number above all keys.

    Consecutive small supersteps are run by a single work-group, whatever the barrier.
    """

    def __init__(self, plan: FactorizationPlan, find_keys: FindKeys, barrier: str) -> None:
        super().__init__(plan, barrier)
        given = plan.upload_ratings()
        self.order, by_key = stable_order(plan, *find_keys(plan, given))
        ends = by_key.get().astype(np.int64)
        self.offsets = ends[np.append(True, np.diff(ends) > 0)]
        sizes = np.diff(self.offsets)
        self._scope: dict[str, Any] = {
            **gather_ratings(plan, given, self.order),
            "offsets": self.session.upload(self.offsets.astype(plan.problem.offset_type)),
        }
        if barrier == "auto":
            mean_bytes = 16 * plan.model.layout.padded * plan.problem.n / max(1, sizes.size)
            has_grid = has_grid_barrier(self.session.facts)
            self.barrier = "grid" if has_grid and mean_bytes < _GRID_BYTES else "launch"
        bind = self._bind_grid if self.barrier == "grid" else self._bind_launches
        bind(sizes)

    def _cut_small(self, sizes: NDArray[np.int64], slots: int, all_slots: int, most: int) -> NDArray[np.bool_]:
        """Group supersteps of these *sizes* into segments.

        Return a mask of the supersteps with at most *most* ratings.
        """
        is_small = sizes <= most
        joins = is_small.copy()
        joins[1:] &= is_small[:-1]
        self.cut(1 + sizes // np.where(is_small, slots, all_slots), joins)
        return is_small

    def _bind_grid(self, sizes: NDArray[np.int64]) -> None:
        program = self.plan.build(_SOURCE, GRID_WG_SIZE, LINGER=LINGER)
        slots = program.work_group_size // self.plan.lanes
        per_unit = 2 if self.plan.lanes >= _MANY_LANES else GROUPS_PER_UNIT
        most_groups = per_unit * self.session.facts.compute_units
        n_groups = max(1, min(most_groups, -(-int(sizes.max(initial=1)) // slots)))
        self._cut_small(sizes, slots, n_groups * slots, slots)
        self.bind_persistent(program, "superstep_grid", n_groups, self._scope)

    def _bind_launches(self, sizes: NDArray[np.int64]) -> None:
        facts, plan = self.session.facts, self.plan
        tail = plan.build(_SOURCE, facts.group_size(_TAIL_WG_SIZE))
        program = plan.build(_SOURCE, _CPU_WG_SIZE if facts.is_cpu else None)
        slots, self._slots = (p.work_group_size // plan.lanes for p in (tail, program))
        most = max(slots, CPU_TAIL_RATINGS) if facts.is_cpu else _TAIL_TURNS * slots
        resident = facts.compute_units * (1 if facts.is_cpu else _RESIDENT_ITEMS // plan.lanes)
        is_small = self._cut_small(sizes, slots, resident, most)
        self._is_tail = is_small[self.segments[:-1]]
        scope = {**plan.scope, **self._scope}
        self._step = program.bind("superstep", 1, scope, begin=0, end=0)
        self._tail = tail.bind("superstep_tail", 1, scope, first=0, last=0)

    def enqueue(self, first: int, last: int) -> Any:
        if self.barrier == "grid":
            return super().enqueue(first, last)
        segments = pairwise(self.segments[first : last + 1].tolist())
        event = None
        for (begin, end), is_tail in zip(segments, self._is_tail[first:last].tolist(), strict=True):
            if is_tail:
                event = launch_over(self._tail, first=begin, last=end)
            else:
                from_, to = self.offsets[[begin, end]].tolist()
                event = launch_over(self._step, -(-(to - from_) // self._slots), begin=from_, end=to)
        return event
