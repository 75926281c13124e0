"""Arrays on devices: uploads, views, copies, limits of memory, and what is freed."""

from __future__ import annotations

import contextlib
import gc
import re
import threading
import weakref
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from runtime_runs import IOTA

from clgraph import color, generators
from clgraph.algorithms.bfs.load_balance import profile_balance
from clgraph.algorithms.bfs.problem import as_problem
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.errors import CapacityError, DeviceError, DeviceMemoryError, DeviceTimeoutError, InputError
from clgraph.primitives.scan import Scan
from clgraph.runtime.driver import commands, opencl
from clgraph.runtime.driver.failure import check_status
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory import memory as memory_module
from clgraph.runtime.session import Session


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_read_only_and_unaligned_arrays_are_uploaded(session, offset):
    host = np.arange(1000 + offset, dtype=np.int32)[offset:]
    host.flags.writeable = False
    assert np.array_equal(session.upload(host).get(), host)


def test_aligned_arrays_are_read_in_place_and_kept_alive(session):
    memory = np.arange(4096 + 16, dtype=np.int32)
    start = -memory.ctypes.data % 64 // 4
    aligned = memory[start : start + 4096]
    expected, copied = aligned.copy(), session.upload(aligned)
    aligned.flags.writeable = False
    uploaded = session.upload(aligned)
    memory[:] = 0
    assert np.array_equal(copied.get(), expected), "an array that can be written is not read in place"
    memory[start : start + 4096] = expected
    del memory, aligned
    gc.collect()
    np.full(8192, -1, np.int32)  # would land on freed memory
    assert np.array_equal(uploaded.get(), expected)


def test_strided_and_empty_arrays_are_uploaded(session):
    strided = np.arange(100, dtype=np.int64)[::3]
    assert np.array_equal(session.upload(strided).get(), strided)
    assert session.upload(np.empty(0, np.float32)).get().shape == (0,)
    assert session.zeros(0, np.int32).get().shape == (0,)


def test_parts_of_arrays_are_written_and_read(session):
    array = session.zeros(10, np.int32)
    array.set([7, 8], offset=4)
    array.fill(3, 8)
    assert array.get().tolist() == [0, 0, 0, 0, 7, 8, 0, 0, 3, 3]
    assert array.get(4, 6).tolist() == [7, 8]
    assert array.item(5) == 8
    for wrong in (
        lambda: array.get(5, 11),
        lambda: array.get(-1),
        lambda: array.set([1], offset=10),
        lambda: array.fill(0, 9, 12),
        lambda: array.get(6, 4),
    ):
        with pytest.raises(DeviceError, match="of a device array of 10"):
            wrong()


@pytest.mark.parametrize("n_bytes", [0, 5, 1 << 17, (1 << 17) + 1, (1 << 18) + 63])
@pytest.mark.parametrize("whole_lines", [False, True])
def test_copies_in_pieces_lose_nothing(session, monkeypatch, n_bytes, whole_lines):
    monkeypatch.setattr(session.memory, "_copies_lines", whole_lines)
    pieces = session.memory.pieces(n_bytes)
    assert [byte for piece in pieces for byte in range(*piece)] == list(range(n_bytes))
    assert len(pieces) == (0 if not n_bytes else 2 if whole_lines and n_bytes > 1 << 17 else 1)
    assert not whole_lines or not pieces or len(pieces) == 1 or pieces[0][1] % 64 == 0
    host = np.random.default_rng(0).integers(256, size=n_bytes + 3, dtype=np.uint8)
    array, other = session.empty(n_bytes + 3, np.uint8), session.empty(n_bytes, np.uint8)
    array.fill(0)
    array.set(host[3:].reshape(1, -1), offset=3)
    assert np.array_equal(array.get(3), host[3:]) and not array.get(0, 3).any()
    other.copy_from(array.view(0, n_bytes))
    assert np.array_equal(other.get(), array.get(0, n_bytes))
    there = session.transfers.upload(host).before_kernels()
    assert np.array_equal(session.transfers.read(there, 3).wait(), host[3:])


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="the system has no large pages")
def test_large_arrays_of_cpus_are_in_large_pages(session):
    """The system's table of mappings has a flag for memory that was advised to be."""
    if not session.facts.is_cpu:
        pytest.skip("no memory of the host")
    array = session.empty(1 << 22, np.int32)
    mapped, _ = cl.enqueue_map_buffer(session.queue, array.buffer, cl.map_flags.READ, 0, (1 << 24,), np.dtype(np.uint8))
    middle, flags = mapped.ctypes.data + (1 << 23), ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if place := re.match("([0-9a-f]+)-([0-9a-f]+) ", line):
            is_there = int(place[1], 16) <= middle < int(place[2], 16)
        elif line.startswith("VmFlags:") and is_there:
            flags = line
    mapped.base.release(session.queue)
    assert "hg" in flags.split()


class _FailingEvent:
    """A command for which the driver will not wait, and which ends some looks later."""

    def __init__(self, looks):
        self.left, self.failed = looks, False

    @property
    def command_execution_status(self):
        self.left -= self.failed
        return int(self.left > 0)

    def wait(self):
        self.failed = True
        raise opencl.RuntimeError("clWaitForEvents failed")


def test_memory_outlives_a_copy_for_which_the_driver_does_not_wait(session, monkeypatch):
    for looks, patience, left in ((5, 9.0, 0), (1, 9.0, 0), (5, 0.0, 4)):
        monkeypatch.setattr(commands, "_PATIENCE_SECONDS", patience)
        event = _FailingEvent(looks)
        with pytest.raises(DeviceError, match="clWaitForEvents failed"):
            session.wait(event)
        assert event.left == left  # it was looked at until it had ended, or patience had


class _SlowEvent:
    """A command that ends when its status has been read five times, or when the driver waits for it."""

    left, waits = 5, 0

    @property
    def command_execution_status(self):
        self.left -= 1
        return int(self.left > 0)

    def wait(self):
        self.left, self.waits = 0, self.waits + 1


def test_a_lone_thread_waits_without_pauses(session, monkeypatch):
    own, event, pauses = Session(session.device).commands, _SlowEvent(), []
    own.driver = threading.RLock()  # NVIDIA's driver has such a lock.
    monkeypatch.setattr(commands.time, "sleep", pauses.append)
    own.wait_aside(event)
    assert event.waits == 1 and len(pauses) >= 4
    del pauses[:]
    own.expect_one_thread()
    own.wait_aside(event := _SlowEvent())
    assert event.waits == 1 and not pauses


def test_views_share_memory_and_keep_it(session):
    step = session.alignment // 4
    array = session.upload(np.arange(5 * step, dtype=np.int32))
    view = array.view(step, 4 * step)
    inner = view.view(step, 2 * step)
    assert view.get().tolist() == list(range(step, 4 * step)) and inner.item() == 2 * step
    view.set([-1, -2], offset=1)
    inner.fill(7, 0, 3)
    session.program(IOTA).bind("iota", step, n=step, out=view.view(2 * step))()
    expected = np.arange(5 * step)
    expected[step + 1 : step + 3], expected[2 * step : 2 * step + 3] = [-1, -2], 7
    expected[3 * step : 4 * step] = np.arange(step)
    assert np.array_equal(array.get(), expected)
    del array, view
    gc.collect()
    others = [session.zeros(5 * step, np.int32) for _ in range(4)]  # would get the memory if it had gone back
    assert inner.get().tolist() == expected[2 * step : 3 * step].tolist() and len(others) == 4


def test_a_view_may_have_another_type_and_may_be_empty(session):
    array = session.upload(np.arange(1000, dtype=np.uint64))
    words = array.view(0, 500, np.uint32)
    assert words.size == 1000 and words.get(0, 4).tolist() == [0, 0, 1, 0]
    assert [array.view(at, at).get().size for at in (0, 1, 1000)] == [0, 0, 0]
    assert session.empty(0, np.int32).view().get().size == 0
    with pytest.raises(DeviceError, match="no whole number of items of int64"):
        words.view(0, 3, np.int64)
    with pytest.raises(DeviceError, match=rf"item 1 would begin at byte 8, .*multiple of {session.alignment}"):
        array.view(1)
    with pytest.raises(DeviceError, match="of a device array of 1000"):
        array.view(0, 1001)


def test_arrays_know_what_they_share(session):
    step = session.alignment // 4
    array = session.empty(4 * step, np.int32)
    first, second, both = array.view(0, step), array.view(step, 2 * step), array.view(0, 2 * step)
    assert first.overlaps(both) and both.overlaps(second) and array.overlaps(second) and array.overlaps(array)
    assert not first.overlaps(second) and not array.overlaps(session.empty(4, np.int32))
    with pytest.raises(InputError, match="cannot write"):
        Scan(session, first, both.view(0, step))


def test_a_device_copies_within_itself(session):
    source, target = session.upload(np.arange(10, dtype=np.int32)), session.zeros(12, np.int32)
    target.copy_from(source)
    target.copy_from(session.empty(0, np.int32))
    assert target.get().tolist() == [*range(10), 0, 0]
    for wrong in (session.zeros(13, np.int32), session.zeros(3, np.uint32)):
        with pytest.raises(DeviceError, match=r"device array of 12|cannot be copied"):
            target.copy_from(wrong)


def test_a_buffer_larger_than_the_device_allows_is_refused(session):
    with pytest.raises(DeviceMemoryError, match=r"labels needs 1,000,000,000,000,000 bytes") as caught:
        session.check_memory({"labels": 10**15, "small": 1})
    assert f"{session.facts.max_alloc_bytes:,}" in str(caught.value)
    with pytest.raises(DeviceMemoryError, match="one buffer"):
        session.empty(2**50, np.int32)


def test_buffers_that_do_not_fit_together_are_refused(session, monkeypatch):
    monkeypatch.setattr(memory_module, "available_bytes", lambda facts: 2000)
    monkeypatch.setattr(memory_module, "_CHECKED_BYTES", 0)
    session = Session(session.device)  # one that holds nothing yet
    session.check_memory({"labels": 1200, "queue": 800})
    message = r"needs 2,100 bytes \(labels 1,200, queue 900\).* 2,000 available"
    with pytest.raises(DeviceMemoryError, match=message):
        session.check_memory({"labels": 1200, "queue": 900})


def test_available_memory_is_a_part_of_what_there_is(session):
    assert 0 < memory_module.available_bytes(session.facts) <= session.facts.global_mem_bytes


def test_graphs_are_uploaded_once_and_let_go(session):
    gc.collect()  # graphs of earlier tests leave before they are counted
    graph = generators.path(50)
    before = len(session.device_graphs)
    first = device_graph(session, graph)
    assert device_graph(session, graph) is first
    assert np.array_equal(first.column_indices.get(), graph.column_indices)
    del graph, first
    gc.collect()
    assert len(session.device_graphs) == before


@pytest.mark.parametrize("algorithm", sorted(set(MODULES) - {"factorization"}))  # its model keeps its plan
@pytest.mark.usefixtures("no_collection")
def test_a_call_leaves_nothing_behind(pocl: Session, algorithm: str) -> None:
    """No circle of references keeps the plan, and with it the graph and arrays on the device, until Python looks."""

    def fails(problem: object, plan: object) -> None:
        raise DeviceTimeoutError("on purpose")

    whole = find_algorithm(algorithm)
    for entry, strategy in product((whole, replace(whole, answer=fails)), whole.strategies):
        graph = generators.random_weights(generators.cycle(30))
        problem = entry.problem(graph)
        if entry.strategies[strategy].unfit(problem) is not None:
            continue
        with contextlib.suppress(DeviceTimeoutError):
            entry.solve(problem, strategy=strategy, session=pocl)
        gone = weakref.ref(graph)
        del graph, problem
        assert gone() is None, strategy


@pytest.mark.usefixtures("no_collection")
def test_plans_of_parts_leave_nothing_behind(pocl: Session) -> None:
    for call in (
        lambda graph: color(graph, distance=2, order="smallest_last", session=pocl),
        lambda graph: profile_balance(pocl, as_problem(graph, source=0)),
    ):
        graph = generators.rmat(8, 8, seed=1)
        call(graph)
        gone = weakref.ref(graph)
        del graph
        assert gone() is None


def test_status_words_become_exceptions():
    check_status(0, "here")
    for status, kind in ((1, CapacityError), (2, DeviceTimeoutError), (9, DeviceError)):
        with pytest.raises(kind, match="here"):
            check_status(status, "here")
