"""The constructors of Graph that take lists of edges, scipy arrays and networkx graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from clgraph.arguments import check_choice, checked_count, checked_flag, refusing, shown
from clgraph.data.graphs.csr import (
    MAX_VERTICES,
    REDUCTIONS,
    Duplicates,
    as_integers,
    as_weights,
    asymmetric_entry,
    check_range,
    owned,
)
from clgraph.data.graphs.graph_arrays import GraphArrays
from clgraph.data.graphs.networkx_graphs import Weight, edges_of
from clgraph.data.graphs.pairs import csr_of_pairs
from clgraph.data.graphs.sparse import canonical_csr
from clgraph.data.graphs.vertex_ids import as_ids, check_present, number_ids
from clgraph.errors import GraphError, InputError

if TYPE_CHECKING:
    import networkx as nx

SelfLoops: TypeAlias = Literal["keep", "drop", "error"]


@dataclass(init=False, frozen=True, eq=False, repr=False)
class GraphOfEdges(GraphArrays):
    """The constructors of :class:`clgraph.Graph` from edges, scipy arrays and networkx graphs."""

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
    ) -> Self:
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
    ) -> Self:
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

    @classmethod
    def from_networkx(cls, graph: nx.Graph, weight: Weight = None) -> Self:
        """Build a graph from any networkx graph.

        Parallel edges are kept.

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

    def _symmetrized(self) -> Self:
        """Return the undirected graph of all entries and their reverses.

        If two weights differ, the lesser weight counts.
        """
        arrays = csr_of_pairs(self.n_vertices, self.sources(), *self.arrays[1:], directed=False, duplicates="min")
        return self._trusted(*arrays, ids=self.ids, sorted_rows=True)

    def _settled(self, directed: bool | None) -> Self:
        """Return this directed graph as a directed or undirected one; if *directed* is ``None``, by its symmetry.

        If *directed* is false and the graph is not symmetric, missing reverse entries are added, and the lesser weight
        is kept.
        """
        symmetric = directed is not True and self.is_symmetric()
        if directed is False and not symmetric:
            return self._symmetrized()
        return self._replaced(directed=not symmetric)

    def _replaced(self, **fields: Any) -> Self:
        """Return a copy of this graph with some *fields* replaced.

        The new values are not checked.
        """
        known = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return self._trusted(**known | fields, sorted_rows=self.has_sorted_rows)

    def _named(self, ids: NDArray[Any] | None) -> Self:
        """Return this graph with these *ids*, or without ids if they equal the vertex numbers."""
        are_numbers = ids is not None and ids.dtype.kind == "i" and np.array_equal(ids, np.arange(ids.size))
        return self._replaced(ids=None if are_numbers else ids)
