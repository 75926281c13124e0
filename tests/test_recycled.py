"""Memory of answers: given again once nobody has it, and never before."""
from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import clgraph as cg
from clgraph.runtime import recycled
from clgraph.runtime.session import Session

WORDS = np.dtype(np.uint32)
N = 1 << 19  # words that are recycled


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    gc.collect()
    recycled._waiting.clear()
    yield
    recycled._waiting.clear()


def test_memory_waits_for_the_next_array_once_its_last_view_is_gone() -> None:
    array = recycled.empty(N, WORDS)
    view, place = array[7:].view(np.int16), array.ctypes.data
    del array
    assert not recycled._waiting and recycled.empty(N, WORDS).ctypes.data != place
    recycled._waiting.clear()
    del view
    again = recycled.empty(N - 5, np.dtype(np.float32))
    assert again.ctypes.data == place and again.size == N - 5 and again.dtype == np.float32
    assert again.flags.writeable and again.flags.aligned and not recycled._waiting


def test_what_is_small_or_does_not_fit_is_not_recycled() -> None:
    place = recycled.empty(N, WORDS).ctypes.data
    assert recycled.empty(16, WORDS).flags.owndata and len(recycled._waiting) == 1
    assert recycled.empty(4 * N, WORDS).ctypes.data != place
    assert [memory.size for memory in recycled._waiting] == [16 * N]  # what had no room for it was freed
    assert recycled.empty(N, WORDS).size == N  # and of what has too much none is wasted
    assert [memory.size for memory in recycled._waiting] == [4 * N]


def test_little_memory_waits() -> None:
    n = recycled._MOST_BYTES // 4 // 3
    arrays = [recycled.empty(n, WORDS) for _ in range(5)]
    del arrays[:]
    assert len(recycled._waiting) == 3 and not arrays


def test_an_answer_that_is_kept_is_not_written_again(session: Session) -> None:
    graph = cg.generators.grid(1024, N // 1024)

    def distances(source: int) -> NDArray[np.int32]:
        return cg.bfs(graph, source, strategy="frontier", session=session).distances

    first = distances(0)
    place, kept = first.ctypes.data, first.copy()
    second = distances(N - 1)
    assert np.array_equal(first, kept) and np.array_equal(second, kept[::-1])
    del first
    third = cg.bfs(graph, 0, strategy="frontier", session=session)
    assert place in (third.distances.ctypes.data, third.predecessors.ctypes.data)
    assert np.array_equal(third.distances, kept) and np.array_equal(second, kept[::-1])
