"""A scipy matrix as a graph for the length of one call: its arrays are used where they are, and are not believed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from clgraph.data.graphs.conversion import as_graph, check_weight
from clgraph.data.graphs.csr import MAX_VERTICES, as_weights, check_arrays, merge_duplicates
from clgraph.data.graphs.entries import EntryFacts, HostFacts
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.stats import GraphStats, graph_stats
from clgraph.errors import GraphError

_GLIMPSES = 64  # values of each array
_WEIGHTS = (np.int32, np.int64, np.float32, np.float64)


class WrappedGraph(Graph):
    """The arrays of a scipy CSR matrix, which its owner may change after the call, as a graph.

    The arrays are not validated at first. Kernels validate them (``runtime.admission.admit``), or the host does as soon
    as ``directed``, ``has_sorted_rows`` or an array is read, so unvalidated data is never used. ``stats`` of an
    unchecked matrix are a guess. :meth:`forget` ends the call: the matrix is unchecked again.

    Parameters
    ----------
    matrix : scipy CSR array
        For which :func:`fits` is true.
    weighted : bool
        Whether weights count; else the graph has none.
    merged : bool
        Whether repeated entries are to be summed, as scipy does, and rows to be sorted for it; else they stay as
        they are. Where there is something to merge, the graph gets arrays of its own.
    along_rows : bool
        Whether order and symmetry hardly matter, since edges are only followed: then a check may leave them open.
    """

    def __init__(self, matrix: Any, *, weighted: bool, merged: bool, along_rows: bool = False) -> None:
        m = int(matrix.indptr[-1])  # scipy may keep room behind the last entry
        weights = None if not weighted or matrix.data.dtype == bool else matrix.data[:m]
        if weights is not None and weights.dtype not in _WEIGHTS:
            weights = as_weights(weights, m)
        given = (matrix.indptr.astype(np.int32, copy=False), matrix.indices[:m].astype(np.int32, copy=False), weights)
        self.__dict__.update(
            matrix=matrix,
            given=given,
            arrays=given,
            weighted=weighted,
            merged=merged,
            along_rows=along_rows,
            is_checked=False,
            n_vertices=given[0].size - 1,
            n_edges=m,
        )

    matrix: Any
    given: tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]
    arrays: tuple[NDArray[Any], NDArray[np.int32], NDArray[Any] | None]
    """As :attr:`given`, or merged; unchecked until :attr:`is_checked`."""
    is_checked: bool
    """Whether :attr:`facts` are known."""
    weighted: bool
    merged: bool
    along_rows: bool
    ids = None

    def __reduce__(self) -> Any:
        return object.__new__, (Graph,), self.kept().__getstate__()

    def again(self, *, weighted: bool, merged: bool, along_rows: bool) -> WrappedGraph:
        """Return the matrix wrapped for another call."""
        return WrappedGraph(self.matrix, weighted=weighted, merged=merged, along_rows=along_rows)

    def kept(self) -> Graph:
        """Return a graph with arrays of its own."""
        arrays = (None if array is None else array.copy() for array in (self.row_offsets, *self.arrays[1:]))
        return Graph._trusted(*arrays, directed=self.directed, sorted_rows=self.has_sorted_rows)  # type: ignore[arg-type]

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        return None if self.arrays[2] is None else self.arrays[2].dtype

    @property
    def offset_dtype(self) -> np.dtype[Any]:
        return self.arrays[0].dtype

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays if array is not None)

    @cached_property
    def facts(self) -> EntryFacts | HostFacts:
        """Facts about the entries; the host finds the one that is asked for, unless the device has found them."""
        offsets, columns, weights = self.arrays
        try:
            check_arrays(offsets, columns)
        except GraphError as error:
            raise GraphError(f"this csr matrix is damaged: {error}") from error
        if weights is not None and weights.dtype.kind == "f":
            as_weights(weights, weights.size)
        found = HostFacts(*self.arrays)
        if self.must_merge(found):
            self.merge()
            found = HostFacts(*self.arrays)
        self.__dict__["is_checked"] = True
        return found

    @property
    def glimpse(self) -> Hashable:
        """Sizes, types and a few of the values of an unchecked matrix: a choice that was made by a guess is kept by it.

        Two matrices that differ in none of these values get the same strategy.
        """
        offsets, columns, weights = self.arrays
        few = b"" if weights is None else weights[:: 1 + weights.size // _GLIMPSES].tobytes()
        return (
            self.n_vertices, self.n_edges, weights is None or weights.dtype, few,
            offsets[:: 1 + offsets.size // _GLIMPSES].tobytes(), columns[:: 1 + columns.size // _GLIMPSES].tobytes(),
        )  # fmt: skip

    def check(self) -> None:
        """Check on the host what is unchecked; for small graphs.

        Raises
        ------
        GraphError
            The matrix is damaged, or a weight is NaN.
        """
        _ = self.facts

    def must_merge(self, found: EntryFacts | HostFacts) -> bool:
        """Return whether rows must be sorted and repeats merged; repeats cannot be seen in rows that are unsorted."""
        return self.merged and (found.has_repeats or not found.has_sorted_rows)

    def merge(self) -> None:
        """Sort the rows and merge repeats in arrays of its own; the arrays must have been checked."""
        offsets, columns, weights = self.arrays
        data = np.ones(columns.size, bool) if weights is None else weights
        csr = csr_array((data, columns, offsets), shape=2 * (self.n_vertices,), copy=True)
        csr.has_sorted_indices = csr.has_canonical_format = False  # flags of a copy; scipy looks by itself
        csr.sort_indices()
        summed = None if weights is None else csr.data
        arrays = merge_duplicates(csr.indptr, csr.indices, summed, "sum")
        self.__dict__.update(arrays=arrays, n_edges=arrays[1].size)

    def admit(self, found: EntryFacts, stats: GraphStats, missing: Callable[[], EntryFacts] | None = None) -> None:
        """Take what kernels have found in :attr:`arrays`; *missing* finds order and symmetry, if they are open."""
        self.__dict__.update(facts=found, measured_stats=stats, missing=missing, is_checked=True)

    def forget(self) -> None:
        """Let go of all that was found, since the owner may change the arrays from now on."""
        for name in self.__dict__.keys() - {"matrix", "given", "weighted", "merged", "along_rows", "n_vertices"}:
            del self.__dict__[name]
        self.__dict__.update(arrays=self.given, is_checked=False, n_edges=self.given[1].size)

    @property
    def _all_facts(self) -> EntryFacts | HostFacts:
        found = self.facts
        if (missing := self.__dict__.pop("missing", None)) is not None:
            found = self.__dict__["facts"] = missing()
        return found

    @property
    def directed(self) -> bool:
        return not self._all_facts.is_symmetric

    @property
    def has_sorted_rows(self) -> bool:
        return self._all_facts.has_sorted_rows

    @property
    def is_known_symmetric(self) -> bool:
        found = self.__dict__.get("facts")
        return isinstance(found, EntryFacts) and found.is_symmetric

    @property
    def weight_range(self) -> tuple[Any, Any]:
        return self.facts.weight_range

    @cached_property
    def row_offsets(self) -> NDArray[Any]:
        return self._array(0)

    @cached_property
    def column_indices(self) -> NDArray[np.int32]:
        return self._array(1)

    @cached_property
    def edge_weights(self) -> NDArray[Any] | None:
        return None if self.weight_dtype is None else self._array(2)

    def _array(self, place: int) -> NDArray[Any]:
        self.check()
        array = self.arrays[place]
        assert array is not None
        view = array.view()
        view.setflags(write=False)
        return view

    @property
    def stats(self) -> GraphStats:
        """Statistics of a checked matrix; before that, a guess from the sizes and a few entries."""
        if not self.is_checked:
            return self.guessed_stats
        if not self.is_measured:
            self.__dict__["measured_stats"] = graph_stats(self)
        found: GraphStats = self.__dict__["measured_stats"]
        return found

    @property
    def is_measured(self) -> bool:
        return "measured_stats" in self.__dict__


def is_unread(problem: Any) -> bool:
    """Return whether the graph of *problem* is a matrix that was not checked yet."""
    graph = getattr(problem, "graph", None)
    return isinstance(graph, WrappedGraph) and not graph.is_checked


def wrap_graph(
    source: Any, *, weight: Weight = None, weighted: bool = False, merged: bool = True, along_rows: bool = False
) -> Graph:
    """Return *source* as a graph for one call: what :func:`as_graph` takes, but of a CSR matrix nothing is copied.

    Parameters
    ----------
    source : Graph, DeviceGraph, scipy sparse array or networkx graph
    weight : str, function or None
        For a networkx graph; see :meth:`Graph.from_networkx`.
    weighted : bool
        Whether the weights of a matrix count.
    merged : bool
        Whether repeated entries of a matrix must be summed; a function for which they change nothing saves it.
    along_rows : bool
        Whether edges are only followed, so that it hardly matters if a matrix is symmetric.
    """
    if weight is not None:
        check_weight(source, weight)
    if isinstance(source, WrappedGraph):
        return source.again(weighted=weighted, merged=merged, along_rows=along_rows)
    if issparse(source) and fits(source):
        return WrappedGraph(source, weighted=weighted, merged=merged, along_rows=along_rows)
    return as_graph(source, weight=weight)


def fits(matrix: Any) -> bool:
    """Return whether the arrays of *matrix* can be used as they are, once what is in them is checked."""
    if matrix.format != "csr" or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return False
    offsets, columns, data = matrix.indptr, matrix.indices, matrix.data
    for array in (offsets, columns, data):
        if type(array) is not np.ndarray or array.ndim != 1 or not array.flags.c_contiguous or not array.flags.aligned:
            return False
    if data.dtype.kind not in "biuf":
        return False
    for array in (offsets, columns):  # wide ones are copied, if no value is lost
        if array.dtype != np.int32 and (array.dtype != np.int64 or (array.size and not _are_narrow(array))):
            return False
    n = matrix.shape[0]
    if n > MAX_VERTICES or offsets.size != n + 1:
        return False
    m = int(offsets[n])
    return 0 <= m < 2**31 and m <= min(columns.size, data.size)


def _are_narrow(array: NDArray[np.int64]) -> bool:
    return bool(array.min() >= -(2**31) and array.max() < 2**31)
