"""Sweeps in supersteps: ratings of which no two share a vertex, then a barrier."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyopencl as cl
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.order import gather_ratings, stable_order
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import check_choice
from clgraph.data.ratings import Ratings
from clgraph.errors import UnsupportedStrategyError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import check_status, typed_errors
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session

SOURCE = "factorization/superstep.cl"
LINGER = 5000  # turns for which work-groups that meet at a device-wide barrier wait for others to start
GRID_WG_SIZE, GROUPS_PER_UNIT = 512, 1  # of a persistent kernel: resident for sure, and few that wait for each other
_MANY_LANES = 16  # for a rating: then a group has few slots, and two of them on a compute unit are worth their wait
_TURNS, _CPU_TURNS = 1 << 16, 1 << 20  # passes over the slots in launches without a wait: about 0.1 s
_RESIDENT_ITEMS = 2048  # work-items of a GPU's compute unit
_TAIL_WG_SIZE = 512
_TAIL_TURNS = 4  # as long as a launch
_CPU_WG_SIZE = 64
_CPU_TAIL = 512  # ratings that one core has done before two have started
_GRID_BYTES = 1 << 27  # rows moved in a superstep beside which a launch costs nothing


def has_grid_barrier(session: Session) -> bool:
    """Return whether work-groups of a persistent kernel may wait for each other."""
    return session.facts.dialect.has_grid_barrier


def check_barrier(session: Session, barrier: str, allowed: tuple[str, ...]) -> None:
    """Raise unless *barrier* is *allowed*, and the device has it."""
    check_choice("barrier", barrier, allowed)
    if barrier == "grid" and not has_grid_barrier(session):
        raise UnsupportedStrategyError(f"barrier='grid': {session.facts.name} has no device-wide barrier")


class SuperstepPlan(FactorizationPlan):
    """Ratings in supersteps, those in segments, and segments in ranges: the launches that may be in flight together.

    Subclasses fill ``_order`` and ``_offsets``, call :meth:`_cut`, and bind the kernels.

    Parameters
    ----------
    barrier : str
        One of *barriers*.
    """

    barriers: tuple[str, ...] = ()

    def __init__(self, session: Session, ratings: Ratings, model: DeviceModel, barrier: str) -> None:
        super().__init__(session, ratings, model)
        check_barrier(session, barrier, self.barriers)
        self._has_grid = has_grid_barrier(session)
        self.barrier = barrier
        self._order: DeviceArray
        self._offsets: NDArray[np.int64]
        self._persistent: Launch
        self._control: DeviceArray
        self._status = session.zeros(1, np.uint32)

    def _cut(self, turns: NDArray[np.int64], joins: NDArray[np.bool_]) -> None:
        """Cut supersteps that take *turns* into segments; *joins*: whether one joins the one before it."""
        time = np.cumsum(turns) // (_CPU_TURNS if self.session.facts.is_cpu else _TURNS)
        begins = np.flatnonzero(~joins | (np.diff(time, prepend=-1) > 0))
        self._segments = np.append(begins, turns.size)
        self._ranges = np.append(np.flatnonzero(np.diff(time[begins], prepend=-1)), begins.size)

    def _bind_persistent(self, program: Program, kernel: str, n_groups: int) -> None:
        """Bind a kernel of *n_groups* work-groups that runs a range of segments by itself."""
        self._control = self.session.zeros(program.constant("GRID_CONTROL_WORDS"), np.uint32)
        self._persistent = program.bind(
            kernel, n_groups * program.work_group_size, self.scope, first=0, last=0, control=self._control,
            status=self._status, segments=self.session.upload(self._segments.astype(np.uint32)),
        )

    def run(self) -> None:
        """Enqueue one sweep; nothing is read back, but ranges are waited for, so that Ctrl-C is heard."""
        self._status.fill(0)
        event = None
        with typed_errors("enqueueing a sweep"):
            for first, last in pairwise(self._ranges.tolist()):
                if event is not None:
                    self.session.wait(event)
                event = self._enqueue(first, last)

    def _enqueue(self, first: int, last: int) -> Any:
        """Enqueue a range of segments; return the last event."""
        self._control.fill(0)
        return launch_over(self._persistent, first=first, last=last)

    def check(self) -> None:
        """Wait for the device.

        Raises
        ------
        DeviceTimeoutError
            A device-wide barrier ran out: the last sweep is not whole.
        """
        check_status(self._status.item(), "the barrier between supersteps")

    def supersteps(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return positions of ratings in the order of the sweep, and where in it supersteps begin and end."""
        return self._order.get().astype(np.int64), self._offsets


class RatingSlots(SuperstepPlan):
    """Supersteps in which a slot takes a rating (cl/factorization/superstep.cl).

    Parameters
    ----------
    barrier : {"auto", "launch", "grid"}
        What stands between supersteps: the end of a kernel, or a device-wide barrier inside a persistent one,
        where the device has it. Under both, several small supersteps in a row are done by one work-group.
    """

    barriers = ("auto", "launch", "grid")

    def _prepare(self, given: DeviceRatings, keys: DeviceArray, n_keys: int) -> None:
        """Put the ratings in the order of their supersteps: *keys*, below *n_keys*, some of which may be missing."""
        self._order, by_key = stable_order(self, keys, n_keys)
        ordered = gather_ratings(self, given, self._order)
        ends = by_key.get().astype(np.int64)
        self._offsets = ends[np.append(True, np.diff(ends) > 0)]
        self.scope |= {**ordered.scope, "offsets": self.session.upload(self._offsets.astype(self.offset_type))}
        sizes = np.diff(self._offsets)
        if self.barrier == "auto":
            mean_bytes = 16 * self.model.layout.padded * len(given) / max(1, sizes.size)
            self.barrier = "grid" if self._has_grid and mean_bytes < _GRID_BYTES else "launch"
        bind = self._bind_grid if self.barrier == "grid" else self._bind_launches
        bind(sizes)
        self.session.finish()

    def _cut_small(self, sizes: NDArray[np.int64], slots: int, all_slots: int, most: int) -> NDArray[np.bool_]:
        """Cut into segments; return which supersteps are small: at most *most* ratings."""
        is_small = sizes <= most
        joins = is_small.copy()
        joins[1:] &= is_small[:-1]
        self._cut(1 + sizes // np.where(is_small, slots, all_slots), joins)
        return is_small

    def _bind_grid(self, sizes: NDArray[np.int64]) -> None:
        program = self.program(SOURCE, work_group_size=GRID_WG_SIZE, LINGER=LINGER)
        slots = program.work_group_size // self.lanes
        per_unit = 2 if self.lanes >= _MANY_LANES else GROUPS_PER_UNIT
        most_groups = per_unit * self.session.facts.compute_units
        n_groups = max(1, min(most_groups, -(-int(sizes.max(initial=1)) // slots)))
        self._cut_small(sizes, slots, n_groups * slots, slots)
        self._bind_persistent(program, "superstep_grid", n_groups)

    def _bind_launches(self, sizes: NDArray[np.int64]) -> None:
        facts = self.session.facts
        tail = self.program(SOURCE, work_group_size=facts.sub_group_size if facts.is_cpu else _TAIL_WG_SIZE)
        program = self.program(SOURCE, work_group_size=_CPU_WG_SIZE if facts.is_cpu else None)
        slots, self._slots = (p.work_group_size // self.lanes for p in (tail, program))
        most = max(slots, _CPU_TAIL) if facts.is_cpu else _TAIL_TURNS * slots
        resident = facts.compute_units * (1 if facts.is_cpu else _RESIDENT_ITEMS // self.lanes)
        is_small = self._cut_small(sizes, slots, resident, most)
        self._is_tail = is_small[self._segments[:-1]]
        self._step = program.bind("superstep", 1, self.scope, begin=0, end=0)
        self._tail = tail.bind("superstep_tail", 1, self.scope, first=0, last=0)

    def _enqueue(self, first: int, last: int) -> Any:
        if self.barrier == "grid":
            return super()._enqueue(first, last)
        segments = pairwise(self._segments[first : last + 1].tolist())
        event = None
        for (begin, end), is_tail in zip(segments, self._is_tail[first:last].tolist(), strict=True):
            if is_tail:
                event = launch_over(self._tail, first=begin, last=end)
            else:
                from_, to = self._offsets[[begin, end]].tolist()
                event = launch_over(self._step, -(-(to - from_) // self._slots), begin=from_, end=to)
        return event


def launch_over(launch: Launch, n_groups: int | None = None, /, **limits: int) -> cl.Event:
    """Enqueue *launch* with *limits* set, over *n_groups* work-groups if given; return the event."""
    launch.set(**limits)
    return launch(n_groups)
