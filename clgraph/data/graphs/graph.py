"""The Graph class: a graph on the host in compressed sparse row (CSR) form, validated once, then immutable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse

from clgraph.arguments import Seed, check_choice, checked_count, checked_flag, checked_seed, refusing, shown
from clgraph.data.graphs.csr import (
    MAX_VERTICES,
    REDUCTIONS,
    Duplicates,
    as_csr_array,
    as_ids,
    as_integers,
    as_weights,
    asymmetric_entry,
    check_present,
    check_range,
    number_ids,
    owned,
)
from clgraph.data.graphs.graph_arrays import GraphArrays
from clgraph.data.graphs.networkx_graphs import Weight, edges_of, networkx_graph
from clgraph.data.graphs.pairs import csr_of_pairs
from clgraph.data.graphs.sparse import canonical_csr
from clgraph.errors import GraphError, InputError
from clgraph.host_memory import check_host_memory

if TYPE_CHECKING:
    import networkx as nx

SelfLoops: TypeAlias = Literal["keep", "drop", "error"]


@dataclass(init=False, frozen=True, eq=False, repr=False)
class Graph(GraphArrays):
    """An immutable graph. An undirected graph stores both directions of every edge.

    The constructor takes CSR arrays and checks all of them. :meth:`from_edges`, :meth:`from_scipy` and
    :meth:`from_networkx` build a graph from other data. Its arrays are read-only copies. Two graphs are equal
    only if they are the same object, so a graph can be a dictionary key.

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
        """The graph with every edge reversed, computed on first use. An undirected graph is its own reverse."""
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

    @classmethod
    def from_edges(
        cls,
        src: ArrayLike,
        dst: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        n: int | None = None,
        directed: bool = False,
        duplicates: Duplicates = "keep",
        self_loops: SelfLoops = "keep",
        ids: ArrayLike | Literal["auto"] | None = None,
    ) -> Graph:
        """Build a graph with sorted rows from a list of edges.

        Parameters
        ----------
        src, dst : array, shape (m,)
            The ends of each edge. An undirected edge is listed once, in either order; a list with
            both orders gives parallel edges, which *duplicates* can merge.
        weight : array, shape (m,), optional
            Weight of each edge.
        n : int, optional
            Number of vertices; by default one more than the largest vertex number.
        directed : bool
            If false, the reverse of each edge is stored too (a self-loop is stored once).
        duplicates : {"keep", "min", "max", "sum", "first", "error"}
            Keep parallel edges, merge them into one edge with this weight, or refuse them. In an
            unweighted graph, merging drops the repeats. Sums of integers are int64.
        self_loops : {"keep", "drop", "error"}
            What to do with edges (v, v).
        ids : array, shape (n,), or "auto", optional
            ``None``: *src* and *dst* are vertex numbers in ``[0, n)``. An array: they are ids, and
            ``ids[v]`` is the id of vertex ``v``. ``"auto"``: they are ids, and vertices are
            numbered in sorted order of the distinct ids, or in order of appearance if they cannot be sorted.

        Raises
        ------
        GraphError
            An id is missing, unknown or out of range, a weight is NaN, or the options refuse an edge.
        """
        check_choice("duplicates", duplicates, ("keep", *REDUCTIONS, "error"))
        check_choice("self_loops", self_loops, ("keep", "drop", "error"))
        directed = checked_flag("directed", directed)
        n = None if n is None else checked_count("n", n, MAX_VERTICES, least=0)
        names = None
        if ids is None:
            source, target = as_integers("src", src), as_integers("dst", dst)
            if n is None:
                n = min(MAX_VERTICES, 1 + max((int(ends.max()) for ends in (source, target) if ends.size), default=-1))
        else:
            with refusing("src and dst", (src, dst), "ids that can be compared"):
                ends = as_ids("src", src), as_ids("dst", dst)
                check_present("src", ends[0])
                check_present("dst", ends[1])
                source, target, names = number_ids(*ends, ids)
            if n not in (None, names.size):
                raise InputError(f"n = {n}, but there are {names.size} ids")
            n, names = names.size, owned(names, ids)
        if source.shape != target.shape:
            raise GraphError(f"src has {source.size} elements and dst {target.size}; they must be as many")
        check_range("src", source, n)
        check_range("dst", target, n)
        weights = None if weight is None else as_weights(weight, source.size)
        if self_loops != "keep" and (loops := source == target).any():
            if self_loops == "error":
                at = int(loops.argmax())
                raise GraphError(f"edge {at} is a self-loop at vertex {source[at]}; self_loops='error'")
            source, target = source[~loops], target[~loops]
            weights = None if weights is None else weights[~loops]
        arrays = csr_of_pairs(n, source, target, weights, directed=directed, duplicates=duplicates)
        return cls._trusted(*arrays, directed=directed, ids=names, sorted_rows=True)

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, directed: bool | None = None, asymmetry: Literal["error", "symmetrize"] | None = None
    ) -> Graph:
        """Build a graph from a square scipy sparse array, whose indices are checked.

        All arrays are copied, so the matrix may be changed afterwards.

        Parameters
        ----------
        matrix : scipy sparse array or matrix, shape (n, n)
            Entry (u, v) is an edge and its value the weight; a bool matrix is unweighted. Explicit
            zeros are edges of weight zero. Repeated entries are summed, as scipy does.
            Zeros in the blocks of a BSR array are not edges.
        directed : bool, optional
            By default, the graph is undirected if *asymmetry* is given or the matrix is symmetric.
        asymmetry : {"error", "symmetrize"}, optional
            How to treat an asymmetric matrix if the graph is undirected: refuse it, which is the default with
            ``directed=False``, or add the missing reverse entries. If the weights of both directions differ, the
            lesser is taken, as in scipy.sparse.csgraph.

        Raises
        ------
        InputError
            *matrix* is no scipy sparse array, or *asymmetry* is given with ``directed=True``.
        GraphError
            The matrix is not square, is damaged, or is asymmetric although it must be symmetric.
        """
        if directed is not None:
            directed = checked_flag("directed", directed)
        if asymmetry is not None:
            check_choice("asymmetry", asymmetry, ("error", "symmetrize"))
            if directed:
                raise InputError(f"asymmetry = {asymmetry!r} with directed=True; it is for undirected graphs")
            directed = False
        if not issparse(matrix):
            raise InputError(f"matrix = {shown(matrix)}; allowed: a scipy sparse array")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"a matrix of shape {matrix.shape} is no adjacency matrix; it must be square")
        offsets, columns, weights = canonical_csr(matrix)
        if directed is None:
            directed = asymmetric_entry(offsets, columns, weights, is_canonical=True) is not None
        elif not directed and (entry := asymmetric_entry(offsets, columns, weights, is_canonical=True)):
            if asymmetry != "symmetrize":
                raise GraphError(
                    f"the matrix is not symmetric: see entry {entry} and its reverse; "
                    "pass directed=True or asymmetry='symmetrize'"
                )
            return cls._trusted(offsets, columns, weights, directed=True)._symmetrized()
        return cls._trusted(offsets, columns, weights, directed=directed, sorted_rows=True)

    def _symmetrized(self) -> Graph:
        """Return the undirected graph of all entries and their reverses.

        If two weights differ, the lesser weight counts.
        """
        arrays = csr_of_pairs(self.n_vertices, self.sources(), *self.arrays[1:], directed=False, duplicates="min")
        return Graph._trusted(*arrays, sorted_rows=True)

    @classmethod
    def from_networkx(cls, graph: nx.Graph, weight: Weight = None) -> Graph:
        """Build a graph from any networkx graph. Parallel edges are kept.

        Vertices are numbered in the order of ``graph.nodes``. The nodes become ``ids``, unless they are
        0, 1, 2, ….

        Parameters
        ----------
        graph : networkx graph
        weight : str, function or None
            ``None``: no weights. A str or another hashable: the edge attribute to use; edges without it weigh 1. A
            function: ``weight(u, v, attributes)`` returns the weight of an edge, or ``None`` to hide the edge.
            In a multigraph, *attributes* maps the keys of all parallel edges to their attributes, and they become one
            edge. For an undirected edge, the function is called in both directions; if any results differ, the graph
            becomes directed.

        Raises
        ------
        GraphError
            A weight is not a number; the message names the edge.
        InputError
            The function raises, or *graph* is not a networkx graph or has no dictionaries of attributes.

        Warns
        -----
        GraphWarning
            No edge has the attribute *weight*.
        """
        edges, directed = edges_of(graph, weight), graph.is_directed()
        arrays = csr_of_pairs(
            edges.n_vertices, edges.rows, edges.columns, edges.weights, directed=directed or edges.both_ways
        )
        if edges.both_ways:
            directed = asymmetric_entry(*arrays, is_canonical=True) is not None
        return cls._trusted(*arrays, directed=directed, ids=edges.ids, sorted_rows=True)

    def _replaced(self, **fields: Any) -> Graph:
        """Return a copy of this graph with some *fields* replaced. The new values are not checked."""
        known = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Graph._trusted(**known | fields, sorted_rows=self.has_sorted_rows)

    def to_scipy(self) -> csr_array:
        """Return the graph's adjacency matrix, whose entries are the weights, or ``True`` in an unweighted graph."""
        data = np.ones(self.n_edges, bool) if self.edge_weights is None else self.edge_weights
        return as_csr_array(self.row_offsets, self.column_indices, data)

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph whose nodes are the vertex ids. It is a multigraph if there are parallel edges."""
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
        """Return this graph with vertices renumbered at random and rows sorted. Each vertex keeps its id."""
        order = np.random.default_rng(checked_seed(seed)).permutation(self.n_vertices).astype(np.int32)
        rows, columns = order[self.sources()], order[self.column_indices]
        ids = None
        if self.ids is not None:
            ids = np.empty_like(self.ids)
            ids[order] = self.ids
        arrays = csr_of_pairs(self.n_vertices, rows, columns, self.edge_weights, directed=True)
        return Graph._trusted(*arrays, directed=self.directed, ids=ids, sorted_rows=True)
