"""Loads on devices that have a process each: right answers, what is copied, and processes that end."""

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
    KernelBuildError,
    KernelSourceError,
)
from clgraph.hetero import POLICIES, Kernel, Work, map_rows, process_parts, process_runner, shared_copy
from clgraph.hetero.process_runner import ProcessDevice, devices_of
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


def test_a_load_of_one_part_is_not_sent_to_the_process(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    call, parts = ProcessDevice.call, list[int]()

    def noting(self: ProcessDevice, function: Any, *arguments: Any, **options: Any) -> Any:
        if function is process_parts.launch:
            first, last = arguments[2]
            parts.append(last - first)
        return call(self, function, *arguments, **options)

    monkeypatch.setattr(ProcessDevice, "call", noting)
    scheduler = cg.HeteroScheduler(twins, policy="static", ratios=[0, 1])
    (found,), report = scheduler.run(SQUARE, [numbers(N)])
    assert report.rounds[0].items == (0, N)
    assert parts == [N // 100] * 2  # Each device has computed a sub-load before the first round.
    assert np.allclose(found, squares(numbers(N)))


def test_large_arrays_go_through_chunks_that_are_used_again(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of more chunks than there are, and outputs of another size, with arrays that change between loads."""
    for name, value in {"CHUNK_BYTES": 40_000, "N_CHUNKS": 3, "LAG": 1}.items():
        monkeypatch.setattr(f"clgraph.runtime.memory.chunks.{name}", value)
    devices, x = two_processes(), numbers(N)
    scheduler = cg.HeteroScheduler(devices, policy="static", ratios=[1, 2])
    for _ in range(3):
        x += 1
        results, _ = scheduler.run(SQUARE, [x] * 2)
        assert all(np.allclose(found, squares(x)) for found in results)
    assert all(len(device.chunks._chunks) == 3 for device in devices)
    for device in devices:
        device.processes._end()


def test_shared_copies_are_not_sent_in_chunks(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    sent, x = list[int](), numbers(N)
    upload = process_runner._SharedChunks.upload
    monkeypatch.setattr(
        process_runner._SharedChunks, "upload", lambda *given: sent.append(given[3].nbytes) or upload(*given)
    )
    scheduler = cg.HeteroScheduler(twins, policy="static", ratios=[1, 1])
    for load, expected in ((x, [x.nbytes // 2] * 2), (shared_copy(x), [])):
        assert np.allclose(scheduler.run(SQUARE, [load]).results[0], squares(x))
        assert sent[-2:] == expected
        sent.clear()


def test_arrays_that_all_parts_share_are_sent_once_a_load(twins: list[Any]) -> None:
    rng = np.random.default_rng(5)
    matrix = rng.random((500, 1 << 15), np.float32)
    for scale in (1, 2):
        vector = scale * rng.random(1 << 15, np.float32)
        product = map_rows(
            "result = 0; for (int k = 0; k < length; k++) result += row[k] * vector[k];",
            dtype=np.float32, shared={"vector": vector},
        )  # fmt: skip
        results, _ = cg.HeteroScheduler(twins, policy="greedy", sub_loads=6).run(product, [matrix, matrix[:300]])
        for found in results:
            assert np.allclose(found, (matrix @ vector)[: len(found)], rtol=1e-4)


def test_without_shared_memory_loads_are_computed_in_this_process(
    twins: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise HostMemoryError("full")

    monkeypatch.setattr(shared_memory, "_new_block", full)
    results, report = cg.HeteroScheduler(twins).run(SQUARE, [numbers(N)] * 3)
    assert all(np.allclose(found, squares(numbers(N))) for found in results)
    assert not any(done.dropped for done in report.rounds)


# ---- processes that end


@pytest.mark.parametrize("policy", ["hass", "greedy"])
def test_others_take_over_from_a_process_that_is_killed(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = two_processes()
    (process,), calls = devices[0].processes.each(process_ids), [0]
    call = ProcessDevice.call

    def killing(self: ProcessDevice, function: Any, *arguments: Any, **options: Any) -> Any:
        if function is process_parts.launch and self is devices[0]:
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
        if function is process_parts.launch:
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
