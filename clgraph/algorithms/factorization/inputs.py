"""What an estimator is given as Ratings, in the numbers of the users and items of its fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from clgraph.arguments import refusing
from clgraph.data.ratings import Ratings
from clgraph.errors import InputError


def are_pairs(X: Any) -> bool:
    """Tell whether *X* is a dense array, frame or list with two columns."""
    if isinstance(X, Ratings) or issparse(X):
        return False
    with refusing("X", X, "Ratings, a scipy sparse array, or a dense array of ratings or pairs"):
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        return len(shape) == 2 and bool(shape[1] == 2)


def pair_ids(pairs: NDArray[Any]) -> tuple[ArrayLike, ArrayLike]:
    """Return the ids of the users and those of the items; a list of objects may turn out to hold numbers only."""
    users, items = (column.tolist() if column.dtype == object else column for column in pairs.T)
    return users, items


def ratings_of_pairs(pairs: NDArray[Any], values: NDArray[Any]) -> Ratings:
    """Return the ratings *values* of *pairs*, several of one pair as their mean."""
    return Ratings.from_triples(*pair_ids(pairs), values, ids="compact", duplicates="mean")


def ratings_of_matrix(X: Any) -> Ratings:
    """Return a sparse array's stored entries, or all entries of a dense one."""
    if issparse(X):
        return Ratings.from_scipy(X)
    users, items = np.indices(X.shape, np.int32)
    n_users, n_items = X.shape
    return Ratings.from_triples(users.ravel(), items.ravel(), X.ravel(), n_users=n_users, n_items=n_items)


class UnseenPairs(NamedTuple):
    """Pairs to evaluate on whose user or item has no number in the fit, and their ratings.

    Attributes
    ----------
    users, items : int32 array, shape (n,)
        Numbers in the fit, -1 if unknown.
    values : float32 array, shape (n,)
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]


def split_pairs(known: Ratings, pairs: NDArray[Any], values: NDArray[Any]) -> tuple[Ratings, UnseenPairs]:
    """Return the ratings of *pairs* whose user and item *known* has, in its numbers, and the other ones."""
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
    """Return *ratings* in the numbers of *known*, matched by ids where both have some; users unless *new_users*."""
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
    """Return the numbers in the fit of users or items (*kind*); *index* gives them by id, -1 if unknown."""
    found: NDArray[np.int32] = index[numbers]
    if found.size and found.min() < 0:
        name = np.asarray(ids).tolist()[numbers[int((found < 0).argmax())]]
        raise InputError(f"{kind} {name!r} was not in the ratings of the fit")
    return found
