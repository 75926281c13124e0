"""Training: sweeps of a strategy's plan, the error after each, and what to do when it goes wrong."""
from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization import ALGORITHM, STRATEGIES, as_problem
from clgraph.algorithms.factorization.backup import Backup
from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings
from clgraph.algorithms.factorization.limits import check_memory, check_squares
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import MAX_RANK, Storage, offset_type
from clgraph.algorithms.factorization.schedules import Schedule, capped, check_regularization
from clgraph.arguments import checked_count
from clgraph.data.ratings import Ratings
from clgraph.errors import ConvergenceWarning, InputError
from clgraph.model.strategy import checked_options
from clgraph.primitives.types import c_type
from clgraph.progress import begin
from clgraph.runtime.session import Session
from clgraph.runtime.timing import Recorder, RunInfo, Seconds

_EVALUATE = "factorization/evaluate.cl"
_GROUPS_PER_UNIT = 8


class Epoch(NamedTuple):
    """What happened in one epoch.

    Attributes
    ----------
    learning_rate : float
    loss : float
        Root mean square error on the training ratings, after the epoch.
    eval_loss : float
        The same on the evaluation ratings; NaN without them.
    seconds : float
        Time of the sweep alone.
    updates_per_second : float
        Training ratings by ``seconds``.
    """

    learning_rate: float
    loss: float
    eval_loss: float
    seconds: float
    updates_per_second: float


Callback = Callable[[int, Epoch], object]
"""``callback(number, epoch)`` after each epoch, numbered from 1; a true result stops the training."""


class Errors:
    """The error of a model on some ratings, computed on the device and the same in every run."""

    def __init__(self, session: Session, ratings: Ratings, model: DeviceModel) -> None:
        self._n = ratings.n_ratings
        self.program = session.program(_EVALUATE, {**model.defines(), "OFFSET_T": c_type(offset_type(self._n))})
        n_items = self._n * model.layout.lanes
        most = _GROUPS_PER_UNIT * session.facts.compute_units
        groups = min(most, max(1, -(-n_items // self.program.work_group_size)))
        self._partial = session.empty(groups, np.float32)
        self._launch = self.program.bind(
            "squared_errors", n_items, {**model.scope, **DeviceRatings.upload(session, ratings).scope}, n=self._n,
            partial=self._partial, max_groups=groups,
        )

    def rmse(self) -> float:
        """Return the root mean square error; NaN without ratings."""
        if not self._n:
            return math.nan
        self._launch()
        return math.sqrt(self._partial.get().sum(dtype=np.float64) / self._n)


class Factorization:
    """The model of some ratings on a device, and the strategy that trains it.

    Parameters
    ----------
    session : Session
    ratings : Ratings
        At least one.
    rank : int
        Number of factors, 1 … 128.
    strategy : str
        A key of ``clgraph.algorithms.factorization.STRATEGIES``, or ``"auto"`` for the cost model's choice.
    options : mapping, optional
        Options of a named strategy: the keyword-only parameters of its plan.
    deterministic : bool
        ``"auto"`` chooses among offline strategies, whose results are the same in every run.
    n_epochs : int
        How many sweeps ``"auto"`` should expect; preprocessing pays off over them.
    storage : {"float32", "float16"}
        Type of the factors in device memory.
    biases : bool
        A bias for each user and item.
    mean : float, optional
        Added to every prediction; by default the mean of the ratings.

    Attributes
    ----------
    model : DeviceModel
        Zero until its ``set``.
    plan : FactorizationPlan
    choice : Choice
        What the cost model predicted; its ``strategy`` is the one that runs, also if *deterministic* picked it.
    strategy : str
        The one that runs.
    epochs : list of Epoch
        What the last ``train`` did, after its *history*.

    Raises
    ------
    InputError
        There are no ratings, the square of one is not finite in float32, the strategy does not have an option,
        or *rank* is out of range or too large for the device's memory.
    DeviceMemoryError
        The ratings alone are too many for the device's memory.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    """

    def __init__(
        self, session: Session, ratings: Ratings, *, rank: int = 16, strategy: str = "auto",
        options: Mapping[str, Any] | None = None, deterministic: bool = False, n_epochs: int = 20,
        storage: Storage = "float32", biases: bool = False, mean: float | None = None,
    ) -> None:  # fmt: skip
        if not ratings.n_ratings:
            raise InputError("there are no ratings to train on; at least one is needed")
        checked_count("n_factors", rank, MAX_RANK)
        problem = as_problem(ratings, rank=rank, n_sweeps=n_epochs, storage=storage, biases=biases)
        check_squares(ratings)
        check_memory(session, problem)
        self.session, self.ratings = session, ratings
        self.epochs: list[Epoch] = []
        self._started = time.perf_counter()
        self._parts = np.zeros(3)  # seconds: compile, transfer, kernel
        self._kernels: dict[str, tuple[int, float]] = {}
        with session.measure() as recorder:
            self.choice = ALGORITHM.choose(session, problem, strategy)
            self.strategy = self.choice.strategy
            if deterministic and strategy == "auto":
                offline = (name for name in self.choice.predicted if STRATEGIES[name].kind == "offline")
                self.strategy = next(offline, self.strategy)
                self.choice = replace(self.choice, strategy=self.strategy)
            chosen = checked_options(STRATEGIES, self.choice, {} if options is None else options)
            problem = replace(problem, mean=mean)
            self.plan: FactorizationPlan = STRATEGIES[self.strategy].plan(session, problem, **chosen)
            self.model = self.plan.model
            self._errors = Errors(session, ratings, self.model)
            self._backup = Backup(self.model)
        self._account(recorder)

    def train(
        self,
        n_epochs: int,
        *,
        schedule: Schedule,
        regularization: float = 0.0,
        history: Sequence[Epoch] = (),
        eval_ratings: Ratings | None = None,
        tol: float | None = None,
        callback: Callback | None = None,
    ) -> list[Epoch]:
        """Run up to *n_epochs* sweeps.

        Parameters
        ----------
        n_epochs : int
        schedule : callable
            See :mod:`clgraph.algorithms.factorization.schedules`.
        regularization : float
            Factor of the squared norms of both rows (and biases) in the loss of a rating. A rate of *schedule*
            is lowered to 1/2 divided by it.
        history : sequence of Epoch
            Earlier epochs, which the schedule and the numbers of the new ones go on from.
        eval_ratings : Ratings, optional
            Ratings of the same users and items.
        tol : float, optional
            Stop after an epoch that lowers the error on *eval_ratings*, or without them on the
            training ratings, by less.
        callback : callable, optional
            See :data:`Callback`.

        Returns
        -------
        list of Epoch
            *history* and the new epochs.

        Raises
        ------
        BaseException
            Any, also Ctrl-C: after the factors of the last whole epoch are restored; ``epochs`` tells which
            that is.

        Warns
        -----
        ConvergenceWarning
            The error became infinite or NaN: the training ends, the last finite factors are restored.
        """
        check_regularization(regularization)
        evaluation = None if eval_ratings is None else Errors(self.session, eval_ratings, self.model)
        self.epochs = list(history)
        self._backup.save(self.epochs)
        tell = begin("fitting", n_epochs, "epochs")
        try:
            for done in range(1, n_epochs + 1):
                rate = schedule([e.learning_rate for e in self.epochs], [e.loss for e in self.epochs])
                rate = capped(rate, regularization)
                epoch = self._epoch(rate, regularization, evaluation)
                if not math.isfinite(epoch.loss):
                    self._backup.restore()
                    warnings.warn(
                        f"the error is {epoch.loss} after epoch {len(self.epochs) + 1} with learning rate {rate:.3g}; "
                        "the factors before it are kept. Use a smaller learning_rate",
                        ConvergenceWarning, stacklevel=2,
                    )  # fmt: skip
                    break
                self._backup.save([*self.epochs, epoch])
                self.epochs = [*self.epochs, epoch]
                tell(done, f"RMSE {epoch.loss:.4f}")
                if callback is not None and callback(len(self.epochs), epoch):
                    break
                if tol is not None and _improvement(self.epochs) < tol:
                    break
        except BaseException:
            self.epochs = self._backup.restore()
            raise
        return self.epochs

    def _epoch(self, rate: float, regularization: float, evaluation: Errors | None) -> Epoch:
        self.model.set_hyper(rate, regularization)
        with self.session.measure() as recorder:
            self.plan.sweep()
            self.plan.check()
        seconds = self._account(recorder).total
        eval_loss = math.nan if evaluation is None else evaluation.rmse()
        return Epoch(rate, self._errors.rmse(), eval_loss, seconds, self.ratings.n_ratings / seconds)

    def rmse(self) -> float:
        """Return the root mean square error on the training ratings now."""
        return self._errors.rmse()

    def predict(self, users: NDArray[np.int32], items: NDArray[np.int32]) -> NDArray[np.float32]:
        """Return the predicted ratings of pairs, whose numbers must be in range; float32, shape (n,)."""
        predictions = self.session.empty(users.size, np.float32)
        of_users, of_items = (self.session.upload(np.ascontiguousarray(array, np.int32)) for array in (users, items))
        self._errors.program.bind(
            "predict", users.size * self.plan.lanes, self.model.scope, n=users.size, users=of_users, items=of_items,
            predictions=predictions,
        )()
        return predictions.get()

    def info(self) -> RunInfo:
        """Return what ran until now, and where the time of preprocessing and sweeps went."""
        seconds = Seconds(time.perf_counter() - self._started, *self._parts.tolist())
        kind, facts = STRATEGIES[self.strategy].kind, self.session.facts
        return RunInfo(
            self.strategy, kind, facts.name, self.session.why, seconds, self.choice.seconds, dict(self._kernels)
        )

    def _account(self, recorder: Recorder) -> Seconds:
        """Add up what *recorder* saw."""
        assert recorder.seconds is not None
        seconds = recorder.seconds
        self._parts += (seconds.compile, seconds.transfer, seconds.kernel)
        for name, (n, kernel_seconds) in recorder.kernels().items():
            n_before, seconds_before = self._kernels.get(name, (0, 0.0))
            self._kernels[name] = n_before + n, seconds_before + kernel_seconds
        return seconds


def _improvement(epochs: Sequence[Epoch]) -> float:
    if len(epochs) < 2:
        return math.inf
    last, now = epochs[-2:]
    return last.loss - now.loss if math.isnan(now.eval_loss) else last.eval_loss - now.eval_loss
