"""Strategies that run compiled routines of numpy and scipy on the host, and predictions of the host's work."""

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

_VERTEX_BYTES, _LINE_BYTES = 16.0, 64.0  # A search keeps 16 bytes of data per vertex, and a cache line has 64 bytes.
# Assumed share of all vertices' data that a search of a small graph without statistics touches at a time.
# The assumed share lies between the measured shares for random vertex numberings and for meshes.
_USUAL_REACH = 0.25
# The locality of a graph of less than 2^15 vertices and entries is not sampled.
# Searches take less time per entry than other algorithms, so their locality is sampled only from the greater size
# UNLOOKED on.
_CACHED = 1 << 15
# A search costs 0.6 items for each entry beyond two per vertex, because most of these entries lead to a seen vertex.
_SAVED, _PROBED_DEGREE = 0.4, 2
# A search of a mesh has a front of about √n vertices. Its data take 800 bytes × √n × 2 ** (1.3 × mean log2 distance).
# Graphs of at most 2 entries per vertex are trees, which are assumed to be numbered level by level.
_FRONT_BYTES, _FRONT_POWER, _EDGES_OF_TREES = 800.0, 1.3, 2
# The amount that is subtracted from the size of a search front's data, because some data are in the cache.
# Unions subtract 1 for data in the cache, because scipy has just transposed the matrix. Searches subtract 0.
_NEAR_FRONT = {"traverse": 0.0, "union": 1.0}
_TAKEN_AS_IT_IS = np.dtype(np.int32), np.dtype(np.int32), np.dtype(np.float64)  # offsets, columns, values
# If more than a third of the neighbours are far, the near neighbours hardly matter.
# If the mean log2 distance is above 4, near neighbours are in other cache lines.
_FAR_IN_RANDOM, _LOG2_VERTICES_PER_LINE = 1 / 3, 4.0
_MAX_INDICES = 2**31 - 2**16  # Upper limit for entries + 2 × vertices, because scipy's indices are int32.


class HostPlan:
    """A plan that runs on the host and reads the problem's arrays in place.

    ``run()`` may be called repeatedly.

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
        """Return the result of the last run of this plan on the host."""
        return self._found

    def release(self) -> None:
        """Do nothing, because a plan on the host holds nothing but its result."""


def given_matrix(graph: Graph) -> Any:
    """Return the user's matrix if scipy's searches take it unchanged; else ``None``.

    The unchanged matrix saves the 20 us that making a new matrix takes.
    """
    if not isinstance(graph, WrappedGraph):
        return None
    graph.check()
    if graph.arrays is not graph.given:  # repeats were summed
        return None
    given = graph.matrix
    types = given.indptr.dtype, given.indices.dtype, given.data.dtype
    return given if types == _TAKEN_AS_IT_IS and given.indices.size == given.data.size == graph.n_edges else None


def pattern(graph: Graph) -> Any:
    """Return *graph* as a scipy matrix for searches, which ignore the values of its entries.

    scipy may copy the values, and copying newly allocated values takes a quarter longer. So the values of a user's
    matrix are kept.
    """
    if (given := given_matrix(graph)) is not None:
        return given
    values = graph.matrix.data if isinstance(graph, WrappedGraph) else None
    if values is None or values.dtype != np.float64 or values.size != graph.n_edges:
        values = np.empty(graph.n_edges)
    return csr_array((values, graph.column_indices, graph.row_offsets), shape=2 * (graph.n_vertices,))


def too_many_entries(problem: Any) -> str | None:
    """Return the reason why the problem's graph is too large for scipy's int32 indices, or ``None`` if it fits."""
    graph = problem.graph
    fits = graph.n_edges + 2 * graph.n_vertices < _MAX_INDICES
    return None if fits else f"scipy takes graphs of less than {_MAX_INDICES} entries and vertices"


def walked(graph: Graph, way: str) -> Work:
    """Return the host's predicted work for visiting every vertex and every entry of *graph* once.

    Neighbours with far numbers cost cache misses, and more misses if a heap orders the visits. Without statistics, the
    work is estimated from the sizes of a small graph, or from a few entries of a larger graph. Searches do not visit
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
            reach = whole  # Some edges lead to random vertices, so successive vertices of a search front are far apart.
    near = HostItems((1.0 - far) * items, min(whole, reach), way)
    return Work(host_items=(near, HostItems(far * items, whole, way)))


def met(problem: Any, way: str) -> Part:
    """Return the host's predicted work for one search:
    :func:`walked`, weighted by the share of the graph that is reached.
    """
    graph = problem.graph
    is_known = graph.n_vertices > FAR_DISTANCE and graph.is_measured
    return walked(graph, way), problem.stats.reached_share if is_known else 1.0, 1.0


def scanned(graph: Graph, passes: float, passes_of_vertices: float = 0.0) -> Work:
    """Return the host's predicted work for *passes* scans of vertices and entries and
    *passes_of_vertices* of vertices.
    """
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
