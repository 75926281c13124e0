"""The prediction error of a matrix factorisation, and a check of trained factors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError

Model = Sequence[NDArray[Any] | None]
"""User factors (n_users, rank), item factors (n_items, rank), and the biases of users and items or ``None``."""


def rmse(ratings: Ratings, model: Model, mean: float, weights: NDArray[Any] | None = None) -> float:
    """Return the root mean square error of a factorisation's predicted ratings, in float64; NaN without ratings.

    With *weights*, the mean is a weighted one.
    """
    p, q, b, c = [None if array is None else array.astype(np.float64) for array in (*model, None, None)[:4]]
    assert p is not None and q is not None
    errors = ratings.values - np.einsum("ij,ij->i", p[ratings.users], q[ratings.items]) - mean
    if b is not None and c is not None:
        errors -= b[ratings.users] + c[ratings.items]
    return math.sqrt(np.average(errors**2, weights=weights)) if errors.size else math.nan


def check_factorization(ratings: Ratings, model: Model) -> None:
    """Raise a :class:`VerificationError` unless *model* has finite factors and biases for each user and item."""
    names = ("user factors", "item factors", "user biases", "item biases")
    for name, array, n in zip(names, (*model, None, None)[:4], 2 * ratings.shape, strict=True):
        if array is None:
            continue
        if len(array) != n:
            raise VerificationError(f"{len(array)} {name}; needed: {n}")
        if not (finite := np.isfinite(array).reshape(n, -1).all(1)).all():
            raise VerificationError(f"{name}: row {int(finite.argmin())} is not finite")
