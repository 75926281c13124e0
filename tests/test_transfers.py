"""Copies beside kernels: each queue waits for the other where it must and nowhere else.

A user event holds one of the queues until the test lets it go, so what runs meanwhile does not wait for it.
"""

import gc
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from conftest import ROOT, copy_in_chunks
from numpy.typing import NDArray

import clgraph as cg
from clgraph import generators
from clgraph.engine.plan import Plan
from clgraph.errors import CapacityError, DeviceError, DeviceMemoryError, InputError
from clgraph.lent_memory import lend
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Use
from clgraph.runtime.driver import opencl
from clgraph.runtime.memory import recycled, staging
from clgraph.runtime.memory.copiers import Copiers
from clgraph.runtime.memory.recycled import Pinned
from clgraph.runtime.session import Session

IOTA = "primitives/fill.cl"
N = 100_000


@pytest.fixture
def held(session):
    """An event that ends when the test sets it; it is set at the end in any case."""
    if "NVIDIA" in session.facts.platform:
        pytest.skip("a thread of NVIDIA's driver ends the process once a user event is set")
    fill(session, session.empty(N, np.int32), 0)  # The first launch of a kernel waits for its end.
    event = cl.UserEvent(session.context)
    yield event
    let_go(event)
    session.finish()


def let_go(event: cl.UserEvent) -> None:
    if event.command_execution_status > cl.command_execution_status.COMPLETE:
        event.set_status(cl.command_execution_status.COMPLETE)


def fill(session: Session, array, value):
    return session.program(IOTA).bind("fill", array.size, n=array.size, value=value, out=array)()


def test_copies_there_and_back_lose_nothing(session):
    host = np.random.default_rng(0).integers(1000, size=N, dtype=np.int32)
    coming = session.transfers.upload(host)
    array = coming.before_kernels()
    assert np.array_equal(array.get(), host) and coming.wait() is not None and coming.is_done
    fill(session, array, 7)
    back = session.transfers.read(array, 10, 20)
    assert back.wait().tolist() == [7] * 10
    assert session.transfers.read(session.empty(0, np.int32)).wait().size == 0
    assert session.transfers.upload(np.empty(0, np.int64)).wait().size == 0


def test_an_upload_does_not_wait_for_kernels(session, held):
    cl.enqueue_barrier(session.queue, wait_for=[held])
    array = session.empty(N, np.int32)
    event = fill(session, array, 3)
    host = np.arange(N, dtype=np.int32)
    coming = session.transfers.upload(host)
    coming.event.wait()
    assert coming.is_done and event.command_execution_status > cl.command_execution_status.COMPLETE
    let_go(held)
    assert np.array_equal(coming.before_kernels().get(), host) and array.item(N - 1) == 3


def test_kernels_wait_for_the_upload_that_they_read(session, held):
    array = session.zeros(N, np.int32)
    session.transfers._begin(array, np.arange(N, dtype=np.int32), 0, (held,), to_host=False).before_kernels()
    target = session.empty(N, np.int32)
    target.copy_from(array)
    event = fill(session, array, -1)
    time.sleep(0.05)
    assert event.command_execution_status > cl.command_execution_status.COMPLETE
    let_go(held)
    assert np.array_equal(target.get(), np.arange(N)) and array.item() == -1


def test_a_read_waits_for_the_kernels_before_it_and_for_no_others(session, held):
    array = session.zeros(N, np.int32)
    event = fill(session, array, 5)
    early = session.transfers.read(array, after=event)
    cl.enqueue_barrier(session.queue, wait_for=[held])
    other = session.empty(N, np.int32)
    fill(session, other, 6)
    late = session.transfers.read(other)
    assert early.wait().tolist() == [5] * N
    time.sleep(0.05)
    assert not late.is_done
    let_go(held)
    assert late.wait().tolist() == [6] * N


def test_memory_in_flight_is_not_given_again(session, held):
    array = session.zeros(N, np.int32)
    fill(session, array, 5)
    back = session.transfers.read(array, after=held)
    session.queue.finish()
    del array
    gc.collect()
    others = [session.zeros(N, np.int32) for _ in range(4)]  # one of them would get the memory
    session.queue.finish()
    let_go(held)
    assert back.wait().tolist() == [5] * N
    back.array = None
    gc.collect()
    assert not session.transfers._in_flight and len(others) == 4


def test_a_release_waits_for_copies(session):
    array = session.zeros(N, np.int32)
    back = session.transfers.read(array)
    array.release()
    assert back.is_done and not back.wait().any()


def test_measurements_count_copies_of_both_queues(session):
    with session.measure() as none:
        pass
    with session.measure() as recorder:
        coming = session.transfers.upload(np.zeros(N, np.int32))
        session.transfers.read(coming.before_kernels())
    assert none.seconds.transfer == 0 < recorder.seconds.transfer
    assert len(recorder.transfer_events) == 2
    silent = Session(cl.CommandQueue(session.context))
    with silent.measure() as untimed:
        silent.transfers.upload(np.zeros(4, np.int32))
    assert np.isnan(untimed.seconds.transfer)


@pytest.fixture
def staged(session, monkeypatch):
    """The session, which copies by way of pinned chunks as on a GPU, though they are small.

    Answers get new memory. A GPU that can pins recycled memory that has come often, and writes to it by one copy.
    """
    monkeypatch.setattr("clgraph.runtime.memory.recycled._waiting", [])
    copy_in_chunks(session, monkeypatch, 2000, CHUNK_BYTES=1000, _HUGE_PAGE_BYTES=250)
    monkeypatch.setattr("clgraph.runtime.memory.copiers._PAGE_BYTES", 32)
    return session


@pytest.mark.parametrize("size", [250, 251, 499, 500, 749, 751, 12_345])  # in items of 8 bytes
def test_large_copies_go_through_pinned_chunks(staged, size):
    host = np.random.default_rng(size).integers(2**62, size=size)
    array = staged.empty(size + 2, np.int64)
    array.fill(-1)
    array.set(host, offset=1)
    host_before = host.copy()
    host[:] = 0  # The caller may change its array at once.
    with staged.measure() as recorder:
        back = array.get()
    assert back[0] == back[-1] == -1 and np.array_equal(back[1:-1], host_before)
    # The first part of the host's memory ends at a huge page.
    assert 0 <= len(recorder.transfer_events) - -(-array.nbytes // (1000 if array.nbytes >= 4000 else 500)) <= 1
    assert np.array_equal(array.get(3, size), back[3:size])


def test_parts_of_a_copy_to_the_host_begin_at_huge_pages(monkeypatch):
    monkeypatch.setattr("clgraph.runtime.memory.staging.CHUNK_BYTES", 1 << 16)
    whole = np.zeros(1 << 19, np.uint8)
    assert not staging._parts(whole[:0], 4096)
    for first, size in ((0, 1 << 19), (7, 300_000), (4095, 262_144), (11, 100_000), (3, 5)):
        host = whole[first : first + size]
        for lent in (host, lend(host)):
            starts, parts = zip(*staging._parts(lent, 4096), strict=True)
            sizes = [part.nbytes for part in parts]
            assert [*starts, size] == [0, *np.cumsum(sizes)]
            assert max(sizes) <= 1 << 16
            assert all((host.ctypes.data + start) % 4096 == 0 for start in starts[1:])


def test_an_error_of_a_copying_thread_is_raised_once(staged, monkeypatch):
    host = np.arange(4000)
    with monkeypatch.context() as patch:
        patch.setattr("clgraph.runtime.memory.copiers._copy", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            staged.upload(host)
    for _ in range(3):
        assert np.array_equal(staged.upload(host).get(), host)


@pytest.mark.parametrize("size", [600, 30_000])
def test_pages_are_touched_while_kernels_run(staged, held, size, monkeypatch):
    host = np.random.default_rng(size).integers(2**62, size=size)
    array = staged.upload(host)
    staged.finish()
    touched, submit = [], Copiers.submit

    def counted(self, target, source=None):
        touched.append(target.size if source is None else 0)
        submit(self, target, source)
        if sum(touched) == host.nbytes:
            let_go(held)

    cl.enqueue_barrier(staged.queue, wait_for=[held])
    monkeypatch.setattr(Copiers, "submit", counted)
    later = threading.Timer(60, let_go, [held])  # ends a read that waits for kernels before it touches pages
    later.start()
    assert np.array_equal(array.get(), host) and sum(touched) == host.nbytes and later.is_alive()
    later.cancel()
    later.join()


def test_copies_of_several_threads_do_not_mix(staged):
    def there_and_back(k):
        host = np.full(5000, k)
        return all(np.array_equal(staged.upload(host + i).get(), host + i) for i in range(20))

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(there_and_back, range(0, 400, 100)))


def test_a_staged_copy_that_fails_is_a_typed_error_and_the_next_one_works(staged, monkeypatch):
    array, host = staged.empty(5000, np.int32), np.arange(5000, dtype=np.int32)
    enqueue, calls = cl.enqueue_copy, iter(range(100))

    def failing(*arguments, **options):
        if next(calls) == 5:
            options["dst_offset"] = 2**40
        return enqueue(*arguments, **options)

    monkeypatch.setattr(opencl, "enqueue_copy", failing)
    with pytest.raises(DeviceError):
        array.set(host)
    array.set(host)
    assert np.array_equal(array.get(), host)


def test_wrong_parts_and_sizes_are_refused(session, monkeypatch):
    array = session.zeros(10, np.int32)
    with pytest.raises(DeviceError, match="of a device array of 10"):
        session.transfers.read(array, 5, 11)
    with pytest.raises(InputError):
        session.transfers.upload(np.array(["a"]))
    monkeypatch.setattr("clgraph.runtime.memory.memory.available_bytes", lambda facts: 100)
    monkeypatch.setattr("clgraph.runtime.memory.memory._CHECKED_BYTES", 0)
    with pytest.raises(DeviceMemoryError):
        session.transfers.upload(np.zeros(1000, np.int64))


def test_a_copy_that_fails_is_a_typed_error(session):
    held = cl.UserEvent(session.context)
    back = session.transfers.read(session.zeros(10, np.int32), after=held)
    held.set_status(-5)
    with pytest.raises(DeviceError):
        back.wait()
    session.finish()  # The session does not fail again.
    iota = session.program(IOTA).bind("iota", 10, n=10, out=(array := session.empty(10, np.int32)))
    iota()
    assert session.transfers.read(array).wait().tolist() == list(range(10))


# ---- memory of answers that were dropped


WORDS = np.dtype(np.uint32)
N_ITEMS = 1 << 19  # words that are recycled


@pytest.fixture(autouse=True)
def nothing_waits() -> Iterator[None]:
    gc.collect()
    recycled._waiting.clear()
    yield
    recycled._waiting.clear()


def test_memory_waits_for_the_next_array_once_its_last_view_is_gone() -> None:
    array = recycled.empty(N_ITEMS, WORDS)
    view, place = array[7:].view(np.int16), array.ctypes.data
    del array
    assert not recycled._waiting and recycled.empty(N_ITEMS, WORDS).ctypes.data != place
    recycled._waiting.clear()
    del view
    again = recycled.empty(N_ITEMS - 5, np.dtype(np.float32))
    assert again.ctypes.data == place and again.size == N_ITEMS - 5 and again.dtype == np.float32
    assert again.flags.writeable and again.flags.aligned and not recycled._waiting


def test_what_is_small_or_does_not_fit_is_not_recycled() -> None:
    place = recycled.empty(N_ITEMS, WORDS).ctypes.data
    assert recycled.empty(16, WORDS).flags.owndata and len(recycled._waiting) == 1
    assert recycled.empty(4 * N_ITEMS, WORDS).ctypes.data != place
    assert recycled.empty(N_ITEMS, WORDS).ctypes.data == place  # A small array does not take the larger memory.
    assert sorted(memory.bytes.size for memory in recycled._waiting) == [4 * N_ITEMS, 16 * N_ITEMS]


def test_memory_of_a_size_no_longer_wanted_is_freed() -> None:
    recycled.empty(4 * N_ITEMS, WORDS)
    for _ in range(recycled._MAX_PASSED - 1):
        recycled.empty(N_ITEMS, WORDS)
    assert sorted(memory.bytes.size for memory in recycled._waiting) == [4 * N_ITEMS, 16 * N_ITEMS]
    recycled.empty(N_ITEMS, WORDS)
    assert [memory.bytes.size for memory in recycled._waiting] == [4 * N_ITEMS]


def test_memory_that_a_child_shares_is_not_given_again() -> None:
    recycled.empty(N_ITEMS, WORDS)
    kept = recycled.empty(2 * N_ITEMS, WORDS)
    kept[:] = 7
    child = os.fork()
    if not child:
        os._exit(int((kept == 7).all() and not recycled._waiting))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert not recycled._waiting
    del kept
    assert not recycled._waiting
    recycled.empty(N_ITEMS, WORDS)
    assert len(recycled._waiting) == 1


def test_memory_is_pinned_when_it_comes_again_until_it_is_freed(pocl: Session) -> None:
    pinned = Pinned(pocl.context)
    assert not pinned.holds(None)
    held = []
    for _ in range(9):
        array, memory = recycled.lent(N_ITEMS, WORDS)
        held.append(pinned.holds(memory))
        del array, memory
    assert held == 7 * [False] + 2 * [True]
    recycled._waiting.clear()
    for n_uses in (1, 2):
        assert len(pinned._buffers) == 1
        array, memory = recycled.lent(2 * N_ITEMS, WORDS)
        assert pinned.holds(memory) == (n_uses == 2)
        del array
    assert [key() for key in pinned._buffers] == [memory]  # Memory that is gone was released before.
    other = Pinned(pocl.context)
    assert not other.holds(memory) and pinned.holds(memory)
    del pinned
    assert other.holds(memory)


def test_reads_to_pinned_memory_return_arrays_of_their_own(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words go by way of a page, so each read must return arrays of its own."""
    monkeypatch.setattr(pocl.memory, "_pinned", Pinned(pocl.context))
    whole = np.arange(2 * N_ITEMS, dtype=np.uint32)
    array = pocl.upload(whole)
    for _ in range(9):
        ranges = [(7, 8), (0, 0), (1, 2 * N_ITEMS), *((k, k + 16) for k in range(100)), (3, 20)]
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
    monkeypatch.setattr(pocl.memory, "_pinned", pinned)
    array = pocl.upload(np.arange(N_ITEMS, dtype=np.uint32))
    for _ in range(9):
        assert pocl.read((array, 0, N_ITEMS))[0][-1] == N_ITEMS - 1 and array.item(5) == 5
    assert list(pinned._buffers.values()) == [None]


def test_little_memory_waits() -> None:
    n = recycled._MAX_BYTES // 4 // 3
    arrays = [recycled.empty(n, WORDS) for _ in range(5)]
    del arrays[:]
    assert len(recycled._waiting) == 3 and not arrays


def test_an_answer_that_is_kept_is_not_written_again(session: Session) -> None:
    graph = cg.generators.grid(1024, N_ITEMS // 1024)

    def distances(source: int) -> NDArray[np.int32]:
        return cg.bfs(graph, source, strategy="frontier", session=session).distances

    first = distances(0)
    place, kept = first.ctypes.data, first.copy()
    second = distances(N_ITEMS - 1)
    assert np.array_equal(first, kept) and np.array_equal(second, kept[::-1])
    del first
    third = cg.bfs(graph, 0, strategy="frontier", session=session)
    assert place in (third.distances.ctypes.data, third.predecessors.ctypes.data)
    assert np.array_equal(third.distances, kept) and np.array_equal(second, kept[::-1])


# ---- arrays that grow


SOURCE = str(ROOT / "tests" / "kernels" / "growth.cl")
START = Phase(f"{SOURCE}:start", 1)
APPEND = Phase(f"{SOURCE}:append_children", 64, status="state[STATE_STATUS]", grows="list")
CLOSE = Phase(f"{SOURCE}:close_level", 1)
LEVELS = Loop((APPEND, CLOSE), "number", "state[STATE_ALIVE]", 40)


def tree(session, n, *steps, room=1):
    arrays = {"list": Array(room, np.uint32), "state": Array("STATE_WORDS", np.uint32)}
    problem = SimpleNamespace(graph=generators.path(2))
    return Plan(session, problem, Recipe((START, *steps), lambda: Setting(arrays, {"n": n, "number": 1})))


def listed(plan):
    size = plan.arrays["state"].item(plan.program(SOURCE).constant("STATE_SIZE"))
    return np.sort(plan.arrays["list"].get(0, size)).tolist()


@pytest.mark.parametrize("needed", [None, "state[STATE_SIZE]"])
@pytest.mark.parametrize("n", [1, 2, 3, 1000])
def test_a_list_grows_until_all_have_room(session, n, needed):
    append = replace(APPEND, needed=needed)
    plan = tree(session, n, replace(LEVELS, body=(append, CLOSE)))
    for _ in range(3):
        plan.run()
        plan.check()
        assert listed(plan) == list(range(1, n + 1)), "each vertex once, though kernels ran again"
        assert plan.arrays["list"].size >= n and plan.scope["list"] is plan.arrays["list"]
    if needed:
        assert plan.arrays["list"].size < 2 * n, "the kernel told how much it needs"


def test_a_list_that_is_long_enough_stays(session):
    plan = tree(session, 1000, LEVELS, room=1000)
    before = plan.arrays["list"]
    plan.run()
    assert plan.arrays["list"] is before and plan.rounds[0] == 10


def test_all_launches_get_the_longer_list(session):
    """The second phase reads what the first wrote, and grows the same list again."""
    plan = tree(session, 10**6, APPEND, CLOSE, APPEND, CLOSE, replace(APPEND), CLOSE)
    plan.run()
    assert listed(plan) == list(range(1, 16))


def test_steps_of_their_own_look_the_list_up(session):
    seen = []
    look = Use(lambda plan: SimpleNamespace(run=lambda: seen.append(plan.arrays["list"].size)))
    tree(session, 7, look, APPEND, CLOSE, look).run()
    assert seen[0] == 1 and seen[1] >= 3


def test_a_device_that_has_no_room_says_so_and_the_plan_runs_again(session, monkeypatch):
    plan = tree(session, 1000, LEVELS)
    with monkeypatch.context() as patch:
        patch.setattr(session.commands, "facts", replace(session.facts, max_alloc_bytes=1000))
        with pytest.raises(DeviceMemoryError, match=r"list needs 1,024 bytes in one buffer; .* allows 1,000"):
            plan.run()
    plan.run()
    plan.check()
    assert listed(plan) == list(range(1, 1001))


def test_a_phase_that_does_not_grow_reports_an_overflow(session):
    phase = replace(APPEND, grows=None)
    for steps in ((phase,), (phase, APPEND)):  # the second one, which may grow, finds what the first has said
        plan = tree(session, 1000, *steps)
        plan.run()
        with pytest.raises(CapacityError, match="append_children"):
            plan.check()
        assert plan.arrays["list"].size == 1
