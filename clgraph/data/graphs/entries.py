"""Facts about the CSR entries of a graph: sorted rows, repeats, symmetry, and the range of the weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 16  # Number of CSR entries that are checked together, so that intermediate arrays stay in a cache.
_FACTORS = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0xD6E8FEB86659FD93)))


class EntryFacts(NamedTuple):
    """Four facts about the entries of valid CSR arrays, all of which have been computed."""

    has_sorted_rows: bool  # True if the column indices do not decrease in any row.
    # True if two adjacent entries of a row have the same column. Unsorted rows may also have other repeats.
    has_repeats: bool
    # True if each entry (u, v) has a reverse entry (v, u) with the same weight and the same number of repeats.
    is_symmetric: bool
    weight_range: tuple[Any, Any]  # The least and the greatest weight of an edge; (1, 1) without weights.


class HostFacts:
    """The facts about CSR entries that :class:`EntryFacts` lists.

    The host computes each fact on its first use.
    """

    def __init__(self, offsets: NDArray[Any], columns: NDArray[np.int32], weights: NDArray[Any] | None) -> None:
        self._offsets, self._columns, self._weights = offsets, columns, weights

    @cached_property
    def _order(self) -> tuple[bool, bool]:
        return row_order(self._offsets, self._columns)

    @property
    def has_sorted_rows(self) -> bool:
        return self._order[0]

    @property
    def has_repeats(self) -> bool:
        return self._order[1]

    @cached_property
    def is_symmetric(self) -> bool:
        """True if each entry has a reverse entry with the same weight and the same number of repeats.

        Each entry above the diagonal adds a hash of its ends and weight to a 64-bit sum. Each entry below the diagonal
        subtracts the hash of its reverse. So the sum of symmetric entries is 0. The sum of asymmetric entries is 0 with
        a probability near 2**-60, for any number of entries. Kernels compute the same sum (``cl/data/check_csr.cl``).
        """
        total, m = 0, self._columns.size
        for first in range(0, m, _CHUNK):
            stop = min(m, first + _CHUNK)
            rows = rows_of(self._offsets, first, stop)
            keys = (rows << 32) | self._columns[first:stop]
            turned = (keys << 32) | rows
            signs = np.sign(keys - turned)
            total += int(_hashes(np.minimum(keys, turned), self._weights, slice(first, stop)).view(np.int64) @ signs)
        return total % 2**64 == 0

    @cached_property
    def weight_range(self) -> tuple[Any, Any]:
        weights = self._weights
        if weights is None or not weights.size:
            return 1, 1
        return np.minimum.reduce(weights), np.maximum.reduce(weights)  # 1 µs faster than weights.min()


def row_order(offsets: NDArray[Any], columns: NDArray[np.int32]) -> tuple[bool, bool]:
    """Return whether all rows are sorted, and whether two adjacent entries of a row have the same column."""
    rises_not = np.zeros(columns.size + 1, bool)
    np.less_equal(columns[1:], columns[:-1], out=rises_not[1:-1])
    # The first entry of a row is not compared with the last entry of the row before.
    rises_not[offsets.astype(np.intp)] = False
    if not rises_not.any():
        return True, False
    places = np.flatnonzero(rises_not)
    falls = columns[places] < columns[places - 1]
    return not falls.any(), not falls.all()


def rows_of(offsets: NDArray[Any], first: int, stop: int) -> NDArray[np.int64]:
    """Return the row number of each of the CSR entries *first* … *stop* − 1, of which there must be at least one."""
    if first == 0 and stop == offsets[-1]:
        return np.repeat(np.arange(offsets.size - 1), offsets[1:] - offsets[:-1])
    # If the two positions had another type than the offsets, numpy would convert all offsets to that type.
    ends = np.array([first, stop], offsets.dtype)
    begin, end = int(np.searchsorted(offsets, ends[0], "right")) - 1, int(np.searchsorted(offsets, ends[1], "left"))
    return np.repeat(np.arange(begin, end), np.diff(offsets[begin : end + 1].clip(first, stop)))


def _hashes(keys: NDArray[np.int64], weights: NDArray[Any] | None, part: slice) -> NDArray[np.uint64]:
    """Return a hash of each CSR entry, made of the entry's key in *keys* and its weight in ``weights[part]``.

    *keys* is overwritten.
    """
    x = keys.view(np.uint64)
    x *= _FACTORS[0]
    if weights is not None:
        x ^= _bits(weights[part]) * _FACTORS[2]
    x ^= x >> np.uint64(32)
    x *= _FACTORS[1]
    x ^= x >> np.uint64(29)
    return x


def _bits(weights: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of edge weights as integers, which are equal if and only if the weights are equal."""
    if weights.dtype.kind == "f":
        weights = weights + weights.dtype.type(0)  # -0.0 becomes 0.0
    return weights.view(f"u{weights.itemsize}").astype(np.uint64, copy=False)
