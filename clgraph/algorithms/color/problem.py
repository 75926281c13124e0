"""The problem of a colouring: a graph or the columns of a matrix, and settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array, issparse

from clgraph.algorithms.color.hash_choice import HashStart, hash_start, is_few, least_bits
from clgraph.algorithms.color.vertex_orders import ORDERS, suitable_order
from clgraph.arguments import Seed, check_choice, checked_count, checked_flag, checked_seed
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import MAX_VERTICES, as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.sparse import checked_matrix
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import GraphProblem
from clgraph.errors import GraphError, InputError
from clgraph.host_memory import check_host_memory

_MAX_ENTRIES = 2**32 - 2**12  # The greedy algorithm needs at most √entries colours, and a colour must fit 16 bits.
PREFERENCES = ("both", "colors", "time")
# Greatest number of pairs of members of nets, which bounds the square graph on the host to 0.8 GB.
MAX_PAIRS = 1 << 26
_MAX_DEGREE = 2**31 - 1  # The priorities of vertices have room for degrees of up to 31 bits.


@dataclass(frozen=True)
class ColoringProblem(GraphProblem):
    """A graph to colour, with the settings.

    With *bipartite*, the columns of the graph's matrix are coloured.

    The graph is symmetric, unless *bipartite* is set.

    Attributes
    ----------
    order : str or None
        One of :data:`clgraph.algorithms.color.vertex_orders.ORDERS`, or ``None`` for the strategy's default.
    n_columns : int or None
        The number of columns of a matrix; the graph may have more vertices. ``None`` means all vertices.
    prefer : str
        The aim of ``"auto"``: one of :data:`PREFERENCES`.
    """

    distance: int = 1
    order: str | None = None
    deterministic: bool = False
    seed: int = 0
    bipartite: bool = False
    balanced: bool = False
    n_columns: int | None = None
    prefer: str = "both"

    def admitted(self) -> Self:
        graph = self.graph
        if graph.n_edges > _MAX_DEGREE and graph.degrees.max() > _MAX_DEGREE:
            raise InputError(f"{graph.degrees.max()} entries of a vertex; colouring takes at most {_MAX_DEGREE}")
        if not self.bipartite:
            graph.require_reverses()
        return self

    @cached_property
    def suitable_order(self) -> str:
        """The default order of the vertices, for strategies without a default of their own."""
        return suitable_order(self.graph)

    @cached_property
    def hash_start(self) -> HashStart:
        """The default hash function at distance 2, which gives the first colours."""
        return hash_start(self.graph, closed=not self.bipartite, bits=least_bits(self.members))

    @property
    def hash_suffices(self) -> bool:
        """True if the default hash at distance 2 rarely collides, uses few colours, and has enough for each net."""
        bits = least_bits(self.members)
        return is_few(bits, self.members) and self.members <= 1 << bits and self.hash_start.suffices

    @cached_property
    def rows(self) -> Graph:
        """The graph rows that kernels read.

        At distance 2 they are sorted, and row v lists the nets of vertex v.
        """
        graph = self.graph
        if self.distance == 2 and not graph.has_sorted_rows:
            graph = graph.sorted_pattern()
        return graph.reverse if self.bipartite else graph

    @property
    def n_pairs(self) -> float:
        """Number of ordered pairs of members of nets at distance 2, which bounds the square graph's entries."""
        mean = 0.0 if self.bipartite else 2 * self.stats.mean_degree + 1
        return self.stats.n_vertices * (self.stats.degree_second_moment + mean)

    @cached_property
    def nets(self) -> csr_array:
        """A boolean matrix whose entry (i, j) is True if net i has member j.

        In a graph, net i includes vertex i.
        """
        graph = self.graph
        # In a row that is not sorted, repeated entries may be apart, so the rows are sorted first.
        if self.bipartite and not graph.has_sorted_rows:
            graph = graph.sorted_pattern()
        pattern = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges, bool))
        if not self.bipartite:
            pattern = csr_array(pattern + eye_array(graph.n_vertices, dtype=bool, format="csr"))
        return pattern

    @property
    def least_colors(self) -> int:
        """A lower bound on the number of colours: the size of the largest net at distance 2, or 1 at distance 1."""
        return int(np.diff(self.nets.indptr).max(initial=0)) if self.distance == 2 else 1

    @property
    def on_square(self) -> ColoringProblem:
        """The equivalent colouring problem at distance 1.

        A problem at distance 2 becomes the square of its graph.
        """
        return self if self.distance == 1 else self._on_square

    @cached_property
    def _on_square(self) -> ColoringProblem:
        check_host_memory("the square of the graph", int(12 * self.n_pairs))
        nets = self.nets
        square = csr_array(nets.T.tocsr() @ nets)
        square.sort_indices()
        rows = np.repeat(np.arange(square.shape[0]), np.diff(square.indptr))
        is_edge = square.indices != rows
        offsets = np.append(0, np.cumsum(is_edge))[square.indptr]
        graph = Graph._trusted(offsets, square.indices[is_edge].astype(np.int32, copy=False), sorted_rows=True)
        return ColoringProblem(
            graph, 1, self.order, self.deterministic, self.seed, n_columns=self.n_columns, prefer=self.prefer
        )

    @property
    def members(self) -> int:
        """Number of members of the largest net.

        Parallel entries are counted separately.
        """
        return self.graph.stats.max_degree + (not self.bipartite)


def as_problem(
    graph: Any,
    *,
    distance: int = 1,
    order: str | None = None,
    deterministic: bool = False,
    seed: Seed = 0,
    bipartite: bool = False,
    balanced: bool = False,
    prefer: str = "both",
) -> ColoringProblem:
    """Check the arguments of :func:`color` and return the colouring problem.

    If *bipartite*, *graph* may be a sparse matrix of any shape.
    """
    distance = checked_count("distance", distance, 2)
    deterministic, bipartite = checked_flag("deterministic", deterministic), checked_flag("bipartite", bipartite)
    balanced = checked_flag("balanced", balanced)
    if bipartite and distance == 1:
        raise InputError("distance=1 with bipartite=True; columns are coloured at distance 2")
    if balanced and bipartite:
        raise InputError("balanced=True is for vertices; colourings of columns (bipartite=True) stay as they are")
    check_choice("prefer", prefer, PREFERENCES)
    if order is not None:
        check_choice("order", order, ORDERS)
    seed = checked_seed(seed) % 2**32
    data, n_columns = columns_graph(graph) if bipartite else (wrap_graph(graph), None)
    data._require_fits("colouring takes", _MAX_ENTRIES)
    problem = ColoringProblem(data, distance, order, deterministic, seed, bipartite, balanced, n_columns, prefer)
    if bipartite and order == "smallest_last" and problem.n_pairs > MAX_PAIRS:
        raise InputError(
            f"order='smallest_last': members of rows make {problem.n_pairs:.3g} pairs; allowed: at most {MAX_PAIRS:.3g}"
        )
    return problem.admitted_if_checked()


def columns_graph(matrix: Any) -> tuple[Graph, int]:
    """Return a graph or a sparse matrix of any shape as a graph, and the number of columns of *matrix*.

    The graph of a sparse matrix is its pattern, padded with empty rows or columns to a square.
    """
    if not issparse(matrix):
        graph = as_graph(matrix)
        return graph, graph.n_vertices
    n = max(matrix.shape)
    if n > MAX_VERTICES:
        raise GraphError(f"a matrix of shape {matrix.shape}; allowed: up to {MAX_VERTICES} rows and columns")
    rows, columns = checked_matrix(matrix).tocoo().coords
    square = coo_array((np.ones(rows.size, bool), (rows, columns)), shape=(n, n)).tocsr()
    square.sum_duplicates()
    indices = square.indices.astype(np.int32, copy=False)
    return Graph._trusted(square.indptr, indices, directed=True, sorted_rows=True), matrix.shape[1]
