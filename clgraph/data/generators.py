"""Graphs made from a seed: the same arguments give the same graph.

A seed is what :func:`numpy.random.default_rng` takes.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.spatial import Delaunay, cKDTree

from clgraph.arguments import (
    Seed,
    check_choice,
    checked_count,
    checked_flag,
    checked_number,
    checked_seed,
    refusing,
)
from clgraph.data.csr import MAX_VERTICES
from clgraph.data.graph import Graph, as_graph
from clgraph.data.ratings_generators import planted_ratings as planted_ratings
from clgraph.data.ratings_generators import power_law_ratings as power_law_ratings
from clgraph.errors import InputError
from clgraph.host_memory import check_host_memory
from clgraph.progress import begin

Ids: TypeAlias = Literal["random", "spatial"]

_CHUNK = 1 << 18  # edges drawn at a time: small enough for the second-level cache
_MAX_DRAWS = 1 << 40
_BYTES_PER_VERTEX, _BYTES_PER_EDGE = 40, 24  # so much memory is needed at least while a graph is built
_WEIGHT_TYPES = ("int32", "int64", "float32", "float64")


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: Seed = 0,
    permute: bool = True,
) -> Graph:
    """Return a scale-free undirected R-MAT graph [1]_ of ``2**scale`` vertices.

    ``edge_factor * 2**scale`` edges are drawn; repeats and self-loops are removed. The defaults are
    those of Graph500. *permute* renumbers the vertices at random, which hides the order by degree.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos. "R-MAT: A recursive model for graph mining."
       SIAM International Conference on Data Mining, 2004.
    """
    scale = checked_count("scale", scale, 30, least=0)
    a, b, c = checked_number("a", a), checked_number("b", b), checked_number("c", c)
    if a + b + c > 1:
        raise InputError(f"a, b, c = {a}, {b}, {c}; they are probabilities with a sum of at most 1")
    permute, seed = checked_flag("permute", permute), checked_seed(seed)
    n = 1 << scale
    src, dst = np.empty((2, _n_draws("edge_factor", edge_factor, n)), np.int32)
    order = np.random.default_rng(seed).permutation(n).astype(np.int32) if permute else None
    tell = begin("generating edges", src.size, "edges")
    for i, start in enumerate(range(0, src.size, _CHUNK)):
        rng = np.random.default_rng([seed, i])
        u, v = np.zeros((2, min(_CHUNK, src.size - start)), np.int32)
        for _ in range(scale):
            draw = rng.random(u.size, np.float32)
            down = draw >= a + b
            right = (draw >= a) ^ down ^ (draw >= a + b + c)
            u += u
            u += down
            v += v
            v += right
        chunk = slice(start, start + u.size)
        src[chunk], dst[chunk] = (u, v) if order is None else (order[u], order[v])
        tell(chunk.stop)
    return Graph.from_edges(src, dst, n=n, duplicates="first", self_loops="drop")


def uniform_random(n: int, n_edges: int, seed: Seed = 0) -> Graph:
    """Return an undirected graph of *n_edges* edges drawn uniformly, less repeats and self-loops."""
    n, n_edges = _size(n), _n_draws("n_edges", n_edges)
    if n == 0 and n_edges:
        raise InputError(f"n_edges = {n_edges} edges need at least one vertex")
    rng = np.random.default_rng(checked_seed(seed))
    src, dst = rng.integers(max(n, 1), size=(2, n_edges), dtype=np.int32)
    return Graph.from_edges(src, dst, n=n, duplicates="first", self_loops="drop")


def grid(rows: int, cols: int) -> Graph:
    """Return the 4-point grid; vertex ``r * cols + c`` is at row ``r``, column ``c``."""
    rows = checked_count("rows", rows, MAX_VERTICES, least=0)
    cols = checked_count("cols", cols, MAX_VERTICES, least=0)
    n = _size(rows * cols, "rows * cols")
    vertex = np.arange(n, dtype=np.int32).reshape(rows, cols)
    neighbors = vertex[..., None] + np.array([-cols, -1, 1, cols], np.int32)
    exists = np.ones(neighbors.shape, bool)
    exists[:1, :, 0] = exists[:, :1, 1] = exists[:, -1:, 2] = exists[-1:, :, 3] = False
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(exists.sum(-1, dtype=np.int8).ravel(), out=offsets[1:])
    return Graph._trusted(offsets, neighbors[exists], sorted_rows=True)


def road_like(n: int, seed: Seed = 0) -> Graph:
    """Return a connected graph shaped like a road network: mean degree 2.4, diameter near ``2 sqrt(n)``.

    Crossings form a grid in which each is joined to its left or its upper neighbour at random (a
    spanning tree) and in three cases of ten to the other as well; the rest of the *n* vertices
    subdivide random roads. Ids run row by row, so that neighbours are near, as in road files.
    """
    n = _size(n)
    rng = np.random.default_rng(checked_seed(seed))
    n_crossings = n if n < 8 else round(n / 1.5)
    width = max(1, round(n_crossings**0.5))
    crossing = np.arange(n_crossings, dtype=np.int32)
    draw = rng.random(n_crossings, np.float32)
    has_left, has_upper = crossing % width > 0, crossing >= width
    left = has_left & (~has_upper | (draw < 0.65))
    upper = has_upper & (~has_left | (draw >= 0.35))
    near = np.concatenate([crossing[left], crossing[upper]])
    far = np.concatenate([crossing[left] - 1, crossing[upper] - width])
    # Each road's subdividing vertices follow its nearer crossing.
    bends = np.bincount(rng.integers(near.size, size=n - n_crossings), minlength=near.size)
    n_left = np.count_nonzero(left)
    own = np.zeros(n_crossings, np.int64)
    own[left] += bends[:n_left]
    first_upper = 1 + own
    own[upper] += bends[n_left:]
    number = np.cumsum(own + 1) - (own + 1)
    first = number[near] + np.concatenate([np.ones(n_left, np.int64), first_upper[upper]])
    bent = bends > 0
    last = (first + bends - 1)[bent]
    inner = np.ones(n, bool)  # vertices followed along their road by the next number
    inner[number] = inner[last] = False
    along = np.flatnonzero(inner)
    src = np.concatenate([number[far], last, along])
    dst = np.concatenate([np.where(bent, first, number[near]), number[near][bent], along + 1])
    return Graph.from_edges(src, dst, n=n)


def random_geometric(n: int, degree: float = 14, seed: Seed = 0, *, ids: Ids = "spatial") -> Graph:
    """Return the graph of *n* random points in the unit square, joined when near.

    The radius is such that an inner point has *degree* neighbours on average. *ids* numbers the
    points in the order of a k-d tree's leaves ("spatial") or at random.
    """
    n, degree = _size(n), checked_number("degree", degree)
    check_host_memory(f"n = {n}, degree = {degree:g}", int(_BYTES_PER_EDGE * n * min(n, degree) / 2))
    points = _points(n, seed, ids)
    radius = (degree / (np.pi * max(n, 1))) ** 0.5
    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


def delaunay_points(n: int, seed: Seed = 0, *, ids: Ids = "random") -> Graph:
    """Return the Delaunay triangulation of *n* random points in the unit square.

    *ids* is as in :func:`random_geometric`.
    """
    points = _points(_size(n), seed, ids)
    if len(points) < 3:
        return path(n)
    corners = Delaunay(points).simplices
    src, dst = corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    return Graph.from_edges(src, dst, n=n, duplicates="first")


def star(n: int) -> Graph:
    """Return the star of *n* vertices with centre 0."""
    leaves = np.arange(1, _size(n), dtype=np.int32)
    return Graph.from_edges(np.zeros_like(leaves), leaves, n=n)


def path(n: int) -> Graph:
    """Return the path 0 - 1 - … - (n - 1)."""
    vertices = np.arange(_size(n), dtype=np.int32)
    return Graph.from_edges(vertices[:-1], vertices[1:], n=n)


def cycle(n: int) -> Graph:
    """Return the cycle of *n* vertices, at least 3."""
    vertices = np.arange(_size(n, least=3), dtype=np.int32)
    return Graph.from_edges(vertices, np.roll(vertices, -1), n=n)


def tree(n: int, arity: int = 2) -> Graph:
    """Return the complete tree of *n* vertices in which vertex ``v > 0`` has parent ``(v - 1) // arity``."""
    arity, children = checked_count("arity", arity, MAX_VERTICES), np.arange(1, _size(n), dtype=np.int32)
    return Graph.from_edges((children - 1) // arity, children, n=n)


def two_cliques(size: int, *, bridge: bool = False) -> Graph:
    """Return two complete graphs of *size* vertices each, joined by one edge if *bridge*."""
    size, bridge = checked_count("size", size, MAX_VERTICES // 2, least=0), checked_flag("bridge", bridge)
    check_host_memory(f"size = {size}", _BYTES_PER_EDGE * size**2)
    src, dst = np.triu_indices(size, 1)
    src, dst = np.concatenate([src, src + size]), np.concatenate([dst, dst + size])
    if bridge and size:
        src, dst = np.append(src, size - 1), np.append(dst, size)
    return Graph.from_edges(src, dst, n=2 * size)


def random_weights(
    graph: Graph, seed: Seed = 0, *, low: float = 1, high: float = 256, dtype: DTypeLike = np.int32
) -> Graph:
    """Return *graph* with random weights in ``[low, high)``, equal in both directions of an edge.

    Each weight is a hash (the finaliser of SplitMix64) of the edge's two ends and the seed, so
    parallel edges weigh the same.
    """
    graph, seed = as_graph(graph), checked_seed(seed)
    with refusing("dtype", dtype, ", ".join(_WEIGHT_TYPES)):
        kind = np.dtype(dtype).newbyteorder("=")
        if kind.name not in _WEIGHT_TYPES:
            raise TypeError("it is another type")
    # Numbers in between are computed in float64, which knows all integers up to 2**53.
    most = float(np.finfo(kind).max) / 2 if kind.kind == "f" else min(2.0**53, float(np.iinfo(kind).max) + 1)
    low, high = checked_number("low", low, -most, most), checked_number("high", high, -most, most)
    if not low < high:
        raise InputError(f"low = {low:g}, high = {high:g}; low must be below high")
    offsets, columns = graph.row_offsets, graph.column_indices
    weights = np.empty(graph.n_edges, kind)

    def fill(start: int) -> None:
        v = columns[start : start + _CHUNK]
        stop = start + v.size
        first, last = np.searchsorted(offsets, np.array([start, stop - 1], offsets.dtype), "right") - 1
        counts = np.diff(np.clip(offsets[first : last + 2], start, stop))
        u = np.repeat(np.arange(first, last + 1, dtype=np.int32), counts)
        if not graph.directed:
            u, v = np.minimum(u, v), np.maximum(u, v)
        draw = _hashed(u.astype(np.uint64) << np.uint64(32) | v.astype(np.uint64), seed)
        values = low + draw * (high - low)
        weights[start:stop] = values if kind.kind == "f" else np.floor(values)

    tell = begin("generating weights", weights.size, "edges")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, _ in enumerate(pool.map(fill, range(0, weights.size, _CHUNK)), 1):
            tell(min(i * _CHUNK, weights.size))
    return Graph._trusted(
        graph.row_offsets,
        columns,
        weights,
        directed=graph.directed,
        labels=graph.labels,
        sorted_rows=graph.has_sorted_rows,
    )


def _hashed(keys: NDArray[np.uint64], seed: int) -> NDArray[Any]:
    """Return a number in [0, 1) for each key."""
    keys = keys + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys ^= keys >> np.uint64(shift)
        keys *= np.uint64(factor)
    keys ^= keys >> np.uint64(31)
    draws: NDArray[Any] = (keys >> np.uint64(11)) * 2.0**-53
    return draws


def _points(n: int, seed: Seed, ids: Ids) -> NDArray[Any]:
    check_choice("ids", ids, ("random", "spatial"))
    points = np.random.default_rng(checked_seed(seed)).random((n, 2))
    return points[cKDTree(points).indices] if ids == "spatial" else points


def _size(n: int, name: str = "n", *, least: int = 0) -> int:
    n = checked_count(name, n, MAX_VERTICES, least)
    check_host_memory(f"{name} = {n}", _BYTES_PER_VERTEX * n)
    return n


def _n_draws(name: str, n_edges: int, times: int = 1) -> int:
    n_edges = times * checked_count(name, n_edges, _MAX_DRAWS // times, least=0)
    check_host_memory(f"a graph of {n_edges} edges", _BYTES_PER_EDGE * n_edges)
    return n_edges
