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

_MAX_ENTRIES = 2**32 - 2**12  # greedy colours are at most the square root, and must fit 16 bits
PREFERENCES = ("both", "colors", "time")
MAX_PAIRS = 1 << 26  # members of nets; the square of a graph may have as many entries, which take 0.8 GB on the host
_MAX_DEGREE = 2**31 - 1  # priorities have a bit more


@dataclass(frozen=True)
class ColoringProblem(GraphProblem):
    """A graph and how it is to be coloured; it is symmetric, unless *bipartite*: then columns are coloured.

    Attributes
    ----------
    order : str or None
        One of :data:`clgraph.algorithms.color.vertex_orders.ORDERS`; ``None`` is what suits the strategy.
    n_columns : int or None
        How many of the vertices are columns of a matrix that is not square; ``None`` is all of them.
    prefer : str
        What ``"auto"`` looks for: one of :data:`PREFERENCES`.
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
        """The order to take where none is asked for and the strategy has none of its own."""
        return suitable_order(self.graph)

    @cached_property
    def hash_start(self) -> HashStart:
        """The hash to begin with at distance 2."""
        return hash_start(self.graph, closed=not self.bipartite, bits=least_bits(self.members))

    @property
    def hash_suffices(self) -> bool:
        """Whether that hash hardly collides, at distance 2, though it has few colours, but enough for any net."""
        bits = least_bits(self.members)
        return is_few(bits, self.members) and self.members <= 1 << bits and self.hash_start.suffices

    @cached_property
    def rows(self) -> Graph:
        """The rows that kernels get; at distance 2 they are sorted, and row v has the nets of v."""
        graph = self.graph
        if self.distance == 2 and not graph.has_sorted_rows:
            graph = graph.sorted_pattern()
        return graph.reverse if self.bipartite else graph

    @property
    def n_pairs(self) -> float:
        """Ordered pairs of members of all nets, at distance 2; the square has no more entries."""
        mean = 0.0 if self.bipartite else 2 * self.stats.mean_degree + 1
        return self.stats.n_vertices * (self.stats.degree_second_moment + mean)

    @cached_property
    def nets(self) -> csr_array:
        """The members of each net once, as True; at distance 2 of a graph a vertex is a member of its own net."""
        graph = self.graph
        pattern = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges, bool))
        if not self.bipartite:
            pattern = csr_array(pattern + eye_array(graph.n_vertices, dtype=bool, format="csr"))
        elif not graph.has_sorted_rows:
            pattern.sum_duplicates()
        return pattern

    @property
    def least_colors(self) -> int:
        """Colours that any colouring has: at distance 2 the members of the largest net."""
        return int(np.diff(self.nets.indptr).max(initial=0)) if self.distance == 2 else 1

    @property
    def on_square(self) -> ColoringProblem:
        """The same colouring at distance 1; for distance 2, of the square, which joins the members of each net."""
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
        """Members of the largest net, repeats included."""
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
    """Check the arguments of :func:`color`; if *bipartite*, *graph* may be a sparse matrix of any shape."""
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
    """Return *matrix*, a graph or a sparse matrix of any shape, as a graph, and its number of columns.

    Of a sparse matrix it is the pattern, filled up with empty rows or columns to a square.
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
