"""The OpenCL boundary: sources, devices, programs, memory, timing, and what must not hang or break."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from conftest import ROOT, session_on

from clgraph import bfs, color, generators, user_cache
from clgraph.algorithms.bfs.load_balance import profile_balance
from clgraph.algorithms.bfs.problem import as_problem
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.errors import (
    CapacityError,
    DeviceError,
    DeviceMatchWarning,
    DeviceMemoryError,
    DeviceTimeoutError,
    InputError,
    KernelBuildError,
    KernelSourceError,
    NoDeviceError,
)
from clgraph.primitives.scan import Scan
from clgraph.probing import probe
from clgraph.runtime.discovery import query, selection
from clgraph.runtime.driver import commands, opencl
from clgraph.runtime.driver.failure import check_status
from clgraph.runtime.driver.quirks import _intel_cpu, alone_on_units, amd_dialect, nvidia_dialect
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory import memory as memory_module
from clgraph.runtime.programs import cache, program, source
from clgraph.runtime.session import Session, as_session

KEPT = user_cache.cache_root()
IOTA = "primitives/fill.cl"
KERNELS = sorted(str(path.relative_to(ROOT / "cl")) for path in (ROOT / "cl").rglob("*.cl"))


def python(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start *code* in a new interpreter."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        text=True,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def iota(session: Session, n: int) -> np.ndarray:
    out = session.empty(n, np.int32)
    session.program(IOTA).bind("iota", n, n=n, out=out)()
    return out.get()


# ---- sources


@pytest.mark.parametrize("name", KERNELS)
def test_flattened_lines_are_where_line_directives_say(name):
    file, number, seen = None, 0, 0
    for line in source.flatten.__wrapped__(name).splitlines():  # uncached
        if directive := re.fullmatch(r'#line (\d+) "(.+)"', line):
            number, file = int(directive[1]), directive[2]
            continue
        original = (source.kernel_root() / file).read_text().splitlines()
        assert original[number - 1] == line
        number += 1
        seen += 1
    assert seen > 5


def test_definitions_are_words_of_the_preprocessor():
    text = source.build_input(IOTA, {"B": True, "A": "(x)", "C": 3})
    assert text.startswith("#define A (x)\n#define B 1\n#define C 3\n")


def test_each_header_is_included_once():
    text = source.flatten("primitives/scan.cl")
    assert text.count('#line 1 "common/types.h"') == 1


def test_missing_source_and_missing_include(tmp_path):
    with pytest.raises(KernelSourceError, match=r"no/such\.cl"):
        source.flatten("no/such.cl")
    kernel = tmp_path / "includes.cl"
    kernel.write_text('#include "common/absent.h"\n')
    with pytest.raises(KernelSourceError, match=r"common/absent\.h"):
        source.flatten(str(kernel))


@pytest.fixture
def broken(tmp_path):
    """A kernel file with an error in line 4."""
    kernel = tmp_path / "broken.cl"
    kernel.write_text('#include "common/atomics.h"\n\nKERNEL k(__global int *out) {\n  out[0] = no_such_thing;\n}\n')
    return kernel


def test_compile_error_names_the_real_file_and_line(session, broken):
    with pytest.raises(KernelBuildError, match=r"broken\.cl:4\b[\s\S]*no_such_thing"):
        session.program(str(broken))
    assert np.array_equal(iota(session, 5), np.arange(5))


def test_compilers_that_do_not_follow_lines(broken):
    """NVIDIA's counts them from the start of the whole text."""
    text = source.build_input(str(broken), {"WG_SIZE": 64})
    at = 1 + next(k for k, line in enumerate(text.splitlines()) if "no_such_thing" in line)
    log = f"<kernel>:{at}:12: error\n<kernel>:1:1: note\n<kernel>:{10 * at}:1: note"
    assert source.name_places(log, text) == f"{broken}:4:12: error\n<kernel>:1:1: note\n{broken}:5:1: note"


def test_kernels_that_were_not_installed_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "__file__", str(tmp_path / "clgraph" / "runtime" / "source.py"))
    with pytest.raises(KernelSourceError, match="the installation is incomplete"):
        source.kernel_root.__wrapped__()


def test_errors_of_launches_name_the_kernel(session, monkeypatch):
    launch = session.program("primitives/fill.cl", {"T": "int"}).bind("iota", 5, n=5, out=session.empty(5, np.int32))

    def fail(*_):
        raise cl.LogicError("clSomething failed: INVALID_VALUE")

    monkeypatch.setattr(program.cl, "enqueue_nd_range_kernel", fail)
    with pytest.raises(DeviceError, match="launching iota"):
        launch()
    monkeypatch.setattr(program, "_set_argument", fail)
    with pytest.raises(DeviceError, match="setting n of iota"):
        launch.set(n=4)


def test_unknown_kernel(session):
    with pytest.raises(KernelSourceError, match="absent_kernel"):
        session.program(IOTA).bind("absent_kernel", 1)


def test_programs_are_built_once(session):
    first = session.program(IOTA, {"T": "uint"})
    assert session.program(IOTA, {"T": "uint"}) is first
    assert session.program(IOTA, {"T": "uint"}, work_group_size=64) is not first
    assert session.program(IOTA, {"T": "uint", "STRANGE_TO_THIS_FILE": 1}) is first
    by_word = [session.program(IOTA, {"T": "WORD", "WORD": word}) for word in ("uint", "int")]
    assert by_word[0] is not by_word[1]


# ---- choice of devices


def test_devices_are_found_by_name_kind_and_id(session):
    for request in (session.facts.platform, session.facts.name.upper(), "cpu" if session.facts.is_cpu else "gpu"):
        assert Session(request).facts.is_cpu == session.facts.is_cpu
    key = next(key for key, device in query.enumerate_devices() if device == session.device)
    by_id = Session(key)
    assert by_id.device == session.device
    assert by_id.why == f"asked for {key!r}"


@pytest.mark.parametrize("request_", ["pocl:7", "no such device", "99:0", "0:99", "gpu:x", ":1"])
def test_unmatched_request_lists_the_devices(pocl, request_):
    with pytest.raises(NoDeviceError, match=r"no device matches.*Portable Computing Language"):
        Session(request_)


def fake_device(platform: str, name: str, vendor: str, kind: str = "GPU") -> SimpleNamespace:
    return SimpleNamespace(
        type=getattr(cl.device_type, kind), platform=SimpleNamespace(name=platform), name=name, vendor=vendor,
        max_compute_units=1, global_mem_size=1,
    )  # fmt: skip


def test_names_with_colons(monkeypatch):
    first, second = (
        fake_device("AMD Accelerated Parallel Processing", "gfx90a:sramecc+:xnack-", "AMD") for _ in range(2)
    )
    monkeypatch.setattr(selection, "enumerate_devices", lambda: [("0:0", first), ("0:1", second)])
    monkeypatch.setattr(selection, "verdict", lambda device: {"reason": None})
    assert selection.select_device("gfx90a:sramecc+:xnack-")[0] is first
    assert selection.select_device("gfx90a:sramecc+:xnack-:1")[0] is second
    assert selection.select_device("amd:1")[0] is second
    with pytest.raises(NoDeviceError):
        selection.select_device("amd:2")


def test_a_cpu_that_only_its_processor_matches_is_told(monkeypatch):
    cpu = "cpu-haswell-Intel(R) Xeon(R) CPU"
    pocl = fake_device("Portable Computing Language", cpu, "GenuineIntel", "CPU")
    gpu = fake_device("Portable Computing Language", "gfx90a", "Advanced Micro Devices, Inc.")
    runtime = fake_device("Intel(R) OpenCL", cpu, "GenuineIntel", "CPU")
    found = [("0:0", pocl), ("1:0", gpu)]
    monkeypatch.setattr(selection, "verdict", lambda device: {"reason": None})
    monkeypatch.setattr(selection, "enumerate_devices", lambda: found)
    why = "asked for 'intel': no platform is called 'intel', but the processor is"
    with pytest.warns(DeviceMatchWarning, match=rf"Portable Computing Language / cpu-haswell.* was taken, {why}"):
        assert selection.select_device("intel") == (pocl, why)
    monkeypatch.setenv("CLGRAPH_DEVICE", "Xeon")
    with pytest.warns(DeviceMatchWarning, match="CLGRAPH_DEVICE=Xeon: no platform is called 'xeon'"):
        selection.select_device()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for request in ("pocl", "portable", "cpu", "0:0", "gfx90a", cpu):
            assert selection.select_device(request)[1] == f"asked for {request!r}"
        found = [("1:0", gpu), ("0:0", pocl), ("2:0", runtime)]
        monkeypatch.setattr(selection, "ranked", list)
        assert selection.select_device("intel") == (runtime, "asked for 'intel'")


@pytest.mark.parametrize("request_", [42, 1.5, ["pocl"], b"pocl"])
def test_wrong_type_of_request(request_):
    with pytest.raises(NoDeviceError, match="no device can be made of"):
        Session(request_)
    with pytest.raises(InputError, match="session must be"):
        as_session(request_)


def test_pyopencl_objects_are_accepted(session):
    queue = cl.CommandQueue(session.context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    for given in (session.device, session.context, queue):
        made = as_session(given)
        assert as_session(given) is made and made.device == session.device
        assert "given as a" in made.why
        assert np.array_equal(iota(made, 10), np.arange(10))
    assert as_session(queue).queue is queue


def test_a_queue_without_times(session):
    made = Session(cl.CommandQueue(session.context))
    with made.measure() as recorder:
        assert np.array_equal(iota(made, 10), np.arange(10))
    seconds = recorder.seconds
    assert seconds.total > 0 and np.isnan([seconds.kernel, seconds.transfer, seconds.host]).all()
    assert recorder.kernels()["iota"][0] == 1
    with pytest.raises(DeviceError, match="PROFILING_ENABLE"):
        probe(made)


def test_a_queue_out_of_order_is_refused(session):
    kinds = cl.command_queue_properties
    with pytest.raises(InputError, match="out of order"):
        as_session(cl.CommandQueue(session.context, properties=kinds.OUT_OF_ORDER_EXEC_MODE_ENABLE))


def test_environment_chooses_the_device(pocl, monkeypatch):
    monkeypatch.setenv("CLGRAPH_DEVICE", "pocl")
    assert Session().why == "CLGRAPH_DEVICE=pocl"
    assert "Portable" in Session().facts.platform
    monkeypatch.setenv("CLGRAPH_DEVICE", "absent")
    with pytest.raises(NoDeviceError, match="absent"):
        Session()
    monkeypatch.delenv("CLGRAPH_DEVICE")
    monkeypatch.setenv("PYOPENCL_CTX", "portable")
    assert Session().why == "PYOPENCL_CTX"
    assert "Portable" in Session().facts.platform
    for wrong in ("absent", "99", "0:99"):
        monkeypatch.setenv("PYOPENCL_CTX", wrong)
        with pytest.raises(NoDeviceError, match="PYOPENCL_CTX"):
            Session()


def test_listing_devices_never_raises(pocl, monkeypatch):
    def raising(*_):
        raise cl.RuntimeError("driver and kernel module differ")

    class Nameless:
        int_ptr, get_devices = 7, raising

        @property
        def name(self):
            raise cl.RuntimeError("no name")

    broken = SimpleNamespace(name="Broken platform", version="1", get_devices=raising)
    half = SimpleNamespace(name="Another", version="1", get_devices=lambda: [Nameless(), pocl.device])
    monkeypatch.setattr(opencl, "get_platforms", lambda: [Nameless(), broken, half])
    assert [(row.id, row.facts, row.reason) for row in selection.devices()] == [
        ("0:-", None, "no name"), ("1:-", None, "driver and kernel module differ"), ("2:0", None, "no name"),
        ("2:1", pocl.facts, None),
    ]  # fmt: skip
    assert [key for key, _ in query.enumerate_devices()] == ["2:0", "2:1"]
    monkeypatch.setattr(selection, "query_facts", raising)
    assert selection.devices()[3].reason == "driver and kernel module differ"
    monkeypatch.setattr("clgraph.runtime.driver.failure._used_in", -1)  # as in a forked child
    (row,) = selection.devices()
    assert (row.id, row.facts) == ("-:-", None) and "forked" in row.reason


def test_default_session_is_shared(pocl, monkeypatch):
    monkeypatch.setenv("CLGRAPH_DEVICE", "pocl")
    assert as_session(None) is as_session(None)
    assert as_session("pocl") is as_session("pocl")
    assert as_session(pocl) is pocl


def test_large_groups_are_alone_on_units():
    """Only those of 1,024 work-items: smaller ones may share a unit, and hide each other's latency."""
    head = b".entry search(\n\t.param .u32 n\n)\n.reqntid %s, 1, 1\n{"
    assert alone_on_units(head % b"256") == head % b"256"
    assert alone_on_units(head % b"1024") == (head % b"1024").replace(b"1, 1\n", b"1, 1\n.minnctapersm 1\n")


def test_searches_of_many_levels_keep_their_words_in_registers(session):
    """What is spilled is read again in each of thousands of levels."""
    if session.facts.dialect.nvidia_sm < 70:
        pytest.skip("only NVIDIA's compiler tells")
    own = Session(session.device)
    bfs(generators.road_like(20_000), 0, strategy="frontier", session=own)
    (program,) = {made for key, made in own.programs.built.items() if key[0] == "bfs/frontier.cl"}
    kernel = cl.Kernel(program._program, "search")
    what = cl.kernel_work_group_info.PRIVATE_MEM_SIZE
    assert kernel.get_work_group_info(what, session.device) == 0


def test_dialects_without_a_device():
    assert nvidia_dialect(90)[1] == 32 and nvidia_dialect(60)[1] == 1
    assert amd_dialect("gfx90a:sramecc+:xnack-", 64)[0].float_add == "FLOAT_ADD_AMDGCN"
    assert amd_dialect("gfx906", 64) == (amd_dialect("gfx1030", 32)[0], 64)
    assert [amd_dialect("gfx1030", wave)[1] for wave in (32, 64)] == [32, 32]
    plain, with_all = (_intel_cpu(names)[0] for names in ([], ["cl_ext_float_atomics", "cl_intel_vec_len_hint"]))
    assert (plain.float_add, plain.kernel_attribute) == ("FLOAT_ADD_CAS", "")
    assert with_all.float_add == "FLOAT_ADD_EXT" and "vec_len_hint(1)" in with_all.kernel_attribute


# ---- memory


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


def test_strided_and_empty_arrays(session):
    strided = np.arange(100, dtype=np.int64)[::3]
    assert np.array_equal(session.upload(strided).get(), strided)
    assert session.upload(np.empty(0, np.float32)).get().shape == (0,)
    assert session.zeros(0, np.int32).get().shape == (0,)


def test_parts_of_arrays(session):
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
def test_copies_in_pieces(session, monkeypatch, n_bytes, whole_lines):
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


def test_copies_on_the_device(session):
    source, target = session.upload(np.arange(10, dtype=np.int32)), session.zeros(12, np.int32)
    target.copy_from(source)
    target.copy_from(session.empty(0, np.int32))
    assert target.get().tolist() == [*range(10), 0, 0]
    for wrong in (session.zeros(13, np.int32), session.zeros(3, np.uint32)):
        with pytest.raises(DeviceError, match=r"device array of 12|cannot be copied"):
            target.copy_from(wrong)


def test_one_buffer_larger_than_the_device_allows(session):
    with pytest.raises(DeviceMemoryError, match=r"labels needs 1,000,000,000,000,000 bytes") as caught:
        session.check_memory({"labels": 10**15, "small": 1})
    assert f"{session.facts.max_alloc_bytes:,}" in str(caught.value)
    with pytest.raises(DeviceMemoryError, match="one buffer"):
        session.empty(2**50, np.int32)


def test_all_buffers_together(session, monkeypatch):
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


# ---- time


def test_measure_splits_the_time(session):
    session = Session(session.device)  # that has compiled nothing
    with session.measure() as first:
        out = session.empty(1000, np.float32)
        session.program(IOTA, {"T": "float", "DEV_UNUSED": time.time_ns()}).bind("iota", 1000, n=1000, out=out)()
        out.fill(1)
        out.get()
    seconds = first.seconds
    assert seconds.compile > 0 and seconds.kernel > 0 and seconds.transfer > 0
    assert seconds.total >= seconds.compile
    assert seconds.host == pytest.approx(max(0, seconds.total - seconds.compile - seconds.transfer - seconds.kernel))
    assert [(name, launches) for name, (launches, _) in first.kernels().items()] == [("iota", 1), ("fill", 1)]
    iota(session, 10)
    with session.measure() as second:
        iota(session, 10)
    assert second.seconds.compile == 0  # built just before


def test_measurements_nest(session):
    with session.measure() as outer:
        iota(session, 10)
        with session.measure() as inner:
            iota(session, 10)
        iota(session, 10)
    assert inner.kernels()["iota"][0] == 1
    assert outer.kernels()["iota"][0] == 3
    assert outer.seconds.kernel > inner.seconds.kernel
    with pytest.raises(ZeroDivisionError), session.measure():
        raise ZeroDivisionError
    with session.measure() as next_one:
        iota(session, 3)
    assert next_one.kernels()["iota"][0] == 1, "one that failed does not go on"


# ---- threads, forks, signals, processes


def test_two_threads_with_launches_of_their_own(session):
    def work(seed: int) -> bool:
        found = []
        for n in range(100 + 37 * seed, 130 + 37 * seed):
            with session.driver:
                found.append(np.array_equal(iota(session, n), np.arange(n)))
        return all(found)

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(work, range(2)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("device", ["pocl", "intel"])
def test_forked_children_get_an_error_instead_of_a_hang(device):
    session_on(device)
    child = python(f"""
        import os, signal, sys, numpy as np
        from clgraph.errors import ForkError
        from clgraph.runtime.session import Session, as_session
        session = Session({device!r})
        program = session.program("primitives/fill.cl")
        array = session.zeros(100, np.int32)
        launch = program.bind("iota", 100, n=100, out=array)
        launch(); session.finish()
        attempts = [
            lambda: Session({device!r}), lambda: as_session(session), lambda: as_session(None),
            lambda: session.empty(3, np.int32), lambda: session.upload(np.zeros(64, np.int32)),
            lambda: session.program("primitives/fill.cl"), array.get, lambda: array.set(np.zeros(9)),
            lambda: array.fill(1), launch, session.finish,
        ]
        for attempt in attempts:
            child = os.fork()
            if not child:
                signal.alarm(100)  # a hang ends as a signal
                try:
                    attempt()
                except ForkError as error:
                    os._exit(0 if "spawn" in str(error) else 1)
                os._exit(2)
            print(os.waitpid(child, 0)[1])
        if not os.fork():
            signal.alarm(100)
            sys.exit()  # the objects' destructors must not hang either
        print(os.wait()[1])
        print(array.get()[:3])  # the parent goes on
    """)
    output, errors = child.communicate(timeout=600)
    assert output.split("\n")[:-1] == ["0"] * 12 + ["[0 1 2]"], output + errors


def test_fork_before_the_first_use_is_fine(pocl):
    child = python("""
        import os, sys
        import numpy as np
        import clgraph
        from clgraph.runtime.session import Session
        child = os.fork()
        status = os.waitpid(child, 0)[1] if child else 0
        print(Session("pocl").zeros(3, np.int32).get(), status)
    """)
    output, errors = child.communicate(timeout=600)
    assert output.splitlines() == ["[0 0 0] 0"] * 2, output + errors


def test_control_c_ends_a_run_and_leaves_the_session_usable(session, tmp_path):
    kernel = tmp_path / "spin.cl"
    kernel.write_text("""
        #include "common/atomics.h"
        KERNEL spin(uint turns, __global uint *out) {
          uint x = (uint)get_global_id(0);
          for (uint k = 0; k < turns; k++) x = x * 1664525u + 1013904223u;
          store_relaxed(&out[get_global_id(0)], x);
        }
    """)
    child = python(f"""
        import time, numpy as np
        from clgraph.runtime.session import Session
        session = Session({session.device.platform.name.split()[0]!r})
        out = session.zeros(64, np.uint32)
        launch = session.program({str(kernel)!r}, work_group_size=64).bind("spin", 64, turns=1, out=out)
        launch(); session.finish()
        launch.set(turns=1_000_000)  # about 0.1 s
        try:
            print("started", flush=True)
            for _ in range(1000):
                launch()
                session.finish()
            print("not interrupted")
        except KeyboardInterrupt:
            print(time.time())
        print(session.upload(np.arange(5)).get())
    """)
    assert child.stdout.readline() == "started\n", child.communicate()
    time.sleep(0.5)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    output, errors = child.communicate(timeout=600)
    caught, answer = output.splitlines()
    assert float(caught) - sent < 30, errors  # all launches take 100 s
    assert answer == "[0 1 2 3 4]"


_COLD = """
    import numpy as np
    from clgraph.runtime.session import Session
    session = Session("pocl")
    out = session.empty(1000, np.int32)
    session.program("primitives/fill.cl", {"T": "int"}).bind("iota", 1000, n=1000, out=out)()
    print((out.get() == np.arange(1000)).all())
"""


@pytest.fixture
def cold(pocl, tmp_path, monkeypatch):
    """The cache directory of children that start with an empty one, but for the verdicts on devices."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("POCL_CACHE_DIR")
    for name in ("drivers", "self-tests"):
        (tmp_path / name).symlink_to(KEPT / name)
    return tmp_path / "pocl"


def test_processes_with_one_cold_cache(cold):
    children = [python(_COLD) for _ in range(6)]
    for child in children:
        assert child.communicate(timeout=600) == ("True\n", "")
        assert child.returncode == 0
    (only,) = cold.iterdir()
    assert len(list(only.iterdir())) > 1 and not list(only.glob("building-*"))


def test_a_cache_into_which_a_builder_died_is_left(cold):
    other = python(_COLD + "\n    input()")  # uses it for a while
    assert other.stdout.readline() == "True\n"
    (damaged,) = cold.iterdir()
    dying = python("""
        import os, signal
        from clgraph.runtime.programs import cache
        from clgraph.runtime.discovery import query
        query.platforms()
        with cache.build_lock(into_cache=True):
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert dying.wait(600) == -signal.SIGKILL
    assert len(list(damaged.glob("building-*"))) == 1
    assert python(_COLD).communicate(timeout=600) == ("True\n", "")
    (fresh,) = set(cold.iterdir()) - {damaged}
    kept = {path for path in fresh.rglob("*") if path.is_file()}
    assert len(kept) > 1
    assert other.communicate("\n", timeout=600) == ("", "")
    assert python(_COLD).communicate(timeout=600) == ("True\n", "")
    assert list(cold.iterdir()) == [fresh]  # nobody uses the damaged one any more
    assert kept <= set(fresh.rglob("*"))


@pytest.mark.parametrize(("processor", "name"), [("haswell", "haswell-0"), (None, f"{platform.machine()}-0")])
def test_kernels_are_kept_by_the_processor_that_runs_them(tmp_path, monkeypatch, processor, name):
    """Machines that share a home do not get each other's instructions."""
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(cache, "processor_of_builtins", lambda: processor)
    monkeypatch.setattr(cache, "use", lambda path: None)
    assert cache.pocl_cache() == tmp_path / "pocl" / name


def test_compilers_do_not_talk_to_the_user(session, tmp_path):
    kernel = tmp_path / "warns.cl"
    kernel.write_text("__kernel void warns(__global int *out) { int unused; out[0] = 1 && 2; }\n#warning of a writer\n")
    child = python(f"""
        from clgraph.runtime.session import Session
        session = Session({session.facts.platform!r})
        out = session.empty(1, "int32")
        program = session.program({str(kernel)!r}, {{"DEV_UNUSED": {time.time_ns()}}}, work_group_size=1)
        program.bind("warns", 1, out=out)()
        session.finish()
    """)
    assert child.communicate(timeout=600) == ("", "")
    assert child.returncode == 0


def test_long_builds_announce_themselves_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(cache, "_told", set())
    line, said, tell = "clgraph: building, first run\n", threading.Event(), cache._tell
    monkeypatch.setattr(cache, "_tell", lambda what: tell(what) or said.set())
    for terminal, after, seconds, shown in (
        (False, 0.01, 0.1, ""), (True, 60.0, 0.0, ""), (True, 0.01, 60.0, line), (True, 0.01, 0.1, ""),
    ):  # fmt: skip
        said.clear()
        monkeypatch.setattr(cache, "_AFTER_SECONDS", after)
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with cache.announced("building"):
            assert said.wait(seconds) == bool(shown)
        assert capsys.readouterr().err == shown


def test_build_lock_keeps_other_processes_out(tmp_path):
    code = "from clgraph.runtime.programs.cache import build_lock\nwith build_lock(): print('in', flush=True)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
        with cache.build_lock() as locked:
            assert locked
            child = python(code)
            time.sleep(1.5)
            assert child.poll() is None
        output, errors = child.communicate(timeout=600)
    assert output == "in\n", errors


def test_unwritable_cache_is_replaced(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "file" / "below"))
    user_cache._own_root.cache_clear()
    root = user_cache.cache_root()
    assert root.is_dir() and root == user_cache.cache_root()
    assert "CLGRAPH_CACHE_DIR" in caplog.text


def test_no_file_is_left_open_at_the_end_of_a_process() -> None:
    child = python("""
        import clgraph as cg
        cg.connected_components(cg.generators.grid(9, 9), strategy="afforest", session="pocl")
    """, PYTHONWARNINGS="always::ResourceWarning")  # fmt: skip
    _, complaints = child.communicate(timeout=120)
    assert child.returncode == 0 and "ResourceWarning" not in complaints, complaints
