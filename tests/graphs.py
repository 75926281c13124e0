"""The zoo: small graphs that every algorithm must survive, by name."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from clgraph import generators
from clgraph.data.graphs.graph import Graph


def _random_directed(n: int, m: int, seed: int) -> Graph:
    src, dst = np.random.default_rng(seed).integers(n, size=(2, m))
    return Graph.from_edges(src, dst, n=n, directed=True)


def _messy() -> Graph:
    """Parallel edges and self-loops, also on a vertex that has nothing else."""
    src, dst = np.random.default_rng(3).integers(60, size=(2, 400))
    return Graph.from_edges(np.append(src, [0, 0, 61]), np.append(dst, [0, 0, 61]), n=64)


def _unsorted() -> Graph:
    """A star and a cycle whose rows run backwards."""
    graph = Graph.from_edges([0] * 40 + list(range(41, 99)), [*range(1, 41), *range(42, 99), 41], n=99)
    columns = graph.column_indices.copy()
    for first, stop in zip(graph.row_offsets[:-1], graph.row_offsets[1:], strict=True):
        columns[first:stop] = columns[first:stop][::-1]
    return Graph(graph.row_offsets, columns)


def _scattered() -> Graph:
    """Many components of several sizes, ids mixed."""
    n, sizes = 700, [1, 2, 3, 5, 8, 13, 40, 100]
    src = np.arange(n - 1)
    same = np.searchsorted(np.cumsum(np.tile(sizes, 5)), src, "right") == np.searchsorted(
        np.cumsum(np.tile(sizes, 5)), src + 1, "right"
    )
    return Graph.from_edges(src[same], src[same] + 1, n=n).permuted(5)


UNDIRECTED: dict[str, Callable[[], Graph]] = {
    "empty": lambda: Graph.from_edges([], []),
    "one-vertex": lambda: Graph.from_edges([], [], n=1),
    "one-self-loop": lambda: Graph.from_edges([0], [0]),
    "isolated": lambda: Graph.from_edges([], [], n=300),
    "some-isolated": lambda: Graph.from_edges([5, 7, 100], [7, 200, 101], n=301),
    "path": lambda: generators.path(257),
    "path-permuted": lambda: generators.path(1000).permuted(1),
    "cycle": lambda: generators.cycle(301).permuted(2),
    "star": lambda: generators.star(1001),
    "star-last-centre": lambda: Graph.from_edges(np.full(600, 600), np.arange(600)),
    "tree": lambda: generators.tree(1000),
    "tree-permuted": lambda: generators.tree(777, arity=3).permuted(4),
    "grid": lambda: generators.grid(20, 30),
    "two-cliques": lambda: generators.two_cliques(40),
    "bridged-cliques": lambda: generators.two_cliques(33, bridge=True),
    "random": lambda: generators.uniform_random(2000, 1600, seed=7),
    "random-dense": lambda: generators.uniform_random(200, 4000, seed=8),
    "scale-free": lambda: generators.rmat(10, 8, seed=7),
    "road-like": lambda: generators.road_like(1500, seed=1),
    "delaunay": lambda: generators.delaunay_points(600, seed=2),
    "scattered": _scattered,
    "duplicates-self-loops": _messy,
    "unsorted-rows": _unsorted,
    "size-511": lambda: generators.uniform_random(511, 700, seed=511),
    "size-512": lambda: generators.uniform_random(512, 700, seed=512),
    "size-513": lambda: generators.uniform_random(513, 700, seed=513),
}

DIRECTED: dict[str, Callable[[], Graph]] = {
    "directed-empty": lambda: Graph.from_edges([], [], directed=True),
    "directed-path": lambda: Graph.from_edges(np.arange(300), np.arange(1, 301), directed=True),
    "directed-path-backwards": lambda: Graph.from_edges(np.arange(1, 301), np.arange(300), directed=True),
    "directed-in-star": lambda: Graph.from_edges(np.arange(1, 500), np.zeros(499, int), directed=True),
    "directed-random": lambda: _random_directed(1000, 1300, seed=5),
    "directed-scale-free": lambda: _random_directed(513, 6000, seed=6),
}

GRAPHS: dict[str, Callable[[], Graph]] = UNDIRECTED | DIRECTED
WITH_VERTICES = [name for name in GRAPHS if "empty" not in name]
TELLING = ("duplicates-self-loops", "directed-scale-free", "path-permuted", "star", "some-isolated", "one-self-loop")


def chain(weights: np.ndarray, *, directed: bool = False) -> Graph:
    """Return a path whose edges have these weights, in order."""
    return Graph.from_edges(np.arange(weights.size), np.arange(1, weights.size + 1), weights, directed=directed)


def among(*values: float, dtype: type = np.float64) -> Callable[[np.random.Generator, int], np.ndarray]:
    """Return a function that draws weights among *values*."""
    return lambda rng, m: rng.choice(np.array(values, dtype), m)


def with_unsorted_rows(graph: Graph) -> Graph:
    """Return the graph with the entries of each row in random order."""
    offsets, rng = graph.row_offsets, np.random.default_rng(0)
    order = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in pairwise(offsets)])
    weights = None if graph.edge_weights is None else graph.edge_weights[order]
    return Graph(offsets, graph.column_indices[order], weights, directed=graph.directed)


def with_wide_offsets(graph: Graph) -> Graph:
    """Return the graph with the int64 offsets that graphs from 2**31 entries on have, its reverse, too."""
    wide = _widened(graph)
    if graph.directed:
        wide.__dict__["_reverse"] = _widened(graph.reverse)
    return wide


def _widened(graph: Graph) -> Graph:
    wide = Graph._trusted(
        graph.row_offsets, graph.column_indices, graph.edge_weights, directed=graph.directed, sorted_rows=True
    )
    wide.__dict__["row_offsets"] = graph.row_offsets.astype(np.int64)
    return wide


def hubs_and_leaves(n_hubs: int, n: int) -> Graph:
    """Return a clique of hubs, with the same number of leaves at each hub."""
    a, b = np.triu_indices(n_hubs, 1)
    leaves = np.arange(n_hubs, n)
    return Graph.from_edges(np.append(a, leaves), np.append(b, leaves % n_hubs), n=n)


def same(one: Graph, other: Graph) -> bool:
    """Return whether both graphs have the same arrays, and both directions or none."""
    return (
        one.directed == other.directed
        and np.array_equal(one.row_offsets, other.row_offsets)
        and np.array_equal(one.column_indices, other.column_indices)
        and (one.edge_weights is other.edge_weights is None or np.array_equal(one.edge_weights, other.edge_weights))
    )


def with_arrays(matrix: Any, **arrays: Any) -> Any:
    """Return a copy of a scipy *matrix* with other arrays, behind scipy's back."""
    matrix = matrix.copy()
    for name, values in arrays.items():
        setattr(matrix, name, np.array(values) if isinstance(values, list) else values)
    return matrix


def entries(graph: Graph) -> list[tuple[Any, ...]]:
    """All stored entries, sorted: (row, column) or (row, column, weight)."""
    columns = [graph.sources(), graph.column_indices]
    if graph.edge_weights is not None:
        columns.append(graph.edge_weights)
    return sorted(zip(*(c.tolist() for c in columns), strict=True))


def check_arrays(graph: Graph) -> None:
    """Run the public constructor's checks on what a trusted builder made."""
    again = Graph(graph.row_offsets, graph.column_indices, graph.edge_weights, directed=graph.directed, ids=graph.ids)
    assert again.has_sorted_rows == graph.has_sorted_rows
    for name in ("row_offsets", "column_indices", "edge_weights"):
        array = getattr(graph, name)
        assert array is None or not array.flags.writeable
