"""The choice of a device by name, kind, id or environment; what drivers report."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pyopencl as cl
import pytest
from runtime_runs import iota

from clgraph import bfs, generators
from clgraph.errors import DeviceError, DeviceMatchWarning, InputError, NoDeviceError
from clgraph.probing import probe
from clgraph.runtime.discovery import query, selection
from clgraph.runtime.driver import opencl
from clgraph.runtime.driver.quirks import _intel_cpu, alone_on_units, amd_dialect, nvidia_dialect
from clgraph.runtime.session import Session, as_session


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


def test_a_name_may_have_colons(monkeypatch):
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
def test_a_request_of_a_wrong_type_is_refused(request_):
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


def test_a_queue_without_times_measures_the_total_alone(session):
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
    """Groups of 1,024 work-items are alone. Smaller groups share a unit and hide each other's latency."""
    head = b".entry search(\n\t.param .u32 n\n)\n.reqntid %s, 1, 1\n{"
    assert alone_on_units(head % b"256") == head % b"256"
    assert alone_on_units(head % b"1024") == (head % b"1024").replace(b"1, 1\n", b"1, 1\n.minnctapersm 1\n")


def test_searches_of_many_levels_keep_their_words_in_registers(session):
    """Spilled words would be read again in each of thousands of levels."""
    if session.facts.dialect.nvidia_sm < 70:
        pytest.skip("only NVIDIA's compiler tells")
    own = Session(session.device)
    bfs(generators.road_like(20_000), 0, strategy="frontier", session=own)
    (program,) = {made for key, made in own.programs.built.items() if key[0] == "bfs/frontier.cl"}
    kernel = cl.Kernel(program._program, "search")
    what = cl.kernel_work_group_info.PRIVATE_MEM_SIZE
    assert kernel.get_work_group_info(what, session.device) == 0


def test_a_dialect_follows_from_the_name_of_a_device():
    assert nvidia_dialect(90)[1] == 32 and nvidia_dialect(60)[1] == 1
    assert amd_dialect("gfx90a:sramecc+:xnack-", 64)[0].float_add == "FLOAT_ADD_AMDGCN"
    assert amd_dialect("gfx906", 64) == (amd_dialect("gfx1030", 32)[0], 64)
    assert [amd_dialect("gfx1030", wave)[1] for wave in (32, 64)] == [32, 32]
    plain, with_all = (_intel_cpu(names)[0] for names in ([], ["cl_ext_float_atomics", "cl_intel_vec_len_hint"]))
    assert (plain.float_add, plain.kernel_attribute) == ("FLOAT_ADD_CAS", "")
    assert with_all.float_add == "FLOAT_ADD_EXT" and "vec_len_hint(1)" in with_all.kernel_attribute
