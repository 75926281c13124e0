"""Pairs become rows by buckets, as by one stable sort."""

import numpy as np
import pytest

from clgraph.data.graphs.pairs import _ordered, csr_from_keys, distinct, pack, sorted_csr

M = 200_000  # pairs: several buckets and chunks


@pytest.mark.parametrize("n", [1, 3, 1000, 2**17 + 1])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("unique", [False, True])
def test_rows_are_sorted_and_parallel_entries_stay_in_order(n: int, mirror: bool, unique: bool) -> None:
    rng = np.random.default_rng(n)
    rows, columns = rng.integers(n, size=(2, M), dtype=np.int32)
    rows[: M // 2] //= 2  # buckets of unequal sizes
    weights = np.arange(M, dtype=np.int32)
    offsets, found, values = sorted_csr(
        n, [(rows[:50], columns[:50], weights[:50]), (rows[50:], columns[50:], weights[50:] * 1.0)],
        mirror=mirror, unique=unique,
    )  # fmt: skip
    if mirror:
        proper = rows != columns
        rows, columns, weights = (
            np.concatenate([rows, columns[proper]]), np.concatenate([columns, rows[proper]]),
            np.concatenate([weights, weights[proper]]),
        )  # fmt: skip
    order = np.lexsort((weights, columns, rows))
    keys = pack(rows, columns)[order]
    if unique:
        keys, first = np.unique(keys, return_index=True)
        order = order[first]
    assert values.dtype == np.float64 and np.array_equal(values, weights[order])
    assert np.array_equal(found, columns[order])
    assert np.array_equal(np.repeat(np.arange(n), np.diff(offsets)), rows[order])


@pytest.mark.parametrize("n", [3, 2**17 + 1])
@pytest.mark.parametrize("unique", [False, True])
def test_keys_become_rows_with_or_without_repeats(n: int, unique: bool) -> None:
    rows, columns = np.random.default_rng(n).integers(n, size=(2, 3 * M), dtype=np.int32)
    keys = pack(rows, columns)
    expected = np.unique(keys) if unique else np.sort(keys)
    offsets, found = csr_from_keys(n, keys, unique=unique)
    assert np.array_equal(pack(np.repeat(np.arange(n), np.diff(offsets)), found), expected)


@pytest.mark.parametrize("key_bits", [4, 62])
def test_keys_that_fill_their_words_are_placed_stably(key_bits: int) -> None:
    keys = np.random.default_rng(0).integers(16, size=100)
    expected = np.argsort(keys, kind="stable")
    in_order, places = _ordered(keys.copy(), key_bits)
    assert np.array_equal(places, expected) and np.array_equal(in_order, keys[expected])


@pytest.mark.parametrize("values", [[], [3], [5, 3, 5, 5, 0, 3]])
def test_distinct_values_are_in_order(values: list[int]) -> None:
    assert distinct(np.array(values, np.int32)).tolist() == sorted(set(values))
