"""A networkx graph as arrays on the host, with neighbours in networkx's order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph

EXACT = 2**53  # All integers below this are exact as doubles.


class Adjacency:
    """The nodes and entries of a networkx graph as arrays.

    An undirected edge has two entries, and a self-loop has one.

    Rows keep the order in which networkx iterates over neighbours, because its searches visit nodes in this order.
    Parallel edges have separate entries.

    Attributes
    ----------
    nodes : list
        The nodes in the graph's order.
    graph : Graph
        The entries without weights. Graphs with weights share its arrays.
    directed : bool
    keys : list or None
        The key of each entry of a multigraph.
    edge_data : list or None
        The attribute dictionary of each entry, not a copy; ``None`` if attributes were not requested.
    types : dict
        The type that numpy gives the user's values of an attribute. It may be narrower than the type of the weights.
    node_data : list or None
        The attribute dictionary of each node, not a copy; ``None`` if attributes were not requested.
    """

    def __init__(
        self,
        nodes: list[Any],
        numbers: dict[Any, int] | None,
        graph: Graph,
        *,
        keys: list[Any] | None = None,
        edge_data: list[dict[Any, Any]] | None = None,
        node_data: list[dict[Any, Any]] | None = None,
    ) -> None:
        self.nodes, self.graph, self.directed = nodes, graph, graph.directed
        self.keys, self.edge_data, self.node_data = keys, edge_data, node_data
        self._numbers = numbers
        self._weights: dict[Hashable, NDArray[Any] | str] = {}
        self._weighted: dict[Hashable, Graph] = {}
        self.types: dict[Hashable, np.dtype[Any]] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def numbers(self) -> dict[Any, int]:
        """A dictionary from the nodes of the networkx graph to their numbers."""
        if self._numbers is not None:
            return self._numbers
        return dict(zip(self.nodes, range(len(self.nodes)), strict=True))

    def number(self, node: Any) -> int:
        """Return the number of *node*, or -1 if the graph has no such node."""
        if node is None:
            return -1
        try:
            return self.numbers.get(node, -1)
        except TypeError:  # The object cannot be hashed, so it is no node.
            return -1

    def names(self, vertices: NDArray[Any]) -> list[Any]:
        """Return the nodes of the networkx graph that have the numbers *vertices*."""
        return list(map(self.nodes.__getitem__, vertices.tolist()))

    @cached_property
    def rows(self) -> NDArray[np.int32]:
        """For each entry of the graph, the number of the node to whose row the entry belongs."""
        return self.graph.sources()

    @property
    def columns(self) -> NDArray[np.int32]:
        return self.graph.column_indices

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """For each edge, in the order of networkx's ``G.edges``, the position of one of the edge's entries."""
        if self.directed:
            return np.arange(self.columns.size)
        return np.flatnonzero(self.rows <= self.columns)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """The degree of each node, as networkx counts degrees: in both directions, and a self-loop counts twice."""
        n = len(self)
        out = np.bincount(self.rows, minlength=n)
        if self.directed:
            return out + self.in_degrees
        loops = self.rows[self.rows == self.columns]
        return out + np.bincount(loops, minlength=n)

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        return np.bincount(self.columns, minlength=len(self))

    @cached_property
    def undirected(self) -> Graph:
        """The graph without weights, in which every edge has both directions."""
        if not self.directed:
            return self.graph
        return Graph.from_edges(self.rows, self.columns, n=len(self))

    @cached_property
    def in_order(self) -> Graph:
        """The graph without weights and repeated entries, with sorted rows."""
        return self.graph if self.graph.has_sorted_rows else self.graph.sorted_pattern()

    def add_weights(self, name: Hashable, values: list[Any] | NDArray[Any]) -> None:
        """Store *values*, one weight per entry of the graph, under *name*.

        If they are not numbers, the reason is stored.
        """
        found = as_numbers(values) if isinstance(values, list) else values
        is_integer = isinstance(values, list) and not isinstance(found, str) and found.dtype == np.int64
        if is_integer and {*map(type, values)} - {int}:
            self.types[name] = np.array(values).dtype
        self._weights[name] = found

    def has_weights(self, name: Hashable) -> bool:
        return name in self._weights

    @property
    def weight_names(self) -> Iterable[Hashable]:
        return self._weights.keys()

    def weights(self, name: Hashable) -> NDArray[Any] | None:
        """Return the weight of each entry of the graph, or ``None`` if all weights are 1.

        Raises
        ------
        NotImplementedError
            A weight is not a number that an array can hold.
        """
        if name is None:
            return None
        if name not in self._weights:
            if self.edge_data is None or not any(name in data for data in self.edge_data):
                return None
            self.add_weights(name, [data.get(name, 1) for data in self.edge_data])
        found = self._weights[name]
        if isinstance(found, str):
            raise NotImplementedError(f"edge attribute {name!r}: {found}")
        return found

    def weighted(self, name: Hashable) -> Graph:
        """Return the graph with the weights called *name*, after they were checked for shortest paths.

        Raises
        ------
        NotImplementedError
            A weight is negative, NaN, infinite or not a number.
        """
        weights = self.weights(name)
        if weights is None:
            return self.graph
        if name not in self._weighted:
            if weights.size and not (weights.min() >= 0 and np.isfinite(weights.max())):
                raise NotImplementedError(f"edge attribute {name!r} has values that are negative, NaN or infinite")
            graph = self.graph
            self._weighted[name] = Graph._trusted(
                graph.row_offsets, graph.column_indices, weights, directed=graph.directed
            )
        return self._weighted[name]


def as_numbers(values: list[Any]) -> NDArray[Any] | str:
    """Return *values* as int64 or float64 without loss, or the reason why this is impossible."""
    kinds = {*map(type, values)}
    try:
        # Values of a single type, the usual case, take this shortcut, which halves the time.
        if len(kinds) == 1 and kinds <= {int, float}:
            return np.fromiter(values, np.int64 if int in kinds else np.float64, len(values))
        array = np.array(values) if values else np.zeros(0, np.int64)
    except (ValueError, OverflowError) as error:
        return str(error)
    if array.ndim != 1 or array.dtype.kind not in "bif" or array.itemsize > 8:
        return f"values of type {array.dtype} with {array.ndim} dimensions are no int64 or float64"
    if array.dtype.kind != "f":
        return array.astype(np.int64, copy=False)
    if array.dtype != np.float64:
        return f"sums of {array.dtype} are rounded otherwise"
    if np.abs(array).max(initial=0.0, where=np.isfinite(array)) >= EXACT and int in kinds:
        return "integers beside floats are beyond 2**53"
    return array
