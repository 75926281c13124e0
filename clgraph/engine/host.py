"""Strategies that run on the host, by compiled routines of numpy and scipy, and predictions of their work."""

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

_VERTEX_BYTES, _LINE_BYTES = 16.0, 64.0  # data of a search per vertex; a cache line
_USUAL_REACH = 0.25  # assumed working set / data of all vertices: a value between random and mesh numberings
_CACHED = 1 << 15  # vertices + entries: the limit like UNLOOKED for ways other than searches, slower per entry
# An entry beyond two per vertex costs a search 0.4 of an item less, because it mostly leads to a vertex already seen.
_SAVED, _PROBED_DEGREE = 0.4, 2
# Working set of a search of a mesh: 800 bytes for each of √n vertices of its front, times 2 to the power 1.3 × mean
# log2 distance. A graph of at most 2 entries per vertex is a tree, which is taken to be numbered by level.
_FRONT_BYTES, _FRONT_POWER, _EDGES_OF_TREES = 800.0, 1.3, 2
# Part of the last factor that is in the cache at the start: for unions, scipy has just transposed the matrix.
_NEAR_FRONT = {"traverse": 0.0, "union": 1.0}
_TAKEN_AS_IT_IS = np.dtype(np.int32), np.dtype(np.int32), np.dtype(np.float64)  # offsets, columns, values
# Share of far neighbours from which near ones hardly matter; mean log2 distance beyond which neighbours leave the line.
_FAR_IN_RANDOM, _LOG2_VERTICES_PER_LINE = 1 / 3, 4.0
_MAX_INDICES = 2**31 - 2**16  # entries + 2 × vertices, because scipy's indices are int32


class HostPlan:
    """A plan that runs on the host, on the problem's own arrays; ``run()`` may be called repeatedly.

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
        """Return the result of the last run."""
        return self._found

    def release(self) -> None:
        """Do nothing: a host plan holds only its result."""


def given_matrix(graph: Graph) -> Any:
    """Return the user's matrix if scipy's searches take it unchanged, else ``None``. Making a new one takes 20 us."""
    if not isinstance(graph, WrappedGraph):
        return None
    graph.check()
    if graph.arrays is not graph.given:  # repeats were summed
        return None
    given = graph.matrix
    types = given.indptr.dtype, given.indices.dtype, given.data.dtype
    return given if types == _TAKEN_AS_IT_IS and given.indices.size == given.data.size == graph.n_edges else None


def pattern(graph: Graph) -> Any:
    """Return *graph* as a matrix for scipy's searches, which ignore the values of its entries.

    scipy may copy the values, and newly allocated ones take a quarter longer to copy. So a user's matrix keeps its own.
    """
    if (given := given_matrix(graph)) is not None:
        return given
    values = graph.matrix.data if isinstance(graph, WrappedGraph) else None
    if values is None or values.dtype != np.float64 or values.size != graph.n_edges:
        values = np.empty(graph.n_edges)
    return csr_array((values, graph.column_indices, graph.row_offsets), shape=2 * (graph.n_vertices,))


def too_many_entries(problem: Any) -> str | None:
    """Return the reason if a graph is too large for scipy, whose indices are int32, else ``None``."""
    graph = problem.graph
    fits = graph.n_edges + 2 * graph.n_vertices < _MAX_INDICES
    return None if fits else f"scipy takes graphs of less than {_MAX_INDICES} entries and vertices"


def walked(graph: Graph, way: str) -> Work:
    """Return the work of visiting every vertex and every entry once.

    Neighbours with far numbers cost cache misses, and more of them if a heap orders the visits. Without statistics, the
    work is estimated from the sizes of a small graph, or from a few entries of a larger one. Searches do not visit
    vertices without an edge.
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
            reach = whole  # Some edges lead anywhere, so successive vertices of a front are far apart.
    near = HostItems((1.0 - far) * items, min(whole, reach), way)
    return Work(host_items=(near, HostItems(far * items, whole, way)))


def met(problem: Any, way: str) -> Part:
    """Return the work of :func:`walked` times the share of the graph that a search reaches."""
    graph = problem.graph
    is_known = graph.n_vertices > FAR_DISTANCE and graph.is_measured
    return walked(graph, way), problem.stats.reached_share if is_known else 1.0, 1.0


def scanned(graph: Graph, passes: float, passes_of_vertices: float = 0.0) -> Work:
    """Return the work of *passes* over vertices and entries, and *passes_of_vertices* over vertices, in order."""
    n = float(graph.n_vertices)
    items = n + graph.n_edges
    entries = HostItems(passes * items, 8.0 * items, "scan")
    if not passes_of_vertices:
        return Work(host_items=(entries,))
    return Work(host_items=(entries, HostItems(passes_of_vertices * n, _VERTEX_BYTES * n, "scan")))


def sequential(
    solve: Callable[[Any], Any], work: Callable[[Any], list[Part]], unfit: Callable[[Any], str | None] = solves_all
) -> Strategy:
    """Return a strategy whose plans run ``solve(problem)`` on the host and return its result.

    ``work(problem)`` returns the parts of its work. It needs no device and has no options.
    """

    def plan(_session: Session, problem: Any) -> HostPlan:
        return HostPlan(problem, solve)

    def asked(problem: Any, _facts: DeviceFacts) -> list[Part]:
        return work(problem)

    return Strategy("sequential", plan, asked, unfit=unfit)
