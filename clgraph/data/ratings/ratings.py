"""The Ratings class: a sparse matrix of users' ratings of items, validated once, then immutable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from clgraph.arguments import (
    Seed,
    check_choice,
    checked_count,
    checked_flag,
    checked_number,
    checked_seed,
    shown,
)
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import as_integers, owned
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import sorted_csr
from clgraph.data.graphs.sparse import checked_matrix
from clgraph.data.ratings.arrays import RatingsArrays
from clgraph.data.ratings.planted import planted_factors, planted_values
from clgraph.data.ratings.triples import (
    DuplicateRatings,
    checked_triples,
    first_unsorted,
    length_of,
    merge_repeats,
    numbered,
)
from clgraph.errors import InputError

Numbers: TypeAlias = Literal[False, "compact"]

DUPLICATES = ("error", "mean", "sum", "last")


@dataclass(init=False, frozen=True, eq=False, repr=False)
class Ratings(RatingsArrays):
    """An immutable sparse matrix of ratings, with at most one rating for each pair of user and item.

    The constructor takes ratings sorted by user, then item, and checks them. :meth:`from_triples`,
    :meth:`from_scipy` and :meth:`from_graph` build a matrix from other data. Its arrays are read-only copies.
    Two matrices are equal only if they are the same object. Users and items without a rating are allowed.

    Parameters
    ----------
    users, items : integer array, shape (n_ratings,)
        Row and column of each rating; stored as int32.
    values : array of numbers, shape (n_ratings,)
        The ratings, which must be finite; stored as float32.
    n_users, n_items : int
        Size of the matrix, each at most 2**31 - 1.
    user_ids, item_ids : array, shape (n_users,) and (n_items,), optional
        The caller's own names of rows and columns, all distinct.
    copy : bool
        ``False`` saves memory: arrays of the right type are used without copying them.

        .. warning:: Do not change such an array while the matrix exists. Kernels would read and write at unchecked
           places, which gives wrong answers or ends the process.

    Raises
    ------
    InputError
        The arrays do not describe such a matrix; the message names the value, its position and the limit.
    """

    @classmethod
    def from_triples(
        cls,
        users: ArrayLike,
        items: ArrayLike,
        values: ArrayLike,
        *,
        n_users: int | None = None,
        n_items: int | None = None,
        ids: Numbers = False,
        duplicates: DuplicateRatings = "error",
        copy: bool = True,
    ) -> Ratings:
        """Build a matrix from ratings in any order; ratings that are already sorted are not sorted again.

        Parameters
        ----------
        users, items, values : array, shape (n_ratings,)
            User, item and value of each rating.
        n_users, n_items : int, optional
            Size of the matrix; by default one more than the largest number.
        ids : {False, "compact"}
            ``False``: *users* and *items* are row and column numbers. "compact": they are ids, and
            the distinct ones become ``user_ids`` and ``item_ids``, sorted, or in order of appearance if they cannot
            be sorted.
        duplicates : {"error", "mean", "sum", "last"}
            Refuse several ratings of one item by one user, merge them, or keep the last.
        copy : bool
            ``False`` may use arrays of the right type without copying them; see the warning in :class:`Ratings`.

        Raises
        ------
        InputError
            Lengths differ, a number is out of range, a value is not a finite number, or a pair is
            repeated although *duplicates* is "error".
        """
        check_choice("duplicates", duplicates, DUPLICATES)
        copy = checked_flag("copy", copy)
        compact = not (isinstance(ids, bool | np.bool_) and not ids)
        if compact and not (isinstance(ids, str) and ids == "compact"):
            raise InputError(f"ids = {shown(ids)}; allowed: False, 'compact'")
        user_ids = item_ids = None
        if compact:
            rows, n_users, user_ids = numbered("users", users, n_users)
            columns, n_items, item_ids = numbered("items", items, n_items)
        else:
            rows, columns = as_integers("users", users), as_integers("items", items)
        n_users, n_items = length_of("users", n_users, rows), length_of("items", n_items, columns)
        rows, columns, data = checked_triples(rows, columns, values, n_users, n_items)
        made = cls._of_numbers(rows, columns, data, (n_users, n_items), (user_ids, item_ids), duplicates)
        if copy:
            arrays = zip((made.users, made.items, made.values), (users, items, values), strict=True)
            made = made._with_arrays(*(owned(array, given) for array, given in arrays))
        return made

    @classmethod
    def _of_numbers(
        cls,
        rows: NDArray[np.int32],
        columns: NDArray[np.int32],
        data: NDArray[np.float32],
        shape: tuple[int, int],
        ids: tuple[NDArray[Any] | None, NDArray[Any] | None],
        duplicates: DuplicateRatings,
    ) -> Ratings:
        """Return the matrix of checked ratings in any order, whose rows and columns have these *ids*."""
        (n_users, n_items), (user_ids, item_ids) = shape, ids
        if first_unsorted(rows, columns, repeats=True):
            # sorted_csr() makes square matrices, so the smaller side is extended by empty rows or columns.
            offsets, columns, data = sorted_csr(max(n_users, n_items), [(rows, columns, data)])
            rows = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
        if repeat := first_unsorted(rows, columns):
            if duplicates == "error":
                user, item = (
                    number if names is None else names.tolist()[number]
                    for number, names in ((int(rows[repeat]), user_ids), (int(columns[repeat]), item_ids))
                )
                raise InputError(
                    f"user {user!r} has more than one rating of item {item!r}; duplicates='error', allowed: "
                    f"{', '.join(map(repr, DUPLICATES[1:]))}"
                )
            rows, columns, data = merge_repeats(rows, columns, data, duplicates)
        return cls._trusted(rows, columns, data, n_users, n_items, user_ids, item_ids)

    @classmethod
    def from_scipy(cls, matrix: Any, *, duplicates: DuplicateRatings = "sum") -> Ratings:
        """Build a matrix from a scipy sparse array with a row per user and a column per item, and check its indices.

        Every stored entry is a rating, also an explicit zero. By default, repeated entries are summed, as
        scipy does; *duplicates* is as in :meth:`from_triples`.
        """
        if not issparse(matrix) or matrix.ndim != 2:
            raise InputError(f"matrix = {shown(matrix)}; allowed: a 2-D scipy sparse array")
        entries = checked_matrix(matrix).tocoo(copy=True)
        row, column = entries.coords
        sizes = {"n_users": matrix.shape[0], "n_items": matrix.shape[1]}
        return cls.from_triples(row, column, entries.data, **sizes, duplicates=duplicates, copy=False)

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        values: Literal["weights", "synthetic"] = "weights",
        *,
        rank: int = 8,
        noise: float = 0.1,
        seed: Seed = 0,
    ) -> Ratings:
        """Build a square matrix with one rating per stored entry (u, v) of *graph*: user u rates item v.

        Parameters
        ----------
        graph : Graph
            Parallel edges become one rating, the mean of their weights. Users and items get the graph's ids.
        values : {"weights", "synthetic"}
            Take the edge weights, or make random values as :func:`clgraph.generators.planted_ratings` does, from
            *rank*, *noise* and *seed*.
        """
        check_choice("values", values, ("weights", "synthetic"))
        graph, seed = as_graph(graph), checked_seed(seed)
        n = graph.n_vertices
        if values == "synthetic":
            weights: NDArray[Any] = np.zeros(graph.n_edges, np.float32)
        elif graph.edge_weights is None:
            raise InputError("an unweighted graph has no ratings; allowed: values='synthetic'")
        else:
            weights = graph.edge_weights
        merged = cls.from_triples(
            graph.sources(), graph.column_indices, weights, n_users=n, n_items=n, duplicates="mean", copy=False
        )
        data = merged.values
        if values == "synthetic":
            factors = planted_factors(n, n, rank, seed)
            data = planted_values(merged.users, merged.items, *factors, noise, np.random.default_rng(seed))
        return cls._trusted(merged.users, merged.items, data, n, n, graph.ids, graph.ids)

    def to_scipy(self) -> csr_array:
        """Return the matrix as a float32 CSR array, which shares memory with :attr:`values`."""
        return csr_array((self.values, self.items, self.user_offsets), shape=self.shape)

    def to_pairs(self) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the (user, item) pairs and their ratings as two arrays, which scikit-learn's tools can split.

        Returns
        -------
        pairs : array, shape (n_ratings, 2)
            User and item of each rating, sorted by user: their ids, or row and column numbers if there are no ids.
            If users and items have ids of different types, it is an array of objects.
        values : float32 array, shape (n_ratings,)
        """
        users = self.users if self.user_ids is None else self.user_ids[self.users]
        items = self.items if self.item_ids is None else self.item_ids[self.items]
        alike = users.dtype.kind == items.dtype.kind
        pairs = np.empty((self.n_ratings, 2), np.result_type(users, items) if alike else object)
        pairs[:, 0], pairs[:, 1] = users, items
        return pairs, self.values

    def __array__(self, *arguments: Any, **options: Any) -> NDArray[Any]:
        raise InputError(
            "Ratings are no array: to_scipy() is their matrix, and X, y = to_pairs() is what scikit-learn splits"
        )

    def split(self, test_share: float = 0.1, seed: Seed = 0) -> tuple[Ratings, Ratings]:
        """Divide the ratings at random; return a training and a test matrix, both of this matrix's size and ids.

        The test matrix gets ``round(test_share * n_ratings)`` ratings, drawn without replacement.
        """
        test_share = checked_number("test_share", test_share, most=1)
        is_test = np.arange(self.n_ratings) < round(test_share * self.n_ratings)
        np.random.default_rng(checked_seed(seed)).shuffle(is_test)
        return self._selected(~is_test), self._selected(is_test)

    def folds(self, n_folds: int = 5, seed: Seed = 0) -> Iterator[tuple[Ratings, Ratings]]:
        """Yield *n_folds* pairs of a training and a test matrix; each rating is in exactly one test matrix.

        The test matrices differ in size by at most one rating.
        """
        n_folds = checked_count("n_folds", n_folds, 1 << 16, least=2)
        fold = np.resize(np.arange(n_folds, dtype=np.uint16), self.n_ratings)
        np.random.default_rng(checked_seed(seed)).shuffle(fold)
        return ((self._selected(fold != k), self._selected(fold == k)) for k in range(n_folds))

    def _selected(self, which: NDArray[np.bool_]) -> Ratings:
        return self._with_arrays(self.users[which], self.items[which], self.values[which])

    def _with_arrays(self, users: NDArray[Any], items: NDArray[Any], values: NDArray[Any]) -> Ratings:
        """Return a matrix of this size and with these ids, of other users, items and values."""
        return Ratings._trusted(users, items, values, self.n_users, self.n_items, self.user_ids, self.item_ids)


def as_ratings(source: Any) -> Ratings:
    """Convert *source*, which is Ratings, a scipy sparse array, or a tuple (users, items, values), to Ratings."""
    if isinstance(source, Ratings):
        return source
    if issparse(source):
        return Ratings.from_scipy(source)
    if isinstance(source, tuple) and len(source) == 3:
        return Ratings.from_triples(*source)
    raise InputError(
        f"{type(source).__module__}.{type(source).__qualname__} is not a rating matrix; accepted: "
        "clgraph.Ratings, a scipy sparse array, a tuple (users, items, values)"
    )
