"""Training on several devices.

Each device keeps its users, and blocks of items move from device to device.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization import STRATEGIES
from clgraph.algorithms.factorization.factors import Backup, DeviceModel, Factors
from clgraph.algorithms.factorization.training.epochs import Epoch, Training
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.algorithms.factorization.training.strata import Strata
from clgraph.algorithms.factorization.training.training import Cell, checked_problem, finish_aside
from clgraph.data.ratings.ratings import Ratings
from clgraph.multi_device.team import Team
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.memory.arrays import DeviceArray


class TeamModel:
    """A model spread over several devices.

    Device d holds block d of the users and of the items, in its cell (d, d).
    """

    def __init__(self, strata: Strata, home: Sequence[DeviceModel], mean: float) -> None:
        self.mean, self._strata, self._home = mean, strata, home

    def set(self, factors: Factors) -> None:
        """Copy the *factors* of all users and items to the devices that train them."""
        for d, model in enumerate(self._home):
            model.set(self._strata.part(factors, d, d))

    def get(self) -> Factors:
        """Return copies on the host of the current factors and biases of all devices."""
        return self._strata.whole([model.get() for model in self._home])


class TeamFactorization(Training):
    """Training of a factorisation model on several devices.

    With n devices, an epoch has n strata. In stratum s device d trains block (d, (d + s) % n) with the named strategy.
    Then it gets the items of the next device.

    Parameters
    ----------
    devices : "all", or sequence of str, Session or pyopencl.Device
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
        There are no ratings, a device is named twice, or an error as with one device.
    NoDeviceError
        No device is given.
    """

    def __init__(
        self, devices: object, ratings: Ratings, *, rank: int, strategy: str, options: Mapping[str, Any] | None,
        deterministic: bool, n_epochs: int, storage: Any, biases: bool, mean: float | None,
        weights: NDArray[np.float32] | None = None,
    ) -> None:  # fmt: skip
        problem = checked_problem(ratings, rank, n_epochs, storage, biases, mean, weights)
        self._total_weight = problem.total_weight
        self._started, self.epochs = time.perf_counter(), []
        self.team = Team(devices)
        # With more devices than users or items, some devices would have nothing to train.
        n = self._n = min(len(self.team), *ratings.shape)
        self._strata = Strata(ratings, n)
        problems = self._strata.problems(problem)

        def cells(d: int) -> list[Cell]:
            return [Cell(self.team.sessions[d], each, strategy, options, deterministic) for each in problems[d]]

        # The blocks' cells are made one after the other, because drivers compile one program at a time.
        self._cells = [cells(d) for d in range(n)]
        home = [self._cells[d][d] for d in range(n)]
        self.model = TeamModel(self._strata, [cell.model for cell in home], home[0].model.mean)
        self._backups = [Backup(cell.model) for cell in home]
        choices = [(cell.errors.n, cell.choice) for row in self._cells for cell in row if cell.choice is not None]
        self._choice = max(choices, key=lambda choice: choice[0])[1]
        self.strategy = self._choice.strategy
        self._users, self._items = (
            (f"{side}_rows", f"{side}_biases") if biases else (f"{side}_rows",) for side in ("user", "item")
        )

    @property
    def sent_bytes(self) -> int:
        return self.team.sent_bytes

    def errors_on(self, ratings: Ratings) -> list[list[Errors]]:
        blocks = self._strata.blocks_of(ratings)
        return [
            [Errors(cell.session, each, cell.model) for cell, each in zip(*row, strict=True)]
            for row in zip(self._cells, blocks, strict=True)
        ]

    def save(self, epochs: list[Epoch]) -> None:
        for backup in self._backups:
            backup.save(epochs)

    def restore(self) -> list[Epoch]:
        return [backup.restore() for backup in self._backups][-1]

    def epoch(
        self, rate: float, regularization: float, evaluation: list[list[Errors]] | None, *, with_loss: bool = True
    ) -> Epoch:
        began = time.perf_counter()
        self._round(lambda d, q: self._cells[d][q].sweep(rate, regularization))
        seconds = time.perf_counter() - began

        def squares(d: int, q: int) -> tuple[float, float]:
            cell = self._cells[d][q]
            return cell.squares(cell.errors), 0.0 if evaluation is None else cell.squares(evaluation[d][q])

        found = self._round(squares)
        n = self._strata.ratings.n_ratings
        n_evaluated = 0 if evaluation is None else sum(errors.n for row in evaluation for errors in row)
        loss = math.sqrt(math.fsum(first for first, _ in found) / self._total_weight)
        eval_loss = math.sqrt(math.fsum(second for _, second in found) / n_evaluated) if n_evaluated else math.nan
        return Epoch(rate, loss, eval_loss, seconds, n / seconds)

    def _round(self, work: Callable[[int, int], Any]) -> list[Any]:
        """Call ``work(d, q)`` for each block of ratings, stratum by stratum.

        Afterwards all items are on their own devices.
        """
        n, found, everybody = self._n, [], range(self._n)
        for s in range(n):
            found += self.team.each(lambda d, s=s: work(d, (d + s) % n), everybody)  # type: ignore[misc]
            if n > 1:
                self._hand_on(s)
        return found

    def _hand_on(self, s: int) -> None:
        """After stratum *s*, copy each device's users to its next cell, and
        fetch the items that the next device has.
        """
        n = self._n

        def fetch(d: int) -> list[DeviceArray]:
            q, after = (d + s + 1) % n, (d + 1) % n
            return [self._sent(self._cells[after][q].model, self._cells[d][q].model, name) for name in self._items]

        def place(d: int) -> None:
            old, new = (self._cells[d][(d + s + k) % n].model.arrays for k in (0, 1))
            for name, array in zip(self._items, items[d], strict=True):
                new[name].copy_from(array)
            for name in self._users:
                new[name].copy_from(old[name])
            finish_aside(self.team.sessions[d])

        # All devices copy the item factors that they fetch before any array is overwritten.
        items = self.team.each(fetch, range(n))
        self.team.each(place, range(n))

    def _sent(self, source: DeviceModel, target: DeviceModel, name: str) -> DeviceArray:
        """Return a copy of the array *name* of the model *source* on the
        device of the model *target*, in its layout.
        """
        session, array = target.session, source.arrays[name]
        if array.size == target.arrays[name].size:
            return self.team.send(array, session)
        rows = array.get().reshape(-1, source.layout.padded)[:, : source.layout.rank]
        padded = np.zeros((len(rows), target.layout.padded), rows.dtype)
        padded[:, : rows.shape[1]] = rows
        return session.upload(padded.ravel())

    def info(self) -> RunInfo:
        seconds = Seconds(time.perf_counter() - self._started, math.nan, math.nan, math.nan)
        names, kind = "; ".join(self.team.names()[: self._n]), STRATEGIES[self.strategy].kind
        return RunInfo(self.strategy, kind, names, "devices= names them", seconds, self._choice.seconds, {})
