"""Host-side graph in compressed sparse row (CSR) form: validated once, then immutable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from clgraph.arguments import Seed, check_choice, checked_count, checked_flag, checked_seed, refusing, shown
from clgraph.data.csr import (
    MAX_VERTICES,
    REDUCTIONS,
    Duplicates,
    as_csr_array,
    as_ids,
    as_integers,
    as_weights,
    asymmetric_entry,
    canonical_csr,
    check_arrays,
    check_range,
    merge_duplicates,
    number_ids,
    offset_dtype,
    owned,
)
from clgraph.data.entries import row_order
from clgraph.data.networkx_graphs import edges_of, is_networkx, networkx_graph
from clgraph.data.pairs import Pairs, WeightedPairs, csr_from_keys, pack, pack_blocks, sorted_csr
from clgraph.data.stats import GraphStats, graph_stats, has_thin_rows, sampled_locality
from clgraph.errors import GraphError, InputError
from clgraph.host_memory import check_host_memory

if TYPE_CHECKING:
    import networkx as nx

SelfLoops: TypeAlias = Literal["keep", "drop", "error"]
MAX_KERNEL_VERTICES = 2**31 - 2**12  # a work-item's vertex must fit int32, rounded up to work-groups


@dataclass(init=False, frozen=True, eq=False, repr=False)
class Graph:
    """An immutable graph; an undirected one stores both directions of every edge.

    The constructor takes CSR arrays and checks all of them; :meth:`from_edges`, :meth:`from_scipy`
    and :meth:`from_networkx` build them. A graph has arrays of its own, which are read-only. Two graphs
    are equal only if they are the same object, which makes a graph usable as a dictionary key.

    Parameters
    ----------
    row_offsets : integer array, shape (n_vertices + 1,)
        The entries of vertex ``v`` occupy ``row_offsets[v]:row_offsets[v + 1]``. Stored as int32,
        or as int64 from 2**31 - 2**16 entries on.
    column_indices : integer array, shape (n_edges,)
        The other end of each entry; stored as int32.
    edge_weights : array, shape (n_edges,), optional
        One weight per entry, stored as int32, int64, float32 or float64 (narrower types are
        widened). ``None`` means unweighted.
    directed : bool
        ``False`` promises that each entry (u, v) has its reverse (v, u) with the same weight.
    labels : array, shape (n_vertices,), optional
        The user's own vertex ids.
    copy : bool
        ``False`` saves memory: arrays of the right type are used as they are.

        .. warning:: Whoever changes such an array while the graph lives makes kernels read and write wherever it
           points, which gives wrong answers or ends the process.

    Raises
    ------
    GraphError
        If the arrays do not describe such a graph; the message names value, position and limit.
    """

    row_offsets: NDArray[Any]
    column_indices: NDArray[np.int32]
    edge_weights: NDArray[Any] | None = None
    directed: bool = False
    labels: NDArray[Any] | None = None

    def __init__(
        self,
        row_offsets: ArrayLike,
        column_indices: ArrayLike,
        edge_weights: ArrayLike | None = None,
        directed: bool = False,
        labels: ArrayLike | None = None,
        *,
        copy: bool = True,
    ) -> None:
        copy, directed = checked_flag("copy", copy), checked_flag("directed", directed)
        offsets = as_integers("row_offsets", row_offsets)
        columns = as_integers("column_indices", column_indices)
        check_arrays(offsets, columns)
        n, m = offsets.size - 1, columns.size
        offsets, columns = offsets.astype(offset_dtype(m), copy=False), columns.astype(np.int32, copy=False)
        weights = None if edge_weights is None else as_weights(edge_weights, m)
        names = None if labels is None else as_ids("labels", labels)
        if names is not None and names.shape != (n,):
            raise GraphError(f"labels has shape {names.shape}; needed: one per vertex, ({n},)")
        if copy:
            offsets, columns = owned(offsets, row_offsets), owned(columns, column_indices)
            weights = None if weights is None else owned(weights, edge_weights)
            names = None if names is None else owned(names, labels)
        self._fill(offsets, columns, weights, directed, names)
        is_canonical = row_order(offsets, columns) == (True, False)
        if not directed and (entry := asymmetric_entry(offsets, columns, weights, is_canonical=is_canonical)):
            u, v = entry
            raise GraphError(
                f"entry ({u}, {v}) lacks a matching reverse entry ({v}, {u}) of the same weight; store both "
                "directions of an undirected edge, use Graph.from_edges, or pass directed=True"
            )

    def _fill(
        self,
        offsets: NDArray[Any],
        columns: NDArray[np.int32],
        weights: NDArray[Any] | None,
        directed: bool,
        labels: NDArray[Any] | None,
    ) -> None:
        values = (_read_only(offsets), _read_only(columns), _read_only(weights), directed, _read_only(labels))
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    @classmethod
    def _trusted(
        cls,
        row_offsets: NDArray[Any],
        column_indices: NDArray[np.int32],
        edge_weights: NDArray[Any] | None = None,
        *,
        directed: bool = False,
        labels: NDArray[Any] | None = None,
        sorted_rows: bool | None = None,
    ) -> Graph:
        """Wrap arrays that are valid by construction; *sorted_rows* tells what the builder knows."""
        graph = object.__new__(cls)
        offsets = row_offsets.astype(offset_dtype(column_indices.size), copy=False)
        graph._fill(offsets, column_indices, edge_weights, directed, labels)
        if sorted_rows is not None:
            graph.__dict__["has_sorted_rows"] = sorted_rows
        return graph

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = "unweighted" if self.weight_dtype is None else f"{self.weight_dtype} weights"
        return f"Graph(n_vertices={self.n_vertices}, n_edges={self.n_edges}, {kind}, {weights})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._fill(*state.values())

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.row_offsets.size - 1

    @property
    def n_edges(self) -> int:
        """Number of stored entries: an undirected edge counts twice, a self-loop once."""
        return self.column_indices.size

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """Type of the weights; ``None`` for an unweighted graph."""
        return None if self.edge_weights is None else self.edge_weights.dtype

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        """Type of the row offsets that kernels get."""
        return self.row_offsets.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the CSR arrays and weights."""
        weights = 0 if self.edge_weights is None else self.edge_weights.nbytes
        return self.row_offsets.nbytes + self.column_indices.nbytes + weights

    @cached_property
    def degrees(self) -> NDArray[Any]:
        """Stored entries of each vertex (out-degrees when directed), shape (n_vertices,)."""
        degrees: NDArray[Any] = _read_only(np.diff(self.row_offsets))
        return degrees

    @cached_property
    def weight_range(self) -> tuple[Any, Any]:
        """The least and the greatest weight; ``(1, 1)`` where there are none."""
        weights = self.edge_weights
        return (1, 1) if weights is None or not weights.size else (weights.min(), weights.max())

    @cached_property
    def has_sorted_rows(self) -> bool:
        """Whether the column indices of every row do not decrease."""
        return row_order(self.row_offsets, self.column_indices)[0]

    @cached_property
    def vertex_numbers(self) -> dict[Any, int]:
        """The number of the vertex of each label; among vertices with equal labels, the least."""
        labels = [] if self.labels is None else self.labels.tolist()
        return dict(zip(reversed(labels), range(len(labels) - 1, -1, -1), strict=True))

    @cached_property
    def stats(self) -> GraphStats:
        """What the cost model may know of this graph."""
        return graph_stats(self)

    @property
    def is_measured(self) -> bool:
        """Whether :attr:`stats` are known."""
        return "stats" in vars(self)

    @property
    def locality(self) -> tuple[float, float]:
        """The share of far neighbours and the mean of ``log2(1 + distance)``; a rough guess before it is measured."""
        if self.is_measured:
            return self.stats.far_neighbor_share, self.stats.mean_log2_neighbor_distance
        return self._sampled_locality()

    @cached_property
    def locality_in_order(self) -> tuple[float, float]:
        """A rough guess of the same for who goes along the entries, and finds what it has just met in a cache."""
        return self._sampled_locality(in_order=True)

    @cached_property
    def is_thin(self) -> bool:
        """Whether no vertex has more than two entries, so that searches have few vertices at a time before them."""
        return self.n_edges <= 2 * self.n_vertices and self._has_thin_rows()

    def _sampled_locality(self, *, in_order: bool = False) -> tuple[float, float]:
        return sampled_locality(self.row_offsets, self.column_indices, in_order=in_order)

    def _has_thin_rows(self) -> bool:
        return has_thin_rows(self.row_offsets)

    @property
    def is_known_symmetric(self) -> bool:
        """Whether each entry is known to have its reverse; nothing is looked at for it."""
        return not self.directed

    @property
    def reverse(self) -> Graph:
        """The graph with every edge turned round, made on first use; an undirected one itself."""
        return self._reverse if self.directed else self

    @cached_property
    def _reverse(self) -> Graph:
        weights = self.edge_weights
        data = np.zeros(self.n_edges, np.int8) if weights is None else weights
        turned = as_csr_array(self.row_offsets, self.column_indices, data).tocsc()  # the transpose, rows sorted
        columns, weighted = turned.indices.astype(np.int32, copy=False), None if weights is None else turned.data
        return Graph._trusted(turned.indptr, columns, weighted, directed=True, labels=self.labels, sorted_rows=True)

    def sorted_pattern(self) -> Graph:
        """Return the graph without weights and labels, its rows sorted, with each entry once."""
        pattern = as_csr_array(self.row_offsets, self.column_indices, np.ones(self.n_edges, bool))
        return Graph.from_scipy(pattern, directed=self.directed)

    def sources(self) -> NDArray[np.int32]:
        """Return the row of every stored entry, int32, shape (n_edges,)."""
        return np.repeat(np.arange(self.n_vertices, dtype=np.int32), self.degrees)

    def edge_list(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]:
        """Return sources, targets and weights; an undirected edge is there once, lesser end first."""
        rows, columns, weights = self.sources(), self.column_indices, self.edge_weights
        if self.directed:
            return rows, columns, weights
        once = rows <= columns
        return rows[once], columns[once], None if weights is None else weights[once]

    def _require_fits(self, who: str, max_entries: int = 2**63 - 1) -> None:
        """Raise an :class:`InputError` if there are too many vertices or entries; *who* is such as "searches take"."""
        n, m = self.n_vertices, self.n_edges
        if n > MAX_KERNEL_VERTICES or m > max_entries:
            limits = f"{MAX_KERNEL_VERTICES} vertices and {max_entries} entries"
            raise InputError(f"{n} vertices and {m} entries; {who} at most {limits}")

    def require_reverses(self) -> None:
        """Raise an :class:`InputError` unless each entry has its reverse, whatever they weigh."""
        if self.directed and (entry := asymmetric_entry(self.row_offsets, self.column_indices, None)):
            u, v = entry
            raise InputError(
                f"entry ({u}, {v}) has no reverse; the graph must be symmetric: make it so with "
                "Graph.from_edges(*graph.edge_list()) or from_scipy(…, asymmetry='symmetrize')"
            )

    def is_symmetric(self) -> bool:
        """Return whether each entry has its reverse with the same weight (true when undirected)."""
        arrays = self.row_offsets, self.column_indices, self.edge_weights
        return not self.directed or asymmetric_entry(*arrays) is None

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
        labels: ArrayLike | Literal["auto"] | None = None,
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
            Keep parallel edges, merge them by their weights (an unweighted graph just drops the
            repeats; sums of integers are int64), or refuse them.
        self_loops : {"keep", "drop", "error"}
            What to do with edges (v, v).
        labels : array, shape (n,), or "auto", optional
            ``None``: *src* and *dst* are vertex numbers in ``[0, n)``. An array: they are ids, and
            ``labels[v]`` is the id of vertex ``v``. ``"auto"``: they are ids, and the sorted
            distinct ids become the labels (ids that do not sort: in order of first appearance).

        Raises
        ------
        GraphError
            For an id out of range or unknown, a NaN weight, or edges refused by the options.
        """
        check_choice("duplicates", duplicates, ("keep", *REDUCTIONS, "error"))
        check_choice("self_loops", self_loops, ("keep", "drop", "error"))
        directed = checked_flag("directed", directed)
        n = None if n is None else checked_count("n", n, MAX_VERTICES, least=0)
        label_array = None
        if labels is None:
            source, target = as_integers("src", src), as_integers("dst", dst)
            if n is None:
                n = min(MAX_VERTICES, 1 + max((int(ends.max()) for ends in (source, target) if ends.size), default=-1))
        else:
            with refusing("src and dst", (src, dst), "ids that can be compared"):
                source, target, label_array = number_ids(as_ids("src", src), as_ids("dst", dst), labels)
            if n not in (None, label_array.size):
                raise InputError(f"n = {n}, but there are {label_array.size} labels")
            n, label_array = label_array.size, owned(label_array, labels)
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
        return _from_pairs(n, source, target, weights, directed, duplicates, label_array)

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        directed: bool | None = None,
        asymmetry: Literal["error", "symmetrize"] = "error",
    ) -> Graph:
        """Build a graph from a square scipy sparse array, whose indices are checked.

        The graph has arrays of its own: the matrix may be changed afterwards.

        Parameters
        ----------
        matrix : scipy sparse array or matrix, shape (n, n)
            Entry (u, v) is an edge and its value the weight; a bool matrix is unweighted. Explicit
            zeros are edges of weight zero. Repeated entries are summed, as scipy does.
        directed : bool, optional
            By default, found out: undirected if the matrix is symmetric.
        asymmetry : {"error", "symmetrize"}
            With ``directed=False``, refuse an asymmetric matrix or add the missing reverse entries
            (where both directions differ the lesser weight is taken, as scipy.sparse.csgraph does).
        """
        check_choice("asymmetry", asymmetry, ("error", "symmetrize"))
        if directed is not None:
            directed = checked_flag("directed", directed)
        if not issparse(matrix):
            raise InputError(f"matrix = {shown(matrix)}; allowed: a scipy sparse array")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"a matrix of shape {matrix.shape} is no adjacency matrix; it must be square")
        offsets, columns, weights = canonical_csr(matrix)
        if directed is None:
            directed = asymmetric_entry(offsets, columns, weights, is_canonical=True) is not None
        elif not directed and (entry := asymmetric_entry(offsets, columns, weights, is_canonical=True)):
            if asymmetry == "error":
                raise GraphError(
                    f"the matrix is not symmetric: see entry {entry} and its reverse; "
                    "pass directed=True or asymmetry='symmetrize'"
                )
            n = offsets.size - 1
            rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets))
            return _from_pairs(n, rows, columns, weights, False, "min", None)
        return cls._trusted(offsets, columns, weights, directed=directed, sorted_rows=True)

    @classmethod
    def from_networkx(cls, graph: nx.Graph, weight: str | None = None) -> Graph:
        """Build a graph from any networkx graph; parallel edges are kept.

        Vertices are numbered in the order of ``graph.nodes``, which becomes ``labels`` unless it is
        0, 1, 2, …. *weight* names the edge attribute to use; edges without it weigh 1.
        """
        edges = edges_of(graph, weight)
        directed, labels = graph.is_directed(), edges.labels
        return _from_pairs(edges.n_vertices, edges.rows, edges.columns, edges.weights, directed, labels=labels)

    def to_scipy(self) -> csr_array:
        """Return the adjacency matrix; its data are the weights, or True for an unweighted graph."""
        data = np.ones(self.n_edges, bool) if self.edge_weights is None else self.edge_weights
        return as_csr_array(self.row_offsets, self.column_indices, data)

    def to_networkx(self) -> nx.Graph:
        """Return a networkx graph with the labels as nodes; a multigraph if edges are parallel."""
        return networkx_graph(
            self.row_offsets, self.sources(), self.column_indices, self.edge_weights, self.directed, self.labels
        )

    def expanded(self, k: int) -> Graph:
        """Return *k* disjoint replicas, numbered one after the other; labels are dropped."""
        n, m = self.n_vertices, self.n_edges
        k = checked_count("k", k, MAX_VERTICES // max(n, 1), least=0)
        check_host_memory(f"a graph of {k} times as many vertices", 2 * k * (self.nbytes + 1))
        replica = np.arange(k)[:, None]
        offsets = np.concatenate([(self.row_offsets[:-1] + replica * m).ravel(), [k * m]])
        columns = (self.column_indices + (replica * n).astype(np.int32)).ravel()
        weights = None if self.edge_weights is None else np.tile(self.edge_weights, k)
        return Graph._trusted(
            offsets, columns, weights, directed=self.directed, sorted_rows=self.has_sorted_rows
        )

    def permuted(self, seed: Seed) -> Graph:
        """Return the graph with its vertices renumbered at random, rows sorted, labels carried along."""
        order = np.random.default_rng(checked_seed(seed)).permutation(self.n_vertices).astype(np.int32)
        rows, columns = order[self.sources()], order[self.column_indices]
        labels = None
        if self.labels is not None:
            labels = np.empty_like(self.labels)
            labels[order] = self.labels
        n, weights = self.n_vertices, self.edge_weights
        if weights is None:
            offsets, columns = csr_from_keys(n, pack(rows, columns), unique=False)
        else:
            offsets, columns, weights = sorted_csr(n, [(rows, columns, weights)])
        return Graph._trusted(
            offsets, columns, weights, directed=self.directed, labels=labels, sorted_rows=True
        )


@runtime_checkable
class ActsAsGraph(Protocol):
    """What is a graph, though it is elsewhere: on a device."""

    def as_graph(self) -> Graph:
        """Return the graph as what algorithms read."""
        ...


def as_graph(source: Any, *, weight: str | None = None) -> Graph:
    """Return *source*, a Graph, a DeviceGraph, a scipy sparse array or a networkx graph, as a Graph.

    A Graph is returned as it is, anything else is copied (see :meth:`Graph.from_scipy`).
    *weight* names the edge attribute of a networkx graph to use as weight.
    """
    if isinstance(source, Graph):
        return source
    if issparse(source):
        return Graph.from_scipy(source)
    if is_networkx(source):
        return Graph.from_networkx(source, weight)
    if isinstance(source, ActsAsGraph):
        return source.as_graph()
    raise InputError(
        f"{type(source).__module__}.{type(source).__qualname__} is not a graph; "
        "accepted: clgraph.Graph, clgraph.DeviceGraph, a scipy sparse array, a networkx graph"
    )


def _from_pairs(
    n: int,
    rows: NDArray[Any],
    columns: NDArray[Any],
    weights: NDArray[Any] | None,
    directed: bool,
    duplicates: Duplicates = "keep",
    labels: NDArray[Any] | None = None,
) -> Graph:
    """Build from checked vertex numbers: symmetrise if undirected, sort, then merge duplicates."""
    if weights is None:
        return _from_blocks(n, [(rows, columns)], directed, duplicates, labels)
    return _from_weighted_blocks(n, [(rows, columns, weights)], directed, duplicates, labels)


def _from_weighted_blocks(
    n: int,
    blocks: list[WeightedPairs],
    directed: bool,
    duplicates: Duplicates = "keep",
    labels: NDArray[Any] | None = None,
) -> Graph:
    """Build from blocks of (rows, columns, weights)."""
    arrays: tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]
    arrays = sorted_csr(n, blocks, mirror=not directed, unique=duplicates == "first")
    if duplicates not in ("keep", "first"):
        arrays = merge_duplicates(*arrays, duplicates)
    return Graph._trusted(*arrays, directed=directed, labels=labels, sorted_rows=True)


def _from_blocks(
    n: int,
    blocks: list[Pairs],
    directed: bool,
    duplicates: Duplicates = "keep",
    labels: NDArray[Any] | None = None,
) -> Graph:
    """Build an unweighted graph from blocks of (rows, columns), emptying the list to save memory."""
    keys = pack_blocks(blocks, mirror=not directed)
    offsets, columns = csr_from_keys(n, keys, unique=duplicates not in ("keep", "error"))
    if duplicates == "error":
        merge_duplicates(offsets, columns, None, duplicates)
    return Graph._trusted(offsets, columns, directed=directed, labels=labels, sorted_rows=True)


def _read_only(array: Any) -> Any:
    if array is None:
        return None
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
