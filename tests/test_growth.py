"""Arrays that grow: a kernel of the tests runs out of room, gets more, and nothing is lost."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

from clgraph import generators
from clgraph.engine.plan import Plan
from clgraph.errors import CapacityError, DeviceMemoryError
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Use

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
