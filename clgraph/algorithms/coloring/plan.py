"""A run of a colouring on one device, and the colours that it found."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.vertex_orders import rank_steps
from clgraph.data.graph import Graph
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Array, Recipe
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session


class ColoringPlan(Plan):
    """Colours the vertices of a graph, or the columns of a matrix."""

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        rows = device_graph(self.session, self.problem.rows)
        return rows.defines(), rows.scope

    def result(self) -> NDArray[np.int32]:
        """Return the colours, after ``run()``; some numbers may be left out.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        colors = self.arrays["colors"]
        return self.read((colors, 0, colors.size))[0]


def ranks(session: Session, graph: Graph, order: str, seed: int) -> DeviceArray:
    """Return the priorities of :func:`rank_steps`, uint32."""
    n = graph.n_vertices
    recipe = Recipe(rank_steps(graph, order, seed) if n else (), {"ranks": Array(n, np.uint32)}, {"n": n})
    plan = ColoringPlan(session, ColoringProblem(graph), recipe)
    plan.run()
    plan.release()
    return plan.arrays["ranks"]
