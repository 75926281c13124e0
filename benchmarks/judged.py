"""What ``bench_cost_model.py`` does in the process that measures: it predicts and times strategies on one input."""

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

GRAPHS: Mapping[str, tuple[GraphBenchmark, Sequence[dict[str, Any]]]] = {
    "connected_components": (bench_connected_components.BENCHMARK, [{}]),
    "minimum_spanning_forest": (bench_minimum_spanning_forest.BENCHMARK, [{}]),
    "bfs": (bench_bfs.BENCHMARK, [{}]),
    "sssp": (bench_sssp.BENCHMARK, [{}]),
    "color": (bench_color.BENCHMARK, [{"distance": 1}, {"distance": 2}]),
    "hash_collisions": (bench_hash_collisions.BENCHMARK, [{"distance": 1}, {"distance": 2}]),
    "partition": (bench_partition.BENCHMARK, [{"n_parts": 2, "seed": 0}, {"n_parts": 32, "seed": 0}]),
}
RATINGS, MESHES = "factorization", "refine_mesh"
MESH_SETTINGS: list[dict[str, Any]] = [{"min_angle": 20.0}, {"min_angle": 28.0}]
N_SWEEPS = 20
RANK = 16


class Judge:
    """A session, and the input on which it measures."""

    def __init__(self, device: str | None, units: int | None = None, probes: bool = False) -> None:
        """Measure on *device*, or on a part of so many compute *units*; *probes*: its rates are measured first."""
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
        """Return the pick and what strategies are predicted to take, all that may be picked, the quickest first."""
        self.known = {}
        if benchmark == RATINGS:
            model = self._model()
            seconds = {
                name: N_SWEEPS * row["predicted_seconds"] + row["predicted_preparation_seconds"]
                for name, row in model.items()
                if name != bench_factorization.RACY
            }
            ranked = sorted(seconds, key=seconds.__getitem__)
            picked = next(name for name, row in model.items() if row["picked"])
            return picked, {name: seconds[name] for name in ranked}
        algorithm, problem = self._asked(benchmark, settings)
        predicted, _ = algorithm.predictions(self.session, problem)
        seconds = {name: estimated.seconds for name, estimated in predicted.items()}
        return algorithm.choose(self.session, problem).strategy, seconds

    def build(self, benchmark: str, settings: Mapping[str, Any], strategy: str) -> None:
        """Compile what a strategy needs, so that :meth:`measure` takes no time for that."""
        if benchmark == RATINGS:
            problem = bench_factorization.as_problem(self.data, rank=RANK, storage="float32")
            bench_factorization.STRATEGIES[strategy].plan(self.session, problem)
        else:
            algorithm, problem = self._asked(benchmark, settings)
            algorithm.strategies[strategy].plan(self.session, problem).release()

    def _asked(self, benchmark: str, settings: Mapping[str, Any]) -> tuple[Algorithm, Any]:
        """Return the algorithm, and the problem that it has on the input."""
        if benchmark == MESHES:
            return bench_refine_mesh.ALGORITHM, bench_refine_mesh.ALGORITHM.problem(self.data, **settings)
        described = GRAPHS[benchmark][0]
        return described.algorithm, described.problem(self.label, self.data, **settings)

    def measure(
        self, benchmark: str, settings: Mapping[str, Any], strategy: str, timing: Mapping[str, Any], check_limit: int
    ) -> list[dict[str, Any]]:
        """Return the row of a strategy, whose answer must be that of the others since :meth:`predicted`.

        *timing* is as of ``harness.time_run``, and answers are checked up to *check_limit* entries.
        """
        if benchmark == MESHES:
            return [self._measured_mesh(settings, strategy, timing, check_limit)]
        on = self.session, self.label, self.data
        if benchmark == RATINGS:
            options = {"rank": RANK, "storage": "float32", "verified": self.data.n_ratings <= check_limit, **timing}
            return bench_factorization.measure(*on, self._model(), strategies=[strategy], **options)
        options = {"known": self.known, "check_limit": check_limit, "calls": True, **settings, **timing}
        return GRAPHS[benchmark][0].measure(*on, strategies=[strategy], **options)

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

    def _model(self) -> dict[str, dict[str, Any]]:
        return bench_factorization.model_says(self.session, self.data, RANK, "float32")

    def provenance(self) -> dict[str, Any]:
        """Return what every row says of device, code and command."""
        return harness.provenance(self.session)


def label_of(benchmark: str, label: str, settings: Mapping[str, Any]) -> str:
    """Return the name of an input in the rows of a benchmark."""
    if benchmark == MESHES:
        return f"{label}, {settings['min_angle']:g} degrees"
    return label if benchmark == RATINGS else GRAPHS[benchmark][0].label(label, **settings)


def cases(algorithms: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return each of the *algorithms* that takes graphs with each of its settings."""
    return [(name, settings) for name in algorithms if name in GRAPHS for settings in GRAPHS[name][1]]
