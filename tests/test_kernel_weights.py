"""Weights of kernels, and the tool that fits them."""
from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from clgraph import generators
from clgraph.algorithms.table import find_algorithm
from clgraph.model import kernel_weights
from clgraph.model.cost import Atomics, Chain, Gathers, HostItems, Work, estimate, total
from clgraph.model.kernel_weights import weights_of
from clgraph.model.recipe import Loop, Phase, Recipe, Use
from clgraph.model.strategy import priced
from clgraph.runtime.session import Session

sys.path.append(str(ROOT / "tools"))

import calibrate_model
import recorded_runs
from calibrate_model import Case

ASKED = Work(2.0, 1.0, 3.0, 100.0, (Gathers(10.0, 64.0),), (Atomics(4.0, 2.0),), (Chain(5.0, 64.0),), 6.0, 7.0)


def test_weights_scale_what_a_kernel_asks_for_but_no_launches() -> None:
    scaled = ASKED.times(1.0, weight=3.0)
    assert (scaled.launches, scaled.read_backs, scaled.grid_barriers) == (2.0, 1.0, 3.0)
    assert (scaled.streamed_bytes, scaled.locks, scaled.contended_attempts) == (300.0, 18.0, 21.0)
    assert (scaled.gathers[0].count, scaled.atomics[0].count, scaled.chains[0].loads) == (30.0, 12.0, 15.0)
    recipe = Recipe((
        Phase("a.cl:one", 1, ASKED), Recipe((Phase("a.cl:two", 1, ASKED),)),
        Loop((Phase("a.cl:one", 1, ASKED),), "round", "state[0]", 9, expected=2.0),
        Use(lambda plan: None, ASKED, name="driven"),
    ))  # fmt: skip
    plain, weighted = recipe.work, recipe.weighted_work({"a.cl:one": 3.0, "driven": 0.5})
    assert (plain.streamed_bytes, weighted.streamed_bytes) == (500.0, 300.0 + 100.0 + 600.0 + 50.0)
    assert (plain.launches, plain.read_backs) == (weighted.launches, weighted.read_backs)
    by_key = recipe.by_key({"a.cl:one": 3.0})
    assert by_key["a.cl:one"].streamed_bytes == 900.0 and by_key["driven"].streamed_bytes == 100.0
    assert recipe.by_kernel({"a.cl:one": 3.0})["one"].streamed_bytes == 900.0


def test_parts_are_priced_as_their_sum(pocl: Session) -> None:
    rates = pocl.profile.rates
    more = replace(ASKED, atomics=(Atomics(9.0, 1.0),), host_seconds=1e-5, host_items=(HostItems(1e4, 1e5, "heap"),))
    parts = [(ASKED, 1.0, 1.0), (more, 3.0, 2.0), (Work(launches=2.0, locks=1.0), 0.5, 4.0)]
    priced, summed = estimate(parts, rates), estimate(total(parts), rates)
    assert priced.parts == pytest.approx(summed.parts, rel=1e-12) and all(summed.parts.values())
    alone = [estimate(total([part]), rates).seconds for part in parts]
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


def test_weights_are_of_kernels_that_exist(pocl: Session) -> None:
    for table in kernel_weights.tables().values():
        for key, weight in table.items():
            source, _, name = key.rpartition(":")
            if source:
                assert f"KERNEL {name}(" in (ROOT / "cl" / source).read_text(encoding="utf-8"), key
            assert 0.0 < weight < math.inf
    assert weights_of(pocl.facts) == kernel_weights.tables()[pocl.facts.platform]
    others = weights_of(replace(pocl.facts, platform="another runtime"))
    key = "components/rem.cl:unite"
    cpus = [table[key] for name, table in kernel_weights.tables().items() if name != kernel_weights.GPU]
    assert min(cpus) < others[key] < max(cpus)


def cases(true_weight: float, noise: float = 0.1, platform: str = "p", kind: str = "kind") -> list[Case]:
    rng = np.random.default_rng(1)
    measured = 1e-4 + true_weight * 1e-3 * np.exp(noise * rng.normal(size=200))
    return [
        Case("d", platform, True, f"{kind} {i % 5}", "a.cl:one", each, 1e-4, 1e-3, 1.0)
        for i, each in enumerate(measured)
    ]


def test_fit_finds_the_weight_of_each_runtime() -> None:
    found = calibrate_model.fit([*cases(3.0), *cases(0.3, platform="q")])
    assert found == pytest.approx({("p", "a.cl:one"): 3.0, ("q", "a.cl:one"): 0.3}, rel=0.05)
    assert calibrate_model.fit(cases(3.0)[:4])["p", "a.cl:one"] < 2.5  # few runs are drawn towards 1
    assert not calibrate_model.fit(cases(3.0)[:3])
    assert not calibrate_model.fit([replace(case, is_contender=False) for case in cases(3.0)])
    assert recorded_runs.weight_of(cases(1.0)[0], found) == found["p", "a.cl:one"]
    assert recorded_runs.weight_of(replace(cases(1.0)[0], is_cpu=False), found) == 1.0


def test_validation_leaves_out_whole_parts() -> None:
    alike, unlike = cases(3.0), [*cases(3.0), *cases(0.3, kind="other")]
    assert calibrate_model.spread(alike, lambda _: 3.0) == pytest.approx(1.1, abs=0.02)
    assert calibrate_model.left_out(alike, lambda case: case.kind) == pytest.approx(1.1, abs=0.02)
    assert calibrate_model.left_out(unlike, lambda case: case.kind.split()[0]) > 5.0


def test_weights_are_written_into_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, before = tmp_path / "weights.json", kernel_weights.tables()
    monkeypatch.setattr(calibrate_model, "WEIGHTS", path)
    calibrate_model.write({("GPU", "a.cl:one"): 0.5012, ("P of Q", "b"): 1234.0})
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written.pop("P of Q") == {"b": 1200.0} and written["GPU"].pop("a.cl:one") == 0.5
    assert written == before  # kernels without a recorded run keep their weights


def test_other_weights_hold_inside_the_block_only(pocl: Session) -> None:
    before, kernel = dict(weights_of(pocl.facts)), "components/rem.cl:unite"
    with recorded_runs.weighted({(pocl.facts.platform, kernel): 3.0}):
        assert weights_of(pocl.facts) == {kernel: 3.0}
    assert weights_of(pocl.facts) == before


def test_a_part_of_a_device_is_another_one(pocl: Session) -> None:
    known, row = {pocl.facts.name: pocl.facts}, {"device": pocl.facts.name, "compute_units": 1}
    assert recorded_runs.facts_of(row, known) == replace(pocl.facts, compute_units=1)
    assert recorded_runs.device_of(row) != recorded_runs.device_of({**row, "compute_units": 2})
