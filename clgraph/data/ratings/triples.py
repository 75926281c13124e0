"""Checks of the user's (user, item, value) triples, numbering of ids, and merging of repeated pairs."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_array, checked_count, refusing, shown
from clgraph.data.graphs.csr import MAX_VERTICES, as_integers
from clgraph.data.graphs.vertex_ids import as_ids, check_present, number_ids
from clgraph.data.ratings.stats import chunks
from clgraph.errors import InputError

DuplicateRatings: TypeAlias = Literal["error", "mean", "sum", "last"]
MAX_ROWS = MAX_VERTICES  # largest number of users and of items, because both are numbered in int32


def length_of(kind: str, given: int | None, numbers: NDArray[Any]) -> int:
    """Return the number of users or items (*kind*): *given*, or if it is ``None`` the largest of *numbers* plus one."""
    return checked_size(kind, 1 + int(numbers.max(initial=-1)) if given is None else given)


def numbered(name: str, values: ArrayLike, n: int | None) -> tuple[NDArray[Any], int, NDArray[Any]]:
    """Number the ids in *values*; return each id's number, the count of distinct ids, and the distinct ids."""
    given = as_ids(name, values)
    with refusing(name, values, "ids that can be compared"):
        check_present(name, given)
        numbers, _, names = number_ids(given, given[:0], "auto")
    if n is not None and checked_size(name, n) != names.size:
        raise InputError(f"n_{name} = {n}, but {name} holds {names.size} distinct ids")
    return numbers, names.size, names


def checked_size(kind: str, n: Any) -> int:
    """Return *n*, the number of users or items (*kind*), or raise an :class:`InputError` if *n* is not allowed."""
    return checked_count(f"n_{kind}", n, MAX_ROWS, least=0)


def checked_triples(
    users: ArrayLike, items: ArrayLike, values: ArrayLike, n_users: int, n_items: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return the triples as int32, int32 and float32 arrays, or raise an :class:`InputError`."""
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


def checked_ids(name: str, ids: Any, n: int) -> NDArray[Any] | None:
    """Return *ids* as an array (``None`` if not given), or raise an :class:`InputError` unless *n* are distinct."""
    if ids is None:
        return None
    array = as_ids(name, ids)
    if array.shape != (n,):
        raise InputError(f"{name} has shape {array.shape}; needed: ({n},)")
    check_present(name, array)
    if len(set(array.tolist())) < n:
        raise InputError(f"{name} must be distinct")
    return array


def first_unsorted(users: NDArray[np.int32], items: NDArray[np.int32], *, repeats: bool = False) -> int:
    """Return the position of the first rating that is out of order, or 0 if all are sorted.

    Equal pairs in succession count as sorted only if *repeats* is true.
    """
    behind = np.greater_equal if repeats else np.greater
    for chunk in chunks(users.size - 1):
        ahead = slice(chunk.start + 1, chunk.stop + 1)
        sorted_ = users[ahead] > users[chunk]
        sorted_ |= (users[ahead] == users[chunk]) & behind(items[ahead], items[chunk])
        if not sorted_.all():
            return int(ahead.start + sorted_.argmin())
    return 0


def merge_repeats(
    users: NDArray[np.int32], items: NDArray[np.int32], values: NDArray[np.float32], how: DuplicateRatings
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Merge sorted ratings of the same user and item: keep the last, or take the sum or the mean."""
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


def numbers_of(names: NDArray[Any] | None) -> dict[Any, int] | None:
    """Return a dictionary from each name to its position, or ``None`` if *names* is ``None``."""
    return None if names is None else {name: i for i, name in enumerate(names.tolist())}


def index_of(
    kind: str, numbers: dict[Any, int] | None, n: int, ids: ArrayLike, default: int | None
) -> NDArray[np.int32]:
    """Return the numbers of the users or items (*kind*) with these *ids*; an unknown id gets *default*.

    *numbers* maps ids to numbers. If it is ``None``, the ids are numbers themselves.
    """
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
