"""Recorded runs of ``benchmarks/bench_cost_model.py``, kernel by kernel, beside what the model says of them now."""
from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import judged  # noqa: E402
import unseen  # noqa: E402

from clgraph.algorithms.factorization import ALGORITHM as FACTORIZATION  # noqa: E402
from clgraph.algorithms.factorization import RECIPES  # noqa: E402
from clgraph.algorithms.factorization import as_problem as ratings_problem  # noqa: E402
from clgraph.device.facts import DeviceFacts, Dialect  # noqa: E402
from clgraph.device.profile import DeviceRates, load_profile  # noqa: E402
from clgraph.engine.algorithm import Algorithm  # noqa: E402
from clgraph.model import kernel_weights  # noqa: E402
from clgraph.model.cost import estimate  # noqa: E402
from clgraph.model.recipe import Recipe  # noqa: E402
from clgraph.model.strategy import priced  # noqa: E402
from clgraph.runtime.selection import devices  # noqa: E402

Weights: TypeAlias = dict[tuple[str, str], float]
"""The weight of a kernel by table of ``kernel_weights.py`` and kernel."""

_WHOLE = {info.facts.name: info.facts.compute_units for info in devices() if info.facts is not None}
_LEAST_LEFT = 0.1  # share of the measured time that is not said to be barriers
_KERNEL_SHARE = 0.5  # of the cost of a launch, which the least kernel takes


@dataclass(frozen=True)
class Case:
    """A kernel in a recorded run.

    Attributes
    ----------
    measured, fixed, rest : float
        Seconds measured, those of barriers and of the least kernel, which have no weight, and predicted seconds of what
        has one.
    share : float
        Of the time of the run, the mean of what was measured and predicted, without what is fixed: what takes little
        says little.
    """

    device: str
    platform: str
    is_cpu: bool
    kind: str
    kernel: str
    measured: float
    fixed: float
    rest: float
    share: float
    is_contender: bool = True

    @property
    def table(self) -> str:
        """The table of weights that counts."""
        return self.platform if self.is_cpu else kernel_weights.GPU

    @property
    def ratio(self) -> float:
        """The logarithm of the weight with which the prediction would be right."""
        return math.log(max(self.measured - self.fixed, _LEAST_LEFT * self.measured) / self.rest)

    def error(self, weight: float) -> float:
        """The logarithm of predicted over measured."""
        return math.log((self.fixed + weight * self.rest) / self.measured)


@cache
def _input(kind: str, size: int, load: Callable[[str, int], Any]) -> Any:
    return load(kind, size)


def device_of(row: Mapping[str, Any]) -> str:
    """Return the name of the device of a row, with its units."""
    return f"{row['device']}, {row['compute_units']} units"


def facts_of(row: Mapping[str, Any], known: Mapping[str, DeviceFacts]) -> DeviceFacts:
    """Return the facts of the device of a row, or of the part of it that was used."""
    return replace(known[row["device"]], compute_units=row["compute_units"])


def kind_and_size(row: Mapping[str, Any]) -> tuple[str, int]:
    kind, _, size = str(row["graph"]).partition(",")[0].rpartition("-")
    return kind, int(size)


@cache
def _problem(benchmark: str, kind: str, size: int, settings: tuple[tuple[str, Any], ...]) -> Any:
    if benchmark == judged.MESHES:
        return judged.bench_refine_mesh.ALGORITHM.problem(_input(kind, size, unseen.load_mesh), **dict(settings))
    data = _input(kind, size, unseen.load_ratings if benchmark == judged.RATINGS else unseen.load)
    if benchmark == judged.RATINGS:
        return ratings_problem(data, rank=judged.RANK, n_sweeps=judged.N_SWEEPS)
    problem = judged.GRAPHS[benchmark][0].problem(kind, data, **dict(settings))
    assert problem.stats  # what strategies of the host are predicted to take depends on whether they are known
    return problem


def problem_of(row: Mapping[str, Any]) -> Any:
    """Return the problem of a row, whose input is made again."""
    benchmark = row["benchmark"]
    names: Sequence[str] = {judged.RATINGS: (), judged.MESHES: ("min_angle",)}.get(benchmark, ())
    if benchmark in judged.GRAPHS:
        names = judged.GRAPHS[benchmark][0].settings
    return _problem(benchmark, *kind_and_size(row), tuple((name, row[name]) for name in names))


def algorithm_of(benchmark: str) -> Algorithm:
    """Return the algorithm of a benchmark."""
    if benchmark in judged.GRAPHS:
        return judged.GRAPHS[benchmark][0].algorithm
    return {judged.RATINGS: FACTORIZATION, judged.MESHES: judged.bench_refine_mesh.ALGORITHM}[benchmark]


def recipe_of(row: Mapping[str, Any], facts: DeviceFacts) -> Recipe | None:
    """Return what the strategy of a row launches; a strategy of the host has nothing."""
    name = row["strategy"]
    if row["benchmark"] == "factorization":
        return RECIPES[name][1](problem_of(row), facts)
    strategy = algorithm_of(row["benchmark"]).strategies[name]
    return None if strategy.recipe is None else strategy.recipe(problem_of(row), facts)


def cases(row: Mapping[str, Any], facts: DeviceFacts, rates: DeviceRates) -> Iterator[Case]:
    """Yield the kernels of a row that were both predicted and measured."""
    kind, recipe = kind_and_size(row)[0], recipe_of(row, facts)
    if recipe is None:
        return
    measured = {name: float(seconds) for name, (_, seconds) in row["kernels"].items()}
    by_kernel = recipe.by_key()
    names = {key: key.rpartition(":")[2] for key in by_kernel}
    rest_of_run = sum(seconds for name, seconds in measured.items() if name not in names.values())
    drivers = [key for key in by_kernel if ":" not in key and key != "other kernels"]
    found = []
    for key, work in by_kernel.items():
        seconds = measured.get(names[key]) or (rest_of_run if drivers == [key] else 0.0)
        parts = estimate(work, rates).parts
        serial = parts["chain"] + parts["locks"] + parts["contention"]
        rest = max(parts["streaming"] + parts["gathers"] + parts["atomics"], serial) + parts["host"]
        if seconds and rest > 0.0:
            fixed = parts["grid_barriers"] + _KERNEL_SHARE * parts["launches"]
            found.append(Case(
                device_of(row), facts.platform, facts.is_cpu, kind, key, seconds, fixed, rest, 0.0,
                is_contender(row, facts),
            ))  # fmt: skip
    whole, predicted = sum(case.measured for case in found), sum(case.fixed + case.rest for case in found)
    for case in found:
        of_run = (case.measured / whole + (case.fixed + case.rest) / predicted) / 2
        yield replace(case, share=of_run * case.rest / (case.fixed + case.rest))


@contextmanager
def weighted(weights: Weights) -> Iterator[None]:
    """Predict with *weights* in place of those of the package."""
    made: dict[str, dict[str, float]] = {}
    for (table, kernel), weight in weights.items():
        made.setdefault(table, {})[kernel] = weight
    kept, kernel_weights.tables = kernel_weights.tables, lambda: made
    kernel_weights._weights.cache_clear()
    try:
        yield
    finally:
        kernel_weights.tables = kept
        kernel_weights._weights.cache_clear()


def weight_of(case: Case, weights: Weights) -> float:
    """Return the weight of a case, else 1."""
    return weights.get((case.table, case.kernel), 1.0)


def is_contender(row: Mapping[str, Any], facts: DeviceFacts) -> bool:
    """Return whether ``"auto"`` weighs the strategy of a row."""
    return row["strategy"] in algorithm_of(row["benchmark"]).contenders(problem_of(row), facts)


def predicted_seconds(row: Mapping[str, Any], facts: DeviceFacts) -> float:
    """Return what the model as it is says of the run of a row, and of what a call takes beside it."""
    rates, problem, name = rates_of(facts), problem_of(row), row["strategy"]
    return priced(algorithm_of(row["benchmark"]).strategies[name], problem, facts, rates).seconds


def facts_in(path: str) -> DeviceFacts:
    """Return the facts that a device was found to have."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    return DeviceFacts(**{**document, "dialect": Dialect(**document["dialect"])})


@cache
def rates_of(facts: DeviceFacts) -> DeviceRates:
    """Return shipped rates; of a part of a processor those that the user's cache has, if it has any."""
    whole = facts.name not in _WHOLE or facts.compute_units == _WHOLE[facts.name]
    return load_profile(facts, measured=not whole).rates
