"""A strategy that runs on the host: compiled routines of numpy and scipy on the graph's own arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.graph_arrays import UNLOOKED
from clgraph.data.graphs.stats import FAR_DISTANCE, FAR_IN_MESHES
from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import HostItems, Part, Work
from clgraph.model.strategy import Strategy, solves_all
from clgraph.runtime.session import Session

_VERTEX_BYTES, _LINE_BYTES = 16.0, 64.0
_USUAL_REACH = 0.25  # working set over all vertices, if nothing is known: between random and mesh numberings
_CACHED = 1 << 15  # vertices and entries as UNLOOKED, for ways other than searches, which take longer for an entry
_SAVED, _PROBED_DEGREE = 0.4, 2  # time saved on entries beyond two a vertex: they lead to vertices met before
# Of a search of a mesh: around each vertex of its front, and more where numbers jump; trees are numbered by level.
_FRONT_BYTES, _FRONT_POWER, _EDGES_OF_TREES = 800.0, 1.3, 2
_NEAR_FRONT = {"traverse": 0.0, "union": 1.0}  # in the cache at first: for unions, scipy has transposed the matrix
_TAKEN_AS_IT_IS = np.dtype(np.int32), np.dtype(np.int32), np.dtype(np.float64)  # offsets, columns, values
_FAR_IN_RANDOM, _LOG2_VERTICES_PER_LINE = 1 / 3, 4.0  # near edges hardly count from that share of far ones on
_MOST_INDICES = 2**31 - 2**16


class HostPlan:
    """A run on the host, which reads the problem's arrays where they are; ``run()`` may be called again.

    Attributes
    ----------
    problem : object
    details : dict of str to object
    """

    def __init__(self, problem: Any, solve: Callable[[Any], Any]) -> None:
        self.problem, self._solve = problem, solve
        self.details: dict[str, Any] = {}
        self._found: Any = None

    def run(self) -> None:
        self._found = self._solve(self.problem)

    def result(self) -> Any:
        """Return what the last run has found."""
        return self._found

    def release(self) -> None:
        """Keep what was found: a host plan has nothing else."""


def given_matrix(graph: Graph) -> Any:
    """Return the user's matrix if scipy's searches take it as it is, which saves 20 us to make another, or ``None``."""
    if not isinstance(graph, WrappedGraph):
        return None
    graph.check()
    if graph.arrays is not graph.given:  # repeats were summed
        return None
    given = graph.matrix
    types = given.indptr.dtype, given.indices.dtype, given.data.dtype
    return given if types == _TAKEN_AS_IT_IS and given.indices.size == given.data.size == graph.n_edges else None


def pattern(graph: Graph) -> Any:
    """Return the matrix of *graph* as scipy's searches take it, which do not look at the values of its entries.

    scipy may copy them, which takes a quarter longer in new memory; so a matrix keeps its own values.
    """
    if (given := given_matrix(graph)) is not None:
        return given
    values = graph.matrix.data if isinstance(graph, WrappedGraph) else None
    if values is None or values.dtype != np.float64 or values.size != graph.n_edges:
        values = np.empty(graph.n_edges)
    return csr_array((values, graph.column_indices, graph.row_offsets), shape=2 * (graph.n_vertices,))


def too_many_entries(problem: Any) -> str | None:
    """Return why a graph is too large for scipy, whose indices are int32, or ``None``."""
    graph = problem.graph
    fits = graph.n_edges + 2 * graph.n_vertices < _MOST_INDICES
    return None if fits else f"scipy takes graphs of less than {_MOST_INDICES} entries and vertices"


def walked(graph: Graph, way: str) -> Work:
    """Return the work of going to every vertex and along every entry once.

    Neighbours in far numbers cost cache misses, and more so if a heap is between them. Of small graphs without
    statistics only sizes are asked for, of others a few entries. Searches do not come to vertices without an edge.
    """
    n, m, is_measured = graph.n_vertices, graph.n_edges, graph.is_measured
    size, whole = n + m, _VERTEX_BYTES * n
    if is_measured and way != "union":
        n -= graph.stats.n_isolated
        whole = min(whole, _LINE_BYTES * n)
    items = float(n + m)
    if way == "traverse":
        items -= _SAVED * max(0, m - _PROBED_DEGREE * n)
    if not is_measured and size <= (UNLOOKED if way == "traverse" else _CACHED):
        return Work(host_items=(HostItems(items, _USUAL_REACH * whole, way),))
    far, mean_log2_distance = graph.locality if way == "heap" else graph.locality_in_order
    reach = _VERTEX_BYTES * 2.0 ** (1.0 + mean_log2_distance)
    if way in _NEAR_FRONT and m > _EDGES_OF_TREES * n:
        if far < FAR_IN_MESHES:
            front = 2.0 ** (_FRONT_POWER * mean_log2_distance) - _NEAR_FRONT[way]
            reach = max(reach, _FRONT_BYTES * math.sqrt(n) * front)
        elif far < _FAR_IN_RANDOM and mean_log2_distance > _LOG2_VERTICES_PER_LINE:
            reach = whole  # some edges lead anywhere, so no vertex of a front is near the one before
    near = HostItems((1.0 - far) * items, min(whole, reach), way)
    return Work(host_items=(near, HostItems(far * items, whole, way)))


def met(problem: Any, way: str) -> Part:
    """Return the work of :func:`walked`, and the share of the graph that a search reaches and pays for."""
    graph = problem.graph
    is_known = graph.n_vertices > FAR_DISTANCE and graph.is_measured
    return walked(graph, way), problem.stats.reached_share if is_known else 1.0, 1.0


def scanned(graph: Graph, passes: float, passes_of_vertices: float = 0.0) -> Work:
    """Return the work of reading and writing in order: for vertices and entries, and for vertices only."""
    n = float(graph.n_vertices)
    items = n + graph.n_edges
    entries = HostItems(passes * items, 8.0 * items, "scan")
    if not passes_of_vertices:
        return Work(host_items=(entries,))
    return Work(host_items=(entries, HostItems(passes_of_vertices * n, _VERTEX_BYTES * n, "scan")))


def sequential(
    solve: Callable[[Any], Any], work: Callable[[Any], list[Part]], unfit: Callable[[Any], str | None] = solves_all
) -> Strategy:
    """Return the strategy whose plans run ``solve(problem)`` and have what it returns as their result.

    ``work(problem)`` are the parts of what that asks of the host. No device is needed, and there are no options.
    """

    def plan(_session: Session, problem: Any) -> HostPlan:
        return HostPlan(problem, solve)

    def asked(problem: Any, _facts: DeviceFacts) -> list[Part]:
        return work(problem)

    return Strategy("sequential", plan, asked, unfit=unfit)
