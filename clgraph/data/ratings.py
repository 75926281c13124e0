"""Sparse rating matrix of users and items: validated once, then immutable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from clgraph.arguments import (
    Seed,
    check_choice,
    checked_array,
    checked_count,
    checked_flag,
    checked_number,
    checked_seed,
    refusing,
    shown,
)
from clgraph.data.csr import MAX_VERTICES, as_ids, as_integers, check_indptr, number_ids, owned
from clgraph.data.graph import Graph, _read_only, as_graph
from clgraph.data.pairs import sorted_csr
from clgraph.data.ratings_stats import RatingsStats, chunks, ratings_stats
from clgraph.errors import InputError
from clgraph.host_memory import check_host_memory

DuplicateRatings: TypeAlias = Literal["error", "mean", "sum", "last"]
Numbers: TypeAlias = Literal[False, "compact"]
_T = TypeVar("_T", bound=np.generic)

DUPLICATES = ("error", "mean", "sum", "last")
MAX_ROWS = MAX_VERTICES  # the most users, and the most items: their numbers are int32
_MAX_RANK = 1 << 16  # the largest rank of planted factors


@dataclass(init=False, frozen=True, eq=False, repr=False)
class Ratings:
    """An immutable sparse matrix of ratings, at most one for each user and item.

    The constructor takes ratings sorted by user, then item, and checks them; :meth:`from_triples`,
    :meth:`from_scipy` and :meth:`from_graph` build them. A matrix has arrays of its own, which are
    read-only. Two matrices are equal only if they are the same object. Users and items without a rating
    are allowed.

    Parameters
    ----------
    users, items : integer array, shape (n_ratings,)
        Row and column of each rating; stored as int32.
    values : array of numbers, shape (n_ratings,)
        The ratings; stored as float32, and finite.
    n_users, n_items : int
        Size of the matrix, each at most 2**31 - 1.
    user_ids, item_ids : array, shape (n_users,) and (n_items,), optional
        The user's own names of rows and columns, all distinct.
    copy : bool
        ``False`` saves memory: arrays of the right type are used as they are.

        .. warning:: Whoever changes such an array while the matrix lives makes kernels read and write wherever it
           points, which gives wrong answers or ends the process.

    Raises
    ------
    InputError
        If the arrays do not describe such a matrix; the message names value, position and limit.
    """

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
        n_users, n_items = _checked_size("users", n_users), _checked_size("items", n_items)
        rows, columns, data = _checked(users, items, values, n_users, n_items)
        if wrong := _first_unsorted(rows, columns):
            raise InputError(
                f"rating {wrong} is of user {rows[wrong]}, item {columns[wrong]}, the one before it of user "
                f"{rows[wrong - 1]}, item {columns[wrong - 1]}; needed: sorted by user, then item, without "
                "repeats; Ratings.from_triples sorts"
            )
        given = users, items, values, user_ids, item_ids
        names = _checked_ids("user_ids", user_ids, n_users), _checked_ids("item_ids", item_ids, n_items)
        arrays = [
            array if array is None or not copy else owned(array, source)
            for array, source in zip((rows, columns, data, *names), given, strict=True)
        ]
        self._fill(*arrays[:3], n_users, n_items, *arrays[3:])

    def _fill(self, *values: Any) -> None:
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, _read_only(value) if isinstance(value, np.ndarray) else value)

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
    ) -> Ratings:
        """Wrap arrays that are valid by construction."""
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
        """Number of ratings."""
        return self.values.size

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_users, n_items)``."""
        return self.n_users, self.n_items

    @property
    def nbytes(self) -> int:
        """Bytes of users, items and values."""
        return self.users.nbytes + self.items.nbytes + self.values.nbytes

    @cached_property
    def user_offsets(self) -> NDArray[np.int64]:
        """The ratings of user ``u`` are ``user_offsets[u]:user_offsets[u + 1]``; int64, shape (n_users + 1,)."""
        return _frozen(np.searchsorted(self.users, np.arange(self.n_users + 1, dtype=np.int32)))

    @cached_property
    def item_offsets(self) -> NDArray[np.int64]:
        """The ratings of item ``i`` are ``item_order[item_offsets[i]:item_offsets[i + 1]]``; shape (n_items + 1,)."""
        offsets = np.zeros(self.n_items + 1, np.int64)
        for chunk in chunks(self.n_ratings, at_least=2 * self.n_items):
            counts = np.bincount(self.items[chunk])
            offsets[1 : 1 + counts.size] += counts
        return _frozen(np.cumsum(offsets, out=offsets))

    @cached_property
    def item_order(self) -> NDArray[Any]:
        """Positions of the ratings sorted by item, then user; int32 (int64 from 2**31 on), shape (n_ratings,)."""
        positions = np.arange(self.n_ratings, dtype=np.int32 if self.n_ratings < 2**31 else np.int64)
        order: NDArray[Any] = csr_array((positions, self.items, self.user_offsets), shape=self.shape).tocsc().data
        return _frozen(order)

    @cached_property
    def stats(self) -> RatingsStats:
        """What the cost model may know of this matrix."""
        return ratings_stats(self)

    def user_index(self, ids: ArrayLike, *, default: int | None = None) -> NDArray[np.int32]:
        """Return the rows of users named by *ids*.

        Parameters
        ----------
        ids : array, shape (n,)
            Names as in ``user_ids``; row numbers if that is ``None``.
        default : int, optional
            What an unknown id becomes, such as -1.

        Returns
        -------
        int32 array, shape (n,)

        Raises
        ------
        InputError
            An id is unknown and there is no *default*.
        """
        return _index("user", self._user_numbers, self.n_users, ids, default)

    def item_index(self, ids: ArrayLike, *, default: int | None = None) -> NDArray[np.int32]:
        """Return the columns of items named by *ids*, as :meth:`user_index` does for users."""
        return _index("item", self._item_numbers, self.n_items, ids, default)

    @cached_property
    def _user_numbers(self) -> dict[Any, int] | None:
        return _numbers(self.user_ids)

    @cached_property
    def _item_numbers(self) -> dict[Any, int] | None:
        return _numbers(self.item_ids)

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
        """Build a matrix from ratings in any order; ratings that are sorted already are not sorted again.

        Parameters
        ----------
        users, items, values : array, shape (n_ratings,)
            User, item and value of each rating.
        n_users, n_items : int, optional
            Size of the matrix; by default one more than the largest number.
        ids : {False, "compact"}
            ``False``: *users* and *items* are row and column numbers. "compact": they are names, and
            the sorted distinct ones become ``user_ids`` and ``item_ids`` (names that do not sort: in
            order of first appearance).
        duplicates : {"error", "mean", "sum", "last"}
            Refuse several ratings of one item by one user, merge them, or keep the last.
        copy : bool
            ``False`` may use arrays of the right type as they are; see the warning of :class:`Ratings`.

        Raises
        ------
        InputError
            Lengths differ, a number is out of range, a value is no finite number, or a pair is
            repeated against the options.
        """
        check_choice("duplicates", duplicates, DUPLICATES)
        copy = checked_flag("copy", copy)
        compact = not (isinstance(ids, bool | np.bool_) and not ids)
        if compact and not (isinstance(ids, str) and ids == "compact"):
            raise InputError(f"ids = {shown(ids)}; allowed: False, 'compact'")
        user_ids = item_ids = None
        if compact:
            rows, n_users, user_ids = _numbered("users", users, n_users)
            columns, n_items, item_ids = _numbered("items", items, n_items)
        else:
            rows, columns = as_integers("users", users), as_integers("items", items)
        n_users, n_items = _length("users", n_users, rows), _length("items", n_items, columns)
        rows, columns, data = _checked(rows, columns, values, n_users, n_items)
        if _first_unsorted(rows, columns, repeats=True):
            # The square matrix that holds this one: its further rows and columns are empty.
            offsets, columns, data = sorted_csr(max(n_users, n_items), [(rows, columns, data)])
            rows = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
        if repeat := _first_unsorted(rows, columns):
            if duplicates == "error":
                user, item = (
                    number if names is None else names.tolist()[number]
                    for number, names in ((int(rows[repeat]), user_ids), (int(columns[repeat]), item_ids))
                )
                raise InputError(
                    f"user {user!r} has more than one rating of item {item!r}; duplicates='error', allowed: "
                    f"{', '.join(map(repr, DUPLICATES[1:]))}"
                )
            rows, columns, data = _merged(rows, columns, data, duplicates)
        if copy:
            rows, columns, data = owned(rows, users), owned(columns, items), owned(data, values)
        return cls._trusted(rows, columns, data, n_users, n_items, user_ids, item_ids)

    @classmethod
    def from_scipy(cls, matrix: Any, *, duplicates: DuplicateRatings = "sum") -> Ratings:
        """Build a matrix from a scipy sparse array of users x items, whose indices are checked.

        Every stored entry is a rating, also an explicit zero. Repeated entries are added up as scipy
        does unless *duplicates* says otherwise.
        """
        if not issparse(matrix) or matrix.ndim != 2:
            raise InputError(f"matrix = {shown(matrix)}; allowed: a 2-D scipy sparse array")
        try:
            if matrix.format in ("csr", "csc", "bsr"):
                check_indptr(matrix)
                matrix = type(matrix)((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
                matrix.check_format(full_check=True)  # scipy's compiled code trusts the indices
            entries = matrix.tocoo(copy=True)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise InputError(f"this {matrix.format} matrix is damaged: {error}") from error
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
        """Build a square matrix with one rating per stored entry of *graph*: rows rate columns.

        Parameters
        ----------
        graph : Graph
            Parallel edges are merged, by the mean of their weights. Labels become both kinds of ids.
        values : {"weights", "synthetic"}
            Take the edge weights, or the values of :func:`planted_values` made with *rank*, *noise*
            and *seed*.
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
        return cls._trusted(merged.users, merged.items, data, n, n, graph.labels, graph.labels)

    def to_scipy(self) -> csr_array:
        """Return the matrix as a float32 CSR array, which shares the values' memory."""
        return csr_array((self.values, self.items, self.user_offsets), shape=self.shape)

    def to_pairs(self) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return what scikit-learn's tools can split: the pairs of ids, and their ratings.

        Returns
        -------
        pairs : array, shape (n_ratings, 2)
            User and item of each rating, sorted by user: their ids, or row and column numbers if there are none;
            the array is one of objects if users and items have ids of different types.
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
        """Return a training and a test matrix of the same size and ids, which share out the ratings.

        The test matrix gets ``round(test_share * n_ratings)`` of them, drawn without replacement.
        """
        test_share = checked_number("test_share", test_share, most=1)
        is_test = np.arange(self.n_ratings) < round(test_share * self.n_ratings)
        np.random.default_rng(checked_seed(seed)).shuffle(is_test)
        return self._selected(~is_test), self._selected(is_test)

    def folds(self, n_folds: int = 5, seed: Seed = 0) -> Iterator[tuple[Ratings, Ratings]]:
        """Yield *n_folds* pairs of a training and a test matrix; each rating is in one test matrix.

        The test matrices differ in size by at most one rating.
        """
        n_folds = checked_count("n_folds", n_folds, 1 << 16, least=2)
        fold = np.resize(np.arange(n_folds, dtype=np.uint16), self.n_ratings)
        np.random.default_rng(checked_seed(seed)).shuffle(fold)
        return ((self._selected(fold != k), self._selected(fold == k)) for k in range(n_folds))

    def _selected(self, which: NDArray[np.bool_]) -> Ratings:
        chosen = self.users[which], self.items[which], self.values[which]
        return Ratings._trusted(*chosen, self.n_users, self.n_items, self.user_ids, self.item_ids)


def as_ratings(source: Any) -> Ratings:
    """Return *source* as Ratings: one as it is, a scipy sparse array, or a tuple (users, items, values)."""
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


def planted_factors(
    n_users: int, n_items: int, rank: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Draw factors of shape (n_users, rank) and (n_items, rank) whose products have mean 0 and variance 1."""
    rank = checked_count("rank", rank, _MAX_RANK)
    check_host_memory(f"rank = {rank}", 4 * rank * (n_users + n_items))
    rng, scale = np.random.default_rng([seed, rank]), np.float32(rank**-0.25)
    user_factors, item_factors = (rng.standard_normal((n, rank), np.float32) for n in (n_users, n_items))
    return user_factors * scale, item_factors * scale


def planted_values(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    user_factors: NDArray[np.float32],
    item_factors: NDArray[np.float32],
    noise: float,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Return the products of the factors plus Gaussian noise of standard deviation *noise*, float32."""
    noise = checked_number("noise", noise, most=1e30)
    values = np.empty(users.size, np.float32)
    for chunk in chunks(users.size):
        part = values[chunk]
        np.einsum("ij,ij->i", user_factors[users[chunk]], item_factors[items[chunk]], out=part)
        part += np.float32(noise) * rng.standard_normal(part.size, np.float32)
    return values


def _frozen(array: NDArray[_T]) -> NDArray[_T]:
    array.setflags(write=False)
    return array


def _length(kind: str, given: int | None, numbers: NDArray[Any]) -> int:
    return _checked_size(kind, 1 + int(numbers.max(initial=-1)) if given is None else given)


def _numbered(name: str, values: ArrayLike, n: int | None) -> tuple[NDArray[Any], int, NDArray[Any]]:
    """Number the names in *values*; return the numbers, their count, and the names."""
    given = as_ids(name, values)
    with refusing(name, values, "ids that can be compared"):
        numbers, _, names = number_ids(given, given[:0], "auto")
    if n is not None and _checked_size(name, n) != names.size:
        raise InputError(f"n_{name} = {n}, but {name} holds {names.size} distinct ids")
    return numbers, names.size, names


def _checked_size(kind: str, n: Any) -> int:
    return checked_count(f"n_{kind}", n, MAX_ROWS, least=0)


def _checked(
    users: ArrayLike, items: ArrayLike, values: ArrayLike, n_users: int, n_items: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return the triples in the stored types, or raise."""
    pair = []
    for name, numbers, n in (("users", users, n_users), ("items", items, n_items)):
        array = as_integers(name, numbers)
        if array.size and (array.min() < 0 or array.max() >= n):
            at = int(((array < 0) | (array >= n)).argmax())
            allowed = f"0 to {n - 1}" if n else "none"
            raise InputError(f"{name}[{at}] = {array[at]}; allowed: {allowed}, as n_{name} = {n}")
        pair.append(array.astype(np.int32, copy=False))
    given = checked_array("values", values)
    if given.ndim != 1 or not pair[0].size == pair[1].size == given.size:
        raise InputError(
            f"{pair[0].size} users, {pair[1].size} items and values of shape {given.shape}; they must be as many"
        )
    if given.size and given.dtype.kind not in "biuf":
        raise InputError(f"values holds {given.dtype} values such as {given[0]!r}; needed: numbers")
    with np.errstate(over="ignore"):
        data = np.ascontiguousarray(given, np.float32)
    for chunk in chunks(data.size):
        finite = np.isfinite(data[chunk])
        if not finite.all():
            at = chunk.start + int(finite.argmin())
            raise InputError(f"values[{at}] = {given[at]}; ratings must be finite float32 numbers")
    return pair[0], pair[1], data


def _checked_ids(name: str, ids: Any, n: int) -> NDArray[Any] | None:
    if ids is None:
        return None
    array = as_ids(name, ids)
    if array.shape != (n,):
        raise InputError(f"{name} has shape {array.shape}; needed: ({n},)")
    if len(set(array.tolist())) < n:
        raise InputError(f"{name} must be distinct")
    if array.dtype.kind in "fc" and np.isnan(array).any():
        raise InputError(f"{name}[{int(np.isnan(array).argmax())}] is NaN, which no id equals")
    return array


def _first_unsorted(users: NDArray[np.int32], items: NDArray[np.int32], *, repeats: bool = False) -> int:
    """Return the first rating that does not come behind the one before it, else 0; *repeats* may be equal."""
    behind = np.greater_equal if repeats else np.greater
    for chunk in chunks(users.size - 1):
        ahead = slice(chunk.start + 1, chunk.stop + 1)
        sorted_ = users[ahead] > users[chunk]
        sorted_ |= (users[ahead] == users[chunk]) & behind(items[ahead], items[chunk])
        if not sorted_.all():
            return int(ahead.start + sorted_.argmin())
    return 0


def _merged(
    users: NDArray[np.int32], items: NDArray[np.int32], values: NDArray[np.float32], how: DuplicateRatings
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Merge equal neighbours of sorted ratings."""
    first = np.ones(users.size, bool)
    np.not_equal(users[1:], users[:-1], out=first[1:])
    first[1:] |= items[1:] != items[:-1]
    starts = np.flatnonzero(first)
    if how == "last":
        data = values[np.append(starts[1:], users.size) - 1]
    else:
        sums = np.add.reduceat(values, starts, dtype=np.float64)
        if how == "mean":
            sums /= np.diff(starts, append=users.size)
        with np.errstate(over="ignore"):
            data = sums.astype(np.float32)
        if not np.isfinite(data).all():
            at = starts[int(np.isfinite(data).argmin())]
            raise InputError(f"the ratings of item {items[at]} by user {users[at]} add up beyond float32")
    return users[first], items[first], data


def _numbers(names: NDArray[Any] | None) -> dict[Any, int] | None:
    return None if names is None else {name: i for i, name in enumerate(names.tolist())}


def _index(
    kind: str, numbers: dict[Any, int] | None, n: int, ids: ArrayLike, default: int | None
) -> NDArray[np.int32]:
    """Return the numbers of the *ids* of users or items (*kind*), which are numbers if *numbers* is ``None``."""
    default = default if default is None else checked_count("default", default, 2**31 - 1, -(2**31))
    wanted = as_integers("ids", ids) if numbers is None else as_ids("ids", ids)
    if numbers is None:
        found = np.where((wanted >= 0) & (wanted < n), wanted, -1).astype(np.int32)
    else:
        with refusing("ids", ids, "ids that can be compared"):
            found = np.array([numbers.get(name, -1) for name in wanted.tolist()], np.int32)
    if (unknown := found < 0).any():
        if default is None:
            at = int(unknown.argmax())
            raise InputError(f"ids[{at}] = {shown(wanted.tolist()[at])} is no known {kind}")
        found[unknown] = default
    return found
