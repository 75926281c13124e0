"""Loads on devices that have a process each: right answers, what is copied, and processes that end."""

import dataclasses
import os
import signal
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import test_hetero
from conftest import DEVICES, printed_by, session_on
from test_hetero import SQUARE, TEXT, least_and_greatest, numbers, squares
from test_processes import has_ended, name_of, process_ids

import clgraph as cg
from clgraph import shared_memory
from clgraph.errors import (
    DeviceDroppedWarning,
    DeviceError,
    HostMemoryError,
    InputError,
    KernelBuildError,
    KernelSourceError,
)
from clgraph.hetero import POLICIES, Kernel, Work, map_rows, process_runner, shared_copy, shared_loads
from clgraph.hetero.process_runner import ProcessDevice, devices_of
from clgraph.hetero.runner import Runner
from clgraph.hetero.shared_loads import SharedLoads
from clgraph.multi_device.member import Member
from clgraph.multi_device.processes import Processes
from clgraph.runtime.session import Session

N = 300_000  # Items of 4 bytes; parts of this load are large enough for shared memory.


def two_processes() -> list[ProcessDevice]:
    name = name_of(session_on(DEVICES[0]))
    return [ProcessDevice(name, Processes([name])) for _ in range(2)]


@pytest.fixture(scope="module")
def twins() -> Any:
    made = two_processes()
    yield made
    for device in made:
        device.processes._end()


@pytest.fixture(autouse=True)
def _devices_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cg.HeteroScheduler, "_sessions_of", lambda _self, devices: list(devices))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_finds_what_numpy_finds(twins: list[Any], policy: str) -> None:
    test_hetero.check_every_load(twins, policy)
    test_hetero.check_every_load([twins[0], session_on(DEVICES[-1])], policy)


def test_functions_of_the_user_run_in_this_process(twins: list[Any]) -> None:
    """Lambdas cannot be sent to a process. Results go where the user wants them."""
    load, here = np.random.default_rng(3).integers(-99, 99, (N // 4, 5)).astype(np.int32), os.getpid()
    sizes = list[int]()
    kernel = Kernel(TEXT, "least_and_greatest", {"FORBIDDEN": -1}, work_items=lambda n, _: sizes.append(n) or n)
    spread = least_and_greatest(
        kernels=kernel, collect=lambda _, found: (os.getpid(), int((found["greatest"] - found["least"]).max()))
    )
    results, _ = cg.HeteroScheduler(twins, policy="greedy", sub_loads=5).run(spread, [load, load])
    assert results == [(here, np.ptp(load, axis=1).max())] * 2
    assert max(sizes) < len(load)
    out = np.zeros(N, np.float32)
    (found,), _ = cg.HeteroScheduler(twins, policy="static").run(SQUARE, [numbers(N)], out=[out])
    assert found is out
    assert np.allclose(out, squares(numbers(N)))


def test_a_load_of_one_part_is_not_copied_to_shared_memory(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    call, parts = ProcessDevice.call, list[int]()

    def noting(self: ProcessDevice, function: Any, *arguments: Any, **options: Any) -> Any:
        if function is process_runner._compute:
            parts.extend(last - first for first, last, *_ in arguments[3])
        return call(self, function, *arguments, **options)

    monkeypatch.setattr(ProcessDevice, "call", noting)
    scheduler = cg.HeteroScheduler(twins, policy="static", ratios=[0, 1])
    (found,), report = scheduler.run(SQUARE, [numbers(N)])
    assert report.rounds[0].items == (0, N)
    assert shared_memory.place_of(found) is None
    assert parts == [N // 100] * 2  # Each device has computed a sub-load before the first round.
    assert np.allclose(found, squares(numbers(N)))


def test_arrays_are_copied_once_and_new_values_are_seen(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made, empty = list[int](), shared_memory.empty
    monkeypatch.setattr(shared_memory, "empty", lambda size, dtype: made.append(size) or empty(size, dtype))
    scheduler, x = cg.HeteroScheduler(twins, policy="static", ratios=[1, 1]), numbers(N)
    for _ in range(2):
        x += 1
        results, _ = scheduler.run(SQUARE, [x] * 3)
        assert all(np.allclose(found, squares(x)) for found in results)
        assert made.count(x.nbytes) == 1
        assert made.count(x.size) == 3  # the results
        made.clear()
    shared = shared_copy(x)
    assert np.allclose(scheduler.run(SQUARE, [shared]).results[0], squares(x))
    assert x.nbytes not in made


def test_copies_of_arrays_are_filled_where_they_are_needed() -> None:
    loads, x = SharedLoads(), np.arange(1 << 20, dtype=np.float32)
    part = loads.of("x", x[300_000:500_000])
    np.testing.assert_array_equal(part, x[300_000:500_000])
    (copy,) = loads._copies.values()
    assert copy.is_filled.tolist() == [False, True, False, False]
    assert shared_memory.place_of(loads.of("x", x[499_999:])) is not None
    assert copy.is_filled.tolist() == [False, True, True, True]
    assert loads.of("x", x[:9]).base is x
    assert np.array_equal(shared_copy(x.reshape(1 << 10, -1)), x.reshape(1 << 10, -1))
    np.testing.assert_array_equal(loads.of("x", np.flip(x)[:].copy()), x[::-1])
    with pytest.raises(InputError, match="contiguous"):
        loads.of("x", x[::2])
    loads.end_load()
    loads.end_load()
    assert not loads._copies


def test_shared_memory_is_pinned_at_its_second_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member of this process, whose CPU takes the path of GPUs."""
    monkeypatch.setattr(process_runner, "LEAST_BYTES", 1 << 12)
    here, x, copied = Member(name_of(session_on(DEVICES[0]))), shared_copy(numbers(N)), list[str]()
    here.session.commands.facts = dataclasses.replace(here.session.facts, is_cpu=False)
    upload, read = Runner._upload, Runner._read_array
    monkeypatch.setattr(Runner, "_upload", lambda *given: copied.append("upload") or upload(*given))
    monkeypatch.setattr(Runner, "_read_array", lambda *given: copied.append("read") or read(*given))
    outs, pieces = [{"out": shared_loads.new_output((N,), np.float32)} for _ in range(2)], [(0, N, {"x_items": x}, N)]
    for k in (0, 0, 1):
        here.keep_only(shared_memory.living())
        process_runner._compute(here, 0, SQUARE.kernel(False), {}, pieces, outs[k])
        assert np.allclose(outs[k]["out"], squares(x))
        outs[k]["out"][:] = 0
    assert copied == ["upload", "read", "read"]  # in the first call, and for the output of the third
    here.keep_only([])  # The parent process has removed all blocks.
    assert not here._pinned


def test_without_shared_memory_loads_are_computed_in_this_process(
    twins: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise HostMemoryError("full")

    monkeypatch.setattr(shared_memory, "_new_block", full)
    results, report = cg.HeteroScheduler(twins).run(SQUARE, [numbers(N)] * 3)
    assert all(np.allclose(found, squares(numbers(N))) for found in results)
    assert not any(done.dropped for done in report.rounds)
    assert shared_loads.new_output((3,), np.int32).shape == (3,)


# ---- processes that end


@pytest.mark.parametrize("policy", ["hass", "greedy"])
def test_others_take_over_from_a_process_that_is_killed(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = two_processes()
    (process,), calls = devices[0].processes.each(process_ids), [0]
    call = ProcessDevice.call

    def killing(self: ProcessDevice, function: Any, *arguments: Any, **options: Any) -> Any:
        if function is process_runner._compute and self is devices[0]:
            calls[0] += 1
            if calls[0] == 2:
                os.kill(process, signal.SIGKILL)
        return call(self, function, *arguments, **options)

    monkeypatch.setattr(ProcessDevice, "call", killing)
    scheduler = cg.HeteroScheduler(devices, policy=policy)
    with pytest.warns(DeviceDroppedWarning, match=r"its process has ended \(exit code -9\)") as caught:
        results, report = scheduler.run(SQUARE, [numbers(N)] * 5)
    assert len(caught) == 1
    assert all(np.allclose(found, squares(numbers(N))) for found in results)
    assert sum(done.dropped == (0,) for done in report.rounds) == 1
    assert scheduler.sessions == [devices[1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(cg.HeteroScheduler(devices).run(SQUARE, [numbers(N)]).results[0], squares(numbers(N)))
    for device in devices:
        device.processes._end()


def test_errors_of_processes_are_those_of_threads(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    broken = map_rows("result = no_such_name;", dtype=np.float32)
    with pytest.raises(KernelBuildError, match="no_such_name"):
        cg.HeteroScheduler(twins).run(broken, [np.zeros((9, 9), np.float32)])
    wrong = Work(SQUARE.kernels, len, lambda *_: {"width": 2}, SQUARE.outputs)
    scheduler = cg.HeteroScheduler(twins, policy="greedy")
    with pytest.raises(KernelSourceError, match="x_items of kernel"):
        scheduler.run(wrong, [numbers(N)])
    assert len(scheduler.sessions) == 2
    monkeypatch.setattr(ProcessDevice, "call", _failing(ProcessDevice.call))
    with pytest.warns(DeviceDroppedWarning), pytest.raises(DeviceError, match="injected"):
        scheduler.run(SQUARE, [numbers(N)])


def _failing(call: Any) -> Any:
    def failing(self: ProcessDevice, function: Any, *arguments: Any, **options: Any) -> Any:
        if function is process_runner._compute:
            raise DeviceError("injected")
        return call(self, function, *arguments, **options)

    return failing


def interrupted() -> None:
    """Interrupt a run of several minutes, print what the processes are, and run again; in a process of its own."""
    cg.HeteroScheduler._sessions_of = lambda _self, devices: list(devices)  # type: ignore[method-assign]
    devices = two_processes()
    long = map_rows("result = 0; for (long k = 0; k < (1l << 36); k++) result += sin(result + k);", dtype=np.float32)
    main = threading.main_thread().ident
    assert main is not None
    scheduler = cg.HeteroScheduler(devices, policy="greedy", sub_loads=2)
    devices[1].processes.interrupt()  # A process may end while it has nothing to do.
    assert np.allclose(scheduler.run(SQUARE, [numbers(N)]).results[0], squares(numbers(N)))
    print(*(device.processes.each(process_ids)[0] for device in devices))
    threading.Timer(3.0, signal.pthread_kill, (main, signal.SIGINT)).start()
    try:
        scheduler.run(long, [np.ones((4, 1), np.float32)])
    except KeyboardInterrupt:
        print("interrupted")
    print(np.allclose(scheduler.run(SQUARE, [numbers(N)]).results[0], squares(numbers(N))), len(scheduler.sessions))


def test_ctrl_c_ends_the_processes_and_the_next_run_starts_new_ones() -> None:
    session_on(DEVICES[0])
    *processes, stopped, found, living = printed_by(
        "import test_hetero_processes; test_hetero_processes.interrupted()"
    ).split()
    assert (stopped, found, living) == ("interrupted", "True", "2")
    assert all(has_ended(int(process)) for process in processes)


# ---- which devices have processes


def test_named_gpus_have_processes_and_other_devices_have_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    name, started = name_of(session_on(DEVICES[0])), list[str]()
    gpu = SimpleNamespace(type=process_runner.cl.device_type.GPU)
    monkeypatch.setattr(process_runner, "names_of", lambda devices: None if devices == [name] else ["a", name, "b"])
    monkeypatch.setattr(
        process_runner, "select_device", lambda each: (session_on(DEVICES[0]).device if each == name else gpu, "")
    )
    monkeypatch.setattr(process_runner, "_in_processes", lambda names: started.extend(names) or [*names])
    first, second, third = devices_of(["a", name, "b"])
    assert (first, third) == ("a", "b")
    assert isinstance(second, Session)
    assert started == ["a", "b"]
    assert all(isinstance(each, Session) for each in devices_of([name]))
    *gpus, cpu = devices_of("all")
    assert gpus == ["a", name, "b"]
    assert cpu.facts.is_cpu
