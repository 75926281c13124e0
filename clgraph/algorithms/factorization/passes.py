"""Passes over what is left of a sweep, and sweeps cut into launches that Ctrl-C need not wait long for."""
from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pyopencl as cl

from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.errors import DeviceTimeoutError
from clgraph.runtime.failure import typed_errors
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session

_CPU_SLICE, _GPU_SLICE = 1 << 20, 1 << 28  # ratings in a launch; a popular item must not hold up the next one
_SHORT_ROW = 64  # numbers: up to here a launch of that many ratings takes 0.2 s at most
_MOST_AHEAD = 16
_MOST_STALLS = 40  # looks that find the list as long as before: an item stays until its last rating is done


def slice_size(plan: FactorizationPlan) -> int:
    """Return how many ratings a launch takes, about; longer rows take longer."""
    most = _CPU_SLICE if plan.session.facts.is_cpu else _GPU_SLICE
    return most * _SHORT_ROW // max(_SHORT_ROW, plan.model.layout.padded)


def slices(plan: FactorizationPlan) -> list[tuple[int, int]]:
    """Return the begins and ends of what the launches of a sweep take of the ratings."""
    n, size = plan.ratings.n_ratings, slice_size(plan)
    return [(begin, min(n, begin + size)) for begin in range(0, n, size)]


def launch_slices(session: Session, launches: Iterable[Launch]) -> None:
    """Enqueue *launches*; on a CPU, where each takes long, wait for one before the next."""
    for launch in launches:
        event = launch()
        if session.facts.is_cpu:
            session.wait(event)


def wait_by_slices(plan: FactorizationPlan, enqueued: Iterable[tuple[cl.Event, int]]) -> None:
    """Take from *enqueued* the events of launches, made as they are asked for, and how many ratings each takes.

    Launches stay in flight together until they take a slice; then the last one is waited for.
    """
    in_flight = 0
    with typed_errors("enqueueing a sweep"):
        for event, n_ratings in enqueued:
            in_flight += n_ratings
            if in_flight >= slice_size(plan):
                plan.session.wait(event)
                in_flight = 0


class Passes:
    """Passes over lists that shrink, enqueued several at a time before the host looks whether all is done.

    Pass k reads the list whose length is ``sizes[k % 3]``, appends what it leaves to the next one and clears the length
    of the one after that. Two buffers hold the lists in turn: ``launches[k % 2]`` runs pass k, its ``pass_number``.

    Parameters
    ----------
    program : Program
        It has the kernels that run the passes.
    what : str
        Names the strategy in errors.
    n_groups : callable
        Work-groups for a list of some length. A list is not longer than any before it.
    """

    def __init__(self, session: Session, program: Program, what: str, n_groups: Callable[[int], int]) -> None:
        self._n_lists = program.constant("N_LISTS")
        self.sizes = session.empty(self._n_lists, np.uint32)
        self.launches: tuple[Launch, ...] = ()
        self._what, self._n_groups = what, n_groups

    def clear(self) -> None:
        """Enqueue emptying all lists, before pass 0."""
        self.sizes.fill(0)

    def finish(self, most: int) -> None:
        """Run passes 1, 2, … until the list is empty; the first one is at most *most* long.

        Raises
        ------
        DeviceTimeoutError
            Hundreds of passes left the list as long as it was.
        """
        k, ahead, left, stalls = 1, 2, most, 0
        while True:
            groups = self._n_groups(left)
            for _ in range(ahead):
                launch = self.launches[k % 2]
                launch.set(pass_number=k)
                launch(groups)
                k += 1
            before, left = left, self.sizes.item(k % self._n_lists)
            if not left:
                return
            stalls = stalls + 1 if left == before else 0
            if stalls == _MOST_STALLS:
                raise DeviceTimeoutError(
                    f"{self._what}: {left} entries are left after {k} passes, no fewer than before"
                )
            ahead = min(2 * ahead, _MOST_AHEAD)
