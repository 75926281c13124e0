"""The blocks of ratings of one device in a training on several devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import Backup, DeviceModel, Factors
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.training.evaluation import Bounds, Errors
from clgraph.algorithms.factorization.training.training import Cell
from clgraph.data.ratings.ratings import Ratings
from clgraph.model.strategy import Choice
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session


class DeviceBlocks:
    """The blocks of one device: the ratings of its users, with a block for each device's items.

    Attributes
    ----------
    cells : list of Cell
        A cell for each block.
    home : Cell
        The cell of the device's own items. Between sweeps it has the factors of the device's users and items.
    """

    def __init__(
        self, session: Session, place: int, problems: Sequence[FactorizationProblem], strategy: str,
        options: Mapping[str, Any] | None, deterministic: bool,
    ) -> None:  # fmt: skip
        self.session = session
        self.cells = [Cell(session, each, strategy, options, deterministic) for each in problems]
        self.home = self.cells[place]
        self._backup, self._bounds = Backup(self.home.model), Bounds(session, self.home.model)
        self._evaluation: list[Errors] = []

    def choice(self) -> tuple[int, Choice] | None:
        """Return the number of ratings of the largest block, and the choice of its strategy; ``None`` without any."""
        found = [(cell.errors.n, cell.choice) for cell in self.cells if cell.choice is not None]
        return max(found, key=lambda each: each[0], default=None)

    def set(self, factors: Factors) -> None:
        """Copy the *factors* of the device's users and items to the device."""
        self.home.model.set(factors)

    def get(self) -> Factors:
        """Return copies on the host of the factors of the device's users and items."""
        return self.home.model.get()

    def save(self, n_epochs: int) -> None:
        """Save the factors, and *n_epochs*, the number of epochs that trained them."""
        self._backup.save(n_epochs)

    def restore(self) -> int:
        """Restore the factors that were saved last, and return the number of epochs that trained them."""
        return self._backup.restore()

    def evaluate_on(self, blocks: Sequence[Ratings]) -> None:
        """Evaluate the model on *blocks* from now on."""
        self._evaluation = [Errors(cell.session, b, cell.model) for cell, b in zip(self.cells, blocks, strict=True)]

    def sweep(self, q: int, rate: float, regularization: float) -> None:
        """Make one training step on each rating of block *q*."""
        self.cells[q].sweep(rate, regularization)

    def begin_sweep(self, q: int, rate: float, regularization: float) -> None:
        """Enqueue one training step on each rating of block *q*."""
        cell = self.cells[q]
        if cell.plan is not None:
            cell.model.set_hyper(rate, regularization)
            cell.plan.sweep()

    def check(self, q: int) -> None:
        """Raise an error if the sweep of block *q* that has ended has failed."""
        if (plan := self.cells[q].plan) is not None:
            plan.check()

    def squares(self, q: int, with_loss: bool, with_evaluation: bool) -> tuple[float, float]:
        """Return the sums of squared errors on block *q*, and on the same block of the evaluation ratings.

        A sum that is not wanted is 0.
        """
        cell = self.cells[q]
        return (
            cell.squares(cell.errors) if with_loss else 0.0,
            cell.squares(self._evaluation[q]) if with_evaluation else 0.0,
        )

    def is_finite(self) -> bool:
        """Return whether the factors of the device's users and items give finite errors."""
        return self._bounds.hold()

    def arrays(self, q: int, side: str) -> dict[str, DeviceArray]:
        """Return the factors, and biases, of a *side*, ``"user"`` or ``"item"``, in the cell of block *q*."""
        model = self.cells[q].model
        names = (f"{side}_rows", f"{side}_biases") if model.biases else (f"{side}_rows",)
        return {name: model.arrays[name] for name in names}

    def move_users(self, before: int, q: int) -> None:
        """Copy the users' factors from the cell of block *before* to the cell of block *q*."""
        targets = self.arrays(q, "user")
        for name, array in self.arrays(before, "user").items():
            targets[name].copy_from(array)


def in_layout(rows: NDArray[Any], n: int, model: DeviceModel, padded: int) -> NDArray[Any]:
    """Return *rows* of *n* users or items, each padded to *padded* numbers, in the layout of *model*."""
    if padded == model.layout.padded:
        return rows
    changed = np.zeros((n, model.layout.padded), rows.dtype)
    changed[:, : model.layout.rank] = rows.reshape(n, padded)[:, : model.layout.rank]
    return changed.ravel()
