"""The problem of a matrix factorisation: ratings, rank and settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_choice, checked_count, checked_flag
from clgraph.data.ratings.ratings import Ratings, as_ratings
from clgraph.data.ratings.stats import RatingsStats
from clgraph.primitives.types import MAX_ITEMS

MAX_RANK = 128  # A row of factors has at most this many numbers.
# With fewer than 2^31 - 2^24 ratings, a rating's position plus the stride of any kernel fits int32.
_INT32_RATINGS = 2**31 - 2**24
Storage = Literal["float32", "float16"]


@dataclass(frozen=True, eq=False)
class FactorizationProblem:
    """A problem of matrix factorisation: ratings, and the settings of the model that is trained on the ratings.

    Attributes
    ----------
    ratings : Ratings
    rank : int
        Number of factors.
    n_sweeps : int
        Number of sweeps of a run. The cost model spreads the preprocessing over them.
    storage : {"float32", "float16"}
        Type of the factors in device memory; arithmetic is float32.
    biases : bool
        Whether users and items have a bias each.
    mean : float, optional
        Constant that is added to every prediction; by default the (weighted) mean of the ratings.
    learning_rate, regularization : float
        Settings of a run. Single sweeps use the model's settings.
    seed : int
        Seed of a run's initial factors.
    weights : float32 array, shape (n_ratings,), optional
        Factor of each rating's error in its step, and of its squared error in the loss; by default 1.
    checked : bool
        Let kernels count the steps on each (user, item) pair and the conflicts. For tests on small inputs.
    """

    ratings: Ratings
    rank: int = 16
    n_sweeps: int = 20
    storage: Storage = "float32"
    biases: bool = False
    mean: float | None = None
    learning_rate: float = 0.01
    regularization: float = 0.05
    seed: int = 0
    weights: NDArray[np.float32] | None = None
    checked: bool = False

    @cached_property
    def stats(self) -> RatingsStats:
        return self.ratings.stats

    @cached_property
    def n(self) -> int:
        """Number of ratings in the matrix."""
        return self.ratings.n_ratings

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights; without weights the number of ratings."""
        return float(self.n if self.weights is None else self.weights.sum(dtype=np.float64))

    @property
    def mean_rating(self) -> float:
        """The weighted mean of the ratings, 0 without ratings of positive weight.

        It has the same bits if all weights are 1 as without weights.
        """
        values = self.ratings.values if self.weights is None else self.ratings.values * self.weights
        return float(values.sum(dtype=np.float64)) / self.total_weight if self.total_weight else 0.0

    @property
    def weight_defines(self) -> dict[str, int]:
        """Preprocessor definitions of programs that read ratings: none without weights."""
        return {} if self.weights is None else {"WEIGHTED": 1}

    @cached_property
    def busiest(self) -> float:
        """The largest number of ratings of any user or item."""
        return float(max(self.stats.max_user_degree, self.stats.max_item_degree))

    @property
    def n_rated_items(self) -> int:
        return self.stats.n_items - self.stats.n_empty_items

    @property
    def number_type(self) -> np.dtype[Any]:
        """The numpy type of the factors in device memory."""
        return np.dtype(self.storage)

    @property
    def offset_type(self) -> np.dtype[Any]:
        """The integer type of a rating's position on the device."""
        return offset_type(self.n)


def offset_type(n_ratings: int) -> np.dtype[Any]:
    """Return the integer type of a rating's position on the device, if there are *n_ratings* ratings."""
    return np.dtype(np.int32 if n_ratings < _INT32_RATINGS else np.int64)


def as_problem(
    ratings: Any, *, rank: int = 16, n_sweeps: int = 20, storage: Storage = "float32", biases: bool = False
) -> FactorizationProblem:
    """Check arguments of the factorisation and return the problem, or raise an :class:`InputError`.

    There must be less than 2**31 ratings, because the primitives that sort and count them support no more.
    """
    ratings = as_ratings(ratings)
    checked_count("n_ratings", ratings.n_ratings, MAX_ITEMS, least=0)
    check_choice("storage", storage, get_args(Storage))
    rank, n_sweeps = checked_count("rank", rank, MAX_RANK), checked_count("n_sweeps", n_sweeps, 2**31)
    return FactorizationProblem(ratings, rank, n_sweeps, storage, checked_flag("biases", biases))
