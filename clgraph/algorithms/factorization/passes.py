"""Sweeps cut into launches that Ctrl-C need not wait long for, and passes over what such a sweep has put off."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.device.facts import DeviceFacts
from clgraph.errors import DeviceTimeoutError
from clgraph.model.recipe import Phase
from clgraph.runtime import opencl as cl
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import typed_errors
from clgraph.runtime.program import Launch

_CPU_SLICE, _GPU_SLICE = 1 << 20, 1 << 28  # ratings of a launch; a popular item must not hold up the next one
_SHORT_ROW = 64  # with rows of so many numbers a launch of a slice takes 0.2 s at most
_MOST_AHEAD = 16
_MOST_STALLS = 40  # an item stays in the list until its last rating is done, so its length may stay a while


def slice_size(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return how many ratings a launch takes, about; longer rows take longer."""
    most = _CPU_SLICE if facts.is_cpu else _GPU_SLICE
    return most * _SHORT_ROW // max(_SHORT_ROW, row_layout(problem.rank, facts).padded)


def by_slices(
    problem: FactorizationProblem, facts: DeviceFacts, kernel: str, ratings_per_slot: int = 1
) -> tuple[Phase, ...]:
    """Return launches of *kernel* over all ratings."""
    n, size, lanes = problem.n, slice_size(problem, facts), row_layout(problem.rank, facts).lanes
    return tuple(
        Phase(kernel, -(-(end - begin) // ratings_per_slot) * lanes, {"begin": begin, "end": end})
        for begin, end in ((begin, min(n, begin + size)) for begin in range(0, n, size))
    )  # fmt: skip


def wait_by_slices(plan: FactorizationPlan, enqueued: Iterable[tuple[cl.Event, int]]) -> None:
    """Take from *enqueued* the events of launches, made as they are asked for, and how many ratings each takes.

    Launches stay in flight together until they take a slice; then the last one is waited for.
    """
    in_flight = 0
    with typed_errors("enqueueing a sweep"):
        for event, n_ratings in enqueued:
            in_flight += n_ratings
            if in_flight >= slice_size(plan.problem, plan.session.facts):
                plan.session.wait(event)
                in_flight = 0


class Passes:
    """Passes 1, 2, … over lists that shrink, enqueued several at a time before the host looks whether all is done.

    Pass k reads the list whose length is ``sizes[k % 3]``, appends what it leaves to the next one and clears the length
    of the one after that. Two buffers hold the lists in turn: ``launches[k % 2]`` runs pass k, its ``pass_number``.

    Parameters
    ----------
    plan : FactorizationPlan
        Its scope has the ``sizes``.
    launches : pair of Launch
    n_groups : callable
        Work-groups for a list of some length. A list is not longer than any before it.
    most : int
        The first list is at most so long.

    Attributes
    ----------
    rounds : int
        How many passes the last run made.
    """

    def __init__(
        self, plan: FactorizationPlan, launches: tuple[Launch, ...], n_groups: Callable[[int], int], most: int
    ) -> None:
        self._sizes: DeviceArray = plan.scope["sizes"]
        self._launches, self._n_groups, self._most, self.rounds = launches, n_groups, most, 0

    def run(self) -> None:
        """Run passes until the list is empty.

        Raises
        ------
        DeviceTimeoutError
            Hundreds of passes left the list as long as it was.
        """
        self.rounds, ahead, left, stalls = 0, 2, self._most, 0
        while left:
            groups = self._n_groups(left)
            for _ in range(ahead):
                self.rounds += 1
                launch = self._launches[self.rounds % 2]
                launch.set(pass_number=self.rounds)
                launch(groups)
            before, left = left, self._sizes.item((self.rounds + 1) % self._sizes.size)
            stalls = stalls + 1 if left == before else 0
            if stalls == _MOST_STALLS:
                raise DeviceTimeoutError(
                    f"{launch.kernel}: {left} entries are left after {self.rounds} passes, no fewer than before"
                )
            ahead = min(2 * ahead, _MOST_AHEAD)
