"""Copies beside kernels: each queue waits for the other where it must and nowhere else.

A user event holds one of the queues until the test lets it go, so what runs meanwhile does not wait for it.
"""

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyopencl as cl
import pytest

from clgraph.errors import DeviceError, DeviceMemoryError, InputError
from clgraph.runtime import opencl
from clgraph.runtime.session import Session
from clgraph.runtime.staging import Staging, _Copiers

IOTA = "primitives/fill.cl"
N = 100_000


@pytest.fixture
def held(session):
    """An event that ends when the test sets it; it is set at the end in any case."""
    if "NVIDIA" in session.facts.platform:
        pytest.skip("a thread of NVIDIA's driver ends the process once a user event is set")
    event = cl.UserEvent(session.context)
    yield event
    let_go(event)
    session.finish()


def let_go(event: cl.UserEvent) -> None:
    if event.command_execution_status > cl.command_execution_status.COMPLETE:
        event.set_status(cl.command_execution_status.COMPLETE)


def fill(session: Session, array, value):
    return session.program(IOTA).bind("fill", array.size, n=array.size, value=value, out=array)()


def test_copies_there_and_back(session):
    host = np.random.default_rng(0).integers(1000, size=N, dtype=np.int32)
    coming = session.transfers.upload(host)
    array = coming.before_kernels()
    assert np.array_equal(array.get(), host) and coming.wait() is not None and coming.is_done
    fill(session, array, 7)
    back = session.transfers.read(array, 10, 20)
    assert back.wait().tolist() == [7] * 10
    session.transfers.write(array, [1, 2], offset=5).before_kernels()
    assert array.get(4, 8).tolist() == [7, 1, 2, 7]
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
    session.transfers.write(array, np.arange(N), after=held).before_kernels()
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


def test_memory_in_flight_is_given_to_nobody(session, held):
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
    monkeypatch.setattr("clgraph.runtime.recycled._waiting", [])
    for name, value in {"CHUNK_BYTES": 1000, "_PAGE_BYTES": 32, "N_CHUNKS": 3, "LAG": 1}.items():
        monkeypatch.setattr(f"clgraph.runtime.staging.{name}", value)
    staging = Staging(session)
    monkeypatch.setattr(Session, "staging_for", lambda _session, n_bytes: staging if n_bytes >= 2000 else None)
    return session


@pytest.mark.parametrize("size", [250, 251, 499, 500, 749, 751, 12_345])  # in items of 8 bytes
def test_large_copies_go_through_pinned_chunks(staged, size):
    host = np.random.default_rng(size).integers(2**62, size=size)
    array = staged.empty(size + 2, np.int64)
    array.fill(-1)
    array.set(host, offset=1)
    host_before = host.copy()
    host[:] = 0  # what was handed over may change at once
    with staged.measure() as recorder:
        back = array.get()
    assert back[0] == back[-1] == -1 and np.array_equal(back[1:-1], host_before)
    assert len(recorder.transfer_events) == -(-array.nbytes // (1000 if array.nbytes >= 4000 else 500))
    assert np.array_equal(array.get(3, size), back[3:size])


@pytest.mark.parametrize("size", [600, 30_000])
def test_pages_are_touched_while_kernels_run(staged, held, size, monkeypatch):
    host = np.random.default_rng(size).integers(2**62, size=size)
    array = staged.upload(host)
    staged.finish()
    touched, submit = [], _Copiers.submit

    def counted(self, target, source=None):
        touched.append(target.size if source is None else 0)
        submit(self, target, source)
        if sum(touched) == host.nbytes:
            let_go(held)

    cl.enqueue_barrier(staged.queue, wait_for=[held])
    monkeypatch.setattr(_Copiers, "submit", counted)
    later = threading.Timer(60, let_go, [held])  # of a read that waits for the kernels before it touches all pages
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


def test_wrong_parts_and_sizes(session, monkeypatch):
    array = session.zeros(10, np.int32)
    for wrong in (lambda: session.transfers.read(array, 5, 11), lambda: session.transfers.write(array, [1], offset=10)):
        with pytest.raises(DeviceError, match="of a device array of 10"):
            wrong()
    with pytest.raises(InputError):
        session.transfers.upload(np.array(["a"]))
    monkeypatch.setattr("clgraph.runtime.session.available_bytes", lambda facts: 100)
    monkeypatch.setattr("clgraph.runtime.session._CHECKED_BYTES", 0)
    with pytest.raises(DeviceMemoryError):
        session.transfers.upload(np.zeros(1000, np.int64))


def test_a_copy_that_fails_is_a_typed_error(session):
    held = cl.UserEvent(session.context)
    back = session.transfers.read(session.zeros(10, np.int32), after=held)
    held.set_status(-5)
    with pytest.raises(DeviceError):
        back.wait()
    session.finish()  # which does not fail for it again
    iota = session.program(IOTA).bind("iota", 10, n=10, out=(array := session.empty(10, np.int32)))
    iota()
    assert session.transfers.read(array).wait().tolist() == list(range(10))
