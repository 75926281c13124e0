"""Memory of many arrays: parts of one allocation, and arrays that grow when a kernel finds them full."""

import gc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

from clgraph import generators
from clgraph.engine.plan import Plan
from clgraph.errors import CapacityError, DeviceError, DeviceMemoryError, InputError
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Use
from clgraph.primitives.fill import iota
from clgraph.primitives.scan import Scan
from clgraph.runtime.arena import Arena, Room

TAKES = [(1000, np.int32), (1, np.uint8), (0, np.int64), (77, np.float64), (3, np.uint32)]


@pytest.mark.parametrize("takes", [TAKES, [(0, np.float64)]])
def test_arrays_stand_apart_and_in_the_arena(session, takes):
    arena = Arena(session, Arena.size_of(session, takes))
    arrays = [arena.take(*each) for each in takes]
    assert arena.used_bytes == arena.peak_bytes == arena.n_bytes
    for k, array in enumerate(arrays):
        array.fill(k)
    for k, array in enumerate(arrays):
        assert array.get().tolist() == [k] * takes[k][0] and array.dtype == takes[k][1]
    assert not any(a.overlaps(b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_what_is_given_back_is_taken_again(session):
    arena = Arena(session, 1 << 16)
    labels = arena.take(100, np.int32)
    iota(session, labels)
    mark = arena.mark()
    first = arena.take(1000, np.int32)
    first.fill(-1)
    arena.release(mark)
    second, sums = arena.take(1000, np.int32), arena.take(1001, np.int32)
    assert first.overlaps(second)
    iota(session, second)
    Scan(session, second, sums).run_checked()
    assert labels.get().tolist() == list(range(100)) and sums.item(1000) == 1000 * 999 // 2
    del arena, second
    gc.collect()
    assert sums.item(1000) == 1000 * 999 // 2, "an array keeps the memory of its arena"


def test_a_rehearsal_tells_what_a_multilevel_run_needs(session):
    """Each level keeps its vertices and gives back its scratch; the way up keeps nothing."""

    def levels(room, take):
        kept, n = [], 10_000
        while n > 10:
            kept.append(take(n, np.int32))
            mark = room.mark()
            take(3 * n, np.uint64)
            room.release(mark)
            n //= 2
        room.release(0)
        return kept

    rehearsal = Room(session)
    levels(rehearsal, rehearsal.place)
    assert rehearsal.used_bytes == 0 and rehearsal.peak_bytes >= 10_000 * (4 + 24)
    arena = Arena(session, rehearsal.peak_bytes)
    levels(arena, arena.take)
    assert arena.peak_bytes == rehearsal.peak_bytes
    tight = Arena(session, rehearsal.peak_bytes - 1)
    with pytest.raises(DeviceMemoryError):
        levels(tight, tight.take)


def test_no_room_names_request_room_and_peak(session):
    step = session.alignment
    arena = Arena(session, 10 * step)
    mark = arena.mark()
    arena.take(8 * step, np.uint8)
    arena.release(mark)
    arena.take(step, np.uint8)
    message = f"{3 * step:,} items of int32 need {12 * step:,} bytes .* has {9 * step:,} of {10 * step:,} left"
    with pytest.raises(DeviceMemoryError, match=f"{message}; at most {8 * step:,} were taken"):
        arena.take(3 * step, np.int32)
    assert arena.take(9 * step, np.uint8).size == 9 * step, "a request that was refused takes nothing"


def test_wrong_marks_and_sizes(session):
    arena = Arena(session, 1 << 16)
    arena.take(1, np.int32)
    mark = arena.mark()
    arena.release(0)
    for wrong in (mark, -session.alignment, 1):
        with pytest.raises(DeviceError, match=f"mark {wrong} is no mark"):
            arena.release(wrong)
    with pytest.raises(InputError, match="size = -1"):
        arena.take(-1, np.int32)


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
    with session.measure() as recorder:
        plan.run()
    assert plan.arrays["list"] is before and recorder.kernels()["append_children"][0] == plan.rounds[0] == 10


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
        patch.setattr(session, "facts", replace(session.facts, max_alloc_bytes=1000))
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
