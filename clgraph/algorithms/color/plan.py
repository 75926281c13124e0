"""The plan of a graph colouring on one device."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.algorithms.color.vertex_orders import rank_steps
from clgraph.data.graphs.graph import Graph
from clgraph.engine.plan import Plan
from clgraph.errors import VerificationError
from clgraph.model.recipe import Array, Recipe, Setting
from clgraph.runtime.graphs.device_graph import device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch
from clgraph.runtime.session import Session

# Greatest number of colours that the device can count. Colourings at distance 2 with more are counted by the host.
_MAX_MARKED = 1 << 16
# Kernel mark_colors: least number of vertices per work-group, and number of work-groups per compute unit.
_MIN_CHUNK, _GROUPS_PER_UNIT = 4096, 8


class ColoringPlan(Plan):
    """A plan that colours the vertices of a graph or the columns of a matrix on one device."""

    def _given(self) -> tuple[Mapping[str, int | str], Mapping[str, Any]]:
        rows = device_graph(self.session, self.problem.rows)
        return rows.defines(), rows.scope

    @cached_property
    def _marking(self) -> tuple[Launch, DeviceArray, int]:
        """The launch that marks the used colours, the array of marks, and the number of vertices or columns."""
        session, problem = self.session, self.problem
        n: int = problem.graph.n_vertices if problem.n_columns is None else problem.n_columns
        group = session.facts.group_size(256)
        program = session.program("color/numbering.cl", work_group_size=group)
        chunk = max(_MIN_CHUNK, -(-n // (_GROUPS_PER_UNIT * session.facts.compute_units)))
        limit = min(n, _MAX_MARKED)
        used = session.empty(limit + 1, np.uint32)
        scope = {"n": n, "chunk": chunk, "limit": limit, "colors": self.arrays["colors"], "used": used}
        return program.bind("mark_colors", -(-n // chunk) * program.work_group_size, scope), used, n

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """After ``run()``, return the number of colours and the colour of each vertex, numbered without gaps.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device timed out.
        VerificationError
            A vertex has no colour.
        """
        mark, used, n = self._marking
        used.fill(0)
        mark()
        colors, marks = self.read((self.arrays["colors"], 0, n), (used, 0, used.size))
        n_colors = int(np.count_nonzero(marks[:-1]))
        return (n_colors, colors) if marks[:n_colors].all() and not marks[-1] else _numbered(colors)

    def on_device(self) -> tuple[int, DeviceArray]:
        mark, used, n = self._marking
        used.fill(0)
        mark()
        (marks,) = self.read((used, 0, used.size))
        n_colors, colors = int(np.count_nonzero(marks[:-1])), self.arrays["colors"].view(0, n)
        if not marks[:n_colors].all() or marks[-1]:  # Numbers are missing, or there are more than marks.
            n_colors, numbered = _numbered(colors.get())
            colors.set(numbered)
        return n_colors, colors


def _numbered(colors: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
    """Renumber *colors* without gaps.

    Return the number of colours and the new colours.
    """
    if (none := colors < 0).any():
        raise VerificationError(f"vertex {none.argmax()} has no colour")
    used = np.bincount(colors) > 0
    numbers = np.cumsum(used, dtype=np.int32) - 1
    return int(np.count_nonzero(used)), numbers[colors].astype(np.int32, copy=False)


def ranks(session: Session, graph: Graph, order: str, seed: int) -> DeviceArray:
    """Return a device array with the vertex priorities that :func:`rank_steps` computes, uint32."""
    n = graph.n_vertices
    recipe = Recipe(rank_steps(graph, order, seed) if n else (), lambda: Setting(
        arrays={"ranks": Array(n, np.uint32)}, values={"n": n},
    ))  # fmt: skip
    plan = ColoringPlan(session, ColoringProblem(graph), recipe)
    plan.run()
    plan.release()
    return plan.arrays["ranks"]
