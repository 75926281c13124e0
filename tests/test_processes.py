"""A process for each device: answers, memory that is shared, and what ends with which process."""

import gc
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import DEVICES, ROOT, printed_by, session_on
from graphs import GRAPHS

import clgraph as cg
from clgraph import shared_memory
from clgraph.algorithms.connected_components import boundaries, on_processes
from clgraph.algorithms.connected_components.on_devices import LOCAL
from clgraph.errors import DeviceError, ForkError, HostMemoryError, InputError, NoDeviceError, UnsupportedStrategyError
from clgraph.multi_device import process_graph, processes
from clgraph.multi_device.exchange import Exchange
from clgraph.multi_device.member import Member
from clgraph.multi_device.processes import Processes, device_names
from clgraph.runtime.discovery.query import enumerate_devices
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

SIZE, GONE = 3000, 20.0  # vertices; seconds in which processes must have ended


def name_of(session: Session) -> str:
    return next(name for name, device in enumerate_devices() if device == session.device)


@pytest.fixture(scope="module")
def twins() -> Any:
    """Two processes on the first device of the tests."""
    made = Processes([name_of(session_on(DEVICES[0]))] * 2)
    yield made
    made._end()


def split(graph: cg.Graph, team: Processes, **options: Any) -> list[cg.ProcessGraph]:
    """Return *graph* in parts that stay on the devices, and in parts that the devices read in each call."""
    shared = graph.share_memory()
    resident = object.__new__(cg.ProcessGraph)
    resident.__init__(team, graph.n_vertices, graph.n_edges, directed=graph.directed)  # type: ignore[misc]
    cuts = process_graph.cuts_of(team, graph.n_edges, "equal")
    resident._keep(process_graph._keep_range, [process_graph.Arrays.of(shared)] * len(team), cuts)
    resident._own(process_graph.first_rows(graph, cuts))
    return [resident, process_graph.streamed(shared, team, shares="equal", **options)]


def check(found: Any, expected: Any) -> None:
    assert found.n_components == expected.n_components
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.fixture(params=[1 << 12, 0], ids=["boundaries", "messages"])
def most(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Join forests at small boundaries, or let each process merge all forests."""
    monkeypatch.setattr(boundaries, "MAX_BOUNDARY", request.param)
    return int(request.param)


@pytest.mark.usefixtures("most")
@pytest.mark.parametrize("strategy", ["auto", *LOCAL])
@pytest.mark.parametrize("name", GRAPHS)
def test_components_of_small_graphs_are_those_of_one_device(twins: Processes, name: str, strategy: str) -> None:
    graph = GRAPHS[name]()
    expected = cg.connected_components(graph, strategy="host")
    for parts in split(graph, twins, segment_entries=max(1, graph.n_edges // 5)):
        for _ in range(2):
            check(cg.connected_components(parts, strategy=strategy), expected)


@pytest.mark.usefixtures("most")
def test_giants_that_meet_in_an_edge_of_both_parts_are_joined(
    twins: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each clique is the giant of a part; both parts pass over the edge (40, 100), which is the first of no row."""
    monkeypatch.setattr("clgraph.multi_device.split_graph._ALIGNMENT", 1)
    src, dst = np.triu_indices(63, 1)
    edges = np.concatenate([np.stack([src, dst]) + 1, np.stack([src, dst]) + 64, [[0, 40], [100, 100]]], axis=1)
    parts, _ = split(cg.Graph.from_edges(*edges), twins)
    found = cg.connected_components(parts, strategy="afforest", strides=())
    assert found.n_components == 1
    assert found.info.details["giants_differed"]


def test_graphs_in_parts_do_not_share_memory(twins: Processes) -> None:
    graphs = [cg.generators.uniform_random(SIZE, SIZE, seed) for seed in (1, 2)]
    parts = [each for graph in graphs for each in split(graph, twins)]
    for k in (2, 3, 0, 1):
        check(cg.connected_components(parts[k]), cg.connected_components(graphs[k // 2], strategy="host"))


def test_messages_of_a_power_law_graph_fit_their_rooms(twins: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boundaries, "MAX_BOUNDARY", 0)
    monkeypatch.setattr(on_processes, "_merged", None)  # It would send the messages again.
    graph = cg.generators.rmat(17, 4)
    parts, _ = split(graph, twins)
    check(cg.connected_components(parts, strategy="afforest"), cg.connected_components(graph, strategy="host"))


@pytest.mark.parametrize("limit", [0, 500])  # With 500 pairs only the boundary of the second process is large.
def test_a_message_that_is_too_long_for_its_room_is_sent_again(
    twins: Processes, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    """Each vertex of this graph has another label than its neighbours, so nothing can be packed."""
    monkeypatch.setattr(boundaries, "MAX_BOUNDARY", limit)
    graph = cg.generators.uniform_random(SIZE, SIZE // 2).permuted(1)
    parts, _ = split(graph, twins)
    found = cg.connected_components(parts)
    check(found, cg.connected_components(graph, strategy="host"))
    assert found.info.details["most_merge_bytes"] > 4 * SIZE // 16


def test_messages_of_several_processes_are_in_memory_of_their_own() -> None:
    """A message is copied while kernels still read the message before it."""
    member, places = Member(name_of(session_on(DEVICES[0]))), list[int]()

    class Forest:
        session, keep = member.session, print
        plan = SimpleNamespace(part=lambda *_: 7, numbering=print, scope={"n": 0})

        def merge(self, message: DeviceArray, *, is_packed: bool, flatten: bool) -> None:
            places.append(message.buffer.int_ptr)

    messages = [np.full(5000, k, np.uint32) for k in range(4)]
    member.kept = {on_processes._FOREST: Forest(), on_processes._MESSAGE: None}
    assert on_processes._merge(member, 2, messages, [True] * 4, np.empty(0, np.int32), (0, 0))[0] == 7
    assert len(set(places)) == 3


@pytest.mark.usefixtures("most")
def test_forests_of_four_processes_are_merged() -> None:
    team = Processes([name_of(session_on(DEVICES[0]))] * 4)
    for graph in (
        cg.generators.uniform_random(SIZE, SIZE // 2).permuted(1), cg.generators.grid(40, 75),
        cg.generators.uniform_random(SIZE, 2 * SIZE), cg.Graph.from_edges([0, 1, 900], [2999, 1500, 2999]),
    ):  # fmt: skip
        for parts in split(graph, team):
            check(cg.connected_components(parts), cg.connected_components(graph, strategy="host"))
    team._end()


def test_named_devices_read_a_graph_in_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    name = name_of(session_on(DEVICES[0]))
    graph = cg.generators.uniform_random(SIZE, SIZE)
    expected = cg.connected_components(graph, strategy="host")
    monkeypatch.setattr(processes, "MIN_GPUS", 0)
    shared = graph.share_memory()
    check(cg.connected_components(shared, devices=[name], shares="equal", verify=True), expected)
    private = cg.connected_components(graph, devices=[name])
    check(private, expected)
    assert "merge_bytes" not in private.info.details  # one device has solved it, as if it alone was named
    forest = cg.minimum_spanning_forest(shared, devices=[name])
    np.testing.assert_array_equal(forest.edges, cg.minimum_spanning_forest(graph, strategy="host").edges)
    made = cg.ProcessGraph.from_graph(graph, [name])
    check(cg.connected_components(made), expected)
    with pytest.raises(InputError, match="stays on the devices"):
        cg.connected_components(made, devices=[name])
    with pytest.raises(InputError, match="no forests"):
        cg.minimum_spanning_forest(made)
    with pytest.raises(UnsupportedStrategyError, match="on several devices"):
        cg.connected_components(made, strategy="host")
    with pytest.raises(InputError, match="no option"):
        cg.connected_components(made, strategy="rem", strides=4)


def test_a_shared_graph_is_the_same_graph() -> None:
    graph = cg.generators.random_weights(cg.generators.grid(20, 30), high=9)
    shared = graph.share_memory()
    for name in ("row_offsets", "column_indices", "edge_weights"):
        np.testing.assert_array_equal(getattr(shared, name), getattr(graph, name))
        assert not getattr(shared, name).flags.writeable
        assert shared_memory.place_of(getattr(shared, name))
    assert process_graph.is_shared(shared)
    assert not process_graph.is_shared(graph)


def make_ring(session: Session, place: int, n_places: int, n: int) -> Any:
    """Return a part of a ring: some of its edges, each from both ends."""
    first, stop = (n * each // n_places for each in (place, place + 1))
    a = np.arange(first, stop)
    return cg.DeviceGraph.from_graph(cg.Graph.from_edges(a, (a + 1) % n, n=n), session)


def make_path(session: Session, place: int, n_places: int) -> Any:
    return cg.generators.path(5 + place, session=session).on_device


def test_parts_are_made_in_the_processes() -> None:
    names = [name_of(session_on(DEVICES[0]))]
    made = cg.ProcessGraph.generate(make_ring, names, 700)
    assert (made.n_vertices, made.n_edges, made.directed) == (700, 1400, False)
    assert cg.connected_components(made).n_components == 1
    with pytest.raises(InputError, match="cannot be checked on the host"):
        cg.connected_components(made, verify=True)
    with pytest.raises(InputError, match="allowed: a DeviceGraph"):
        cg.ProcessGraph.generate(name_of_place, names)
    assert cg.ProcessGraph.generate(partial(make_ring), names, 20).n_edges == 40
    with pytest.raises(InputError, match=r"make = <function .*lambda.* allowed: a function of a module"):
        cg.ProcessGraph.generate(lambda *_: None, names)  # type: ignore[arg-type, return-value]


def name_of_place(session: Session, place: int, n_places: int) -> str:
    return f"{place} of {n_places}"


def test_parts_of_different_sizes_are_refused(twins: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_graph, "processes_of", lambda _names: twins)
    with pytest.raises(InputError, match="must be the same"):
        cg.ProcessGraph.generate(make_path, [name_of(session_on(DEVICES[0]))])


def fail(member: Any, place: int, error: Exception) -> int:
    if place == 1:
        raise error
    return place


def leave(member: Any, place: int) -> int:
    if place == 1:
        os._exit(3)
    return place


def process_ids(member: Any) -> int:
    return os.getpid()


def test_an_error_of_a_process_is_raised_here(twins: Processes) -> None:
    with pytest.raises(DeviceError, match=r"devices\[1\], .*: it is gone"):
        twins.each(fail, range(2), [DeviceError("it is gone")] * 2)
    with pytest.raises(InputError, match="too large"):
        twins.each(fail, range(2), [InputError("too large")] * 2)
    with pytest.raises(ZeroDivisionError) as caught:
        twins.each(fail, range(2), [ZeroDivisionError("not here")] * 2)
    assert "in fail" in "".join(caught.value.__notes__)
    assert len(twins.each(process_ids)) == 2


def count_turns(member: Any, exchange: Exchange, waits: float, n_turns: int) -> list[list[tuple[int, int]]]:
    found = []
    for turn in range(n_turns):
        time.sleep(waits if turn % 3 == exchange.place else 0.0)
        found.append(exchange.all((exchange.place, turn)))
    return found


def test_processes_exchange_values_in_turns(twins: Processes) -> None:
    expected = [[(0, turn), (1, turn)] for turn in range(20)]
    for waits in ([0.0, 0.002], [0.002, 0.0], [0.0, 0.0]):
        assert twins.each(count_turns, waits, [20] * 2, exchange_bytes=100) == [expected] * 2


def fail_in_turn(member: Any, exchange: Exchange, end: Any, place: int) -> None:
    for turn in range(9):
        if (turn, exchange.place) == (4, place):
            end()
        exchange.all()


def give_up() -> None:
    raise InputError("given up")


def test_a_failure_ends_an_exchange(twins: Processes) -> None:
    for place in (0, 1):
        with pytest.raises(InputError, match="given up"):
            twins.each(fail_in_turn, [give_up] * 2, [place] * 2, exchange_bytes=64)
    with pytest.raises(ModuleNotFoundError):  # One process cannot read its call, and the other one waits.
        twins.each(fail_in_turn, [Unreadable(), give_up], [5] * 2, exchange_bytes=64)
    before = twins.each(process_ids)
    with pytest.raises(DeviceError, match=r"devices\[1\], .*: its process has ended \(exit code 3\)"):
        twins.each(fail_in_turn, [partial(os._exit, 3)] * 2, [1] * 2, exchange_bytes=64)
    assert not {*before} & {*twins.each(process_ids)}


class Unreadable:
    def __reduce__(self) -> Any:
        return __import__, ("no_such_module",)


def test_a_process_that_ends_is_named_and_started_again() -> None:
    team = Processes([name_of(session_on(DEVICES[0]))] * 2)
    graph = cg.generators.grid(30, 30)
    parts, stream = split(graph, team)
    expected = cg.connected_components(graph, strategy="host")
    check(cg.connected_components(parts), expected)
    before = team.each(process_ids)
    with pytest.raises(DeviceError, match=r"devices\[1\], .*: its process has ended \(exit code 3\)"):
        team.each(leave, range(2))
    check(cg.connected_components(stream), expected)  # new processes
    assert not {*before} & {*team.each(process_ids)}
    with pytest.raises(DeviceError, match="split the data again"):
        cg.connected_components(parts)
    os.kill(team.each(process_ids)[0], signal.SIGKILL)
    with pytest.raises(DeviceError, match=r"devices\[0\], .* has ended"):
        cg.connected_components(stream)
    check(cg.connected_components(stream), expected)
    team._end()


def test_a_thread_polls_for_answers_of_gpus_and_then_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    name, real, timeouts = name_of(session_on(DEVICES[0])), processes.wait, list[float | None]()
    monkeypatch.setattr(processes, "_chosen", lambda key: (key, len(key)))  # The devices count as GPUs.

    def wait(connections: Any, timeout: float | None = None) -> Any:
        timeouts.append(timeout)
        return real(connections, timeout)

    monkeypatch.setattr(processes, "wait", wait)
    team = Processes([name] * 2)
    assert len({*team.each(process_ids)}) == 2
    timeouts.clear()
    team.each(sleep, [3 * processes._SPIN_SECONDS] * 2)
    assert {*timeouts} == {0, None}
    with pytest.raises(DeviceError, match=r"devices\[1\], .* has ended"):
        team.each(leave, range(2))
    team._end()
    alone = Processes([name])
    timeouts.clear()
    alone.each(process_ids)
    assert {*timeouts} == {None}
    alone._end()


def test_a_part_keeps_its_plan_for_the_next_call(twins: Processes) -> None:
    parts, stream = split(cg.generators.uniform_random(SIZE, SIZE), twins)
    for _ in range(3):
        cg.connected_components(parts)
    assert twins.each(count_plans) == [1, 1]
    for _ in range(2):
        cg.connected_components(stream)
    assert twins.each(count_plans) == [1, 1]
    del parts
    assert twins.each(count_plans) == [0, 0]


def count_plans(member: Any) -> int:
    return len(member.session.kept._plans)


def test_parts_of_a_graph_that_is_gone_are_dropped(twins: Processes) -> None:
    parts, _ = split(cg.generators.grid(9, 9), twins)
    assert all(twins.each(count_kept))
    del parts
    assert not any(twins.each(count_kept))


def count_kept(member: Any) -> int:
    return len(member.kept)


def test_names_of_devices_are_checked() -> None:
    name = name_of(session_on(DEVICES[0]))
    assert device_names([name]) == [name]
    for wrong, message in [([], "devices = "), (name, "allowed"), ([session_on(DEVICES[0])], "allowed"),
                           ([name, name], r"devices\[0\] and devices\[1\] are the same")]:  # fmt: skip
        with pytest.raises(InputError, match=message):
            device_names(wrong)
    with pytest.raises(NoDeviceError):
        device_names(["no such device"])


PROGRAM = """
import os, sys, clgraph as cg
from clgraph.multi_device import processes
processes.MIN_GPUS = 0
graph = cg.generators.grid(40, 40).share_memory()
print(cg.connected_components(graph, devices=[{name!r}]).n_components, flush=True)
"""


@pytest.mark.parametrize("how", ["file", "command", "input"])
def test_a_program_needs_no_guard_of_its_main_part(tmp_path: Path, how: str) -> None:
    """Processes do not run the caller's program again, and its memory is gone afterwards."""
    text = PROGRAM.format(name=name_of(session_on(DEVICES[0])))
    (tmp_path / "program.py").write_text(text)
    arguments = {"file": [str(tmp_path / "program.py")], "command": ["-c", text], "input": ["-"]}[how]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, *arguments], input=text if how == "input" else "", capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path}, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


WAITING = (
    PROGRAM
    + """
team = processes.processes_of([{name!r}])
import test_processes, time
print(*team.each(test_processes.process_ids), flush=True)
"""
)


def has_ended(process: int) -> bool:
    """Return whether *process* is gone or a zombie, after some time."""
    until = time.monotonic() + GONE
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_notebook_starts_processes_that_end_with_its_kernel() -> None:
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat.v4")
    text = WAITING.format(name=name_of(session_on(DEVICES[0])))
    tests = str(ROOT / "tests")
    cells = [f"import sys; sys.path[:0] = [{str(ROOT)!r}, {tests!r}]", text, text.splitlines()[-1]]
    book = nbformat.new_notebook(cells=[*map(nbformat.new_code_cell, cells)])
    client.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    (n_components, first), (second,) = ("".join(part.text for part in cell.outputs).split() for cell in book.cells[1:])
    assert n_components == "1" and first == second
    assert has_ended(int(first))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_a_program_that_is_killed(how: signal.Signals) -> None:
    code = WAITING.format(name=name_of(session_on(DEVICES[0]))) + "time.sleep(300)"
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "1\n"
        child = int(program.stdout.readline())
        program.send_signal(how)
        program.wait(GONE)
    assert has_ended(child)


def test_ctrl_c_ends_the_processes_and_the_next_call_starts_new_ones() -> None:
    code = (
        WAITING.format(name=name_of(session_on(DEVICES[0])))
        + f"""
import signal, threading, time
began = time.monotonic()
signal.signal(signal.SIGINT, signal.default_int_handler)  # Shells start background programs that ignore it.
threading.Timer(1.0, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
try:
    team.each(test_processes.sleep, [60])
except KeyboardInterrupt:
    print("interrupted" if time.monotonic() - began < 30 else "late")
print(cg.connected_components(graph, devices=[{name_of(session_on(DEVICES[0]))!r}]).n_components)
"""
    )
    first, child, interrupted, again = printed_by(code).split()
    assert (first, interrupted, again) == ("1", "interrupted", "1")
    assert has_ended(int(child))


def sleep(member: Any, seconds: float) -> None:
    time.sleep(seconds)


def test_memory_of_answers_is_used_again() -> None:
    shared_memory.remove_spare()  # Blocks of earlier tests may fit, too.
    first = shared_memory.empty(100_000, np.int32)
    place = shared_memory.place_of(first)
    assert place is not None
    del first
    second = shared_memory.empty(90_000, np.int32)
    assert shared_memory.place_of(second) == place
    assert shared_memory.place_of(np.zeros(3)) is None
    del second
    with pytest.raises(HostMemoryError, match="shared memory"):
        shared_memory.empty(1 << 45, np.uint8)
    shared_memory.remove_spare()
    assert place[0] not in shared_memory.living()
    assert not Path("/dev/shm", place[0].lstrip("/")).exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_its_parents_blocks_and_processes_alone(twins: Processes) -> None:
    kept, dropped = shared_memory.empty(1000, np.int32), [shared_memory.empty(2000, np.int32)]
    kept[:], place, name = 7, shared_memory.place_of(dropped[0]), twins.names()[0]
    assert place is not None
    child = os.fork()
    if not child:
        dropped.clear()
        is_another = shared_memory.place_of(shared_memory.empty(2000, np.int32))[0] != place[0]  # type: ignore[index]
        shared_memory.remove_spare()
        shared_memory._remove_own()  # as at the end of a process
        try:
            twins.each(n_mapped)
        except ForkError:
            os._exit(10 + is_another)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 11
    assert twins.each(first_of, [kept] * len(twins)) == [7] * len(twins) and twins.names()[0] == name
    assert Path("/dev/shm", place[0].lstrip("/")).exists()


def first_of(member: Any, array: Any) -> int:
    return int(array[0])


def n_mapped(member: Any, array: Any = None) -> int:
    return len(shared_memory._attached)


def test_processes_unmap_blocks_that_are_removed(twins: Processes) -> None:
    array, others = shared_memory.empty(100_000, np.int32), Processes([name_of(session_on(DEVICES[0]))])
    for team in (twins, others):  # A team that sends its calls later is told, too.
        assert min(team.each(n_mapped, [array] * len(team))) >= 1
    del array
    shared_memory.remove_spare()
    gc.collect()
    living = len(shared_memory.living())
    for team in (twins, others):
        assert max(team.each(n_mapped)) <= living
    others._end()
