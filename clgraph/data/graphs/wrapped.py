"""A scipy matrix as a graph for one call. Its arrays are not copied, and they are checked before their first use."""

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

_GLIMPSES = 64  # WrappedGraph.glimpse holds about 64 values of each array of the matrix.
_WEIGHTS = (np.int32, np.int64, np.float32, np.float64)


class WrappedGraph(Graph):
    """A graph that uses the arrays of a scipy CSR matrix during one call. The user may change the matrix afterwards.

    The arrays are not validated at first. Kernels validate them (``runtime.graphs.admission.admit``), or the host does
    as soon as ``directed``, ``has_sorted_rows`` or an array is read, so unvalidated data is never used. ``stats`` of an
    unchecked matrix are an estimate. :meth:`forget` ends the call: the matrix counts as unchecked again.

    Parameters
    ----------
    matrix : scipy CSR array
        A matrix for which :func:`fits` is true.
    weighted : bool
        Whether the values of the entries are weights. If not, the graph is unweighted.
    merged : bool
        Whether to sum repeated entries, as scipy does, which also sorts the rows. If there are repeats or unsorted
        rows, the graph then gets arrays of its own.
    along_rows : bool
        Whether the algorithm only follows edges, so that the order of entries and symmetry hardly matter. Kernels may
        then check order and symmetry later.
    """

    def __init__(self, matrix: Any, *, weighted: bool, merged: bool, along_rows: bool = False) -> None:
        m = int(matrix.indptr[-1])  # The arrays of a scipy matrix may have unused space after the last entry.
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
    """The arrays of :attr:`given`, or the arrays that :meth:`merge` made; not checked unless :attr:`is_checked`."""
    is_checked: bool
    """Whether :attr:`facts` are known."""
    weighted: bool
    merged: bool
    along_rows: bool
    ids = None

    def __reduce__(self) -> Any:
        return object.__new__, (Graph,), self.kept().__getstate__()

    def again(self, *, weighted: bool, merged: bool, along_rows: bool) -> WrappedGraph:
        """Return a new wrapper of the same scipy matrix, for another call."""
        return WrappedGraph(self.matrix, weighted=weighted, merged=merged, along_rows=along_rows)

    def kept(self) -> Graph:
        """Return a graph with copies of the matrix's arrays, which is still valid after the call."""
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
        """Facts about the entries of the matrix.

        If no device has found them, the host checks the arrays here.

        The host then computes each fact on its first use.
        """
        offsets, columns, weights = self.arrays
        try:
            check_arrays(offsets, columns)
        except GraphError as error:
            raise GraphError(f"this csr matrix is damaged: {error}") from error
        found = HostFacts(*self.arrays)
        if weights is not None and weights.dtype.kind == "f" and np.isnan(found.weight_range[0]):
            as_weights(weights, weights.size)  # raises, and names the weight
        if self.must_merge(found):
            self.merge()
            found = HostFacts(*self.arrays)
        self.__dict__["is_checked"] = True
        return found

    @property
    def glimpse(self) -> Hashable:
        """A key of an unchecked matrix for the cache of strategies, made of sizes and sampled values.

        It holds the sizes and types of the arrays, and a few of their values. Two matrices with equal keys get the same
        strategy.
        """
        offsets, columns, weights = self.arrays
        few = b"" if weights is None else weights[:: 1 + weights.size // _GLIMPSES].tobytes()
        return (
            self.n_vertices, self.n_edges, weights is None or weights.dtype, few,
            offsets[:: 1 + offsets.size // _GLIMPSES].tobytes(), columns[:: 1 + columns.size // _GLIMPSES].tobytes(),
        )  # fmt: skip

    def check(self) -> None:
        """Check the arrays of the matrix on the host, if they are unchecked.

        This is meant for small graphs.

        Raises
        ------
        GraphError
            The matrix is damaged, or a weight is NaN.
        """
        _ = self.facts

    def must_merge(self, found: EntryFacts | HostFacts) -> bool:
        """Return whether the rows of the matrix must be sorted and repeated entries merged.

        Unsorted rows are always sorted if repeats are to be merged, because not all repeats are found in them.
        """
        return self.merged and (found.has_repeats or not found.has_sorted_rows)

    def merge(self) -> None:
        """Replace the checked :attr:`arrays` by copies in which rows are sorted and repeated entries are merged."""
        offsets, columns, weights = self.arrays
        data = np.ones(columns.size, bool) if weights is None else weights
        csr = csr_array((data, columns, offsets), shape=2 * (self.n_vertices,), copy=True)
        # scipy copied two flags from the user's matrix, where they may be wrong. With False, scipy sorts the rows.
        csr.has_sorted_indices = csr.has_canonical_format = False
        csr.sort_indices()
        summed = None if weights is None else csr.data
        arrays = merge_duplicates(csr.indptr, csr.indices, summed, "sum")
        self.__dict__.update(arrays=arrays, n_edges=arrays[1].size)

    def admit(self, found: EntryFacts, stats: GraphStats, missing: Callable[[], EntryFacts] | None = None) -> None:
        """Store the facts and statistics of the matrix that kernels have found while they checked :attr:`arrays`.

        If order and symmetry were not checked yet, *missing* computes all facts when they are first needed.
        """
        self.__dict__.update(facts=found, measured_stats=stats, missing=missing, is_checked=True)

    def forget(self) -> None:
        """Drop all values that were computed from the matrix, because the user may change its arrays from now on."""
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
        """Statistics of a checked matrix.

        For an unchecked matrix, an estimate from its sizes and a few entries.
        """
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
    """Return whether the graph of *problem* is a wrapped matrix that has not been checked yet."""
    graph = getattr(problem, "graph", None)
    return isinstance(graph, WrappedGraph) and not graph.is_checked


def wrap_graph(
    source: Any, *, weight: Weight = None, weighted: bool = False, merged: bool = True, along_rows: bool = False
) -> Graph:
    """Return *source* as a graph for one call.

    Unlike :func:`as_graph`, this function does not copy a CSR matrix.

    Parameters
    ----------
    source : Graph, DeviceGraph, scipy sparse array or networkx graph
    weight : str, function or None
        For a networkx graph; see :meth:`Graph.from_networkx`.
    weighted : bool
        Whether the values of a matrix are weights.
    merged : bool
        Whether to sum repeated entries of a matrix. Algorithms whose result does not depend on repeats pass ``False``.
    along_rows : bool
        Whether the algorithm only follows edges, so that the symmetry of a matrix hardly matters.
    """
    if weight is not None:
        check_weight(source, weight)
    if isinstance(source, WrappedGraph):
        return source.again(weighted=weighted, merged=merged, along_rows=along_rows)
    if issparse(source) and fits(source):
        return WrappedGraph(source, weighted=weighted, merged=merged, along_rows=along_rows)
    return as_graph(source, weight=weight)


def fits(matrix: Any) -> bool:
    """Return whether the arrays of a scipy *matrix* have types and shapes that clgraph can use without a copy.

    Apart from the sizes, the values in the arrays are not checked.
    """
    if matrix.format != "csr" or matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        return False
    offsets, columns, data = matrix.indptr, matrix.indices, matrix.data
    for array in (offsets, columns, data):
        if type(array) is not np.ndarray or array.ndim != 1 or not array.flags.c_contiguous or not array.flags.aligned:
            return False
    if data.dtype.kind not in "biuf":
        return False
    for array in (offsets, columns):  # An int64 array whose values all fit int32 is converted to int32.
        if array.dtype != np.int32 and (array.dtype != np.int64 or (array.size and not _are_narrow(array))):
            return False
    n = matrix.shape[0]
    if n > MAX_VERTICES or offsets.size != n + 1:
        return False
    m = int(offsets[n])
    return 0 <= m < 2**31 and m <= min(columns.size, data.size)


def _are_narrow(array: NDArray[np.int64]) -> bool:
    return bool(array.min() >= -(2**31) and array.max() < 2**31)
