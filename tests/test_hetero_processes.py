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
    KernelBuildError,
    KernelSourceError,
)
from clgraph.hetero import POLICIES, Kernel, Work, map_rows, process_runner, shared_copy
from clgraph.hetero.process_runner import ProcessDevice, devices_of
from clgraph.hetero.runner import Runner
from clgraph.lent_memory import is_readable, lend
from clgraph.multi_device.member import Member
from clgraph.multi_device.processes import Processes
from clgraph.runtime.memory.staging import Staging
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
        if function is process_runner._compute:
            parts.extend(last - first for first, last, *_ in arguments[4])
        return call(self, function, *arguments, **options)

    monkeypatch.setattr(ProcessDevice, "call", noting)
    scheduler = cg.HeteroScheduler(twins, policy="static", ratios=[0, 1])
    (found,), report = scheduler.run(SQUARE, [numbers(N)])
    assert report.rounds[0].items == (0, N)
    assert parts == [N // 100]  # A device that computes has computed a sub-load before the first round.
    assert np.allclose(found, squares(numbers(N)))


def test_data_that_parts_share_are_copied_once_if_a_warm_device_computes_a_whole_load(twins: list[Any]) -> None:
    calls = list[int]()
    work = dataclasses.replace(SQUARE, shared=lambda load: calls.append(len(load)) or {})
    scheduler = cg.HeteroScheduler(twins, policy="static", ratios=[0, 1])
    scheduler.run(work, [numbers(N)])
    calls.clear()
    scheduler.run(work, [numbers(N)] * 3)
    assert calls == [N] * 3


def test_a_load_may_be_one_sub_load_or_one_item(twins: list[Any]) -> None:
    for n, sub_loads in ((N, 1), (1, 100)):
        work = dataclasses.replace(SQUARE)
        (found,), _ = cg.HeteroScheduler(twins, sub_loads=sub_loads).run(work, [numbers(n)])
        assert np.allclose(found, squares(numbers(n)))


def test_processes_read_and_write_the_arrays_of_this_process(twins: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """No copy of an array is made for them, and new values are seen; an array in shared memory is named as such."""
    lent, x = list[int](), numbers(N)
    lend = process_runner.lend
    monkeypatch.setattr(process_runner, "lend", lambda array: lent.append(array.nbytes) or lend(array))
    monkeypatch.setattr(shared_memory, "_new_block", None)
    scheduler = cg.HeteroScheduler(twins, policy="static", ratios=[1, 1])
    for _ in range(2):
        x += 1
        results, _ = scheduler.run(SQUARE, [x] * 3)
        assert all(np.allclose(found, squares(x)) for found in results)
    assert sorted({*lent}) == [4 * N // 100, x.nbytes // 2, x.nbytes]  # results of a trial, inputs and results
    monkeypatch.undo()
    monkeypatch.setattr(process_runner, "lend", lambda array: lent.append(array.nbytes) or lend(array))
    lent.clear()
    assert np.allclose(scheduler.run(SQUARE, [shared_copy(x)]).results[0], squares(x))
    assert lent == [x.nbytes] * 2


def test_large_parts_of_lent_arrays_go_through_pinned_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member of this process, whose CPU takes the path of GPUs."""
    for name, value in {"CHUNK_BYTES": 40_000, "N_CHUNKS": 3, "LAG": 1}.items():
        monkeypatch.setattr(f"clgraph.runtime.memory.staging.{name}", value)
    monkeypatch.setattr("clgraph.hetero.runner.LEAST_BYTES", 1 << 12)
    here, x, shared = Member(name_of(session_on(DEVICES[0]))), numbers(N), shared_copy(numbers(N))
    here.session.commands.facts = dataclasses.replace(here.session.facts, is_cpu=False)
    for load, given in enumerate((x, shared, x)):
        out = np.zeros(N, np.float32)
        argument = given if given is shared else lend(given)
        pieces = [(0, N // 3, {"x_items": argument[: N // 3]}, N // 3)]
        pieces += [(N // 3, N, {"x_items": argument[N // 3 :]}, N - N // 3)]
        process_runner._compute(here, 0, load, SQUARE.kernel(False), {}, pieces, {"out": (lend(out), 1)})
        assert np.allclose(out, squares(x))
    assert len(here._pinned) == 1  # the shared copy


def test_a_copy_that_fails_is_an_error_of_the_device_and_the_next_copy_works() -> None:
    x = np.arange(N, dtype=np.int64)
    place = lend(x)
    assert np.array_equal(place[5:9].copy(), x[5:9])
    place[5:9].write(np.zeros(4, np.int64))
    assert x[4:10].tolist() == [4, 0, 0, 0, 0, 9]
    nowhere = dataclasses.replace(place, address=16)
    assert is_readable(place)
    assert not is_readable(nowhere)
    session = session_on(DEVICES[0])
    buffer = session.empty(N, np.int64)
    staging = Staging(session.commands)
    for broken in (staging.upload, staging.read):
        with pytest.raises(DeviceError, match="between processes"):
            broken(buffer.buffer, 0, nowhere)
    staging.upload(buffer.buffer, 0, place)
    assert np.array_equal(buffer.get(), x)


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
    signal.signal(signal.SIGINT, signal.default_int_handler)  # Shells start background programs that ignore it.
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


def test_named_gpus_are_started_together_and_other_devices_have_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    name, started = name_of(session_on(DEVICES[0])), list[str]()
    gpu, other = (SimpleNamespace(type=getattr(process_runner.cl.device_type, kind)) for kind in ("GPU", "CPU"))
    monkeypatch.setattr(process_runner, "names_of", lambda devices: None if devices == [name] else ["a", name, "b"])
    monkeypatch.setattr(process_runner, "select_device", lambda each: (other if each == name else gpu, ""))
    monkeypatch.setattr(process_runner, "beside_gpus", lambda n: [f"beside {n}"])
    monkeypatch.setattr(process_runner, "_in_processes", lambda names: started.extend(names) or [*names])
    first, second, third = devices_of(["a", name, "b"])
    assert (first, third) == ("a", "b")
    assert isinstance(second, Session)
    assert started == ["a", "b"]
    assert all(isinstance(each, Session) for each in devices_of([name]))
    assert devices_of("all") == ["a", name, "b", "beside 3"]


def test_the_first_of_several_gpus_is_warm_before_a_load_is_timed(
    twins: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(session_on(DEVICES[0]).device)
    session.commands.facts = dataclasses.replace(session.facts, is_cpu=False)
    parts, run = list[int](), Runner.run
    monkeypatch.setattr(Runner, "run", lambda self, *part: parts.append(part[1] - part[0]) or run(self, *part))
    scheduler = cg.HeteroScheduler([session, twins[1]], policy="static", ratios=[1, 0])
    for _ in range(2):
        results, _ = scheduler.run(SQUARE, [numbers(N)] * 2)
        assert all(np.allclose(found, squares(numbers(N))) for found in results)
    assert parts == [N // 100, *[N] * 6]  # a sub-load, two loads that are dropped, and four that are not
    parts.clear()
    cg.HeteroScheduler([session], policy="static").run(SQUARE, [numbers(N)])
    assert parts == [N // 100, N]


def test_the_first_gpu_has_a_session_and_all_have_one_if_processes_may_not_read_this_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = name_of(session_on(DEVICES[0]))
    started = SimpleNamespace(reads_memory=True)
    monkeypatch.setattr(process_runner, "ProcessDevice", lambda *_: started)
    (alone,) = process_runner._in_processes([name])
    first, second = process_runner._in_processes([name] * 2)
    assert isinstance(alone, Session)
    assert isinstance(first, Session)
    assert second is started
    started.reads_memory = False
    assert all(isinstance(each, Session) for each in process_runner._in_processes([name] * 2))
