"""Prices of works and calls, and picks by them."""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from clgraph import Ratings, generators
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.model.cost import Atomics, Chain, Gathers, HostItems, Work, estimate
from clgraph.model.recipe import Array, Setting
from clgraph.model.strategy import priced
from clgraph.runtime.session import Session

sys.path.append(str(ROOT / "tools"))

import judge_model
import picks

ASKED = Work(2.0, 1.0, 3.0, 100.0, (Gathers(10.0, 64.0),), (Atomics(4.0, 2.0),), (Chain(5.0, 64.0),), 6.0, 7.0)


def test_weights_scale_what_a_work_asks_for_but_no_launches() -> None:
    scaled = ASKED.times(1.0, weight=3.0)
    assert (scaled.launches, scaled.read_backs, scaled.grid_barriers) == (2.0, 1.0, 3.0)
    assert (scaled.streamed_bytes, scaled.locks, scaled.contended_attempts) == (300.0, 18.0, 21.0)
    assert (scaled.gathers[0].count, scaled.atomics[0].count, scaled.chains[0].loads) == (30.0, 12.0, 15.0)


def test_parts_are_priced_as_their_sum(pocl: Session) -> None:
    rates = pocl.profile.rates
    more = replace(ASKED, atomics=(Atomics(9.0, 1.0),), host_seconds=1e-5, host_items=(HostItems(1e4, 1e5, "heap"),))
    parts = [(ASKED, 1.0, 1.0), (more, 3.0, 2.0), (Work(launches=2.0, locks=1.0), 0.5, 4.0)]
    works = [work.times(times, weight) for work, times, weight in parts]
    priced, summed = estimate(parts, rates), estimate(works[0] + works[1] + works[2], rates)
    assert priced.parts == pytest.approx(summed.parts, rel=1e-12) and all(summed.parts.values())
    alone = [estimate(work, rates).seconds for work in works]
    assert priced.seconds == pytest.approx(sum(alone), rel=1e-12) and len(alone) == 3


def test_loads_in_turn_hide_behind_the_traffic_of_their_own_part_only(pocl: Session) -> None:
    rates = pocl.profile.rates
    traffic, chain = Work(streamed_bytes=1e6), Work(chains=(Chain(1e5, 64.0),))
    both = estimate(traffic, rates).seconds, estimate(chain, rates).seconds
    assert estimate([(traffic, 1.0, 1.0), (chain, 1.0, 1.0)], rates).seconds == pytest.approx(sum(both), rel=1e-12)
    assert estimate(traffic + chain, rates).seconds == pytest.approx(max(both), rel=1e-12)


def test_answers_of_gpus_come_over_the_bus(pocl: Session) -> None:
    """So a call takes longer there beside its kernels the larger the graph is."""
    algorithm, rates = find_algorithm("bfs"), pocl.profile.rates
    calls = {
        (n, is_cpu): priced(
            algorithm.strategies["frontier"], algorithm.problem(generators.path(n), source=0),
            replace(pocl.facts, is_cpu=is_cpu), rates,
        ).parts["call"] for n in (1000, 3000) for is_cpu in (True, False)
    }  # fmt: skip
    assert calls[1000, True] == calls[3000, True] == rates.call_seconds
    assert calls[3000, False] - rates.call_seconds == pytest.approx(3 * (calls[1000, False] - rates.call_seconds))
    assert calls[1000, False] > rates.call_seconds


def test_answers_of_forests_are_made_by_kernels(pocl: Session) -> None:
    """A call on a device so takes longer beside its run the larger the graph is; on the host it does not."""
    algorithm, rates = find_algorithm("minimum_spanning_forest"), pocl.profile.rates
    problems = [algorithm.problem(generators.path(n)) for n in (1000, 100_000)]
    strategy = algorithm.strategies["edge_list"]
    calls = [priced(strategy, problem, pocl.facts, rates).parts["call"] for problem in problems]
    assert rates.call_seconds < calls[0] < calls[1] - 3e-4


def row(strategy: str, seconds: float, **more: Any) -> dict[str, Any]:
    return {
        "benchmark": "connected_components", "graph": "cube-1000", "strategy": strategy, "kind": "online",
        "least_wall_seconds": seconds, "wall_seconds": seconds, "predicted_seconds": 1.0, "compute_units": 2, **more,
    }  # fmt: skip


def test_recorded_runs_are_judged_by_the_model_as_it_is(pocl: Session) -> None:
    """The pick is a contender, whatever was faster."""
    facts = replace(pocl.facts, compute_units=2)
    rows = [row(name, seconds, device=facts.name) for name, seconds in (("rem", 3.0), ("afforest", 3.0))]
    rows += [row(name, 2.0, device=facts.name) for name in ("hook_compress", "degree_classes")]
    anew = list(judge_model.predicted_anew(rows, {facts.name: facts}))
    (pick,) = (each for each in anew if each["picked"])
    assert pick["strategy"] in {"rem", "afforest"} and pick["device"] == f"{facts.name}, 2 units"
    assert "1.500" in picks.quality(anew) and "1.50" in picks.late(anew)


GRAPHS = {"power law": generators.rmat(12, 16, seed=0), "grid": generators.grid(60, 60)}


def problem_of(name: str, graph: str) -> Any:
    if name != "factorization":
        settings = {"n_parts": 8} if name == "partition" else {}
        return find_algorithm(name).problem(GRAPHS[graph], **settings)
    users = np.arange(3000) % 100
    return find_algorithm(name).problem(Ratings.from_triples(users, np.arange(3000) // 30, np.ones(3000)))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", MODULES)
def test_a_pick_makes_no_setting(pocl: Session, name: str, graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(name, graph)

    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a price needs the steps alone")

    for kind in (Array, Setting):
        monkeypatch.setattr(kind, "__init__", refuse)
    assert find_algorithm(name).choose(pocl, problem).predicted
