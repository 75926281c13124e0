"""A factorisation model in device memory: rows of factors, biases and hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.problem import MAX_RANK, FactorizationProblem
from clgraph.arguments import checked_flag, checked_number
from clgraph.data.ratings.ratings import Ratings
from clgraph.device.facts import DeviceFacts
from clgraph.errors import InputError
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_MAX_PADDING = 1.25  # A row of factors may be padded to at most this multiple of its rank.
MOST_SHRINKING = 0.5  # Regularisation may remove at most this share of a row of factors in one training step.


@dataclass(frozen=True)
class RowLayout:
    """The layout of a row of factors in memory and over the lanes that share it (cl/factorization/model.h)."""

    rank: int
    vector_width: int
    vectors: int
    lanes: int

    @property
    def padded(self) -> int:
        return self.vector_width * self.vectors * self.lanes

    def defines(self) -> dict[str, int | str]:
        return {"VECTOR_WIDTH": self.vector_width, "VECTORS": self.vectors, "LANES": self.lanes}


def row_layout(rank: int, facts: DeviceFacts) -> RowLayout:
    """Return the layout of factor rows with the widest vectors (CPUs) or most
    lanes (GPUs) and at most a quarter of padding.
    """
    if not 1 <= rank <= MAX_RANK:
        raise InputError(f"rank {rank}; allowed are 1 … {MAX_RANK}")
    return _row_layout(rank, facts.sub_group_size, (16, 8, 4) if facts.is_cpu or facts.sub_group_size == 1 else (4,))


@lru_cache  # The results are cached, because each choice of a strategy calls this function dozens of times.
def _row_layout(rank: int, most_lanes: int, widths: tuple[int, ...]) -> RowLayout:
    layouts = []
    for width in widths:
        lanes = 1
        while lanes <= most_lanes:
            layouts.append(RowLayout(rank, width, max(1, math.ceil(rank / (width * lanes))), lanes))
            lanes *= 2
    limit = max(_MAX_PADDING * rank, min(layout.padded for layout in layouts))
    fitting = (layout for layout in layouts if layout.padded <= limit)
    return max(fitting, key=lambda layout: (layout.lanes, layout.vector_width))


class Factors(NamedTuple):
    """Copies of a factorisation model on the host, float32:
    factors of shape (n, rank), biases of shape (n,) or ``None``.
    """

    user_factors: NDArray[np.float32]
    item_factors: NDArray[np.float32]
    user_biases: NDArray[np.float32] | None = None
    item_biases: NDArray[np.float32] | None = None


def initial_factors(
    n_users: int, n_items: int, rank: int, *, scale: float, biases: bool, rng: np.random.Generator
) -> Factors:
    """Return random factors from a normal distribution of standard deviation ``scale / sqrt(rank)``, and biases of 0.

    With a small *scale*, all first predictions are near the mean of the ratings.
    """
    scale, biases = checked_number("init_scale", scale), checked_flag("biases", biases)
    deviation = np.float32(scale / math.sqrt(rank))
    rows = [deviation * rng.standard_normal((n, rank), np.float32) for n in (n_users, n_items)]
    zeros = [np.zeros(n, np.float32) for n in (n_users, n_items)] if biases else [None, None]
    return Factors(rows[0], rows[1], zeros[0], zeros[1])


class DeviceModel:
    """A factorisation model in device memory: factors and biases of users and items.

    Attributes
    ----------
    mean : float
        Constant that is added to every prediction.
    arrays : dict of str to DeviceArray
        The rows and biases, by their names in the kernels. Sweeps change them.
    scope : dict of str to Any
        The arguments for the parameters MODEL_PARAMS of cl/factorization/model.h.
    """

    def __init__(self, session: Session, problem: FactorizationProblem) -> None:
        self.session, self.biases, self.checked = session, problem.biases, problem.checked
        ratings = problem.ratings
        self.n_users, self.n_items = n_users, n_items = ratings.shape
        self.mean = problem.mean_rating if problem.mean is None else problem.mean
        self.layout, self._type = row_layout(problem.rank, session.facts), problem.number_type
        row_bytes = self.layout.padded * self._type.itemsize
        session.check_memory({"user factors": n_users * row_bytes, "item factors": n_items * row_bytes})
        self._hyper = session.empty(3, np.float32)
        self._rows = [session.zeros(n * self.layout.padded, self._type) for n in (n_users, n_items)]
        self._biases = [session.zeros(n if self.biases else 1, np.float32) for n in (n_users, n_items)]
        names = "user_rows", "item_rows", "user_biases", "item_biases"
        self.arrays = dict(zip(names, [*self._rows, *self._biases], strict=True))
        sizes = {"updates": n_users * n_items, "user_marks": n_users, "item_marks": n_items, "violations": 1}
        self._checks = {name: session.zeros(n, np.uint32) for name, n in sizes.items()} if self.checked else {}
        self.scope: dict[str, Any] = {"hyper": self._hyper, "n_items": n_items, **self.arrays, **self._checks}
        self.set_hyper(0.0, 0.0)

    def defines(self) -> dict[str, int | str]:
        """Return the preprocessor definitions that all kernels for this factorisation model need."""
        return {
            **self.layout.defines(),
            "HALF_STORAGE": int(self._type.itemsize == 2),
            "BIASES": int(self.biases),
            "CHECK_UPDATES": int(self.checked),
        }

    def set_hyper(self, learning_rate: float, regularization: float) -> None:
        """Set the learning rate and the regularization of the next training sweeps.

        Raises
        ------
        InputError
            Either is negative or not finite, or their product is above 1/2. A step shrinks rows by this product.
        """
        shrinking = learning_rate * regularization
        if not (0 <= learning_rate < math.inf and 0 <= regularization < math.inf and shrinking <= MOST_SHRINKING):
            raise InputError(
                f"learning rate {learning_rate} and regularization {regularization}; both must be finite and at least "
                f"0, and their product at most {MOST_SHRINKING}"
            )
        self._hyper.set(np.array([learning_rate, 1.0 - learning_rate * regularization, self.mean], np.float32))

    def set(self, factors: Factors) -> None:
        """Copy the *factors* of a model from the host to the device."""
        rank = self.layout.rank
        for array, n, host in zip(self._rows, (self.n_users, self.n_items), factors[:2], strict=True):
            if host is None or host.shape != (n, rank):
                raise InputError(f"factors of shape {np.shape(host)}; expected {(n, rank)}")
            padded = np.zeros((n, self.layout.padded), self._type)
            padded[:, :rank] = host
            array.set(padded.ravel())
        if self.biases:
            for array, biases in zip(self._biases, factors[2:], strict=True):
                array.set(np.zeros(array.size, np.float32) if biases is None else biases)

    def get(self) -> Factors:
        """Return copies of the model's current factors and biases on the host."""
        rank, padded = self.layout.rank, self.layout.padded
        rows = (array.get().reshape(-1, padded)[:, :rank].astype(np.float32) for array in self._rows)
        return Factors(*rows, *((array.get() for array in self._biases) if self.biases else (None, None)))

    def take_checks(self) -> tuple[NDArray[np.uint32], int]:
        """Return the training steps on each (user, item) pair and the number of conflicts.

        Both counters start again at 0.
        """
        counts = self._checks["updates"].get().reshape(self.n_users, self.n_items)
        conflicts = self._checks["violations"].item()
        for array in self._checks.values():
            array.fill(0)
        return counts, conflicts


class Backup:
    """A copy of a factorisation model in device memory, with the number of epochs that trained the model.

    One reference names both the arrays that hold consistent factors and this number. An interrupt during :meth:`save`
    therefore finds either the old pair or the new one. While the copy is being made no sweep runs, so the model's own
    arrays are consistent and the reference names them.
    """

    def __init__(self, model: DeviceModel) -> None:
        self._session = model.session
        self._live = list(model.arrays.values())
        self._copies = [self._session.empty(array.size, array.dtype) for array in self._live]
        self._whole: tuple[list[Any], int] = self._live, 0

    def save(self, n_epochs: int) -> None:
        """Save a copy of the current model on the device, with *n_epochs*, the number of epochs that trained it."""
        self._whole = self._live, n_epochs
        self._copy(self._live, self._copies)
        self._whole = self._copies, n_epochs

    def restore(self) -> int:
        """Restore the model that was saved last, and return the number of epochs that trained it."""
        arrays, n_epochs = self._whole
        if arrays is not self._live:
            self._copy(arrays, self._live)
        return n_epochs

    def _copy(self, sources: Sequence[Any], targets: Sequence[Any]) -> None:
        with typed_errors("copying factors on the device"):
            for source, target in zip(sources, targets, strict=True):
                with self._session.driver:
                    event = cl.enqueue_copy(self._session.queue, target.buffer, source.buffer, byte_count=source.nbytes)
                self._session.commands.record_transfer(event)
        self._session.finish()


RatingArrays: TypeAlias = dict[str, DeviceArray]
"""``users``, ``items`` and ``values`` of ratings in device memory, in the order in which a sweep visits them."""


def upload_ratings(session: Session, ratings: Ratings, weights: NDArray[np.float32] | None = None) -> RatingArrays:
    """Copy *ratings* to the device in the order in which they are stored: by user, then by item.

    With *weights*, each value is followed by its weight (cl/factorization/values.h).
    """
    values = ratings.values if weights is None else np.column_stack((ratings.values, weights)).ravel()
    arrays = {"users": ratings.users, "items": ratings.items, "values": values}
    return {name: session.upload(array) for name, array in arrays.items()}
