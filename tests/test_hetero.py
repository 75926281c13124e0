"""Loads on several devices: right answers under every policy, what fails, and what is refused."""

import dataclasses
import threading
import time
import warnings
import weakref
from types import SimpleNamespace

import hetero_loads
import numpy as np
import pyopencl as cl
import pytest
import scipy.sparse as sp
from conftest import printed_by, session_on, two_sessions
from graphs import with_arrays

import clgraph as cg
from clgraph.errors import (
    DeviceDroppedWarning,
    DeviceError,
    InputError,
    KernelBuildError,
    KernelSourceError,
    NoDeviceError,
)
from clgraph.hetero import POLICIES, HeteroReport, Kernel, Output, Work, elementwise, map_rows, sub_devices
from clgraph.hetero.rounds import Round
from clgraph.hetero.runner import Runner, member
from clgraph.runtime.devices import sessions_of
from clgraph.runtime.driver import opencl
from clgraph.runtime.session import Session, as_session

ROWS, ONES = sp.csr_array(np.eye(3, dtype=np.float32)), map_rows("result = 1;", dtype=np.int32, sparse=True)
PATTERNS = [b"ab", b"needle", b"aaa", b"q"]
SQUARE = elementwise("x * x + (float)(i % 3)", inputs={"x": np.float32}, dtype=np.float32)


@pytest.fixture(scope="module")
def pair() -> list[Session]:
    """Two devices of the tests; a CPU that comes second has one unit."""
    first, second = two_sessions()
    is_cut = second.facts.is_cpu and second.facts.compute_units > 1
    return [first, sub_devices(second.device, [1])[0] if is_cut else second]


def numbers(n: int = 50_000, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(n, np.float32)


def squares(x: np.ndarray) -> np.ndarray:
    return x * x + (np.arange(x.size) % 3).astype(np.float32)


def check_every_load(devices: list[Session], policy: str) -> None:
    """Compute each kind of load in several rounds, of several sizes, and compare with numpy and scipy."""
    scheduler = cg.HeteroScheduler(devices, policy=policy)
    loads = [numbers(n, n) for n in (50_000, 50_001, 1, 2, 50_000)]
    results, report = scheduler.run(SQUARE, loads)
    for found, load in zip(results, loads, strict=True):
        np.testing.assert_allclose(found, squares(load), rtol=1e-6)
    assert [sum(done.items) for done in report.rounds] == [load.size for load in loads]

    texts = [hetero_loads.text_with(PATTERNS, n, n) for n in (100_000, 1000, 3)]
    texts.append(np.full(20_000, ord("a"), np.uint8))  # Each place matches, also at cuts.
    for found, text in zip(scheduler.run(hetero_loads.string_search(PATTERNS), texts).results, texts, strict=True):
        assert found.tolist() == hetero_loads.count_in(text, PATTERNS)

    rng = np.random.default_rng(1)
    for shape in ((200, 70, 90), (33, 1, 31)):
        left, right = rng.random(shape[:2], np.float32), rng.random(shape[1:], np.float32)
        (found,), _ = scheduler.run(hetero_loads.matrix_multiply(), [(left, right)])
        np.testing.assert_allclose(found, left @ right, rtol=1e-4)

    matrix, vector = hetero_loads.power_law_matrix(3000, 500, 8), numbers(500)
    for found in scheduler.run(hetero_loads.sparse_product(vector), [matrix] * 3).results:
        np.testing.assert_allclose(found, matrix @ vector, rtol=1e-4)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_finds_what_numpy_finds(pair, policy):
    check_every_load(pair, policy)


@pytest.mark.parametrize("policy", ["hass", "guided"])
def test_one_device_computes_all_alone(session, policy):
    check_every_load([session], policy)


def test_unequal_sub_devices_of_one_cpu_share_the_load():
    """A child process runs the test, because PoCL makes four units of any processor there."""
    session_on("pocl")
    script = (
        "import test_hetero as t, sys; devices = t.sub_devices('pocl', [3, 1]);"
        "assert [s.facts.compute_units for s in devices] == [3, 1];"
        "weights = [t.member(s).weight for s in devices]; assert abs(weights[0] / weights[1] - 3) < 1e-9;"
        "[t.check_every_load(devices, policy) for policy in t.POLICIES]"
    )
    printed_by(script, POCL_MAX_PTHREAD_COUNT="4")


def test_an_algorithm_runs_on_a_sub_device(pocl):
    part = sub_devices(pocl.device, [1])[0]
    graph = cg.generators.rmat(8, 8)
    assert cg.connected_components(graph, session=part, verify=True).n_components
    assert part.facts.compute_units == 1


def test_the_report_tells_the_items_of_each_device(pair, tmp_path):
    scheduler = cg.HeteroScheduler(pair)
    results, report = scheduler.run(SQUARE, [numbers()] * 4)
    assert isinstance(report, HeteroReport) and report.policy == "hass" and len(report.rounds) == 4 == len(results)
    assert len(report.devices) == 2 and "1 units" in report.devices[1]
    assert report.rounds[0].ratios is None and sum(report.rounds[1].ratios) == pytest.approx(1)
    for done in report.rounds:
        assert all(0 <= idle <= 1 for idle in done.idle) and done.total_seconds >= max(done.seconds) > 0
        assert done.dropped == () and sum(done.items) == 50_000
    assert min(report.rounds[0].items) > 0
    assert str(report).count("\n") == 1 + 2 * 4
    report.plot(tmp_path / "rounds.png")
    assert (tmp_path / "rounds.png").stat().st_size > 10_000
    with pytest.raises(InputError, match="suffix"):
        report.plot(tmp_path / "rounds.txt")
    total = report.rounds[-1].total_seconds
    assert report.efficiency([2 * total, 2 * total]) == pytest.approx(1)
    with pytest.raises(InputError, match="2 numbers"):
        report.efficiency([1.0])


def test_what_was_learned_is_used_in_later_calls_on_the_same_kernel(pair):
    scheduler = cg.HeteroScheduler(pair)
    assert scheduler.run(SQUARE, [numbers()]).report.rounds[0].ratios is None
    same = elementwise("x * x + (float)(i % 3)", inputs={"x": np.float32}, dtype=np.float32)
    assert scheduler.run(same, [numbers()]).report.rounds[0].ratios is not None
    other = elementwise("x + 1.0f", inputs={"x": np.float32}, dtype=np.float32)
    assert scheduler.run(other, [numbers()]).report.rounds[0].ratios is None


# ---- ways to describe work

TEXT = """
#include "common/types.h"
#if FORBIDDEN == DEV_COMPUTE_UNITS
#error forbidden here
#endif
KERNEL least_and_greatest(long n, __global const int *restrict x, int width, __global int *least, __global long *greatest) {
  long i = get_global_id(0);
  if (i >= n) return;
  least[i] = greatest[i] = x[i * width];
  for (int k = 1; k < width; k++) {
    least[i] = min(least[i], x[i * width + k]);
    greatest[i] = max(greatest[i], (long)x[i * width + k]);
  }
}
"""  # noqa: E501


def least_and_greatest(forbidden: int = -1, **more) -> Work:
    kernel = Kernel(TEXT, "least_and_greatest", {"FORBIDDEN": forbidden})
    given = {
        "kernels": {"cpu": kernel, "gpu": kernel},
        "count": len,
        "grain": 8,
        "cut": lambda load, start, stop: {"x": load[start:stop].reshape(-1), "width": load.shape[1]},
        "outputs": {"least": Output(np.int32), "greatest": Output(np.int64)},
    }
    return Work(**{**given, **more})


def test_a_kernel_from_a_text_may_have_several_outputs(pair):
    load = np.random.default_rng(3).integers(-99, 99, (1003, 5)).astype(np.int32)
    (found,), _ = cg.HeteroScheduler(pair, policy="greedy", sub_loads=7).run(least_and_greatest(), [load])
    assert (found["least"] == load.min(1)).all() and (found["greatest"] == load.max(1)).all()
    spread = least_and_greatest(collect=lambda load, found: int((found["greatest"] - found["least"]).max()))
    assert cg.HeteroScheduler(pair).run(spread, [load, load]).results == [np.ptp(load, axis=1).max()] * 2


def test_rows_of_a_dense_matrix_and_several_inputs_are_shared(pair):
    load = np.random.default_rng(3).integers(0, 9, (500, 6)).astype(np.int32)
    total = map_rows(
        "result = i; for (int k = 0; k < length; k++) result += row[k] * scale[k];",
        dtype=np.int64,
        values=np.int32,
        shared={"scale": np.arange(6)},
    )
    for given in (load, np.asfortranarray(load), load[::-1]):
        (found,), _ = cg.HeteroScheduler(pair).run(total, [given])
        assert (found == np.arange(500) + given @ np.arange(6)).all()
    both = elementwise("a < b ? a : b", inputs={"a": np.int32, "b": np.int32}, dtype=np.int32)
    (found,), _ = cg.HeteroScheduler(pair).run(both, [{"a": load[:, 0].copy(), "b": load[:, 1].copy()}])
    assert (found == load[:, :2].min(1)).all()


def test_results_go_where_the_user_wants_them(pair):
    out = np.zeros(50_000, np.float32)
    results, _ = cg.HeteroScheduler(pair).run(SQUARE, [numbers()], out=[out])
    assert results[0] is out and np.allclose(out, squares(numbers()))


def test_ratios_that_the_user_gives_are_kept(pair):
    for ratios, items in (([3, 1], (37_500, 12_500)), ([0, 1], (0, 50_000))):
        (found,), report = cg.HeteroScheduler(pair, policy="static", ratios=ratios).run(SQUARE, [numbers()])
        assert report.rounds[0].items == items and np.allclose(found, squares(numbers()))


# ---- the path of GPUs, on CPUs


@pytest.mark.parametrize("policy", ["hass", "greedy"])
def test_large_parts_go_in_pieces_by_way_of_pinned_chunks(pair, policy, monkeypatch):
    for name in ("runner.PIECE_BYTES", "runner.LEAST_BYTES"):
        monkeypatch.setattr(f"clgraph.hetero.{name}", 1 << 12)
    devices = [Session(session.device) for session in pair]
    for session in devices:
        session.commands.facts = dataclasses.replace(session.facts, is_cpu=False)
    launched = []
    launch = Runner._launch
    monkeypatch.setattr(
        Runner, "_launch", lambda self, *part: launched.append(part[1] - part[0]) or launch(self, *part)
    )
    check_every_load(devices, policy)
    assert len(launched) > 20


def test_four_pieces_are_in_flight(pocl, monkeypatch):
    """The kernel of the first piece may take long, so later pieces are copied meanwhile. Few pieces need memory."""
    monkeypatch.setattr("clgraph.hetero.runner.PIECE_BYTES", 1 << 12)
    session = Session(pocl.device)
    session.commands.facts = dataclasses.replace(session.facts, is_cpu=False, max_alloc_bytes=1 << 15)
    runner, x, events = Runner(session, SQUARE), np.arange(1 << 13, dtype=np.float32), []
    launch, read = Runner._launch, Runner._read
    monkeypatch.setattr(Runner, "_launch", lambda self, *part: events.append(1) or launch(self, *part))
    monkeypatch.setattr(Runner, "_read", lambda self, piece: events.append(-1) or read(self, piece))
    out = np.zeros_like(x)
    runner.begin(x, {"out": out})
    runner.run(0, x.size)
    assert np.allclose(out, squares(x))
    assert max(np.cumsum(events)) == 4 and sum(events) == 0 and len(events) > 8


def test_a_cut_that_copies_keeps_no_piece_after_its_use(pocl, monkeypatch):
    monkeypatch.setattr("clgraph.hetero.runner.PIECE_BYTES", 1 << 12)
    for lengths, most in ((np.full(2000, 5), 1.3), (np.repeat([200, 1], [50, 1950]), 0.9)):
        runner, living = as_on_a_gpu(pocl, lengths, 1, 0), []
        cut = runner.work.cut

        def copied(load, start, stop, cut=cut, living=living):
            values = {name: array.copy() for name, array in cut(load, start, stop).items()}
            living.append(weakref.ref(values["row_values"]))
            return values

        object.__setattr__(runner.work, "cut", copied)
        kept, whole = [], lengths.sum()
        for _, _, values in runner._pieces(0, lengths.size):
            del values
            kept.append(sum(each().size for each in living if each() is not None))
        assert max(kept) <= most * whole and kept[-1] <= 0.3 * whole


FALLING = np.repeat([200, 20, 4, 1], [20, 80, 400, 1203])
LENGTHS = {
    "falling": FALLING,
    "rising": FALLING[::-1],
    "long in the middle": np.repeat([1, 200, 1], [800, 100, 800]),
    "long at both ends": np.repeat([200, 1, 200], [50, 1600, 50]),
}


@pytest.mark.parametrize("has_table", [False, True])
@pytest.mark.parametrize("grain", [1, 8])
@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_pieces_of_unequal_rows_have_about_equal_bytes(pocl, lengths, grain, has_table, monkeypatch):
    monkeypatch.setattr("clgraph.hetero.runner.PIECE_BYTES", 1 << 12)
    runner = as_on_a_gpu(pocl, lengths, grain, 100_000 if has_table else 0)
    pieces = [(first, stop, int(lengths[first:stop].sum())) for first, stop, _ in runner._pieces(0, lengths.size)]
    assert [first for first, _, _ in pieces] == [0, *(stop for _, stop, _ in pieces[:-1])]
    assert pieces[-1][1] == lengths.size and all(first % grain == 0 for first, _, _ in pieces)
    assert len(pieces) == 4 and max(n for _, _, n in pieces) < 0.5 * lengths.sum()


def test_pieces_of_equal_rows_are_not_searched_for(pocl, monkeypatch):
    monkeypatch.setattr("clgraph.hetero.runner.PIECE_BYTES", 1 << 12)
    runner, cuts = as_on_a_gpu(pocl, np.full(2000, 5), 1, 100_000), []
    cut = runner.work.cut
    object.__setattr__(runner.work, "cut", lambda *part: cuts.append(part) or cut(*part))
    assert [stop - first for first, stop, _ in runner._pieces(0, 2000)] == [500] * 4
    assert len(cuts) == 5  # the whole and the four pieces


def as_on_a_gpu(session, lengths, grain, n_table):
    """Return a runner of rows of these *lengths*, for which *session*'s device passes for a GPU.

    Each part has a table of *n_table* bytes, too.
    """
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    entries = np.ones(offsets[-1], np.float32), np.zeros(offsets[-1], np.int32)
    rows = sp.csr_matrix((*entries, offsets), (lengths.size, 1))
    made = map_rows("result = length;", dtype=np.int32, sparse=True)
    table = {"table": np.zeros(n_table, np.uint8)} if n_table else {}
    work = dataclasses.replace(made, grain=grain, cut=lambda *part: {**made.cut(*part), **table})
    device = Session(session.device)
    device.commands.facts = dataclasses.replace(device.facts, is_cpu=False)
    runner = Runner(device, work)
    runner.begin(rows, work.new_outputs(rows, lengths.size))
    return runner


def test_a_result_has_the_memory_of_a_dropped_result(pair, monkeypatch):
    monkeypatch.setattr("clgraph.runtime.memory.recycled._waiting", [])
    scheduler, places = cg.HeteroScheduler(pair), []
    for _ in range(2):
        (found,), _ = scheduler.run(SQUARE, [numbers()])
        places.append(found.ctypes.data)
        del found
    assert places[0] == places[1]
    out = np.zeros(50_000, np.float32)
    (found,), _ = scheduler.run(SQUARE, [numbers()], out=[out])
    assert found is out and scheduler.run(SQUARE, [numbers()]).results[0].ctypes.data == places[0]


def test_threads_are_in_a_driver_that_wants_one_of_them_one_at_a_time(pair, monkeypatch):
    lock, inside = threading.RLock(), []

    class Driver:
        def __enter__(self):
            lock.acquire()
            inside.append(threading.get_ident())
            assert len({*inside}) == 1

        def __exit__(self, *_error):
            inside.pop()
            lock.release()

    devices = [Session(session.device) for session in pair]
    for session in devices:
        session.commands.driver = Driver()
    for name in ("enqueue_nd_range_kernel", "enqueue_copy", "enqueue_barrier", "enqueue_marker"):
        original = getattr(cl, name)

        def checked(*arguments, original=original, **named):
            assert inside and inside[-1] == threading.get_ident()
            return original(*arguments, **named)

        monkeypatch.setattr(opencl, name, checked)
    for policy in POLICIES:
        (found, _), _ = cg.HeteroScheduler(devices, policy=policy).run(SQUARE, [numbers()] * 2)
        assert np.allclose(found, squares(numbers()))


# ---- devices that fail


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("kind", [DeviceError, cl.RuntimeError])
def test_others_take_over_from_a_device_that_fails(pair, policy, after, kind, monkeypatch):
    launch, launches = Runner._launch, [0]

    def failing(self, *part):
        if self.session is pair[0]:
            launches[0] += 1
            if launches[0] > after:
                raise kind("injected")
        elif launches[0] <= after:
            time.sleep(0.001)  # else it may have done all rounds before a busy machine gives the other one its turns
        return launch(self, *part)

    monkeypatch.setattr(Runner, "_launch", failing)
    scheduler = cg.HeteroScheduler(pair, policy=policy)
    with pytest.warns(DeviceDroppedWarning, match="injected") as caught:
        results, report = scheduler.run(SQUARE, [numbers()] * 5)
    assert pair[0].facts.name in str(caught[0].message) and len(caught) == 1
    assert all(np.allclose(found, squares(numbers())) for found in results)
    assert sum(done.dropped == (0,) for done in report.rounds) == 1 and "failed" in str(report)
    assert scheduler.sessions == [pair[1]] and launches[0] == after + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(scheduler.run(SQUARE, [numbers()]).results[0], squares(numbers()))


def test_a_device_that_rests_takes_part_only_after_a_failure(pair, monkeypatch):
    launch, began, is_broken = Runner._launch, [], False

    def failing(self, *part):
        if self.session is pair[0] and is_broken:
            raise DeviceError("injected")
        return launch(self, *part)

    begin = Runner.begin
    monkeypatch.setattr(Runner, "_launch", failing)
    monkeypatch.setattr(Runner, "begin", lambda self, *given: began.append(self.session) or begin(self, *given))
    scheduler = cg.HeteroScheduler(pair, policy="static", ratios=[1, 0])
    assert np.allclose(scheduler.run(SQUARE, [numbers()]).results[0], squares(numbers()))
    assert began == [pair[0]]
    is_broken = True
    with pytest.warns(DeviceDroppedWarning, match="injected"):
        results, report = scheduler.run(SQUARE, [numbers()])
    assert np.allclose(results[0], squares(numbers()))
    assert report.rounds[0].items == (0, len(numbers()))
    assert began == [pair[0], *pair]


def test_without_any_device_left_the_error_is_raised(pair, monkeypatch):
    monkeypatch.setattr(Runner, "_launch", lambda *_: (_ for _ in ()).throw(DeviceError("injected")))
    scheduler = cg.HeteroScheduler(pair)
    with pytest.warns(DeviceDroppedWarning), pytest.raises(DeviceError, match="injected"):
        scheduler.run(SQUARE, [numbers()])
    with pytest.raises(NoDeviceError, match="have failed"):
        scheduler.run(SQUARE, [numbers()])


def test_a_thread_that_ends_by_an_error_ends_those_that_wait_for_its_items(pair, monkeypatch):
    """The error comes from the scheduler's own code, so that no other device is told of the lost items."""
    taken, take = threading.Event(), Round.take

    def after_the_second(self, device):
        if device == 0:
            taken.wait()
        part = take(self, device)
        taken.set()
        return part

    def raising(error):
        return lambda *_: (_ for _ in ()).throw(error)

    monkeypatch.setattr(Round, "take", after_the_second)
    monkeypatch.setattr(Round, "done", raising(DeviceError("injected")))
    monkeypatch.setattr(Round, "fail", raising(RuntimeError("injected into the policy")))
    with pytest.raises(RuntimeError, match="injected into the policy"):
        cg.HeteroScheduler(pair, policy="greedy", sub_loads=1).run(SQUARE, [numbers()])


def test_a_device_whose_build_fails_may_be_left_out(pair):
    units = [session.facts.compute_units for session in pair]
    if units[0] == units[1]:
        pytest.skip("the devices have equally many units")
    load = np.arange(40, dtype=np.int32).reshape(10, 4)
    with pytest.raises(KernelBuildError, match="forbidden here"):
        cg.HeteroScheduler(pair).run(least_and_greatest(units[0]), [load])
    scheduler = cg.HeteroScheduler(pair, skip_failed_builds=True)
    with pytest.warns(DeviceDroppedWarning, match="left out"):
        results, report = scheduler.run(least_and_greatest(units[0]), [load])
    assert len(report.devices) == 1 and (results[0]["least"] == load[:, 0]).all()
    assert len(scheduler.sessions) == 2  # another kernel may build there
    with pytest.warns(DeviceDroppedWarning), pytest.raises(KernelBuildError):
        cg.HeteroScheduler([pair[0]], skip_failed_builds=True).run(least_and_greatest(units[0]), [load])


def test_an_error_of_the_users_function_ends_the_run(pair):
    def broken(_load, start, _stop):
        raise ZeroDivisionError(f"at {start}")

    scheduler = cg.HeteroScheduler(pair)
    with pytest.raises(ZeroDivisionError):
        scheduler.run(least_and_greatest(cut=broken), [np.zeros((10, 4), np.int32)])
    assert len(scheduler.sessions) == 2


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"devices": []}, NoDeviceError, "no device"),
        ({"devices": ["pocl", "pocl"]}, InputError, r"devices\[0\] and devices\[1\] are both"),
        ({"devices": ["no such device"]}, NoDeviceError, "no such device"),
        ({"devices": "pocl"}, InputError, "allowed: 'all'"),
        ({"devices": None}, InputError, "allowed: 'all'"),
        ({"devices": [3]}, InputError, "session must be"),
        ({"policy": "best"}, InputError, "policy = 'best'"),
        ({"sub_loads": 0}, InputError, "sub_loads"),
        ({"training": 0}, InputError, "training"),
        ({"ratios": [1.0]}, InputError, "'static'"),
        ({"policy": "static", "ratios": [1.0, 2.0]}, InputError, "each of the 1 devices"),
        ({"policy": "static", "ratios": range(10**12)}, InputError, "each of the 1 devices"),
        ({"policy": "static", "ratios": [0]}, InputError, "above 0"),
        ({"policy": "static", "ratios": [-1]}, InputError, r"ratios\[0\] = -1"),
        ({"skip_failed_builds": 1}, InputError, "skip_failed_builds"),
    ],
)
def test_wrong_schedulers_are_refused(arguments, error, message):
    session_on("pocl")
    with pytest.raises(error, match=message):
        cg.HeteroScheduler(**{"devices": ["pocl"], **arguments})


@pytest.mark.parametrize(
    ("work", "loads", "more", "message"),
    [
        ("square", [numbers(5)], {}, "work = 'square'"),
        (SQUARE, 3, {}, "loads = 3"),
        (SQUARE, [numbers(5), numbers(0)], {}, r"loads\[1\] has 0 items"),
        (SQUARE, [np.zeros(3)], {}, "float64"),
        (SQUARE, [{"y": numbers(3)}], {}, "allowed: \\['x'\\]"),
        (SQUARE, [numbers(5)], {"out": [np.zeros(6, np.float32)]}, r"out\[0\] is \(6,\)"),
        (SQUARE, [numbers(5)], {"out": [np.zeros(5)]}, "float64"),
        (SQUARE, [numbers(5)], {"out": []}, "0 arrays for 1 loads"),
        (SQUARE, [numbers(5)], {"out": [np.zeros(10, np.float32)[::2]]}, "contiguous"),
        (least_and_greatest(), [np.zeros((5, 2), np.int32)], {"out": [np.zeros(5)]}, "several outputs"),
        (least_and_greatest(kernels={}), [np.zeros((5, 2), np.int32)], {}, "no kernel for a device of kind"),
        (least_and_greatest(cut=lambda load, a, b: {"x": load[a:b], "width": 2}), [np.zeros((5, 2), np.int32)], {},
         "one dimension"),
        (ONES, [sp.csc_matrix((3, 3), dtype=np.float32)], {}, "CSR"),
        (map_rows("result = 1;", dtype=np.int32), [numbers(3)], {}, "1 dimensions"),
        (ONES, [with_arrays(ROWS, indices=np.int32([9, 1, 2]))], {}, r"\[0\] = 9"),
        (ONES, [with_arrays(ROWS, indptr=np.int32([0, 9, 1, 3]))], {}, "damaged"),
        (ONES, [with_arrays(ROWS, indptr=np.arange(4, dtype=np.int64))], {}, "32 bits"),
    ],
)  # fmt: skip
def test_wrong_runs_are_refused(pair, work, loads, more, message):
    with pytest.raises(InputError, match=message):
        cg.HeteroScheduler(pair[:1]).run(work, loads, **more)


@pytest.mark.parametrize("more", [
    {"outputs": {"smallest": Output(np.int32)}}, {"cut": lambda load, start, stop: {"width": 2}},
])  # fmt: skip
def test_a_work_that_does_not_fit_its_kernel_is_refused(pair, more):
    with pytest.raises(KernelSourceError, match=r"smallest|x of kernel"):
        cg.HeteroScheduler(pair).run(least_and_greatest(**more), [np.zeros((5, 2), np.int32)])


def test_wrong_expressions_and_types_are_refused():
    for text in ("", "x // 2", "#define x", 3):
        with pytest.raises(InputError, match="expression"):
            elementwise(text, inputs={"x": np.float32}, dtype=np.float32)
    with pytest.raises(InputError, match="complex"):
        elementwise("x", inputs={"x": np.complex64}, dtype=np.float32)
    total = elementwise("x + y", inputs={"x": np.float32, "y": np.float32}, dtype=np.float32)
    with pytest.raises(InputError, match="different lengths"):
        total.count({"x": numbers(3), "y": numbers(4)})


def test_wrong_parts_of_devices_are_refused(pocl):
    units = pocl.facts.compute_units
    for counts in ([], [0], [units + 1], [units, 1], "ab", 3):
        with pytest.raises(InputError, match="counts"):
            sub_devices(pocl.device, counts)


@pytest.mark.parametrize("counts", [[1, 3], [3, 1], [2, 2], [2], [3], [1, 1, 2], [1, 1, 1, 1], [4]])
def test_parts_have_as_many_units_as_were_asked_for(monkeypatch, counts):
    """OpenCL divides a device of four units into equal parts, or into parts of given sizes."""

    def cut(properties):
        kind, *sizes = properties
        if kind == cl.device_partition_property.EQUALLY:
            return [sizes[0]] * (4 // sizes[0])
        assert len({*sizes}) > 2 or 4 % sizes[0], "some devices cut into equal parts only"
        return sizes[: sizes.index(0)]

    whole = SimpleNamespace(max_compute_units=4, name="four", create_sub_devices=cut)
    monkeypatch.setattr("clgraph.runtime.devices.select_device", lambda device: (whole, "asked for"))
    monkeypatch.setattr("clgraph.runtime.devices.Session", lambda part: part)
    assert sub_devices(None, counts) == counts


def test_all_devices_are_one_runtime_of_the_cpu_and_the_gpus():
    session_on("pocl")
    found = sessions_of("all")
    assert sum(session.facts.is_cpu for session in found) <= 1 <= len(found)
    assert all(member(session).weight > 0 and member(session).lanes > 0 for session in found)
    if all(session.facts.is_cpu for session in found):
        assert [session.device for session in found] == [as_session("cpu").device], (
            "all of a CPU, where no thread waits for a GPU"
        )
