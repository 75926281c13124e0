"""The plan of a shortest-path search on one device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.plan import SearchPlan
from clgraph.algorithms.traversal.problem import GREATEST, SearchProblem
from clgraph.engine.problem import vertex_ids
from clgraph.errors import DistanceOverflowError, UnsupportedStrategyError
from clgraph.model.recipe import Recipe
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session


class PathsPlan(SearchPlan):
    """A plan of a shortest-path search on one device, which finds the length of a shortest path to each vertex.

    If a distance exceeds 32 bits, the plan searches again with 64-bit distances.

    Raises
    ------
    UnsupportedStrategyError
        The device lacks the type of the distances.
    """

    _is_wide: bool

    def __init__(self, session: Session, problem: SearchProblem, recipe: Recipe) -> None:
        if reason := problem.held.unsupported(session.facts):
            advice = "; pass dtype='float32'" if problem.weight_dtype == np.float32 else ""
            raise UnsupportedStrategyError(f"{session.facts.name} cannot hold these distances: {reason}{advice}")
        super().__init__(session, problem, recipe)
        n, held = problem.graph.n_vertices, problem.held
        if held.dtype.itemsize == held.answer_dtype.itemsize:
            self._answer = words = self.distances.view(0, n, held.answer_dtype)
        else:
            self._answer, words = session.empty(n, held.answer_dtype), self.distances
        program = session.program("sssp/answer.cl", held.defines)
        self._list = program.bind("list_distances", n, n=n, distances=words, answer=self._answer)

    def attach(self, problem: SearchProblem) -> None:
        super().attach(replace(problem, wide=True) if self._is_wide else problem)

    def detach(self) -> None:
        self._is_wide = self.problem.wide
        super().detach()

    def run(self) -> None:
        """Run the shortest-path search, which finds the distance of each vertex.

        Raises
        ------
        DistanceOverflowError
            A distance has more than 63 bits.
        """
        super().run()
        if not self._overflowed():
            return
        if not self.problem.held.wide:
            wide = replace(self.problem, wide=True)
            PathsPlan.__init__(self, self.session, wide, self.remade(wide))
            super().run()
        if self._overflowed():
            self._check_reached()

    def _overflowed(self) -> bool:
        """Return whether a path was longer than the greatest distance that
        the kernels' integer or float type can hold.
        """
        problem = self.problem
        longest = problem.graph.n_vertices * float(problem.weight_range[1])
        return longest >= 2**32 - 1 and not problem.held.is_float and self.word("state[STATE_OVERFLOW]") != 0

    def _check_reached(self) -> None:
        """Raise an error if a vertex is unreached only because every path to
        the vertex is too long for the distance type.
        """
        graph, distances = self.problem.graph, self.result()[0]
        rows, columns = graph.sources(), graph.column_indices
        bad = (distances[rows] >= 0) & (distances[columns] < 0)
        if self.problem.limit is None and bad.any():
            (vertex,) = vertex_ids(graph, [int(columns[bad.argmax()])])
            raise DistanceOverflowError(
                f"the shortest path to vertex {vertex!r} is longer than {GREATEST}, the greatest distance"
            )

    def result(self) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
        """Return the shortest distances after ``run()``, and the predecessors if the problem asks for them."""
        self._list()
        found = [self._answer, self.arrays["predecessors"]] if self.problem.predecessors else [self._answer]
        distances, *predecessors = self.read(*((array, 0, self._answer.size) for array in found))
        return distances, predecessors[0] if predecessors else None

    def on_device(self) -> tuple[DeviceArray, DeviceArray | None]:
        self._list()
        self.check()
        n = self._answer.size
        return self._answer, self.arrays["predecessors"].view(0, n) if self.problem.predecessors else None
