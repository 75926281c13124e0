"""Factorisation training on one device: sweeps of a strategy's plan, and the error after each sweep."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization import ALGORITHM, STRATEGIES, as_problem
from clgraph.algorithms.factorization.factors import Backup, DeviceModel, row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import MAX_RANK, FactorizationProblem, Storage
from clgraph.algorithms.factorization.training.epochs import Callback, Epoch, Training
from clgraph.algorithms.factorization.training.evaluation import Bounds, Errors
from clgraph.algorithms.factorization.weights import check_weighted_squares, checked_weights
from clgraph.arguments import checked_count
from clgraph.data.ratings.ratings import Ratings
from clgraph.engine.options import checked_options
from clgraph.errors import DeviceMemoryError, InputError
from clgraph.model.strategy import Choice
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.driver.timing import Recorder, RunInfo, Seconds
from clgraph.runtime.session import Session

__all__ = ["Callback", "Cell", "Epoch", "Factorization", "checked_problem", "finish_aside"]

_LARGEST_RATING = math.sqrt(float(np.finfo(np.float32).max))
# Bytes per rating while the plan is made, at the peak, for the strategy that needs the most memory.
_BYTES_PER_RATING = {
    "ratings": 12, "ratings in order": 16, "positions": 12, "keys to sort": 8, "sorted keys": 8, "keys in between": 8,
}  # fmt: skip


def checked_problem(
    ratings: Ratings, rank: int, n_epochs: int, storage: Storage, biases: bool, mean: float | None,
    weights: NDArray[np.float32] | None = None,
) -> FactorizationProblem:  # fmt: skip
    """Check the arguments of a training on *ratings*, and return the factorisation problem.

    There must be at least one rating, and one of positive weight. Squares of ratings must be finite in float32, also
    times the greatest weight, because kernels sum up squared errors in float32.
    """
    if not ratings.n_ratings:
        raise InputError("there are no ratings to train on; at least one is needed")
    checked_count("n_factors", rank, MAX_RANK)
    problem = as_problem(ratings, rank=rank, n_sweeps=n_epochs, storage=storage, biases=biases)
    largest = max(float(ratings.values.max()), float(ratings.values.min()), key=abs)
    if abs(largest) > _LARGEST_RATING:
        raise InputError(
            f"a rating of {largest:.3g}; the square of a rating must be finite in float32, so allowed are numbers up "
            f"to {_LARGEST_RATING:.3g} and down to minus that. Scale the ratings"
        )
    if weights is not None:
        problem = replace(problem, weights=checked_weights("weights", weights, ratings.n_ratings))
        check_weighted_squares(weights, abs(largest))
    return replace(problem, mean=problem.mean_rating if mean is None else mean)


def check_memory(session: Session, problem: FactorizationProblem) -> None:
    """Raise an error unless the ratings, the factors and a copy of the factors fit on the device.

    The error names the largest rank that fits. The memory of the ratings is an estimate: the peak is 64 bytes per
    rating, while the plan sorts them. It is 52 bytes on a CPU, which reads the ratings without a copy. With
    weights it is 72 bytes.
    """
    weighted = problem.weights is not None
    per_rating = _BYTES_PER_RATING | ({"weights": 4, "weights in order": 4} if weighted else {})
    if session.facts.is_cpu and not weighted:
        del per_rating["ratings"]
    needed = {name: n_bytes * problem.n for name, n_bytes in per_rating.items()}

    def check(rank: int) -> None:
        row_bytes = row_layout(rank, session.facts).padded * problem.number_type.itemsize
        n_users, n_items = problem.ratings.shape
        factors = {"user factors": n_users * row_bytes, "item factors": n_items * row_bytes}
        copies = {f"copy of the {name}": size for name, size in factors.items()}
        session.check_memory({**factors, **copies, **needed})

    def fits(rank: int) -> bool:
        try:
            check(rank)
        except DeviceMemoryError:
            return False
        return True

    try:
        check(problem.rank)
    except DeviceMemoryError as error:
        largest = next(filter(fits, range(problem.rank - 1, 0, -1)), 0)
        if not largest:
            raise
        raise InputError(f"n_factors={problem.rank}: {error}; the largest possible here is {largest}") from error


class Cell:
    """A block of ratings on a device, with the factors of its users and items.

    If it has ratings, it has a plan.

    If *deterministic*, ``"auto"`` chooses among offline strategies. ``choice.strategy`` is the strategy that runs.
    """

    plan: FactorizationPlan | None
    choice: Choice | None

    def __init__(
        self,
        session: Session,
        problem: FactorizationProblem,
        strategy: str,
        options: Mapping[str, Any] | None,
        deterministic: bool,
    ) -> None:
        self.session, self.plan, self.choice = session, None, None
        if problem.n:
            check_memory(session, problem)
            choice = ALGORITHM.choose(session, problem, strategy)
            if deterministic and strategy == "auto":
                offline = (name for name in choice.predicted if STRATEGIES[name].kind == "offline")
                choice = replace(choice, strategy=next(offline, choice.strategy))
            chosen = checked_options(STRATEGIES, choice, {} if options is None else options)
            self.choice, self.plan = choice, STRATEGIES[choice.strategy].plan(session, problem, **chosen)
        self.model = DeviceModel(session, problem) if self.plan is None else self.plan.model
        self.errors = Errors(session, problem.ratings, self.model, problem.weights)

    def sweep(self, rate: float, regularization: float) -> None:
        """Make one training step on each rating of this cell, and wait for the end."""
        if self.plan is not None:
            self.model.set_hyper(rate, regularization)
            self.plan.sweep()
            finish_aside(self.session)
            self.plan.check()

    def squares(self, errors: Errors) -> float:
        """Return the sum of squared errors of the cell's model that *errors*
        computes, on the cell's or other ratings.
        """
        if not errors.n:
            return 0.0
        self.session.commands.wait_aside(errors.begin())
        return errors.squares()


def finish_aside(session: Session) -> None:
    """Wait for all enqueued work of a session.

    Other threads may use the driver during the wait.
    """
    with session.driver, typed_errors("waiting for the device"):
        marker = cl.enqueue_marker(session.queue)
        session.queue.flush()
    session.commands.wait_aside(marker)


class Factorization(Training):
    """Training of a factorisation model on one device by one strategy.

    Parameters
    ----------
    session : Session
    ratings : Ratings
        At least one rating.
    rank : int
        Number of factors, 1 … 128.
    strategy : str
        A key of ``clgraph.algorithms.factorization.STRATEGIES``, or ``"auto"`` for the cost model's choice.
    options : mapping, optional
        Options of a named strategy: the keyword-only parameters of its plan.
    deterministic : bool
        ``"auto"`` chooses among offline strategies, whose results are the same in every run.
    n_epochs : int
        Number of sweeps for which ``"auto"`` predicts the times. The more, the more preprocessing pays.
    storage : {"float32", "float16"}
        Type of the factors in device memory.
    biases : bool
        Whether each user and item has a bias.
    mean : float, optional
        Constant that is added to every prediction; by default the (weighted) mean of the ratings.
    weights : float32 array, shape (n_ratings,), optional
        Factor of each rating's error in its step, and of its squared error in the loss. They are finite, at least 0,
        and not all 0.

    Attributes
    ----------
    model : DeviceModel
        All zeros until its ``set`` is called.
    plan : FactorizationPlan
    choice : Choice
        The cost model's predictions. Its ``strategy`` is the strategy that runs, even if *deterministic* changed it.
    strategy : str
        The strategy that runs.
    epochs : list of Epoch
        The epochs of the last ``train``, after its *history*.

    Raises
    ------
    InputError
        There are no ratings, the square of a rating is not finite in float32, an option is unknown to the strategy,
        or *rank* is out of range or too large for the device's memory.
    DeviceMemoryError
        The ratings alone do not fit in the device's memory.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    """

    model: DeviceModel
    may_skip_losses = True

    def __init__(
        self, session: Session, ratings: Ratings, *, rank: int = 16, strategy: str = "auto",
        options: Mapping[str, Any] | None = None, deterministic: bool = False, n_epochs: int = 20,
        storage: Storage = "float32", biases: bool = False, mean: float | None = None,
        weights: NDArray[np.float32] | None = None,
    ) -> None:  # fmt: skip
        problem = checked_problem(ratings, rank, n_epochs, storage, biases, mean, weights)
        self.session, self.ratings = session, ratings
        self.epochs: list[Epoch] = []
        self._started = time.perf_counter()
        self._parts = np.zeros(3)  # Seconds spent on compiling, on transfers and in kernels, in this order.
        self._kernels: dict[str, tuple[int, float]] = {}
        with session.measure() as recorder:
            cell = Cell(session, problem, strategy, options, deterministic)
            # Only a cell without ratings has no plan, and training has at least one rating.
            assert cell.choice is not None and cell.plan is not None
            self.choice, self.plan, self.model, self._errors = cell.choice, cell.plan, cell.model, cell.errors
            self.strategy = self.choice.strategy
            self._backup, self._bounds = Backup(self.model), Bounds(session, self.model)
        self._account(recorder)

    def errors_on(self, ratings: Ratings) -> Errors:
        return Errors(self.session, ratings, self.model)

    def save(self, n_epochs: int) -> None:
        self._backup.save(n_epochs)

    def restore(self) -> int:
        return self._backup.restore()

    def sweep(self, rate: float, regularization: float) -> float:
        self.model.set_hyper(rate, regularization)
        with self.session.measure() as recorder:
            self.plan.sweep()
            self.plan.check()
        return self._account(recorder).total

    def errors(self, evaluation: Errors | None, *, with_loss: bool) -> tuple[float, float]:
        eval_loss = math.nan if evaluation is None else evaluation.rmse()
        return (self._errors.rmse() if with_loss else math.nan), eval_loss

    def is_finite(self) -> bool:
        return self._bounds.hold()

    def predict(self, users: NDArray[np.int32], items: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the predicted ratings of (user, item) pairs as float32, shape (n,).

        The numbers must be in range.
        """
        predictions = self.session.empty(users.size, np.float32)
        of_users, of_items = (self.session.upload(np.ascontiguousarray(array, np.int32)) for array in (users, items))
        self._errors.program.bind(
            "predict",
            users.size * self.plan.lanes,
            self.model.scope,
            n=users.size,
            users=of_users,
            items=of_items,
            predictions=predictions,
        )()
        return predictions.get()

    def info(self) -> RunInfo:
        """Return the :class:`RunInfo` of all training epochs so far, with the times of preprocessing and of sweeps."""
        seconds = Seconds(time.perf_counter() - self._started, *self._parts.tolist())
        kind, facts = STRATEGIES[self.strategy].kind, self.session.facts
        return RunInfo(
            self.strategy, kind, facts.name, self.session.why, seconds, self.choice.seconds, dict(self._kernels)
        )

    def _account(self, recorder: Recorder) -> Seconds:
        """Add the times that *recorder* measured to the totals of this training, and return them."""
        assert recorder.seconds is not None
        seconds = recorder.seconds
        self._parts += (seconds.compile, seconds.transfer, seconds.kernel)
        for name, (n, kernel_seconds) in recorder.kernels().items():
            n_before, seconds_before = self._kernels.get(name, (0, 0.0))
            self._kernels[name] = n_before + n, seconds_before + kernel_seconds
        return seconds
