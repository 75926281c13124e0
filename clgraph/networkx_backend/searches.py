"""networkx's functions on breadth-first searches, with results in networkx's order."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.bfs import bfs
from clgraph.data.graphs.graph import Graph
from clgraph.networkx_backend.adjacency import Adjacency
from clgraph.networkx_backend.calls import arrays, by_networkx, is_limit, own_function, run_options


def distances_from(graph: Graph, source: int, depth: int | None = None) -> NDArray[np.int32]:
    """Return the number of edges from *source* to each vertex by :func:`clgraph.bfs`; -1 for unreached vertices."""
    return bfs(graph, source, max_depth=depth, **run_options("bfs")).distances


class Visits:
    """The vertices that a breadth-first search reaches, in the order in which networkx visits them.

    The order depends on all previous visits, so it is found sequentially, by scipy on the host.

    Attributes
    ----------
    order : int array
        The vertices reached, sources first.
    predecessors : int array, shape (n_vertices,)
        The vertex from which each vertex was reached; negative for sources and unreached vertices.
    levels : int array
        The number of edges from a source to each vertex of *order*.
    """

    def __init__(self, graph: Graph, sources: list[int], depth: float | None = None) -> None:
        from scipy.sparse.csgraph import breadth_first_order

        n, first = graph.n_vertices, sources[0]
        offsets, columns = graph.row_offsets, graph.column_indices
        if len(sources) > 1:  # A search from several sources starts at an extra vertex that has edges to all sources.
            first = n
            columns = np.concatenate((columns, np.array(sources, np.int32)))
            offsets = np.append(offsets, offsets.dtype.type(columns.size))
        size = offsets.size - 1
        # The values of the matrix stay uninitialised, because scipy's search ignores them.
        matrix = csr_array((np.empty(columns.size), columns, offsets), shape=(size, size))
        order, predecessors = breadth_first_order(matrix, first)
        levels = self._levels(order, predecessors)
        if first == n:
            order, levels = order[1:], levels[1:] - 1
            predecessors = np.where(predecessors[:n] == n, -1, predecessors[:n])
        if depth is not None and depth < levels[-1]:
            within = int(np.searchsorted(levels, max(ceil(depth), 0), "right"))
            predecessors[order[within:]] = -1
            order, levels = order[:within], levels[:within]
        self.order, self.predecessors, self.levels = order, predecessors, levels

    @staticmethod
    def _levels(order: NDArray[Any], predecessors: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of edges from the search's source to each vertex of *order*."""
        place = np.empty(predecessors.size, np.int64)
        place[order] = np.arange(order.size)
        # In breadth-first order, the positions of the predecessors never decrease.
        before = np.append(-1, place[predecessors[order[1:]]])
        levels = np.zeros(order.size, np.int64)
        begin, end, level = 0, 1, 0
        while end < order.size:
            begin, end, level = end, int(np.searchsorted(before, end, "left")), level + 1
            levels[begin:end] = level
        return levels

    def edges(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the two ends of each edge of the breadth-first search tree, in the order of visits."""
        met = self.order[self.levels > 0]
        return self.predecessors[met], met


def _edges(G: Any, source: Any, depth_limit: Any) -> Iterator[tuple[Any, Any]] | None:
    """Return an iterator over the edges of a breadth-first search tree, or ``None`` if networkx should answer."""
    adjacency = arrays(G)
    if (vertex := adjacency.number(source)) < 0 or not is_limit(depth_limit):
        return None
    before, met = Visits(adjacency.graph, [vertex], depth_limit).edges()
    return zip(adjacency.names(before), adjacency.names(met), strict=True)


def bfs_edges(
    G: Any, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    found = _edges(G, source, depth_limit)
    if found is None:
        found = by_networkx("bfs_edges", G, source, reverse, depth_limit, sort_neighbors)
    return found


def bfs_tree(
    G: Any, source: Any, reverse: bool = False, depth_limit: Any = None, sort_neighbors: Any = None
) -> nx.DiGraph:
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, reverse, depth_limit))
    return tree


def bfs_predecessors(
    G: Any, source: Any, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, Any]]:
    # networkx's own bfs_predecessors, which networkx 3.7 deprecates, searches by bfs_edges of this backend.
    found: Iterator[tuple[Any, Any]] = own_function("bfs_predecessors")(G, source, depth_limit, sort_neighbors)
    return found


def bfs_successors(
    G: Any, source: Any, depth_limit: Any = None, sort_neighbors: Any = None
) -> Iterator[tuple[Any, list[Any]]]:
    edges = bfs_edges(G, source, False, depth_limit)

    def grouped() -> Iterator[tuple[Any, list[Any]]]:
        parent, children = source, []
        for before, child in edges:
            if before == parent:
                children.append(child)
            else:
                yield parent, children
                parent, children = before, [child]
        yield parent, children

    return grouped()


def bfs_layers(G: Any, sources: Any) -> Iterator[list[Any]]:
    adjacency = arrays(G)
    given = [sources] if adjacency.number(sources) >= 0 else list(set(sources))
    vertices = [adjacency.number(source) for source in given]
    if -1 in vertices:
        found: Iterator[list[Any]] = by_networkx("bfs_layers", G, given)
        return found
    if not vertices:
        return iter(())
    visits = Visits(adjacency.graph, vertices)
    names = adjacency.names(visits.order)
    ends = np.cumsum(np.bincount(visits.levels)).tolist()
    return (names[begin:end] for begin, end in zip([0, *ends], ends, strict=False))


def descendants_at_distance(G: Any, source: Any, distance: Any) -> set[Any]:
    adjacency = arrays(G)
    if (vertex := adjacency.number(source)) < 0:
        found: set[Any] = by_networkx("descendants_at_distance", G, source, distance)
        return found
    try:
        depth = int(distance)
    except (TypeError, ValueError, OverflowError):
        return set()
    if depth != distance or depth < 0:  # networkx compares the number of each layer with any object.
        return set()
    return set(adjacency.names(np.flatnonzero(distances_from(adjacency.graph, vertex) == depth)))


def descendants(G: Any, source: Any) -> set[Any]:
    return _reached("descendants", G, source, arrays(G).graph)


def ancestors(G: Any, source: Any) -> set[Any]:
    return _reached("ancestors", G, source, arrays(G).graph.reverse)


def _reached(name: str, G: Any, source: Any, graph: Graph) -> set[Any]:
    adjacency: Adjacency = arrays(G)
    if (vertex := adjacency.number(source)) < 0:
        found: set[Any] = by_networkx(name, G, source)
        return found
    return set(adjacency.names(np.flatnonzero(distances_from(graph, vertex) > 0)))
