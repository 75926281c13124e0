"""Conversion of networkx graphs to :class:`Adjacency`, by one pass over their dictionaries."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress
from operator import itemgetter
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.data.graphs.csr import asymmetric_entry
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.adjacency import EXACT, Adjacency

_Entries: TypeAlias = Callable[[], Iterator[dict[Any, Any]]]


def read(
    graph: nx.Graph, edge_attrs: Mapping[Any, Any] | None = None, keep_edges: bool = True, keep_nodes: bool = True
) -> Adjacency:
    """Return the networkx *graph* as arrays.

    If *keep_edges*, the result refers to the attribute dictionaries of all edges. Else it holds the weights
    *edge_attrs*, a mapping from attributes to defaults. If *keep_nodes*, it refers to the attribute dictionaries of all
    nodes.
    """
    nodes = list(graph)
    rows = _plain_rows(graph._adj, nodes)
    numbers = None if _count_up(nodes) else dict(zip(nodes, range(len(nodes)), strict=True))
    degrees = np.fromiter(map(len, rows), np.int64, len(rows))
    columns = _columns(rows, numbers, int(degrees.sum()))
    keys, data = None, _values(rows)
    if graph.is_multigraph():
        parallel = list(data)
        counts = np.fromiter(map(len, parallel), np.int64, columns.size)
        owners = np.repeat(np.arange(len(rows)), degrees)
        degrees = np.bincount(np.repeat(owners, counts), minlength=len(rows))
        columns = np.repeat(columns, counts)
        keys, data = list(chain.from_iterable(parallel)), _values(parallel)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(degrees, out=offsets[1:])
    if type(graph._adj) is not dict and not graph.is_directed() and asymmetric_entry(offsets, columns, None):
        raise NotImplementedError("a view of an undirected graph hides edges in one direction only")
    pattern = Graph._trusted(offsets, columns, directed=graph.is_directed())
    kept = list(data) if keep_edges else None
    node_data = list(map(graph._node.__getitem__, nodes)) if keep_nodes else None
    found = Adjacency(nodes, numbers, pattern, keys=keys, edge_data=kept, node_data=node_data)
    if not keep_edges and edge_attrs:
        add_weights(found, entries_of(graph, nodes), edge_attrs)
    return found


def add_weights(found: Adjacency, entries: _Entries, edge_attrs: Mapping[Any, Any]) -> None:
    """Store the attributes *edge_attrs* of all entries of a networkx graph in *found*.

    Each call of *entries* returns a new iterator over the attribute dictionaries of all entries.
    """
    mirrored = None if found.graph.directed or found.keys is not None else _Mirrored.of(found.graph)
    for name, default in edge_attrs.items():
        otherwise = 1 if default is None else default
        if mirrored is None:
            numbers = _numbers(entries, name)
        else:
            numbers = _numbers(lambda: compress(entries(), mirrored.is_first), name)
            numbers = None if numbers is None else mirrored.both(numbers)
        found.add_weights(name, [each.get(name, otherwise) for each in entries()] if numbers is None else numbers)


def _numbers(entries: _Entries, name: Any) -> NDArray[Any] | None:
    """Return the attribute *name* of all entries as an array, or ``None`` unless all values are int or all are float.

    This function makes one pass and no list of values. The attribute dictionaries are scattered over the memory, so a
    second pass would double the time.
    """
    first = type(next(entries(), {}).get(name))
    if first not in (int, float):
        return None
    try:
        numbers = array("q" if first is int else "d", map(itemgetter(name), entries()))
    except (KeyError, TypeError, OverflowError):
        return None
    found = np.frombuffer(numbers, np.int64 if first is int else np.float64)
    # numpy rounds an int of 2**53 or more that is among the floats, so such large values are not accepted.
    return None if first is float and not (np.abs(found) < EXACT).all() else found


@dataclass(frozen=True)
class _Mirrored:
    """The two entries of each edge of an undirected networkx graph, which share their attributes.

    Only the attributes of one entry of each pair are read, because reading an attribute of a dictionary misses the
    cache. This takes five times the time of finding the other entry.

    Attributes
    ----------
    is_first : bytes
        A 1 for each entry that is read: its row is not greater than its column.
    first : bool array
        The same as an array.
    source, target : int64 array
        Value ``source[k]`` of the entries that are read belongs to entry ``target[k]``, too.
    """

    is_first: bytes
    first: NDArray[np.bool_]
    source: NDArray[np.int64]
    target: NDArray[np.int64]

    @classmethod
    def of(cls, graph: Graph) -> _Mirrored | None:
        """Return the pairs of entries of *graph*, or ``None`` if an entry has no reverse entry, as in some views."""
        rows, columns = graph.sources(), graph.column_indices
        first, later = rows <= columns, rows > columns
        n_first = int(first.sum())
        upper = _numbered(graph.n_vertices, rows[first], columns[first], np.arange(n_first)).tocsc()
        lower = _numbered(graph.n_vertices, rows[later], columns[later], np.flatnonzero(later)).tocsc().tocsr()
        # The entries of both matrices are now sorted by their greater end, then by their lesser end.
        greater = [np.repeat(np.arange(graph.n_vertices), np.diff(each.indptr)) for each in (upper, lower)]
        loops = greater[0] == upper.indices
        if not np.array_equal(upper.indices[~loops], lower.indices) or not np.array_equal(
            greater[0][~loops], greater[1]
        ):
            return None
        return cls(first.tobytes(), first, upper.data[~loops], lower.data)

    def both(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values of all entries, from the *values* of one entry of each pair and of the self-loops."""
        found = np.empty(self.first.size, values.dtype)
        found[self.first] = values
        found[self.target] = values[self.source]
        return found


def _numbered(n: int, rows: NDArray[Any], columns: NDArray[Any], data: NDArray[np.int64]) -> csr_array:
    """Return a sparse *n* × *n* matrix of *data*, whose entries must be sorted by row."""
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
    return csr_array((data, columns, offsets), (n, n))


def entries_of(graph: nx.Graph, nodes: list[Any]) -> _Entries:
    """Return a function that returns an iterator over the attribute dictionaries of all entries of *graph*."""
    rows = _plain_rows(graph._adj, nodes)
    return partial(_values, list(_values(rows)) if graph.is_multigraph() else rows)


def _plain_rows(adjacency: Mapping[Any, Any], nodes: list[Any]) -> list[dict[Any, Any]]:
    """Return each node's neighbours as a dictionary.

    Views that filter a graph are copied, so that they filter only once.
    """
    if type(adjacency) is dict and list(adjacency) == nodes:
        rows: list[Any] = list(adjacency.values())
    else:
        rows = [adjacency[node] for node in nodes]
    if {*map(type, rows)} <= {dict}:
        return rows
    return [row if isinstance(row, dict) else dict(row) for row in rows]


def _count_up(nodes: list[Any]) -> bool:
    """Return whether the nodes of a graph are the integers 0, 1, 2, …"""
    return {*map(type, nodes)} <= {int} and nodes == list(range(len(nodes)))


def _columns(rows: list[dict[Any, Any]], numbers: dict[Any, int] | None, size: int) -> NDArray[np.int32]:
    ends: Iterable[Any] = chain.from_iterable(rows)
    if numbers is not None:
        ends = map(numbers.__getitem__, ends)
    return np.fromiter(ends, np.int32, size)


def _values(mappings: list[Any]) -> Iterator[Any]:
    if {*map(type, mappings)} <= {dict}:
        return chain.from_iterable(map(dict.values, mappings))
    return chain.from_iterable(each.values() for each in mappings)
