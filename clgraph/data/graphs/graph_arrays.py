"""The base class of Graph: CSR arrays, checks of the arrays, and properties computed from the arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clgraph.arguments import checked_flag
from clgraph.data.graphs.csr import as_integers, as_weights, asymmetric_entry, check_arrays, offset_dtype, owned
from clgraph.data.graphs.entries import row_order
from clgraph.data.graphs.stats import GraphStats, graph_stats, guessed_stats, has_thin_rows, sampled_locality
from clgraph.data.graphs.vertex_ids import as_ids
from clgraph.errors import GraphError, InputError

MAX_KERNEL_VERTICES = 2**31 - 2**12  # One work-item per vertex, rounded up to whole work-groups, must fit int32.
SMALL_ITEMS = 1 << 14  # Graphs of fewer vertices and entries are checked and measured faster on the host.
_FEW_WEIGHTS = 64  # Number of edge weights that are sampled to estimate light_share and least_share.
# In graphs of less than 2^19 vertices and entries, sampling the locality takes longer than a search gains from it.
UNLOOKED = 1 << 19


@dataclass(init=False, frozen=True, eq=False, repr=False)
class GraphArrays:
    """The fields, checks and properties of :class:`clgraph.Graph`, where the fields are documented."""

    row_offsets: NDArray[Any]
    column_indices: NDArray[np.int32]
    edge_weights: NDArray[Any] | None = None
    directed: bool = False
    ids: NDArray[Any] | None = None

    def __init__(
        self,
        row_offsets: ArrayLike,
        column_indices: ArrayLike,
        edge_weights: ArrayLike | None = None,
        directed: bool = False,
        ids: ArrayLike | None = None,
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
        names = None if ids is None else as_ids("ids", ids)
        if names is not None and names.shape != (n,):
            raise GraphError(f"ids has shape {names.shape}; needed: one per vertex, ({n},)")
        if copy:
            offsets, columns = owned(offsets, row_offsets), owned(columns, column_indices)
            weights = None if weights is None else owned(weights, edge_weights)
            names = None if names is None else owned(names, ids)
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
        ids: NDArray[Any] | None,
    ) -> None:
        values = (read_only(offsets), read_only(columns), read_only(weights), directed, read_only(ids))
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
        ids: NDArray[Any] | None = None,
        sorted_rows: bool | None = None,
    ) -> Self:
        """Return a graph of CSR arrays that are valid by construction. *sorted_rows* is ``None`` if it is not known."""
        graph = object.__new__(cls)
        offsets = row_offsets.astype(offset_dtype(column_indices.size), copy=False)
        graph._fill(offsets, column_indices, edge_weights, directed, ids)
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

    def share_memory(self) -> Self:
        """Return this graph with its arrays in shared memory, from which several GPUs read the arrays at once.

        Each of several GPUs has a process (see ``docs/devices.md``). If each call gives parts of a graph to these
        processes, the graph is copied to shared memory once, so that the calls need not copy it.

        Raises
        ------
        HostMemoryError
            The system has no room for the copy.
        """
        from clgraph.shared_memory import copies  # This imports multiprocessing, which takes 6 ms.

        given = self.row_offsets, self.column_indices, *([] if self.edge_weights is None else [self.edge_weights])
        sorted_rows: Any = self.has_sorted_rows
        return type(self)._trusted(*copies(*given), directed=self.directed, ids=self.ids, sorted_rows=sorted_rows)

    @cached_property
    def arrays(self) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]:
        """The graph's row offsets, columns and weights, not to be changed. A wrapped matrix may be unchecked."""
        return self.row_offsets, self.column_indices, self.edge_weights

    @cached_property
    def n_vertices(self) -> int:
        """Number of vertices of the graph."""
        return self.row_offsets.size - 1

    @cached_property
    def n_edges(self) -> int:
        """Number of stored CSR entries. An undirected edge counts twice, and a self-loop once."""
        return self.column_indices.size

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """Type of the edge weights; ``None`` for an unweighted graph."""
        return None if self.edge_weights is None else self.edge_weights.dtype

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        """Type of the row offsets that kernels read: int32 or int64."""
        return self.row_offsets.dtype

    @property
    def nbytes(self) -> int:
        """Number of bytes of the graph's CSR arrays and edge weights."""
        weights = 0 if self.edge_weights is None else self.edge_weights.nbytes
        return self.row_offsets.nbytes + self.column_indices.nbytes + weights

    @cached_property
    def degrees(self) -> NDArray[Any]:
        """Number of stored entries of each vertex (its out-degree in a directed graph), shape (n_vertices,)."""
        degrees: NDArray[Any] = read_only(self.row_offsets[1:] - self.row_offsets[:-1])
        return degrees

    @cached_property
    def weight_range(self) -> tuple[Any, Any]:
        """The least and the greatest edge weight; ``(1, 1)`` if the graph has no weights or no edges."""
        weights = self.edge_weights
        return (1, 1) if weights is None or not weights.size else (weights.min(), weights.max())

    @cached_property
    def has_sorted_rows(self) -> bool:
        """True if in every row of the graph the column indices never decrease."""
        return row_order(self.row_offsets, self.column_indices)[0]

    @cached_property
    def vertex_numbers(self) -> dict[Any, int]:
        """A dictionary from vertex ids to vertex numbers. An id of several vertices has the least of their numbers."""
        ids = [] if self.ids is None else self.ids.tolist()
        return dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))

    @cached_property
    def has_rising_ids(self) -> bool:
        """True if the vertex ids are signed integers in strictly ascending order, which a binary search needs."""
        ids = self.ids
        return ids is not None and ids.dtype.kind == "i" and bool((ids[1:] > ids[:-1]).all())

    @cached_property
    def stats(self) -> GraphStats:
        """Statistics of this graph, from which the cost model predicts times."""
        return graph_stats(self)

    @cached_property
    def is_small(self) -> bool:
        """True if the host reads the whole graph in less time than kernel launches take."""
        return self.n_vertices + self.n_edges < SMALL_ITEMS

    @property
    def is_measured(self) -> bool:
        """True if the statistics :attr:`stats` of the graph are known already."""
        return "stats" in vars(self)

    @property
    def locality(self) -> tuple[float, float]:
        """Share of neighbours with far vertex numbers, and mean of log2(1 + difference of the vertex numbers).

        Both are estimated from a few entries until :attr:`stats` exist.
        """
        if self.is_measured:
            return self.stats.far_neighbor_share, self.stats.mean_log2_neighbor_distance
        return sampled_locality(*self.arrays[:2])[:2]

    @property
    def locality_in_order(self) -> tuple[float, float]:
        """An estimate of :attr:`locality` in which neighbours that are still in the cache do not count as far."""
        return self._sampled_in_order[:2]

    @cached_property
    def _sampled_in_order(self) -> tuple[float, float, float]:
        return sampled_locality(*self.arrays[:2], in_order=True)

    @cached_property
    def guessed_stats(self) -> GraphStats:
        """Rough estimates of the graph's statistics, to choose a strategy before :attr:`stats` are computed.

        In small graphs all neighbours are assumed to be near.
        """
        n, m = self.n_vertices, self.n_edges
        return guessed_stats(n, m, *(self._sampled_in_order if n + m > UNLOOKED else (0.0, 0.0, n)))

    @cached_property
    def is_thin(self) -> bool:
        """True if no vertex has more than two entries. The frontier of a search then stays small."""
        return self.n_edges <= 2 * self.n_vertices and has_thin_rows(self.arrays[0])

    @cached_property
    def light_share(self) -> float:
        """Share of sampled edges whose weight is at most twice the least weight in the sample."""
        return self._share_up_to(2.0)

    @cached_property
    def least_share(self) -> float:
        """Share of sampled edges that have the least weight in the sample."""
        return self._share_up_to(1)

    def _share_up_to(self, factor: float) -> float:
        """Return the share of sampled weights that are at most *factor* times the sample's least; 1 without weights."""
        if (weights := self.arrays[2]) is None or not weights.size:
            return 1.0
        few = weights[:: 1 + weights.size // _FEW_WEIGHTS]
        with np.errstate(over="ignore"):
            return np.count_nonzero(few <= factor * few.min()) / few.size

    @property
    def is_known_symmetric(self) -> bool:
        """True if it is known, without reading an array, that each entry has a reverse entry."""
        return not self.directed

    def sources(self) -> NDArray[np.int32]:
        """Return the row of every stored CSR entry, int32, shape (n_edges,)."""
        return np.repeat(np.arange(self.n_vertices, dtype=np.int32), self.degrees)

    def edge_list(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]:
        """Return the sources, targets and weights of all edges. Undirected edges are listed once, lesser end first."""
        rows, columns, weights = self.sources(), self.column_indices, self.edge_weights
        if self.directed:
            return rows, columns, weights
        once = rows <= columns
        return rows[once], columns[once], None if weights is None else weights[once]

    def _require_fits(self, subject: str, max_entries: int | None = None) -> None:
        """Raise an :class:`InputError` if the graph has too many vertices or entries for an algorithm.

        *subject* starts the last clause of the message, such as "partitions take".
        """
        n, m = self.n_vertices, self.n_edges
        if n > MAX_KERNEL_VERTICES or (max_entries is not None and m > max_entries):
            entries = "" if max_entries is None else f" and {max_entries} entries"
            raise InputError(f"{n} vertices and {m} entries; {subject} at most {MAX_KERNEL_VERTICES} vertices{entries}")

    def require_reverses(self) -> None:
        """Raise an :class:`InputError` unless each entry of the graph has a reverse entry, with any weight."""
        if self.directed and (entry := asymmetric_entry(self.row_offsets, self.column_indices, None)):
            u, v = entry
            raise InputError(
                f"entry ({u}, {v}) has no reverse; the graph must be symmetric: make it so with "
                "Graph.from_edges(*graph.edge_list()) or from_scipy(…, asymmetry='symmetrize')"
            )

    def is_symmetric(self) -> bool:
        """Return whether each entry has a reverse entry with the same weight. Undirected graphs always have."""
        return not self.directed or asymmetric_entry(*self.arrays) is None


def read_only(array: Any) -> Any:
    if array is None:
        return None
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
