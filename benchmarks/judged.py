"""The measuring process of ``bench_cost_model.py``: it predicts and times strategies on one input at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bench_bfs
import bench_color
import bench_connected_components
import bench_factorization
import bench_hash_collisions
import bench_minimum_spanning_forest
import bench_partition
import bench_refine_mesh
import bench_sssp
import harness
from graph_benchmark import GraphBenchmark

from clgraph.engine.algorithm import Algorithm
from clgraph.probing import probe
from clgraph.runtime.devices import sub_devices
from clgraph.runtime.session import Session

GRAPHS: Mapping[str, GraphBenchmark] = {
    "connected_components": bench_connected_components.BENCHMARK,
    "minimum_spanning_forest": bench_minimum_spanning_forest.BENCHMARK,
    "bfs": bench_bfs.BENCHMARK,
    "sssp": bench_sssp.BENCHMARK,
    "color": bench_color.BENCHMARK,
    "hash_collisions": bench_hash_collisions.BENCHMARK,
    "partition": bench_partition.BENCHMARK,
}
RATINGS, MESHES = "factorization", "refine_mesh"
N_SWEEPS = 20
RANK = 16
_DISTANCES = [{"distance": 1}, {"distance": 2}]
SETTINGS: Mapping[str, Sequence[dict[str, Any]]] = {  # Each input is measured once with each of these settings.
    **{name: [{}] for name in (*GRAPHS, RATINGS)},
    "color": _DISTANCES,
    "hash_collisions": _DISTANCES,
    "partition": [{"n_parts": 2, "seed": 0}, {"n_parts": 32, "seed": 0}],
    MESHES: [{"min_angle": 20.0}, {"min_angle": 28.0}],
}


def takes(benchmark: str) -> str:
    """Return the inputs of a benchmark, as a word of :func:`unseen.load`."""
    return {RATINGS: "ratings", MESHES: "meshes"}.get(benchmark, "graphs")


def posed(benchmark: str, label: str, data: Any, settings: Mapping[str, Any]) -> tuple[Algorithm, Any]:
    """Return the algorithm of a benchmark, and its problem on the input *data*."""
    if benchmark in GRAPHS:
        return GRAPHS[benchmark].algorithm, GRAPHS[benchmark].problem(label, data, **settings)
    if benchmark == MESHES:
        return bench_refine_mesh.ALGORITHM, bench_refine_mesh.ALGORITHM.problem(data, **settings)
    return bench_factorization.ALGORITHM, bench_factorization.as_problem(data, rank=RANK, n_sweeps=N_SWEEPS)


def label_of(benchmark: str, label: str, settings: Mapping[str, Any]) -> str:
    """Return the name of an input in the rows of a benchmark."""
    if benchmark == MESHES:
        return f"{label}, {settings['min_angle']:g} degrees"
    return label if benchmark == RATINGS else GRAPHS[benchmark].label(label, **settings)


class Judge:
    """A session, and the input on which it measures."""

    def __init__(self, device: str | None, units: int | None = None, probes: bool = False) -> None:
        """Measure on *device*, or on a part of it with this number of compute *units*; *probes*: measure its rates."""
        self.session = Session(device) if units is None else sub_devices(device, [units])[0]
        if probes:
            probe(self.session)
        self.label, self.data = "", None
        self.known: dict[str, Any] = {}

    def take(self, label: str, data: Any) -> None:
        """Measure on *data* from now on."""
        self.session.release()
        self.label, self.data = label, data

    def predicted(self, benchmark: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, float]]:
        """Return the pick and the predicted seconds of the strategies that may be picked, the quickest first."""
        self.known = {}
        algorithm, problem = posed(benchmark, self.label, self.data, settings)
        predicted, _ = algorithm.predictions(self.session, problem)
        seconds = {name: found.seconds for name, found in predicted.items() if name != bench_factorization.RACY}
        return algorithm.choose(self.session, problem).strategy, seconds

    def build(self, benchmark: str, settings: Mapping[str, Any], strategy: str) -> None:
        """Compile the kernels of a strategy, so that :meth:`measure` takes no time for that."""
        algorithm, problem = posed(benchmark, self.label, self.data, settings)
        algorithm.strategies[strategy].plan(self.session, problem).release()

    def measure(
        self, benchmark: str, settings: Mapping[str, Any], strategy: str, timing: Mapping[str, Any], check_limit: int
    ) -> list[dict[str, Any]]:
        """Return the row of a strategy. Its answer must agree with the others since the last :meth:`predicted`.

        *timing* is as of ``harness.time_run``, and answers are checked up to *check_limit* entries.
        """
        if benchmark == MESHES:
            return [self._measured_mesh(settings, strategy, timing, check_limit)]
        on = self.session, self.label, self.data
        if benchmark == RATINGS:
            options = {"rank": RANK, "storage": "float32", "verified": self.data.n_ratings <= check_limit, **timing}
            return bench_factorization.measure(*on, [strategy], **options)
        options = {"known": self.known, "check_limit": check_limit, "calls": True, **settings, **timing}
        return GRAPHS[benchmark].measure(*on, strategies=[strategy], **options)

    def _measured_mesh(
        self, settings: Mapping[str, Any], strategy: str, timing: Mapping[str, Any], check_limit: int
    ) -> dict[str, Any]:
        mesh, angle, sizes = self.data, settings["min_angle"], self.data.n_points + self.data.n_triangles - 1
        picked, predicted = self.predicted(MESHES, settings)
        row, refined = bench_refine_mesh.measure(self.session, mesh, angle, strategy, **timing)
        verified = sizes <= check_limit and bench_refine_mesh.check(refined, mesh, angle)
        about = {"benchmark": MESHES, "graph": label_of(MESHES, self.label, settings), **settings}
        times = {"least_call_seconds": row["call_seconds"], "predicted_call_seconds": predicted[strategy]}
        about |= {"n_vertices": mesh.n_points, "n_edges": sizes, "picked": strategy == picked, "verified": verified}
        return {**row, **about, **times}

    def provenance(self) -> dict[str, Any]:
        """Return the fields of every row that describe device, code and command."""
        return harness.provenance(self.session)
