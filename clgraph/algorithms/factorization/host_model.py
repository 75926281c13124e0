"""Predictions of a fitted factorisation model, computed on the host."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import Factors
from clgraph.data.ratings.ratings import Ratings
from clgraph.data.ratings.stats import chunks


def item_means(factors: Factors, mean: float) -> NDArray[np.float64]:
    """Return the predicted rating of each item by a user without ratings, shape (n_items,)."""
    means = np.full(len(factors.item_factors), mean)
    return means if factors.item_biases is None else means + factors.item_biases


def predict_pairs(
    factors: Factors, mean: float, users: NDArray[np.int32], items: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the predicted ratings of (user, item) pairs as float32, shape (n,).

    A number of -1 stands for an unknown user or item. The prediction is then the mean plus the bias of the known one.
    """
    predictions, means = np.empty(users.size, np.float32), item_means(factors, mean)
    for chunk in chunks(users.size):
        user, item = users[chunk], items[chunk]
        rows = factors.user_factors[user], factors.item_factors[item]
        product = np.einsum("ij,ij->i", *rows, dtype=np.float64)
        product[(user < 0) | (item < 0)] = 0.0
        if factors.user_biases is not None:
            product += np.where(user < 0, 0.0, factors.user_biases[user])
        predictions[chunk] = product + np.where(item < 0, mean, means[item])
    return predictions


def fold_in(
    factors: Factors, mean: float, ratings: Ratings, regularization: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the factors and biases of new users by regularised least squares.

    The item factors stay fixed.

    A user's row and bias minimise the squared errors of the user's ratings plus *regularization* times the number of
    ratings times the squared norm. This is the training loss of one user, minimised exactly.

    Returns
    -------
    rows : float64 array, shape (n_users, rank)
        0 for users without ratings.
    biases : float64 array, shape (n_users,)
        0 for a model without biases.
    """
    design, means = factors.item_factors.astype(np.float64), item_means(factors, mean)
    rank = design.shape[1]
    if factors.user_biases is not None:
        design = np.column_stack((design, np.ones(len(design))))
    found = np.zeros((ratings.n_users, rank + 1))
    for user in np.flatnonzero(np.diff(ratings.user_offsets)):
        part = slice(*ratings.user_offsets[user : user + 2])
        items = ratings.items[part]
        a, b = design[items], ratings.values[part] - means[items]
        row = _least_squares(a, b, regularization * items.size)
        found[user, : row.size] = row
    return found[:, :rank], found[:, rank]


def _least_squares(a: NDArray[Any], b: NDArray[Any], weight: float) -> NDArray[Any]:
    """Return the x that minimises |a x - b|² + weight |x|².

    If several x do, return the shortest.
    """
    if weight > 0:
        # The matrix is singular if the factors are so large that rounding removes the weight.
        with contextlib.suppress(np.linalg.LinAlgError):
            return np.linalg.solve(a.T @ a + weight * np.eye(a.shape[1]), a.T @ b)
    shortest: NDArray[Any] = np.linalg.lstsq(a, b, rcond=None)[0]
    return shortest
