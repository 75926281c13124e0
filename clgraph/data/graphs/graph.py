"""The Graph class: a graph on the host in compressed sparse row (CSR) form, validated once, then immutable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from clgraph.arguments import Seed, checked_count, checked_seed
from clgraph.data.graphs.csr import MAX_VERTICES, as_csr_array
from clgraph.data.graphs.graph_tables import GraphOfTables
from clgraph.data.graphs.networkx_graphs import networkx_graph
from clgraph.data.graphs.pairs import csr_of_pairs
from clgraph.host_memory import check_host_memory

if TYPE_CHECKING:
    import networkx as nx


@dataclass(init=False, frozen=True, eq=False, repr=False)
class Graph(GraphOfTables):
    """An immutable graph. An undirected graph stores both directions of every edge.

    The constructor takes CSR arrays and checks all of them. The class methods ``from_…`` build a graph from edges,
    tables, matrices, and graphs of other packages. Its arrays are read-only copies. Two graphs are equal only if they
    are the same object, so a graph can be a dictionary key.

    Parameters
    ----------
    row_offsets : integer array, shape (n_vertices + 1,)
        The entries of vertex ``v`` are at ``row_offsets[v]:row_offsets[v + 1]``. Stored as int32,
        or as int64 if there are 2**31 - 2**16 entries or more.
    column_indices : integer array, shape (n_edges,)
        The other end of each entry; stored as int32.
    edge_weights : array, shape (n_edges,), optional
        One weight per entry, stored as int32, int64, float32 or float64 (narrower types are
        widened). ``None`` means unweighted.
    directed : bool
        ``False`` means that each entry (u, v) has its reverse (v, u) with the same weight; this is checked.
    ids : array, shape (n_vertices,), optional
        The user's own vertex ids.
    copy : bool
        ``False`` saves memory: arrays of the right type are used without copying them.

        .. warning:: Do not change such an array while the graph exists. Kernels would read and write at unchecked
           places, which gives wrong answers or ends the process.

    Raises
    ------
    GraphError
        The arrays do not describe such a graph; the message names the value, its position and the limit.
    """

    @property
    def reverse(self) -> Graph:
        """The graph with every edge reversed, computed on first use.

        An undirected graph is its own reverse.
        """
        return self._reverse if self.directed else self

    @cached_property
    def _reverse(self) -> Graph:
        weights = self.edge_weights
        data = np.zeros(self.n_edges, np.int8) if weights is None else weights
        # The CSC arrays of a matrix, read as CSR arrays, are its transpose with sorted rows.
        turned = as_csr_array(self.row_offsets, self.column_indices, data).tocsc()
        columns, weighted = turned.indices.astype(np.int32, copy=False), None if weights is None else turned.data
        return Graph._trusted(turned.indptr, columns, weighted, directed=True, ids=self.ids, sorted_rows=True)

    def sorted_pattern(self) -> Graph:
        """Return a copy of this graph with sorted rows, and without weights, ids and repeated entries."""
        pattern = as_csr_array(self.row_offsets, self.column_indices, np.ones(self.n_edges, bool))
        return Graph.from_scipy(pattern, directed=self.directed)

    def to_scipy(self) -> csr_array:
        """Return the graph's adjacency matrix, whose entries are the weights, or ``True`` in an unweighted graph."""
        data = np.ones(self.n_edges, bool) if self.edge_weights is None else self.edge_weights
        return as_csr_array(self.row_offsets, self.column_indices, data)

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph whose nodes are the vertex ids.

        It is a multigraph if there are parallel edges.
        """
        return networkx_graph(self)

    def expanded(self, k: int) -> Graph:
        """Return a graph of *k* disjoint copies of this graph, numbered one copy after the other, without ids."""
        n, m = self.n_vertices, self.n_edges
        k = checked_count("k", k, MAX_VERTICES // max(n, 1), least=0)
        check_host_memory(f"a graph of {k} times as many vertices", 2 * k * (self.nbytes + 1))
        replica = np.arange(k)[:, None]
        offsets = np.concatenate([(self.row_offsets[:-1] + replica * m).ravel(), [k * m]])
        columns = (self.column_indices + (replica * n).astype(np.int32)).ravel()
        weights = None if self.edge_weights is None else np.tile(self.edge_weights, k)
        return Graph._trusted(offsets, columns, weights, directed=self.directed, sorted_rows=self.has_sorted_rows)

    def permuted(self, seed: Seed) -> Graph:
        """Return this graph with vertices renumbered at random and rows sorted.

        Each vertex keeps its id.
        """
        order = np.random.default_rng(checked_seed(seed)).permutation(self.n_vertices).astype(np.int32)
        rows, columns = order[self.sources()], order[self.column_indices]
        ids = None
        if self.ids is not None:
            ids = np.empty_like(self.ids)
            ids[order] = self.ids
        arrays = csr_of_pairs(self.n_vertices, rows, columns, self.edge_weights, directed=True)
        return Graph._trusted(*arrays, directed=self.directed, ids=ids, sorted_rows=True)
