"""Supersteps in which a slot takes a rating (cl/factorization/superstep.cl): matchings (AGM-E) and diagonals (Diag)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization import supersteps
from clgraph.algorithms.factorization.factors import DeviceRatings
from clgraph.algorithms.factorization.matchings import find_matchings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.rating_order import enqueue_order, gather_ratings, stable_order
from clgraph.algorithms.factorization.supersteps import STATUS, Supersteps, checked_barrier, launch_over
from clgraph.arguments import Seed, checked_seed
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Recipe, Setting, Use
from clgraph.runtime.arrays import DeviceArray

_SOURCE = "factorization/superstep.cl"
_MANY_LANES = 16  # if so many share a rating, groups have few slots, and two on a compute unit are worth a wait
_RESIDENT_ITEMS = 2048  # work-items of a GPU's compute unit
_TAIL_WG_SIZE = 512
_TAIL_TURNS = 4  # so many take as long as a launch
_CPU_WG_SIZE = 64
_GRID_BYTES = 1 << 27  # a launch costs nothing beside a superstep that moves so many bytes of rows

FindKeys = Callable[[FactorizationPlan, DeviceRatings], tuple[DeviceArray, int]]


def matching_edge(
    problem: FactorizationProblem, facts: DeviceFacts, *, seed: Seed = 0, barrier: str = "auto"
) -> Recipe:
    """Sweep over maximal matchings of the ratings, one after the other; *seed* is that of the matchings.

    *barrier* is what stands between supersteps: the end of a kernel ("launch"), or a device-wide barrier inside a
    persistent one ("grid"), where the device has it.
    """

    def find_keys(plan: FactorizationPlan, given: DeviceRatings) -> tuple[DeviceArray, int]:
        n_users, n_items = problem.ratings.shape
        return find_matchings(plan, (given.items, n_items), (given.users, n_users), seed=seed)

    return _recipe(facts, find_keys, barrier)


def diagonal(problem: FactorizationProblem, facts: DeviceFacts, *, seed: Seed = 0, barrier: str = "auto") -> Recipe:
    """Sweep over the diagonals of the matrix that hold ratings, one after the other.

    Two ratings of one diagonal, item − user, share neither. Diagonals max(n_users, n_items) apart share no
    user and no item either: they are merged, so that there are at most max(n_users, n_items) supersteps.

    The study launches rank × ratings work-items in two dimensions. Here the lanes of a slot are the dimension
    of the rank, and are neighbours, so that their loads of a row are one access and the product of two rows is
    summed up by shuffles; the model's layout makes them as many as the rank and the sub-group allow.

    *barrier* is that of :func:`matching_edge`. There is one such order, so nothing depends on *seed*.
    """
    checked_seed(seed)
    modulus = max(problem.ratings.shape)

    def find_keys(plan: FactorizationPlan, given: DeviceRatings) -> tuple[DeviceArray, int]:
        keys = plan.session.empty(len(given), np.uint32)
        enqueue_order(plan, "superstep_order", "diagonals", given.scope, n=len(given), modulus=modulus, keys=keys)
        return keys, modulus

    return _recipe(facts, find_keys, barrier)


def _recipe(facts: DeviceFacts, find_keys: FindKeys, barrier: str) -> Recipe:
    checked_barrier(facts, barrier, ("auto", "launch", "grid"))
    return Recipe((Use(lambda plan: RatingSupersteps(plan, find_keys, barrier)),), partial(Setting, arrays=STATUS))


class RatingSupersteps(Supersteps):
    """Supersteps by the keys that *find_keys* gives the ratings, which are below the number that it returns with them.

    Several small supersteps in a row are done by one work-group, whatever stands between supersteps.
    """

    def __init__(self, plan: FactorizationPlan, find_keys: FindKeys, barrier: str) -> None:
        super().__init__(plan, barrier)
        given = DeviceRatings.upload(plan.session, plan.problem.ratings)
        self.order, by_key = stable_order(plan, *find_keys(plan, given))
        ends = by_key.get().astype(np.int64)
        self.offsets = ends[np.append(True, np.diff(ends) > 0)]
        sizes = np.diff(self.offsets)
        self._scope: dict[str, Any] = {
            **gather_ratings(plan, given, self.order).scope,
            "offsets": self.session.upload(self.offsets.astype(plan.problem.offset_type)),
        }
        if barrier == "auto":
            mean_bytes = 16 * plan.model.layout.padded * len(given) / max(1, sizes.size)
            has_grid = supersteps.has_grid_barrier(self.session.facts)
            self.barrier = "grid" if has_grid and mean_bytes < _GRID_BYTES else "launch"
        bind = self._bind_grid if self.barrier == "grid" else self._bind_launches
        bind(sizes)

    def _cut_small(self, sizes: NDArray[np.int64], slots: int, all_slots: int, most: int) -> NDArray[np.bool_]:
        """Cut into segments; return which supersteps are small: at most *most* ratings."""
        is_small = sizes <= most
        joins = is_small.copy()
        joins[1:] &= is_small[:-1]
        self.cut(1 + sizes // np.where(is_small, slots, all_slots), joins)
        return is_small

    def _bind_grid(self, sizes: NDArray[np.int64]) -> None:
        program = self.plan.build(_SOURCE, supersteps.GRID_WG_SIZE, LINGER=supersteps.LINGER)
        slots = program.work_group_size // self.plan.lanes
        per_unit = 2 if self.plan.lanes >= _MANY_LANES else supersteps.GROUPS_PER_UNIT
        most_groups = per_unit * self.session.facts.compute_units
        n_groups = max(1, min(most_groups, -(-int(sizes.max(initial=1)) // slots)))
        self._cut_small(sizes, slots, n_groups * slots, slots)
        self.bind_persistent(program, "superstep_grid", n_groups, self._scope)

    def _bind_launches(self, sizes: NDArray[np.int64]) -> None:
        facts, plan = self.session.facts, self.plan
        tail = plan.build(_SOURCE, facts.group_size(_TAIL_WG_SIZE))
        program = plan.build(_SOURCE, _CPU_WG_SIZE if facts.is_cpu else None)
        slots, self._slots = (p.work_group_size // plan.lanes for p in (tail, program))
        most = max(slots, supersteps.CPU_TAIL_RATINGS) if facts.is_cpu else _TAIL_TURNS * slots
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
