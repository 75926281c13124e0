"""Sweeps in supersteps: ratings of which no two share a vertex, then a barrier (cl/factorization/superstep.cl)."""
from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.errors import InputError, UnsupportedStrategyError
from clgraph.primitives.fill import iota
from clgraph.primitives.sort import sort
from clgraph.ratings import Ratings
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import check_status, typed_errors
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

SOURCE = "factorization/superstep.cl"
ORDER_SOURCE = "factorization/superstep_order.cl"
GRID_CONTROL_WORDS = 8  # as in cl/common/grid_barrier.h

_LINGER = 5000
_TAIL_WG_SIZE = 512
_TAIL_TURNS = 4  # as long as a launch
_CPU_WG_SIZE = 64
_CPU_TAIL = 512  # ratings that one core has done before two have started
_TURNS = 1 << 16  # passes over the slots in one launch, or in launches without a wait: about 0.1 s
_CPU_TURNS = 1 << 20
_GRID_BYTES = 1 << 27  # rows moved in a superstep beside which a launch costs nothing


def check_barrier(session: Session, barrier: str, allowed: tuple[str, ...]) -> None:
    """Raise unless *barrier* is one of *allowed*, and the device has it."""
    if barrier not in allowed:
        raise InputError(f"barrier={barrier!r}; allowed are {', '.join(map(repr, allowed))}")
    if barrier == "grid" and not session.facts.dialect.has_grid_barrier:
        raise UnsupportedStrategyError(f"barrier='grid': {session.facts.name} has no device-wide barrier")


def stable_order(plan: FactorizationPlan, keys: DeviceArray, n_keys: int) -> tuple[DeviceArray, DeviceArray]:
    """Sort positions by their uint32 *keys* below *n_keys*.

    Returns
    -------
    order : DeviceArray
        Positions; those of equal keys in ascending order.
    offsets : DeviceArray
        Those with key ``c`` are ``order[offsets[c]:offsets[c + 1]]``.
    """
    session, n = plan.session, keys.size
    positions = session.empty(n, plan.offset_type)
    iota(session, positions)
    by_key, order = sort(session, keys, positions, end_bit=max(n_keys - 1, 0).bit_length())
    offsets = session.empty(n_keys + 1, plan.offset_type)
    program = session.program(ORDER_SOURCE, {"OFFSET_T": plan.defines["OFFSET_T"]})
    program.bind("find_offsets", n + 1, plan.offset(n), np.int32(n_keys), by_key, offsets)()
    assert order is not None
    return order, offsets


def gather_ratings(plan: FactorizationPlan, given: DeviceRatings, order: DeviceArray) -> DeviceRatings:
    """Return the ratings in *order* (positions)."""
    ordered = DeviceRatings(*(plan.session.empty(len(given), array.dtype) for array in given))
    program = plan.session.program(ORDER_SOURCE, {"OFFSET_T": plan.defines["OFFSET_T"]})
    program.bind("gather_ratings", len(given), plan.offset(len(given)), order, *given, *ordered)()
    return ordered


class SuperstepPlan(FactorizationPlan):
    """Ratings in supersteps, a slot for each rating.

    Parameters
    ----------
    barrier : {"auto", "launch", "grid"}
        What stands between supersteps: the end of a kernel, or a device-wide barrier inside a persistent one,
        where the device has it. Under both, several small supersteps in a row are done by one work-group.
    """

    def __init__(self, session: Session, ratings: Ratings, model: DeviceModel, *, barrier: str = "auto") -> None:
        super().__init__(session, ratings, model)
        check_barrier(session, barrier, ("auto", "launch", "grid"))
        self.barrier = barrier
        self._status = session.zeros(1, np.uint32)

    def _prepare(self, given: DeviceRatings, keys: DeviceArray, n_keys: int) -> None:
        """Put the ratings in the order of their supersteps: *keys*, below *n_keys*, some of which may be missing."""
        session, facts, lanes = self.session, self.session.facts, self.lanes
        self._order, by_key = stable_order(self, keys, n_keys)
        ordered = gather_ratings(self, given, self._order)
        ends = by_key.get().astype(np.int64)
        self._offsets = ends[np.append(True, np.diff(ends) > 0)]
        sizes = np.diff(self._offsets)
        if self.barrier == "auto":
            mean_bytes = 16 * self.model.layout.padded * len(given) / max(1, sizes.size)
            self.barrier = "grid" if facts.dialect.has_grid_barrier and mean_bytes < _GRID_BYTES else "launch"
        tail = self.program(SOURCE, work_group_size=facts.sub_group_size if facts.is_cpu else _TAIL_WG_SIZE)
        if self.barrier == "grid":
            tail = self.program(SOURCE, LINGER=_LINGER)
        slots = tail.work_group_size // lanes
        if self.barrier == "grid":
            tail_size, most_turns = slots, _TURNS
        elif facts.is_cpu:
            tail_size, most_turns = max(slots, _CPU_TAIL), _CPU_TURNS
        else:
            tail_size, most_turns = _TAIL_TURNS * slots, _TURNS
        n_groups = max(1, min(2 * facts.compute_units, -(-int(sizes.max(initial=1)) // slots)))
        is_small = sizes <= tail_size
        turns = 1 + sizes // np.where(is_small, slots, n_groups * slots)
        cut = np.cumsum(turns) // most_turns
        joins = is_small[1:] & is_small[:-1] & (cut[1:] == cut[:-1])
        firsts = np.flatnonzero(np.append(True, ~joins)) if sizes.size else np.zeros(0, np.int64)
        self._segments = np.append(firsts, sizes.size)
        self._is_tail = is_small[firsts]
        self._ranges = np.append(np.flatnonzero(np.diff(cut[firsts], prepend=-1)), firsts.size)
        device_offsets = session.upload(self._offsets.astype(self.offset_type))
        head = np.uint32(0), np.uint32(0)
        data = device_offsets, *ordered, *self.model.arguments()
        if self.barrier == "grid":
            segments = session.upload(self._segments.astype(np.uint32))
            self._control = session.zeros(GRID_CONTROL_WORDS, np.uint32)
            self._grid = tail.bind(
                "superstep_grid", n_groups * tail.work_group_size, *head, segments, *data, self._control, self._status
            )
        else:
            program = self.program(SOURCE, work_group_size=_CPU_WG_SIZE if facts.is_cpu else None)
            self._slots = program.work_group_size // lanes
            self._step = program.bind("superstep", 1, self.offset(0), self.offset(0), *data[1:])
            self._tail = tail.bind("superstep_tail", 1, *head, *data)
        session.finish()

    def run(self) -> None:
        """Enqueue one sweep; nothing is read back, but what takes long is waited for, so that Ctrl-C is heard."""
        enqueue = self._enqueue_grid if self.barrier == "grid" else self._enqueue_launches
        event = None
        with typed_errors("enqueueing a sweep"):
            for first, last in pairwise(self._ranges.tolist()):
                if event is not None:
                    self.session.wait(event)
                event = enqueue(first, last)

    def _enqueue_grid(self, first: int, last: int) -> Any:
        self._control.fill(0)
        return _enqueue(self._grid, np.uint32(first), np.uint32(last))

    def _enqueue_launches(self, first: int, last: int) -> Any:
        begins = self._segments[first : last + 1].tolist()
        event = None
        for (begin, end), is_tail in zip(pairwise(begins), self._is_tail[first:last].tolist(), strict=True):
            if is_tail:
                event = _enqueue(self._tail, np.uint32(begin), np.uint32(end))
            else:
                from_, to = self._offsets[begin], self._offsets[end]
                event = _enqueue(self._step, self.offset(from_), self.offset(to), -(-int(to - from_) // self._slots))
        return event

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


def _enqueue(launch: Launch, begin: Any, end: Any, n_groups: int | None = None) -> Any:
    launch.set_scalar(0, begin)
    launch.set_scalar(1, end)
    return launch(n_groups)
