"""The base class of Ratings: checked arrays, and properties that are computed from the arrays on first use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from clgraph.arguments import checked_flag
from clgraph.data.graphs.csr import owned
from clgraph.data.graphs.graph_arrays import read_only
from clgraph.data.graphs.pairs import in_threads
from clgraph.data.ratings.stats import RatingsStats, chunks, ratings_stats
from clgraph.data.ratings.triples import (
    checked_ids,
    checked_size,
    checked_triples,
    first_unsorted,
    index_of,
    numbers_of,
)
from clgraph.errors import InputError

_SEARCHED = 1 << 15  # users. A thread searches the first ratings of this many users, which takes about 5 ms.


@dataclass(init=False, frozen=True, eq=False, repr=False)
class RatingsArrays:
    """The checked, read-only arrays of a rating matrix, which :class:`clgraph.Ratings` documents."""

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_users: int
    n_items: int
    user_ids: NDArray[Any] | None = None
    item_ids: NDArray[Any] | None = None

    def __init__(
        self,
        users: ArrayLike,
        items: ArrayLike,
        values: ArrayLike,
        n_users: int,
        n_items: int,
        user_ids: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        *,
        copy: bool = True,
    ) -> None:
        copy = checked_flag("copy", copy)
        n_users, n_items = checked_size("users", n_users), checked_size("items", n_items)
        rows, columns, data = checked_triples(users, items, values, n_users, n_items)
        if wrong := first_unsorted(rows, columns):
            raise InputError(
                f"rating {wrong} is of user {rows[wrong]}, item {columns[wrong]}, the one before it of user "
                f"{rows[wrong - 1]}, item {columns[wrong - 1]}; needed: sorted by user, then item, without "
                "repeats; Ratings.from_triples sorts"
            )
        given = users, items, values, user_ids, item_ids
        names = checked_ids("user_ids", user_ids, n_users), checked_ids("item_ids", item_ids, n_items)
        arrays = [
            array if array is None or not copy else owned(array, source)
            for array, source in zip((rows, columns, data, *names), given, strict=True)
        ]
        self._fill(*arrays[:3], n_users, n_items, *arrays[3:])

    def _fill(self, *values: Any) -> None:
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, read_only(value) if isinstance(value, np.ndarray) else value)

    @classmethod
    def _trusted(
        cls,
        users: NDArray[np.int32],
        items: NDArray[np.int32],
        values: NDArray[np.float32],
        n_users: int,
        n_items: int,
        user_ids: NDArray[Any] | None = None,
        item_ids: NDArray[Any] | None = None,
    ) -> Self:
        """Return a rating matrix of these arrays without checks, because the arrays are valid by construction."""
        ratings = object.__new__(cls)
        ratings._fill(users, items, values, n_users, n_items, user_ids, item_ids)
        return ratings

    def __repr__(self) -> str:
        return f"Ratings(n_users={self.n_users}, n_items={self.n_items}, n_ratings={self.n_ratings})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._fill(*state.values())

    @property
    def n_ratings(self) -> int:
        """Number of ratings in the matrix."""
        return self.values.size

    @property
    def shape(self) -> tuple[int, int]:
        """Number of users and number of items, ``(n_users, n_items)``."""
        return self.n_users, self.n_items

    @property
    def nbytes(self) -> int:
        """Size in bytes of the arrays ``users``, ``items`` and ``values``."""
        return self.users.nbytes + self.items.nbytes + self.values.nbytes

    @cached_property
    def user_offsets(self) -> NDArray[np.int64]:
        """The ratings of user ``u`` are at ``user_offsets[u]:user_offsets[u + 1]``; int64, shape (n_users + 1,)."""
        users = np.arange(self.n_users + 1, dtype=np.int32)
        pieces = [users[first : first + _SEARCHED] for first in range(0, users.size, _SEARCHED)]
        offsets: NDArray[np.int64] = read_only(np.concatenate([*in_threads(self.users.searchsorted, pieces)]))
        return offsets

    @cached_property
    def item_offsets(self) -> NDArray[np.int64]:
        """The ratings of item ``i`` are ``item_order[item_offsets[i]:item_offsets[i + 1]]``."""
        counts = np.zeros(self.n_items + 1, np.int64)
        pieces = [self.items[chunk] for chunk in chunks(self.n_ratings, at_least=8 * self.n_items)]
        for of_piece in in_threads(np.bincount, pieces):
            counts[1 : 1 + of_piece.size] += of_piece
        offsets: NDArray[np.int64] = read_only(np.cumsum(counts, out=counts))
        return offsets

    @cached_property
    def item_order(self) -> NDArray[Any]:
        """Positions of the ratings, sorted by item, then user; shape (n_ratings,), int32, or int64 from 2**31 on."""
        positions = np.arange(self.n_ratings, dtype=np.int32 if self.n_ratings < 2**31 else np.int64)
        by_item = csr_array((positions, self.items, self.user_offsets), shape=self.shape).tocsc()
        order: NDArray[Any] = read_only(by_item.data)
        return order

    @cached_property
    def stats(self) -> RatingsStats:
        """Statistics of this rating matrix, from which the cost model predicts run times."""
        return ratings_stats(self)

    def user_index(self, ids: ArrayLike, *, default: int | None = None) -> NDArray[np.int32]:
        """Return the row numbers of the users with these *ids*.

        Parameters
        ----------
        ids : array, shape (n,)
            Ids as in ``user_ids``; row numbers if that is ``None``.
        default : int, optional
            The number to return for an unknown id, such as -1.

        Returns
        -------
        int32 array, shape (n,)

        Raises
        ------
        InputError
            An id is unknown and there is no *default*.
        """
        return index_of("user", self._user_numbers, self.n_users, ids, default)

    def item_index(self, ids: ArrayLike, *, default: int | None = None) -> NDArray[np.int32]:
        """Return the column numbers of the items with these *ids*.

        The parameters are as in :meth:`user_index`.
        """
        return index_of("item", self._item_numbers, self.n_items, ids, default)

    @cached_property
    def _user_numbers(self) -> dict[Any, int] | None:
        return numbers_of(self.user_ids)

    @cached_property
    def _item_numbers(self) -> dict[Any, int] | None:
        return numbers_of(self.item_ids)
