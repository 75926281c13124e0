"""Memory of answers: given again once nobody has it, and never before."""

import gc
import os
from collections.abc import Iterator

import numpy as np
import pyopencl as cl
import pytest
from numpy.typing import NDArray

import clgraph as cg
from clgraph.runtime import opencl, recycled
from clgraph.runtime.recycled import Pinned
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
    assert recycled.empty(N, WORDS).ctypes.data == place  # what has too much is not wasted on it
    assert sorted(memory.bytes.size for memory in recycled._waiting) == [4 * N, 16 * N]


def test_memory_of_a_size_that_nobody_wants_any_more_is_freed() -> None:
    recycled.empty(4 * N, WORDS)
    for _ in range(recycled._MOST_PASSED - 1):
        recycled.empty(N, WORDS)
    assert sorted(memory.bytes.size for memory in recycled._waiting) == [4 * N, 16 * N]
    recycled.empty(N, WORDS)
    assert [memory.bytes.size for memory in recycled._waiting] == [4 * N]


def test_memory_that_a_child_shares_is_not_given_again() -> None:
    recycled.empty(N, WORDS)
    kept = recycled.empty(2 * N, WORDS)
    kept[:] = 7
    child = os.fork()
    if not child:
        os._exit(int((kept == 7).all() and not recycled._waiting))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert not recycled._waiting
    del kept
    assert not recycled._waiting
    recycled.empty(N, WORDS)
    assert len(recycled._waiting) == 1


def test_memory_is_pinned_when_it_comes_again_until_it_is_freed(pocl: Session) -> None:
    pinned = Pinned(pocl.context)
    assert not pinned.holds(None)
    held = []
    for _ in range(9):
        array, memory = recycled.lent(N, WORDS)
        held.append(pinned.holds(memory))
        del array, memory
    assert held == 7 * [False] + 2 * [True]
    recycled._waiting.clear()
    for n_uses in (1, 2):
        assert len(pinned._buffers) == 1
        array, memory = recycled.lent(2 * N, WORDS)
        assert pinned.holds(memory) == (n_uses == 2)
        del array
    assert [key() for key in pinned._buffers] == [memory]  # that of what is gone was released before
    other = Pinned(pocl.context)
    assert not other.holds(memory) and pinned.holds(memory)
    del pinned
    assert other.holds(memory)


def test_reads_to_pinned_memory(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words go by way of a page, so each read must return arrays of its own."""
    monkeypatch.setattr(pocl, "_pinned", Pinned(pocl.context))
    whole = np.arange(2 * N, dtype=np.uint32)
    array = pocl.upload(whole)
    for _ in range(9):
        ranges = [(7, 8), (0, 0), (1, 2 * N), *((k, k + 16) for k in range(100)), (3, 20)]
        read = pocl.read(*((array, first, stop) for first, stop in ranges))
        again = pocl.read((array, 9, 11))
        for (first, stop), found in zip(ranges, read, strict=True):
            assert np.array_equal(found, whole[first:stop])
        assert again[0].tolist() == [9, 10]
        del read, found


def test_what_cannot_be_pinned_is_read_all_the_same(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned = Pinned(pocl.context)

    def refused(*_: object, **__: object) -> None:
        raise cl.Error("out of resources")

    monkeypatch.setattr(opencl, "Buffer", refused)
    monkeypatch.setattr(pocl, "_pinned", pinned)
    array = pocl.upload(np.arange(N, dtype=np.uint32))
    for _ in range(9):
        assert pocl.read((array, 0, N))[0][-1] == N - 1 and array.item(5) == 5
    assert list(pinned._buffers.values()) == [None]


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
