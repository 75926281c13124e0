"""Sequential oracle and checks of the definition for matrix factorisation by stochastic gradient descent."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.ratings import Ratings
from clgraph.errors import VerificationError

Model = Sequence[NDArray[Any] | None]
"""User rows (n_users, rank), item rows (n_items, rank), and the biases of users and items or ``None``."""


def sgd_sweep(
    ratings: Ratings, model: Model, order: Iterable[int], *, learning_rate: float, regularization: float, mean: float
) -> list[NDArray[Any] | None]:
    """Step on the ratings one after the other.

    Each step, with p and q the rows of the rating's user and item, b and c their biases, and every old
    value on the right-hand side, is

    * error = value − mean − b − c − p·q
    * p += learning_rate (error q − regularization p), and q likewise with p
    * b += learning_rate (error − regularization b), and c likewise

    Parameters
    ----------
    ratings : Ratings
    model : sequence of 2 or 4 arrays
        Rows and biases; not changed.
    order : iterable of int
        Positions of ratings.
    learning_rate, regularization, mean : float

    Returns
    -------
    list of 4 arrays
        In the types of *model*; the last two ``None`` without biases.
    """
    p, q, b, c = [None if array is None else array.copy() for array in (*model, None, None)[:4]]
    assert p is not None and q is not None
    for k in order:
        user, item = ratings.users[k], ratings.items[k]
        known = mean if b is None or c is None else mean + b[user] + c[item]
        error = ratings.values[k] - known - p[user] @ q[item]
        row = p[user].copy()
        p[user] += learning_rate * (error * q[item] - regularization * row)
        q[item] += learning_rate * (error * row - regularization * q[item])
        if b is not None and c is not None:
            b[user] += learning_rate * (error - regularization * b[user])
            c[item] += learning_rate * (error - regularization * c[item])
    return [p, q, b, c]


def rmse(ratings: Ratings, model: Model, mean: float) -> float:
    """Return the root mean square error, computed in float64; NaN without ratings."""
    p, q, b, c = [None if array is None else array.astype(np.float64) for array in (*model, None, None)[:4]]
    assert p is not None and q is not None
    errors = ratings.values - np.einsum("ij,ij->i", p[ratings.users], q[ratings.items]) - mean
    if b is not None and c is not None:
        errors -= b[ratings.users] + c[ratings.items]
    return math.sqrt(np.mean(errors**2)) if errors.size else math.nan


def check_factorization(
    ratings: Ratings,
    *,
    counts: NDArray[Any] | None = None,
    supersteps: tuple[NDArray[Any], NDArray[Any]] | None = None,
    model: Model | None = None,
    mean: float = 0.0,
    loss: float | None = None,
    tolerance: float = 1e-4,
) -> None:
    """Raise unless what is given of a run fits the definition of a sweep.

    Parameters
    ----------
    ratings : Ratings
    counts : integer array, shape (n_users, n_items), optional
        How often each pair was stepped on in one sweep: 1 where there is a rating, else 0.
    supersteps : (order, offsets), optional
        Positions of ratings in the order of the sweep, each once, and where in it supersteps begin and
        end, from 0 to n_ratings: no two ratings of one superstep share a user or an item.
    model : sequence of 2 or 4 arrays, optional
        Finite rows (and biases); with *loss* also their error.
    mean, loss : float
        The mean that predictions include, and the RMSE that was told, within *tolerance* of the direct
        computation in float64, as a share of it.

    Raises
    ------
    VerificationError
        Naming the rating, the superstep or the row that fails.
    """
    if counts is not None:
        _check_counts(ratings, counts)
    if supersteps is not None:
        _check_supersteps(ratings, *supersteps)
    if model is not None:
        _check_model(ratings, model)
        if loss is not None:
            expected = rmse(ratings, model, mean)
            if not math.isclose(loss, expected, rel_tol=tolerance, abs_tol=1e-6):
                raise VerificationError(f"an RMSE of {loss}; the factors have {expected}")


def _check_counts(ratings: Ratings, counts: NDArray[Any]) -> None:
    if counts.shape != ratings.shape:
        raise VerificationError(f"counts have shape {counts.shape}; needed: {ratings.shape}")
    expected = np.zeros(ratings.shape, np.int64)
    expected[ratings.users, ratings.items] = 1
    if (wrong := counts != expected).any():
        user, item = np.unravel_index(int(wrong.argmax()), ratings.shape)
        raise VerificationError(
            f"{counts[user, item]} steps on user {user}, item {item}, which has {expected[user, item]} ratings"
        )


def _check_supersteps(ratings: Ratings, order: NDArray[Any], offsets: NDArray[Any]) -> None:
    n = ratings.n_ratings
    if order.shape != (n,) or (n and not np.array_equal(np.sort(order), np.arange(n))):
        raise VerificationError(f"the order is not a permutation of {n} ratings")
    if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 0).any():
        raise VerificationError(f"supersteps from {offsets[0]} to {offsets[-1]}; needed: ascending from 0 to {n}")
    step = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    for kind, vertices in (("user", ratings.users[order]), ("item", ratings.items[order])):
        by_vertex = np.lexsort((vertices, step))
        same = (np.diff(step[by_vertex]) == 0) & (np.diff(vertices[by_vertex]) == 0)
        if same.any():
            at = by_vertex[int(same.argmax())]
            raise VerificationError(f"superstep {step[at]} has two ratings of {kind} {vertices[at]}")


def _check_model(ratings: Ratings, model: Model) -> None:
    names = ("user factors", "item factors", "user biases", "item biases")
    for name, array, n in zip(names, (*model, None, None)[:4], 2 * ratings.shape, strict=True):
        if array is None:
            continue
        if len(array) != n:
            raise VerificationError(f"{len(array)} {name}; needed: {n}")
        if not (finite := np.isfinite(array).reshape(n, -1).all(1)).all():
            raise VerificationError(f"{name}: row {int(finite.argmin())} is not finite")
