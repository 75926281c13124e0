"""Multilevel graph partitioning in which the CPU divides one coarse level, by METIS or by its OpenCL runtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.host import by_metis, has_metis
from clgraph.algorithms.partition.multilevel import Multilevel, PartitionPlan
from clgraph.algorithms.partition.prices import moved_vertices
from clgraph.algorithms.partition.problem import CONTRACTIONS, MATCHINGS, REFINEMENTS, PartitionProblem
from clgraph.data.graphs.graph import Graph
from clgraph.errors import NoDeviceError, UnsupportedStrategyError
from clgraph.model.recipe import Recipe
from clgraph.runtime.graphs.device_graph import GraphOnDevice
from clgraph.runtime.session import as_session

HOSTS = ("metis", "cpu")


class Hybrid(Multilevel):
    """A multilevel partition: the device coarsens and refines, and the CPU partitions a coarse level in between.

    ``recipe(problem, facts)`` returns the recipe for the CPU's runtime. The CPU divides the first level of at most
    *move_at* vertices; ``None`` takes a default for the kind of device. *host* is one of :data:`HOSTS`; ``None`` takes
    METIS if pymetis is installed.

    Raises
    ------
    UnsupportedStrategyError
        pymetis is not installed, or no CPU has an OpenCL runtime.
    """

    def __init__(self, plan: Any, *, recipe: Callable[..., Recipe], move_at: int | None, host: str | None) -> None:
        super().__init__(plan)
        self._host = host or ("metis" if has_metis() else "cpu")
        self._recipe, self._cpu, self._moved = recipe, None, 0
        if self._host == "metis" and not has_metis():
            raise UnsupportedStrategyError("host='metis' needs the package pymetis")
        if self._host == "cpu":
            try:
                self._cpu = self._session if self._session.facts.is_cpu else as_session("cpu")
            except NoDeviceError as error:
                reason = f"hybrid needs pymetis or an OpenCL runtime of the CPU: {error}"
                raise UnsupportedStrategyError(reason) from error
        most = moved_vertices(self._session.facts, self._host) if move_at is None else move_at
        self._coarsest = max(self._coarsest, most)

    def _partition_coarsest(self) -> int:
        level, (n, m) = len(self.sizes) - 1, self.sizes[-1]
        problem, arrays, n_parts = self.plan.problem, self.plan.arrays, self.plan.problem.n_parts
        coarse = problem if level == 0 else self._read(level, n, m)
        if n <= n_parts or not m:
            parts = np.arange(n, dtype=np.int32) % n_parts
        else:
            parts = by_metis(coarse)[0] if self._cpu is None else self._by_runtime(coarse)
        sizes_found = np.bincount(parts, coarse.vertex_weights, n_parts).astype(np.int32)
        arrays["work"].set(parts, offset=self._constant("BEST") * self.plan.setting.values["room"])
        self.plan.scope["parts_work"].set(sizes_found, offset=self._constant("BEST_SIZES") * n_parts)
        self._moved = n
        return level

    def _cycles(self) -> tuple[int, int]:
        """Return (0, 0): the graph is not coarsened again, and refinement goes from the CPU's partition to level 0."""
        return 0, 0

    def _read(self, level: int, n: int, m: int) -> PartitionProblem:
        """Return the problem of partitioning the coarse level *level*, whose arrays are copied from the device."""
        arena = self.plan.arrays["arena"]
        words = self.plan.arrays["levels"].get(self._words * level, self._words * (level + 1))

        def part(name: str, size: int) -> tuple[Any, int, int]:
            begin = int(words[self._constant(f"LEVEL_{name}")])
            return arena, begin, begin + size

        rows, columns, edges, vertices = self._session.read(
            part("ROWS", n + 1), part("COLUMNS", m), part("EDGE_WEIGHTS", m), part("VERTEX_WEIGHTS", n)
        )
        usual = {"matching": MATCHINGS[0], "contraction": CONTRACTIONS[0], "refinement": REFINEMENTS[0]}
        graph = Graph._trusted(rows, columns, edges)
        problem: PartitionProblem = replace(self.plan.problem, graph=graph, vertex_weights=vertices, **usual)
        return problem

    def _by_runtime(self, problem: PartitionProblem) -> NDArray[np.int32]:
        assert self._cpu is not None
        if isinstance(problem.graph, GraphOnDevice) and self._cpu is not self._session:
            problem = replace(problem, graph=problem.graph.on_device.to_graph())
        plan = PartitionPlan(self._cpu, problem, self._recipe(problem, self._cpu.facts))
        plan.run()
        parts: NDArray[np.int32] = plan.found()[0]
        plan.release()
        return parts

    @property
    def details(self) -> dict[str, Any]:
        return {**super().details, "moved_to": self._host, "moved_vertices": self._moved}
