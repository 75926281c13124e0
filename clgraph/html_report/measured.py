"""Rows of a quick run: every strategy of every algorithm on small generated inputs, predicted and measured."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from statistics import median
from typing import Any

import numpy as np

from clgraph import generators
from clgraph.algorithms.table import MODULES, ON_MESHES
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.ratings.generators import planted_ratings
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.problem import GraphProblem, admission
from clgraph.errors import ClgraphError
from clgraph.progress import begin
from clgraph.runtime.session import Session

ALGORITHMS = (*MODULES, *ON_MESHES)
MAX_SECONDS = 2.0  # Strategies that are predicted to take longer are left out, so that a report takes about a minute.
_WARM_UPS, _RUNS = 2, 5
_MAX_RUN_SECONDS = 0.5  # A run that takes longer is not repeated.
_SETTINGS: dict[str, dict[str, Any]] = {
    "bfs": {"source": 0}, "sssp": {"source": 0}, "partition": {"n_parts": 8}, "factorization": {"n_sweeps": 5},
    "refine_mesh": {"min_angle": 25.0},
}  # fmt: skip


def measured_rows(session: Session, algorithms: Sequence[str] = ALGORITHMS) -> list[dict[str, Any]]:
    """Run every strategy of *algorithms* on small inputs, and return a row for each, as ``clgraph report`` reads them.

    A row has the fields ``benchmark``, ``graph``, ``strategy``, ``device``, ``platform``, ``picked``,
    ``predicted_seconds`` (``None`` if there is no prediction), ``wall_seconds`` and ``least_wall_seconds`` (the median
    and the least of a few calls; both are ``None`` if the strategy was not run, and ``reason`` says why).
    """
    rows: list[dict[str, Any]] = []
    done = begin("measuring strategies", len(algorithms), "algorithms")
    for number, name in enumerate(algorithms):
        done(number, name)
        module = importlib.import_module({**MODULES, **ON_MESHES}[name])
        for title, data in _inputs(module.ALGORITHM):
            rows += _rows(session, module.ALGORITHM, title, data)
    done(len(algorithms))
    return rows


def _inputs(algorithm: Algorithm) -> Iterator[tuple[str, Any]]:
    """Yield the name and the data of each small input."""
    if algorithm.takes == "ratings":
        yield "planted ratings, 20,000", planted_ratings(1_000, 500, 20_000, rank=4, noise=0.1, seed=1)
    elif algorithm.takes == "mesh":
        points = np.random.default_rng(1).random((2_000, 2))
        yield "mesh of 2,000 random points", PlanarGraph.from_arrays(points).triangulate(convex_hull=True)
    else:
        for title, graph in (
            ("road-like, 20,000 vertices", generators.road_like(20_000, seed=1)),
            ("R-MAT 13, edge factor 8", generators.rmat(13, 8, seed=1)),
        ):
            yield title, generators.random_weights(graph, high=100, seed=1)


def _rows(session: Session, algorithm: Algorithm, title: str, data: Any) -> Iterator[dict[str, Any]]:
    problem = algorithm.problem(data, **_SETTINGS.get(algorithm.name, {}))
    picked = algorithm.choose(session, problem).strategy
    with admission(session, problem) if isinstance(problem, GraphProblem) else nullcontext(problem) as admitted:
        predicted, reasons = algorithm.predictions(session, admitted)
    for strategy in algorithm.strategies:
        seconds, reason = predicted[strategy].seconds if strategy in predicted else None, reasons.get(strategy)
        if seconds is not None and seconds > MAX_SECONDS:
            reason = f"not run, since it is predicted to take more than {MAX_SECONDS:g} s"
        times: list[float] = []
        if reason is None:
            try:
                times = _call_seconds(session, algorithm, problem, strategy)
            except ClgraphError as error:
                reason = str(error)
        yield {
            "benchmark": algorithm.name, "graph": title, "strategy": strategy, "picked": strategy == picked,
            "device": session.facts.name, "platform": session.facts.platform, "predicted_seconds": seconds,
            "wall_seconds": median(times) if times else None, "least_wall_seconds": min(times, default=None),
            "reason": reason,
        }  # fmt: skip


def _call_seconds(session: Session, algorithm: Algorithm, problem: Any, strategy: str) -> list[float]:
    """Return the times of calls that follow the ones that compile kernels and upload the graph."""
    times: list[float] = []
    while len(times) < _WARM_UPS + _RUNS:
        times.append(float(algorithm.solve(problem, strategy=strategy, session=session).info.seconds.total))
        if len(times) > _WARM_UPS and times[-1] > _MAX_RUN_SECONDS:
            break
    return times[_WARM_UPS:]
