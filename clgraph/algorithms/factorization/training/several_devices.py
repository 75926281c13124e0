"""Training on several devices, each of which keeps its users, while blocks of items move from device to device."""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization import STRATEGIES
from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.training.epochs import Training
from clgraph.algorithms.factorization.training.strata import Strata
from clgraph.algorithms.factorization.training.training import checked_problem
from clgraph.data.ratings.ratings import Ratings
from clgraph.multi_device.interrupts import delayed_interrupt
from clgraph.runtime.driver.timing import RunInfo, Seconds


class SpreadModel:
    """A model spread over several devices.

    Device d holds block d of the users and of the items, in its cell (d, d).
    """

    def __init__(self, training: SeveralDevices, strata: Strata, mean: float) -> None:
        self.mean, self._training, self._strata = mean, training, strata

    def set(self, factors: Factors) -> None:
        """Copy the *factors* of all users and items to the devices that train them."""
        parts = [self._strata.part(factors, d, d) for d in range(self._strata.n_blocks)]
        self._training.call("set", parts)

    def get(self) -> Factors:
        """Return copies on the host of the current factors and biases of all devices."""
        return self._strata.whole(self._training.call("get"))


class SeveralDevices(Training):
    """Base class of trainings of a factorisation model on several devices.

    With n devices, an epoch has n strata. In stratum s device d trains block (d, (d + s) % n) with the named strategy.
    Then it gets the items of the next device, so after the last stratum it has its own items again. For the loss, each
    device gets the items of all other devices.

    Parameters
    ----------
    n_devices : int
    ratings, rank, strategy, options, deterministic, n_epochs, storage, biases, mean, weights
        As in :class:`~clgraph.algorithms.factorization.training.training.Factorization`. ``"auto"`` chooses for each
        block.

    Attributes
    ----------
    strategy : str
        The strategy of the largest block.
    sent_bytes : int
        Number of bytes sent between devices so far.

    Raises
    ------
    InputError
        There are no ratings, or an error as with one device.
    """

    may_skip_losses = True
    sent_bytes: int
    _empty: Callable[[int, Any], NDArray[Any]] = staticmethod(np.empty)  # Makes the arrays of the blocks of ratings.

    def __init__(
        self, n_devices: int, ratings: Ratings, *, rank: int, strategy: str, options: Mapping[str, Any] | None,
        deterministic: bool, n_epochs: int, storage: Any, biases: bool, mean: float | None,
        weights: NDArray[np.float32] | None = None,
    ) -> None:  # fmt: skip
        self._started, self.epochs, self.ratings = time.perf_counter(), [], ratings
        problem = checked_problem(ratings, rank, n_epochs, storage, biases, mean, weights)
        assert problem.mean is not None
        self._total_weight = problem.total_weight
        # With more devices than users or items, some devices would have nothing to train.
        self._n = min(n_devices, *ratings.shape)
        self._strata = Strata(ratings, self._n, self._empty)
        self._make(self._strata.problems(problem), strategy, options, deterministic)
        self.model = SpreadModel(self, self._strata, problem.mean)
        self._choice = max((each for each in self.call("choice") if each is not None), key=lambda each: each[0])[1]
        self.strategy = self._choice.strategy

    @abstractmethod
    def _make(
        self, problems: Sequence[Sequence[FactorizationProblem]], strategy: str, options: Mapping[str, Any] | None,
        deterministic: bool,
    ) -> None:  # fmt: skip
        """Make the :class:`DeviceBlocks` of each device."""

    @abstractmethod
    def call(self, method: str, *arguments: Sequence[Any]) -> list[Any]:
        """Return the result of *method* of each device's blocks, with one item of each of the *arguments*."""

    def sweep(self, rate: float, regularization: float) -> float:
        began = time.perf_counter()
        self._sweep(rate, regularization)
        return time.perf_counter() - began

    @abstractmethod
    def _sweep(self, rate: float, regularization: float) -> None:
        """Make one training step on each rating, stratum by stratum."""

    @abstractmethod
    def _squares(self, with_loss: bool, with_evaluation: bool) -> list[tuple[float, float]]:
        """Return the results of ``DeviceBlocks.squares`` for all blocks of ratings."""

    @abstractmethod
    def _names(self) -> list[str]:
        """Return the names of the devices."""

    def errors_on(self, ratings: Ratings) -> int:
        """Evaluate the model on *ratings*, and return their number."""
        self._evaluation = self._strata.blocks_of(ratings)  # A CPU reads these ratings during the training.
        self.call("evaluate_on", self._evaluation)
        return ratings.n_ratings

    def save(self, n_epochs: int) -> None:
        with delayed_interrupt():  # Otherwise some devices might save this epoch, and others the one before.
            self.call("save", [n_epochs] * self._n)

    def restore(self) -> int:
        n_epochs: int = self.call("restore")[-1]
        return n_epochs

    def is_finite(self) -> bool:
        return all(self.call("is_finite"))

    def errors(self, evaluation: int | None, *, with_loss: bool) -> tuple[float, float]:
        if not (with_loss or evaluation):
            return math.nan, math.nan
        sums = map(math.fsum, zip(*self._squares(with_loss, bool(evaluation)), strict=True))
        totals = (self._total_weight if with_loss else math.nan), (evaluation or math.nan)
        loss, eval_loss = (math.sqrt(squares / total) for squares, total in zip(sums, totals, strict=True))
        return loss, eval_loss

    def info(self) -> RunInfo:
        seconds = Seconds(time.perf_counter() - self._started, math.nan, math.nan, math.nan)
        names, kind = "; ".join(self._names()), STRATEGIES[self.strategy].kind
        return RunInfo(self.strategy, kind, names, "devices= names them", seconds, self._choice.seconds, {})
