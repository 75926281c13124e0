"""Conversion of lists of (row, column) pairs to CSR arrays with sorted rows, on all CPU cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.csr import Duplicates, merge_duplicates, offset_dtype
from clgraph.host_memory import check_host_memory
from clgraph.progress import begin

_CHUNK = 1 << 17  # Number of edges that are handled together. Their arrays fit the second-level cache of a CPU core.
# Building a graph takes at least 40 bytes of host memory per vertex and 24 bytes per edge.
BYTES_PER_VERTEX, BYTES_PER_EDGE = 40, 24
_MAX_BUCKET_BITS = 8  # The number of a bucket fits a byte, because numpy sorts bytes fast, by counting.
Made = TypeVar("Made")
Item = TypeVar("Item")
Number = TypeVar("Number", bound=np.number[Any])
Pairs: TypeAlias = tuple[NDArray[Any], NDArray[Any]]  # rows, columns
WeightedPairs: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # rows, columns, weights
CSRArrays: TypeAlias = tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]  # offsets, columns, weights


def csr_of_pairs(
    n: int,
    rows: NDArray[Any],
    columns: NDArray[Any],
    weights: NDArray[Any] | None,
    *,
    directed: bool,
    duplicates: Duplicates = "keep",
) -> CSRArrays:
    """Return CSR arrays with sorted rows of (row, column) pairs.

    Unless *directed*, the reverses of all pairs are added.

    The pairs must have been checked. *duplicates* is as in :meth:`clgraph.Graph.from_edges`.
    """
    blocks: list[Any] = [(rows, columns) if weights is None else (rows, columns, weights)]
    return csr_of_blocks(n, blocks, directed=directed, duplicates=duplicates)


def csr_of_blocks(n: int, blocks: list[Any], *, directed: bool, duplicates: Duplicates) -> CSRArrays:
    """Return CSR arrays of several blocks of (row, column) pairs, as :func:`csr_of_pairs` does for one block.

    Either all blocks have weights or none has. A list of blocks without weights is emptied, to save memory.
    """
    if blocks and len(blocks[0]) == 3:
        arrays = sorted_csr(n, blocks, mirror=not directed, unique=duplicates == "first")
        return arrays if duplicates in ("keep", "first") else merge_duplicates(*arrays, duplicates)
    keys = pack_blocks(blocks, mirror=not directed)
    offsets, columns = csr_from_keys(n, keys, unique=duplicates not in ("keep", "error"))
    if duplicates == "error":
        merge_duplicates(offsets, columns, None, duplicates)
    return offsets, columns, None


def pack(rows: NDArray[Any], columns: NDArray[Any], column_bits: int = 32) -> NDArray[np.int64]:
    """Return integer keys ``row << column_bits | column``, which sort in the same order as the pairs (row, column)."""
    keys = rows.astype(np.int64)
    keys <<= column_bits
    keys |= columns
    return keys


def pack_blocks(blocks: list[Pairs], *, mirror: bool) -> NDArray[np.int64]:
    """Return the integer keys of all pairs in *blocks*.

    With *mirror*, keys of reversed pairs are added, without self-loops.

    The list *blocks* is emptied.
    """
    size = sum(rows.size for rows, _ in blocks)
    if mirror:
        size += sum(int(np.count_nonzero(rows != columns)) for rows, columns in blocks)
    keys = np.empty(size, np.int64)
    while blocks:
        for rows, columns in _chunks([blocks.pop()]):
            size -= rows.size
            keys[size : size + rows.size] = pack(rows, columns)
            if mirror:
                proper = rows != columns
                if not proper.all():
                    rows, columns = rows[proper], columns[proper]
                size -= rows.size
                keys[size : size + rows.size] = pack(columns, rows)
    return keys


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Return the distinct *values* in ascending order. numpy.unique uses a hash table, which took 100 times longer."""
    in_order = np.sort(values, axis=None)
    first = np.ones(in_order.size, bool)
    np.not_equal(in_order[1:], in_order[:-1], out=first[1:])
    return in_order[first]


def csr_from_keys(n: int, keys: NDArray[np.int64], *, unique: bool) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the row offsets and columns of CSR arrays from packed *keys*.

    The columns overwrite the memory of *keys*.
    """
    check_host_memory(f"a graph of {n} vertices", 8 * n)
    tell = begin("building", keys.size, "entries")
    _sort(keys)
    before = [-1, *keys[_CHUNK - 1 :: _CHUNK].tolist()]  # Item k of this list is the key in front of chunk k.

    def split(start: int) -> tuple[int, int, NDArray[np.int64]]:
        """Overwrite the keys of the chunk at position *start* by their columns.

        Return the number of columns, the first row of the chunk, and the degrees of its rows.
        """
        chunk = keys[start : start + _CHUNK]
        if unique:
            first = np.empty(chunk.size, bool)
            first[0] = chunk[0] != before[start // _CHUNK]
            np.not_equal(chunk[1:], chunk[:-1], out=first[1:])
            if not first.all():
                chunk = chunk[first]
        rows = chunk >> 32
        row = int(rows[0]) if rows.size else 0
        rows -= row
        keys[start : start + _CHUNK].view(np.int32)[: chunk.size] = chunk.astype(np.int32)
        return chunk.size, row, np.bincount(rows)

    offsets = np.zeros(n + 1, offset_dtype(keys.size))
    columns = keys.view(np.int32)
    starts, size = range(0, keys.size, _CHUNK), 0
    for start, (count, row, degrees) in zip(starts, in_threads(split, starts), strict=True):
        offsets[row + 1 : row + 1 + degrees.size] += degrees
        columns[size : size + count] = columns[2 * start : 2 * start + count]
        size += count
        tell(min(start + _CHUNK, keys.size))
    np.cumsum(offsets, out=offsets)
    del columns
    keys.resize((size + 1) // 2, refcheck=False)
    return offsets, keys.view(np.int32)[:size]


class _Buckets(NamedTuple):
    """A division of CSR entries into buckets of consecutive rows.

    Each bucket is small enough to be sorted in the cache.
    """

    n: int
    column_bits: int
    # Number of low bits in which the keys of one bucket differ. The higher bits of a key are the number of the bucket.
    key_bits: int

    @classmethod
    def of(cls, n: int, n_entries: int) -> _Buckets:
        column_bits = (n - 1).bit_length() if n > 1 else 1
        bucket_bits = min(_MAX_BUCKET_BITS, column_bits, max(0, n_entries.bit_length() - 17))
        return cls(n, column_bits, 2 * column_bits - bucket_bits)

    @property
    def size(self) -> int:
        return ((max(self.n, 1) - 1) << self.column_bits >> self.key_bits) + 1

    def rows(self, bucket: int) -> slice:
        begin, end = (each << self.key_bits >> self.column_bits for each in (bucket, bucket + 1))
        return slice(begin, min(self.n, end))

    def deal(self, chunk: WeightedPairs) -> tuple[NDArray[np.int64], NDArray[Any], list[int]]:
        """Return the keys and weights of *chunk*, grouped by bucket, and the position at which each bucket begins."""
        rows, columns, weights = chunk
        keys = pack(rows, columns, self.column_bits)
        if self.size == 1:
            return keys, weights, [0, keys.size]
        bucket = (keys >> self.key_bits).astype(np.uint8)
        order = bucket.argsort(kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=self.size))
        return keys.take(order), weights.take(order), [0, *ends.tolist()]


def sorted_csr(
    n: int, blocks: Sequence[WeightedPairs], *, mirror: bool = False, unique: bool = False
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any]]:
    """Return CSR arrays with sorted rows, made of blocks of weighted (row, column) pairs.

    Parallel entries keep their order. With *unique*, only the first of them is kept. With *mirror*, each pair except a
    self-loop is also stored in reverse. Weights get the common type of all blocks. The entries are divided into buckets
    of rows, and each bucket is sorted in the cache.
    """
    check_host_memory(f"a graph of {n} vertices", 8 * n)
    chunks = list(_chunks(blocks))
    most = (1 + mirror) * sum(rows.size for rows, _, _ in chunks)
    buckets = _Buckets.of(n, most)
    dealt = list(in_threads(lambda chunk: buckets.deal(_mirrored(*chunk) if mirror else chunk), chunks))
    begins = np.zeros(buckets.size + 1, np.int64)
    for *_, ends in dealt:
        begins += ends
    m = int(begins[-1])
    offsets, columns = np.zeros(n + 1, offset_dtype(m)), np.empty(m, np.int32)
    weights = np.empty(m, np.result_type(*(weights.dtype for *_, weights in blocks)))
    tell = begin("building", m, "entries")

    def fill(bucket: int) -> int:
        """Sort the entries of *bucket*, and write them to the CSR arrays where the bucket begins.

        Return the number of entries that were written.
        """
        parts = [(keys, values, slice(*ends[bucket : bucket + 2])) for keys, values, ends in dealt]
        keys = np.concatenate([keys[part] for keys, _, part in parts])
        values = np.concatenate([values[part] for _, values, part in parts])
        keys -= bucket << buckets.key_bits
        keys, places = _ordered(keys, buckets.key_bits)
        if unique and (repeats := keys[1:] == keys[:-1]).any():
            first = np.append(True, ~repeats)
            keys, places = keys[first], places[first]
        written = slice(begins[bucket], begins[bucket] + keys.size)
        columns[written] = keys & ((1 << buckets.column_bits) - 1)
        weights[written] = values.take(places)
        rows = buckets.rows(bucket)
        offsets[rows] = keys.searchsorted(np.arange(rows.stop - rows.start) << buckets.column_bits)
        return keys.size

    size = 0
    for bucket, count in enumerate(in_threads(fill, range(buckets.size))):
        offsets[buckets.rows(bucket)] += size
        if size < (start := begins[bucket]):
            for array in columns, weights:
                array[size : size + count] = array[start : start + count]
        size += count
        tell(int(begins[bucket + 1]))
    offsets[n] = size
    for array in columns, weights:
        array.resize(size, refcheck=False)
    return offsets, columns, weights


def _ordered(keys: NDArray[np.int64], key_bits: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return *keys* in ascending order, sorted stably, and the position in *keys* from which each key comes.

    Each key has *key_bits* bits. The array *keys* is overwritten.
    """
    place_bits = keys.size.bit_length()
    if key_bits + place_bits > 63:
        places = keys.argsort(kind="stable")
        return keys.take(places), places
    keys <<= place_bits
    keys |= np.arange(keys.size)
    keys.sort()
    places = keys & ((1 << place_bits) - 1)
    keys >>= place_bits
    return keys, places


def _mirrored(rows: NDArray[Any], columns: NDArray[Any], weights: NDArray[Any]) -> WeightedPairs:
    """Return (row, column) pairs and their reverses: first every pair with its lesser end first, then the reverses.

    Parallel edges then have the same order in both directions.
    """
    rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    proper = rows != columns
    reverse = (columns, rows, weights) if proper.all() else (columns[proper], rows[proper], weights[proper])
    rows, columns, weights = map(np.concatenate, zip((rows, columns, weights), reverse, strict=True))
    return rows, columns, weights


def _sort(keys: NDArray[np.int64]) -> None:
    """Sort *keys* in place on two cores, each of which sorts the keys on one side of the median."""
    if keys.size < _CHUNK:
        keys.sort()
        return
    middle = keys.size // 2
    keys.partition(middle)
    list(in_threads(np.ndarray.sort, [keys[:middle], keys[middle:]]))


def _chunks(blocks: Sequence[tuple[NDArray[Any], ...]]) -> Iterator[Any]:
    for block in blocks:
        for start in range(0, max(1, block[0].size), _CHUNK):
            yield tuple(array[start : start + _CHUNK] for array in block)


def in_threads(make: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """Yield ``make(item)`` for each item, in order.

    Several threads call ``make`` at the same time.
    """
    if len(items) < 2:  # For a single item, starting a thread would take longer than the work itself.
        yield from map(make, items)
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(make, items)
