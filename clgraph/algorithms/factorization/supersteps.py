"""Sweeps in supersteps: ratings of which no two share a vertex, then a barrier."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.arguments import check_choice
from clgraph.device.facts import DeviceFacts
from clgraph.errors import UnsupportedStrategyError
from clgraph.model.recipe import Array
from clgraph.runtime import opencl as cl
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import typed_errors
from clgraph.runtime.program import Launch, Program

LINGER = 5000  # work-groups that meet at a device-wide barrier wait so many turns for others to start
GRID_WG_SIZE, GROUPS_PER_UNIT = 512, 1  # persistent groups are resident for sure, and few wait for each other
CPU_TAIL_RATINGS = 512  # One core ends a smaller superstep before two have started.
STATUS = {"status": Array(1, np.uint32, zeroed=True)}
_TURNS, _CPU_TURNS = 1 << 16, 1 << 20  # so many passes over the slots, about 0.1 s, are enqueued before the host waits


def has_grid_barrier(facts: DeviceFacts) -> bool:
    """Return whether work-groups of a persistent kernel may wait for each other."""
    return facts.dialect.has_grid_barrier


def checked_barrier(facts: DeviceFacts, barrier: str, allowed: tuple[str, ...]) -> str:
    """Return *barrier* if it is *allowed*, and the device has it."""
    check_choice("barrier", barrier, allowed)
    if barrier == "grid" and not has_grid_barrier(facts):
        raise UnsupportedStrategyError(f"barrier='grid': {facts.name} has no device-wide barrier")
    return barrier


def slots(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return how many ratings a work-group of a persistent kernel takes at a time."""
    return CPU_TAIL_RATINGS if facts.is_cpu else GRID_WG_SIZE // row_layout(problem.rank, facts).lanes


class Supersteps:
    """Ratings in supersteps, those in segments, and segments in ranges: what may be in flight without a wait.

    Attributes
    ----------
    order : DeviceArray
        Positions of the ratings in the order of the sweep.
    offsets : int64 array
        Where in it the supersteps begin, and the end.
    segments, ranges : int64 array
        Where among the supersteps the segments begin, and among the segments the ranges; and the ends.
    barrier : str
        What stands between supersteps.
    """

    order: DeviceArray
    offsets: NDArray[np.int64]

    def __init__(self, plan: FactorizationPlan, barrier: str) -> None:
        self.plan, self.session, self.barrier = plan, plan.session, barrier
        self.persistent: Launch
        self._control: DeviceArray

    def cut(self, turns: NDArray[np.int64], joins: NDArray[np.bool_]) -> None:
        """Cut supersteps that take *turns* into segments; *joins*: whether one joins the one before it."""
        time = np.cumsum(turns) // (_CPU_TURNS if self.session.facts.is_cpu else _TURNS)
        begins = np.flatnonzero(~joins | (np.diff(time, prepend=-1) > 0))
        self.segments = np.append(begins, turns.size)
        self.ranges = np.append(np.flatnonzero(np.diff(time[begins], prepend=-1)), begins.size)

    def bind_persistent(self, program: Program, kernel: str, n_groups: int, scope: dict[str, Any]) -> None:
        """Bind a kernel of *n_groups* work-groups that runs a range of segments by itself."""
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
        """Enqueue one sweep; nothing is read back, but ranges are waited for."""
        self.plan.arrays["status"].fill(0)
        event = None
        with typed_errors("enqueueing a sweep"):
            for first, last in pairwise(self.ranges.tolist()):
                if event is not None:
                    self.session.wait(event)
                event = self.enqueue(first, last)

    def enqueue(self, first: int, last: int) -> Any:
        """Enqueue a range of segments; return the last event."""
        self._control.fill(0)
        return launch_over(self.persistent, first=first, last=last)


def launch_over(launch: Launch, n_groups: int | None = None, /, **limits: int) -> cl.Event:
    """Enqueue *launch* with *limits* set, over *n_groups* work-groups if given; return the event."""
    launch.set(**limits)
    return launch(n_groups)
