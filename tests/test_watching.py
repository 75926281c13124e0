"""A run that takes longer than was promised is left for the second best, and the answer is the same."""
from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import clgraph as cg
from clgraph.algorithms.factorization import ALGORITHM as FACTORIZATION
from clgraph.algorithms.sssp import ALGORITHM as SSSP
from clgraph.engine import watching
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.watching import RunsLongError, check_time, leaving_after, limit_seconds, second_best
from clgraph.model.cost import Estimate
from clgraph.model.strategy import Choice
from clgraph.runtime.session import Session

CHOICE = Choice("a", "auto", {"a": Estimate(1.0), "b": Estimate(4.0), "c": Estimate(3.0)})


def test_time_counts_from_the_first_look_and_inside_the_block_only(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [5.0]
    monkeypatch.setattr(watching.time, "perf_counter", lambda: now[0])
    check_time()
    with leaving_after(2.0):
        now[0] = 100.0
        check_time()
        now[0] = 101.9
        check_time()
        now[0] = 102.1
        with pytest.raises(RunsLongError):
            check_time()
        with leaving_after(None):
            check_time()
    check_time()


def test_limit_is_past_the_estimate_and_what_the_second_best_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    assert second_best(CHOICE, {}) == "c" and second_best(CHOICE, {"c": 9.0}) == "b"
    monkeypatch.setattr(watching, "_GRACE_SECONDS", 0.0)
    limit = limit_seconds(CHOICE, {})
    assert limit is not None and limit > 1.0 and 3.0 * limit**0.5 < limit  # "c", later by the root of what "a" is
    slow = limit_seconds(Choice("b", "auto", CHOICE.predicted), {})  # learned to be better than "a"
    assert slow is not None and 4.0 < slow < 8.0
    assert limit_seconds(CHOICE, {"c": 1.0}) is None  # what was taken instead runs to its end
    assert limit_seconds(Choice("a", "auto", {"a": Estimate(1.0)}), {}) is None


def expecting(monkeypatch: pytest.MonkeyPatch, algorithm: Algorithm, seconds: Mapping[str, float]) -> None:
    """Make *algorithm* choose among some strategies as if they were predicted to take so long."""
    choice = Choice(next(iter(seconds)), "auto", {name: Estimate(each) for name, each in seconds.items()})
    monkeypatch.setattr(Algorithm, "choose", lambda *given: choice)
    monkeypatch.setattr(Algorithm, "choose_at_once", lambda *given: None)
    monkeypatch.setattr(watching, "_GRACE_SECONDS", 0.0)


def test_rounds_that_run_long_are_left(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cg.generators.grid(100, 100)
    expecting(monkeypatch, SSSP, {"topology_driven": 1e-7, "frontier": 1e-6})
    result = cg.sssp(graph, 0, session=session, verify=True)
    assert result.info.strategy == "frontier" and list(result.info.details["left"]) == ["topology_driven"]
    assert result.info.details["left"]["topology_driven"] > 0.0
    named = cg.sssp(graph, 0, session=session, strategy="topology_driven")  # who names a strategy gets it
    assert named.info.strategy == "topology_driven" and "left" not in named.info.details
    assert np.array_equal(named.distances, result.distances)


def test_preparation_that_runs_long_is_dropped(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = cg.generators.power_law_ratings(3000, 500, 60_000, rank=2, seed=1)
    for name in ("_CPU_TURNS", "_GROUP_TURNS"):  # many launches, between which it looks
        monkeypatch.setattr(f"clgraph.algorithms.factorization.matchings.{name}", 16)
    expecting(monkeypatch, FACTORIZATION, {"matching_edge": 1e-7, "edge_locked": 1e-6})
    result = FACTORIZATION.solve(FACTORIZATION.problem(ratings, rank=8, n_sweeps=2), session=session, verify=True)
    assert result.info.strategy == "edge_locked" and list(result.info.details["left"]) == ["matching_edge"]
