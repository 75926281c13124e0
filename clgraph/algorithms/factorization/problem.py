"""The problem of a factorisation: ratings, rank and settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from clgraph.arguments import check_choice, checked_count, checked_flag
from clgraph.data.ratings.ratings import Ratings, as_ratings
from clgraph.data.ratings.stats import RatingsStats
from clgraph.primitives.types import MAX_ITEMS

MAX_RANK = 128
_INT32_RATINGS = 2**31 - 2**24  # the room that is left is more than any kernel's stride
Storage = Literal["float32", "float16"]


@dataclass(frozen=True, eq=False)
class FactorizationProblem:
    """Ratings, and the model that is trained on them.

    Attributes
    ----------
    ratings : Ratings
    rank : int
        Number of factors.
    n_sweeps : int
        Sweeps that a run makes, and over which the preprocessing pays off.
    storage : {"float32", "float16"}
        Type of the factors in device memory; arithmetic is float32.
    biases : bool
        Whether users and items have a bias each.
    mean : float, optional
        It is added to every prediction; by default it is the mean of the ratings.
    learning_rate, regularization : float
        Used by a run; single sweeps take them from the model.
    seed : int
        A run starts from factors that this seed draws.
    checked : bool
        Kernels count the steps on every (user, item) pair, and the conflicts: for tests, on small inputs.
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
    checked: bool = False

    @cached_property
    def stats(self) -> RatingsStats:
        return self.ratings.stats

    @cached_property
    def n(self) -> int:
        """Number of ratings."""
        return self.ratings.n_ratings

    @cached_property
    def busiest(self) -> float:
        """The most ratings of one vertex."""
        return float(max(self.stats.max_user_degree, self.stats.max_item_degree))

    @property
    def n_rated_items(self) -> int:
        return self.stats.n_items - self.stats.n_empty_items

    @property
    def number_type(self) -> np.dtype[Any]:
        """Type of a factor in device memory."""
        return np.dtype(self.storage)

    @property
    def offset_type(self) -> np.dtype[Any]:
        """Type of positions of ratings on the device."""
        return offset_type(self.n)


def offset_type(n_ratings: int) -> np.dtype[Any]:
    """Return the type of positions on the device, if there are *n_ratings*."""
    return np.dtype(np.int32 if n_ratings < _INT32_RATINGS else np.int64)


def as_problem(
    ratings: Any, *, rank: int = 16, n_sweeps: int = 20, storage: Storage = "float32", biases: bool = False
) -> FactorizationProblem:
    """Check the arguments of a factorisation.

    The primitives that sort and count ratings take less than 2**31 of them, and so does a factorisation.
    """
    ratings = as_ratings(ratings)
    checked_count("n_ratings", ratings.n_ratings, MAX_ITEMS, least=0)
    check_choice("storage", storage, get_args(Storage))
    rank, n_sweeps = checked_count("rank", rank, MAX_RANK), checked_count("n_sweeps", n_sweeps, 2**31)
    return FactorizationProblem(ratings, rank, n_sweeps, storage, checked_flag("biases", biases))
