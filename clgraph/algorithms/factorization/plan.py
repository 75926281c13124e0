"""The plan of a factorisation on one device.

Ratings are preprocessed once, for any number of training sweeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from clgraph.algorithms.factorization.factors import (
    DeviceModel,
    RatingArrays,
    initial_factors,
    row_layout,
    upload_ratings,
)
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Recipe, Use
from clgraph.primitives.fill import Fill
from clgraph.primitives.types import c_type
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import check_status, typed_errors
from clgraph.runtime.programs.program import Program
from clgraph.runtime.session import Session

# Ratings per launch on CPUs and on GPUs. Launches are large, because each one waits for its most popular item.
_CPU_SLICE, _GPU_SLICE = 1 << 20, 1 << 28
# If rows of factors have at most 64 numbers, a launch over one slice of the ratings takes at most 0.2 s.
_SHORT_ROW = 64


class FactorizationPlan(Plan):
    """A training strategy applied to ratings.

    Creating the plan preprocesses the ratings, and the recipe is one sweep.

    Attributes
    ----------
    model : DeviceModel
        All zeros until it is set.
    """

    problem: FactorizationProblem

    def __init__(self, session: Session, problem: FactorizationProblem, recipe: Recipe) -> None:
        self.model = DeviceModel(session, problem)
        super().__init__(session, problem, recipe)
        session.finish()

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        defines = {**self.model.defines(), **self.problem.weight_defines, "OFFSET_T": self.offset_name}
        return defines, self.model.scope

    def upload_ratings(self) -> RatingArrays:
        """Copy the ratings, with their weights if there are any, to the device: by user, then by item."""
        return upload_ratings(self.session, self.problem.ratings, self.problem.weights)

    @property
    def offset_name(self) -> str:
        """C type that kernels use for the positions of ratings."""
        return c_type(self.problem.offset_type)

    @property
    def lanes(self) -> int:
        """Number of work-items in a slot, which is a team that processes one rating at a time."""
        return self.model.layout.lanes

    def build(self, source: str, work_group_size: int | None = None, **defines: int | str) -> Program:
        """Return the compiled program of the kernel file *source* for this factorisation model.

        *defines* and *work_group_size* replace the values of the recipe.
        """
        return self.session.program(source, {**self._defines, **defines}, work_group_size=work_group_size)

    def sweep(self) -> None:
        """Enqueue one training step on each rating.

        In a long sweep the host waits in between, so that Ctrl-C interrupts it.
        """
        super().run()

    def run(self) -> None:
        """Train new random factors for ``problem.n_sweeps`` sweeps at a constant learning rate."""
        problem, rng = self.problem, np.random.default_rng(self.problem.seed)
        self.model.set(initial_factors(*problem.ratings.shape, problem.rank, scale=0.2, biases=problem.biases, rng=rng))
        self.model.set_hyper(problem.learning_rate, problem.regularization)
        for _ in range(problem.n_sweeps):
            self.sweep()
            self.check()

    def check(self) -> None:
        """Wait for the end of the last training sweep.

        Raises
        ------
        DeviceTimeoutError
            Work-groups waited too long for each other, so the sweep is incomplete.
        """
        super().check()
        if "status" in self.arrays:
            check_status(self.arrays["status"].item(), "a wait between supersteps")


def clear(array: str) -> Use:
    """Return the step of a recipe that fills the device array named *array* with zeros."""
    return Use(lambda plan: Fill(plan.session, plan.scope[array], 0))


def slice_size(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return the approximate number of ratings per launch.

    It is smaller for long rows of factors, whose steps take longer.
    """
    most = _CPU_SLICE if facts.is_cpu else _GPU_SLICE
    return most * _SHORT_ROW // max(_SHORT_ROW, row_layout(problem.rank, facts).padded)


def wait_by_slices(plan: FactorizationPlan, enqueued: Iterable[tuple[cl.Event, int]]) -> None:
    """Enqueue the launches of a sweep, and wait each time that about a slice of ratings is in flight.

    *enqueued* is a lazy iterable. Each of its items enqueues a launch and yields the launch's event and number of
    ratings.
    """
    in_flight = 0
    with typed_errors("enqueueing a sweep"):
        for event, n_ratings in enqueued:
            in_flight += n_ratings
            if in_flight >= slice_size(plan.problem, plan.session.facts):
                plan.session.wait(event)
                in_flight = 0
