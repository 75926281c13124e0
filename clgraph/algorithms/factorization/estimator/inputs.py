"""The ratings in what users give to an estimator: pairs, a matrix, or Ratings, each with or without weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from clgraph.algorithms.factorization.training.epochs import UnseenPairs
from clgraph.algorithms.factorization.weights import checked_weights
from clgraph.arguments import refusing
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError

Weights = NDArray[np.float32] | None
"""The weight of each rating, in the order of the ratings, or ``None``."""
Pairs = tuple[ArrayLike, ArrayLike]
"""The ids of users and the ids of items."""


def are_pairs(X: Any) -> bool:
    """Return whether *X* is a dense array, frame or list with two columns, and so a list of (user, item) pairs."""
    if isinstance(X, Ratings) or issparse(X):
        return False
    with refusing("X", X, "Ratings, a scipy sparse array, or a dense array of ratings or pairs"):
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        return len(shape) == 2 and bool(shape[1] == 2)


def refuse_triples(X: Any) -> None:
    """Raise an :class:`InputError` if *X* is a frame with the three columns user, item and rating."""
    if hasattr(X, "columns") and getattr(X, "shape", ())[1:] == (3,):
        raise InputError(
            "X is a frame of three columns without y. If they are users, items and ratings, give the first two as X "
            "and the ratings as y. If they are all ratings of three items, give X.to_numpy()"
        )


def pair_ids(X: Any, array: NDArray[Any]) -> Pairs:
    """Return the user ids and the item ids of the pairs *X*, from which scikit-learn has made *array*.

    The ids of a frame are its own columns, because *array* has one type, which may round large ids. Object columns
    become lists, then numeric arrays if all are numbers.
    """
    if hasattr(X, "iloc"):
        return X.iloc[:, 0], X.iloc[:, 1]
    if hasattr(X, "to_series"):
        return X.to_series(0), X.to_series(1)
    users, items = (column.tolist() if column.dtype == object else column for column in array.T)
    return users, items


def ratings_of_pairs(pairs: Pairs, values: NDArray[Any]) -> Ratings:
    """Return the ratings *values* of (user, item) *pairs*.

    Several ratings of one pair are replaced by their mean.
    """
    return Ratings.from_triples(*pairs, values, ids="compact", duplicates="mean")


def ratings_of_matrix(X: Any) -> Ratings:
    """Return the entries of a matrix as Ratings: the stored entries of a
    sparse array, or all entries of a dense array but NaN.
    """
    if issparse(X):
        return Ratings.from_scipy(X)
    users, items = (each.ravel() for each in np.indices(X.shape, np.int32))
    values, (n_users, n_items) = X.ravel(), X.shape
    if (missing := np.isnan(values)).any():
        users, items, values = users[~missing], items[~missing], values[~missing]
    return Ratings.from_triples(users, items, values, n_users=n_users, n_items=n_items)


def split_pairs(known: Ratings, pairs: Pairs, values: NDArray[Any]) -> tuple[Ratings, UnseenPairs]:
    """Return the ratings of *pairs* whose user and item are *known*, with
    the numbers of the fit, and the other pairs.
    """
    ratings = ratings_of_pairs(pairs, values)
    assert ratings.user_ids is not None
    assert ratings.item_ids is not None
    users = known.user_index(ratings.user_ids, default=-1)[ratings.users]
    items = known.item_index(ratings.item_ids, default=-1)[ratings.items]
    seen = (users >= 0) & (items >= 0)
    return (
        Ratings.from_triples(
            users[seen], items[seen], ratings.values[seen], n_users=known.n_users, n_items=known.n_items
        ),
        UnseenPairs(users[~seen], items[~seen], ratings.values[~seen]),
    )


def numbered_as(known: Ratings, ratings: Ratings, *, new_users: bool) -> Ratings:
    """Return *ratings* with the user and item numbers of *known*, by ids if both have ids.

    *new_users* keep their numbers.
    """
    if ratings is known:
        return ratings
    users, items, n_users = ratings.users, ratings.items, ratings.n_users
    if ratings.item_ids is not None and known.item_ids is not None:
        items = _matched("item", items, ratings.item_ids, known.item_index(ratings.item_ids, default=-1))
    elif ratings.n_items != known.n_items:
        wanted = f"SGDMatrixFactorization is expecting {known.n_items} features as input"  # in scikit-learn's words
        raise InputError(f"X has {ratings.n_items} features, but {wanted}")
    if not new_users:
        n_users = known.n_users
        if ratings.user_ids is not None and known.user_ids is not None:
            users = _matched("user", users, ratings.user_ids, known.user_index(ratings.user_ids, default=-1))
        elif ratings.n_users != n_users:
            raise InputError(f"ratings of {ratings.n_users} users; the model was fitted on {n_users}")
    return Ratings.from_triples(users, items, ratings.values, n_users=n_users, n_items=known.n_items)


def _matched(kind: str, numbers: NDArray[np.int32], ids: ArrayLike, index: NDArray[np.int32]) -> NDArray[np.int32]:
    """Translate *numbers* of users or items (*kind*) to the numbers of the fit.

    The array *index* has them; -1 is unknown.
    """
    found: NDArray[np.int32] = index[numbers]
    if found.size and found.min() < 0:
        name = np.asarray(ids).tolist()[numbers[int((found < 0).argmax())]]
        raise InputError(f"{kind} {name!r} was not in the ratings of the fit")
    return found


def weighted_ratings(ratings: Ratings, sample_weight: Any) -> tuple[Ratings, Weights]:
    """Return *ratings* and the checked weights, which are in their order."""
    if sample_weight is None:
        return ratings, None
    return ratings, checked_weights("sample_weight", sample_weight, ratings.n_ratings)


def weighted_pairs(pairs: Pairs, values: NDArray[Any], sample_weight: Any) -> tuple[Ratings, Weights]:
    """Return the ratings *values* of *pairs*, and their weights in the order of the result.

    Several ratings of one pair are replaced by their weighted mean, and their weights by the mean of the weights.
    """
    ratings = ratings_of_pairs(pairs, values)
    if sample_weight is None:
        return ratings, None
    weights = checked_weights("sample_weight", sample_weight, len(values))
    ordered = ratings_of_pairs(pairs, weights).values
    if ratings.n_ratings < weights.size and weights.min() < weights.max():
        products = ratings_of_pairs(pairs, values.astype(np.float64) * weights).values
        means = np.divide(products, ordered, out=ratings.values.copy(), where=ordered > 0)
        ratings = replace(ratings, values=means)
    return ratings, ordered


def weighted_matrix(X: Any, sample_weight: Any) -> tuple[Ratings, Weights]:
    """Return the entries of the matrix *X* as Ratings, and their weights in the order of the result.

    *sample_weight* is in the order of ``X.data`` of a CSR array, or row by row of a dense array, also for its NaN.
    """
    ratings = ratings_of_matrix(X)
    if sample_weight is None:
        return ratings, None
    if not issparse(X):
        return ratings, checked_weights("sample_weight", sample_weight, X.size)[~np.isnan(X.ravel())]
    if X.format != "csr":
        raise InputError(
            f"sample_weight with a sparse array in format {X.format}; give X.tocsr(), and the weights in the order of "
            "its data"
        )
    entries = X.copy()
    entries.data = np.zeros(X.data.size, np.float32)
    entries.data[: X.nnz] = checked_weights("sample_weight", sample_weight, X.nnz)
    return ratings, Ratings.from_scipy(entries, duplicates="mean").values
