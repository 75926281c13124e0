"""What was measured changes the next pick, and nothing else."""
from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.bfs import ALGORITHM
from clgraph.device.learned import Learned, Ratio, learned_path
from clgraph.engine import learning, watching
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.learning import Learning, Trials, learning_of
from clgraph.model.cost import Estimate
from clgraph.model.strategy import Choice
from clgraph.runtime.session import Session

CHOICE = Choice("a", "auto", {"a": Estimate(1e-3), "b": Estimate(2e-3)})


@pytest.fixture
def learns(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[Learning]:
    """Learning on PoCL that begins with nothing, and leaves nothing behind."""
    monkeypatch.setenv("CLGRAPH_LEARN", "1")
    path = learned_path(pocl.facts)
    path.unlink(missing_ok=True)
    learning._OF_SESSIONS.pop(pocl, None)
    found = learning_of(pocl)
    assert found is not None and not found.learned.ratios
    yield found
    pocl.kept.forget()
    pocl.kept.choices.clear()
    learning._OF_SESSIONS.pop(pocl, None)
    path.unlink(missing_ok=True)


def test_ratio_is_the_mean_and_the_spread_of_logarithms() -> None:
    logarithms = [0.3, -0.2, 0.9, 0.4]
    ratio = Ratio()
    for each in logarithms:
        ratio = ratio.with_one(each)
    assert ratio.n == 4 and math.isclose(ratio.mean, np.mean(logarithms))
    assert math.isclose(ratio.spread, np.std(logarithms, ddof=1))
    once, often = Ratio().with_one(1.0), Ratio(60.0, 1.0, 0.0)
    assert 1.0 < once.correction < often.correction < math.e
    assert Ratio(60.0, 1.0, 60.0 * 4.0).correction < often.correction  # what differs so much says less
    for _ in range(500):
        ratio = ratio.with_one(-1.0)
    assert ratio.n <= 64 and math.isclose(ratio.mean, -1.0, abs_tol=1e-2)  # what was long ago fades


def test_file_is_read_back_and_damaged_or_foreign_ones_are_empty(pocl: Session, learns: Learning) -> None:
    facts, rates = pocl.facts, pocl.profile.rates
    known = Learned(facts, rates)
    for measured, predicted in ((2.0, 1.0), (3.0, 1.0), (1e9, 1.0), (math.nan, 1.0), (0.0, 1.0)):
        known.note("bfs", "frontier", measured, predicted)
    assert known.ratios["bfs", "frontier"].n == 2
    known.save()
    assert Learned(facts, rates).ratios == known.ratios
    assert Learned(facts, rates).correction("bfs", "frontier") == known.correction("bfs", "frontier") > 1.0
    assert not Learned(facts, replace(rates, lock_seconds=1.0)).ratios  # predictions by other rates
    good = json.loads(known.path.read_text())
    ratios = ({"bfs": {"frontier": {"n": 1}}}, {"bfs": {"frontier": {"n": -1.0, "mean": 0.0, "squares": 0.0}}}, [], 7)
    wrong = *({**good, "ratios": each} for each in ratios), {**good, "schema": 0}
    for damaged in ("", "[]", "{", *map(json.dumps, wrong)):
        known.path.write_text(damaged)
        assert not Learned(facts, rates).ratios


def test_a_strategy_that_runs_past_another_ones_promise_is_left(learns: Learning) -> None:
    trials = Trials()
    assert learns.pick("x", CHOICE, trials) is CHOICE
    for _ in range(2):  # the first run is not counted
        learns.note("x", CHOICE, 0.03, trials)
    assert trials.seconds == {"a": 0.03}
    found = learns.pick("x", CHOICE, trials)
    assert found.strategy == "b" and found.predicted == CHOICE.predicted
    for _ in range(2):
        learns.note("x", found, 0.04, trials)
    assert learns.pick("x", CHOICE, trials).strategy == "a"  # both are known, and each was tried once


def test_trying_waits_until_it_is_worth_it(learns: Learning) -> None:
    trials = Trials({"a": 7e-3})
    picks = [learns.pick("x", CHOICE, trials).strategy for _ in range(4)]
    assert picks == ["a", "a", "a", "b"]  # 5 ms were lost each time, and 20 may be


def test_ratios_of_other_inputs_change_a_first_pick(learns: Learning) -> None:
    for _ in range(8):
        learns.learned.note("x", "a", 5e-3, 1e-3)
    assert learns.pick("x", CHOICE, Trials()).strategy == "b"
    assert learns.pick("y", CHOICE, Trials()).strategy == "a"


def test_calls_learn_say_so_and_answer_the_same(
    pocl: Session, learns: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = cg.generators.grid(300, 300)
    first = cg.bfs(graph, 0, session=pocl)
    picked = first.info.strategy
    for _ in range(3):
        cg.bfs(graph, 0, session=pocl)
    (_, choice, trials), = pocl.kept.choices[graph].values()
    assert choice.strategy == picked and trials.seconds[picked] > 0.0
    assert learns.learned.ratios["bfs", picked].n == 1  # one input, however often
    assert first.info.learned == ""
    trials.seconds[picked] = 10.0  # as if it had been slow
    other = cg.bfs(graph, 0, session=pocl)
    assert other.info.strategy != picked and other.info.learned == picked
    assert np.array_equal(other.distances, first.distances)
    assert other.info.predicted_seconds == first.info.predicted_seconds
    assert cg.bfs(graph, 0, session=pocl, strategy=picked).info.strategy == picked  # who names one gets it
    assert ALGORITHM.choose(pocl, ALGORITHM.problem(graph, source=0)).strategy == picked
    monkeypatch.setenv("CLGRAPH_LEARN", "0")
    assert cg.bfs(graph, 0, session=pocl).info.strategy == picked
    learns._save()
    assert ("bfs", picked) in Learned(pocl.facts, pocl.profile.rates).ratios


def test_what_was_left_once_is_not_begun_again(
    pocl: Session, learns: Learning, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows how long it would have taken; that it ran until it was left is no measure of it."""
    choice = Choice("topology_driven", "auto", {"topology_driven": Estimate(1e-7), "frontier": Estimate(1e-6)})
    monkeypatch.setattr(Algorithm, "choose", lambda *given: choice)
    monkeypatch.setattr(Algorithm, "choose_at_once", lambda *given: None)
    monkeypatch.setattr(watching, "_GRACE_SECONDS", 0.0)
    graph = cg.generators.grid(100, 100)
    left = [list(cg.sssp(graph, 0, session=pocl).info.details.get("left", ())) for _ in range(3)]
    assert left == [["topology_driven"], [], []]
