"""Graph classes of the backend.

They are subclasses of networkx's that hold arrays, and make dictionaries on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx

from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.reading import read

_VALID = "clgraph arrays"  # A key in networkx's cache. Each method that changes a graph clears this cache.


class BackendGraph:
    """The base class of the backend's four graph classes.

    A graph starts with arrays only. When networkx's own functions or methods read its dictionaries, they are built from
    the arrays. A change of the graph clears networkx's cache of it, and the arrays are then read again from the
    dictionaries.
    """

    __networkx_backend__ = "clgraph"
    _arrays: Adjacency | None = None

    @classmethod
    def _of(cls, adjacency: Adjacency, attributes: dict[Any, Any]) -> Any:
        graph = object.__new__(cls)
        graph.__dict__.update(graph=attributes, _arrays=adjacency, __networkx_cache__={_VALID: True})
        return graph

    @property
    def _adjacency(self) -> Adjacency:
        """The arrays of this graph.

        After a change of the graph, they are read again from its dictionaries. Those of a view are read each time.
        """
        cache: dict[Any, Any] | None = self.__dict__.get("__networkx_cache__")
        if self._arrays is None or is_view(self) or (self._has_dicts and not (cache and _VALID in cache)):
            self._arrays = read(self)
        if cache is not None:  # If networkx's caching is switched off, the graph has no cache.
            cache[_VALID] = True
        return self._arrays

    @property
    def _has_dicts(self) -> bool:
        return "_adj" in self.__dict__

    def _made(self, name: str) -> Any:
        """Return networkx's dictionary *name* of this graph.

        All dictionaries are built on first use.
        """
        if name not in self.__dict__:
            if self._arrays is None:
                raise AttributeError(name)  # The attribute is missing because __init__ has not set it yet.
            self.__dict__.update(dictionaries(self._arrays, multigraph=self.is_multigraph()))  # type: ignore[attr-defined]
        return self.__dict__[name]

    def _set(self, name: str, value: Any) -> None:
        owner = next(base for base in plain_class(self).__mro__ if name in vars(base))
        vars(owner)[name].__set__(self, value)  # networkx's own setter also resets networkx's cached properties.
        (self.__dict__.get("__networkx_cache__") or {}).pop(_VALID, None)

    _adj = property(lambda self: self._made("_adj"), lambda self, value: self._set("_adj", value))
    _node = property(lambda self: self._made("_node"), lambda self, value: self._set("_node", value))

    def __len__(self) -> int:
        return len(self._node) if self._has_dicts or self._arrays is None else len(self._arrays)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._node if self._has_dicts or self._arrays is None else self._arrays.nodes)

    def __contains__(self, node: Any) -> bool:
        if self._has_dicts or self._arrays is None:
            try:
                return node in self._node
            except TypeError:
                return False
        return self._arrays.number(node) >= 0

    def number_of_nodes(self) -> int:
        return len(self)

    def order(self) -> int:
        return len(self)


class _Directed(BackendGraph):
    _adj = property(lambda self: self._made("_adj"), lambda self, value: self._set("_adj", value))
    _succ = _adj
    _pred = property(lambda self: self._made("_pred"), lambda self, value: self._set("_pred", value))


class Graph(BackendGraph, nx.Graph):  # type: ignore[misc]
    """A :class:`networkx.Graph` whose data are arrays."""


class DiGraph(_Directed, nx.DiGraph):  # type: ignore[misc]
    """A :class:`networkx.DiGraph` whose data are arrays."""


class MultiGraph(BackendGraph, nx.MultiGraph):  # type: ignore[misc]
    """A :class:`networkx.MultiGraph` whose data are arrays."""


class MultiDiGraph(_Directed, nx.MultiDiGraph):  # type: ignore[misc]
    """A :class:`networkx.MultiDiGraph` whose data are arrays."""


def is_view(graph: nx.Graph) -> bool:
    """Return whether *graph* is a view, which shows changes of another graph without a notice."""
    return "_graph" in vars(graph)


def kind_of(graph: nx.Graph) -> type[Any]:
    """Return the backend's class for a networkx *graph*: directed or not, multigraph or not."""
    kinds: tuple[tuple[type[Any], type[Any]], tuple[type[Any], type[Any]]]
    kinds = (Graph, MultiGraph), (DiGraph, MultiDiGraph)
    return kinds[graph.is_directed()][graph.is_multigraph()]


def plain_class(graph: Any) -> type[Any]:
    """Return networkx's own class for *graph*: directed or not, multigraph or not."""
    kinds: tuple[tuple[type[Any], type[Any]], tuple[type[Any], type[Any]]]
    kinds = (nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph)
    return kinds[isinstance(graph, nx.DiGraph)][isinstance(graph, nx.MultiGraph | nx.MultiDiGraph)]


def dictionaries(adjacency: Adjacency, *, multigraph: bool) -> dict[str, Any]:
    """Return networkx's dictionaries of a graph: ``_node``, ``_adj`` and, for directed graphs,
    ``_succ`` and ``_pred``.
    """
    nodes, columns = adjacency.nodes, adjacency.columns.tolist()
    attributes = adjacency.node_data
    node = {name: {} if attributes is None else attributes[i] for i, name in enumerate(nodes)}
    rows: dict[Any, dict[Any, Any]] = {name: {} for name in nodes}
    shared: dict[Any, Any] = {}  # Dictionaries of attributes that both directions of an undirected edge share.
    data = _entry_data(adjacency, shared)
    for entry, (u, v) in enumerate(zip(adjacency.rows.tolist(), columns, strict=True)):
        ends = (u, v) if adjacency.directed or u <= v else (v, u)
        if multigraph:
            assert adjacency.keys is not None
            parallel = rows[nodes[u]].setdefault(nodes[v], shared.setdefault(("parallel", ends), {}))
            parallel.setdefault(adjacency.keys[entry], data(entry, ends))
        else:
            rows[nodes[u]][nodes[v]] = data(entry, ends)
    found = {"_node": node, "_adj": rows}
    if adjacency.directed:
        before: dict[Any, dict[Any, Any]] = {name: {} for name in nodes}
        for name, neighbors in rows.items():
            for other, attributes_of_edge in neighbors.items():
                before[other][name] = attributes_of_edge
        found |= {"_succ": rows, "_pred": before}
    return found


def _entry_data(adjacency: Adjacency, shared: dict[Any, Any]) -> Any:
    """Return a function that takes an entry of the graph and its two ends,
    and returns the entry's attribute dictionary.
    """
    known = adjacency.edge_data
    if known is not None:
        return lambda entry, _ends: known[entry]
    weights = {name: adjacency.weights(name) for name in adjacency.weight_names}
    values = {name: array.tolist() for name, array in weights.items() if array is not None}

    def made(entry: int, ends: tuple[int, int]) -> dict[Any, Any]:
        key = None if adjacency.keys is None else adjacency.keys[entry]
        found: dict[Any, Any] = shared.setdefault(("data", ends, key), {})
        if not found:
            found.update({name: listed[entry] for name, listed in values.items()})
        return found

    return made
