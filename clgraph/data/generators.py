"""Graphs of numbers and seeds, made on the host: what :mod:`clgraph.generators` makes there.

A class checks the arguments of a random graph and knows what both the host and a device draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import Seed, checked_count, checked_flag, checked_number, checked_seed
from clgraph.data.csr import MAX_VERTICES
from clgraph.data.graph import Graph
from clgraph.data.philox import BLOCK, below, in_chunks, key_of, random_shorts, random_words
from clgraph.errors import InputError
from clgraph.host_memory import check_host_memory
from clgraph.progress import begin

BYTES_PER_VERTEX, BYTES_PER_EDGE = 40, 24  # so much memory is needed at least while a graph is built
_MAX_DRAWS = 1 << 40
_SCRAMBLE_STREAM = 32  # R-MAT's streams before it draw a level each


class RMat:
    """The draws of an R-MAT graph: for each edge and level 16 bits, which *thresholds* cut into four quadrants.

    Stream l has those of level l, in order of the edges. *scramble* is the rounds of a permutation of the vertices:
    a multiplication and an addition, each modulo n, before the high half of the bits is added to the low half.
    """

    def __init__(self, scale: int, edge_factor: int, a: float, b: float, c: float, seed: Seed, permute: bool) -> None:
        self.scale = checked_count("scale", scale, 30, least=0)
        a, b, c = checked_number("a", a), checked_number("b", b), checked_number("c", c)
        if a + b + c > 1:
            raise InputError(f"a, b, c = {a}, {b}, {c}; they are probabilities with a sum of at most 1")
        self.n = 1 << self.scale
        self.n_edges = self.n * checked_count("edge_factor", edge_factor, _MAX_DRAWS // self.n, least=0)
        self.thresholds = tuple(round(2**16 * p) for p in (a, a + b, a + b + c))
        permute, self.key = checked_flag("permute", permute), key_of(checked_seed(seed))
        words = random_words(self.key, _SCRAMBLE_STREAM, 0, 8 if permute else 0).tolist()
        self.scramble = [(word % 2**32 | 1, word >> 32) for word in words]

    def graph(self) -> Graph:
        _check_edges(self.n_edges)
        src, dst = np.empty((2, self.n_edges), np.int32)

        def draw(part: slice) -> None:
            src[part], dst[part] = map(self._scrambled, self._ends(part.start, part.stop - part.start))

        in_chunks("generating edges", "edges", self.n_edges, draw)
        return Graph.from_edges(src, dst, n=self.n, duplicates="first", self_loops="drop")

    def _ends(self, first: int, count: int) -> NDArray[np.uint32]:
        """Return the ends of edges *first* … *first* + *count* − 1, before they are scrambled."""
        ends = np.zeros((2, count), np.uint32)
        at_a, at_ab, at_abc = self.thresholds
        for top in range(0, self.scale, 8):  # eight levels make a byte
            levels = range(top, min(top + 8, self.scale))
            u, v = bits = np.zeros((2, count), np.uint8)
            for level in levels:
                draws = random_shorts(self.key, level, first // (4 * BLOCK), count)
                down = draws >= at_ab
                right = (draws >= at_a) ^ down ^ (draws >= at_abc)
                bits += bits
                u += down.view(np.uint8)
                v += right.view(np.uint8)
            ends <<= np.uint32(len(levels))
            ends |= bits
        return ends

    def _scrambled(self, ends: Any) -> Any:
        for factor, summand in self.scramble:
            ends = (ends * np.uint32(factor) + np.uint32(summand)) & np.uint32(self.n - 1)
            ends ^= ends >> np.uint32((self.scale + 1) // 2)
        return ends


class UniformRandom:
    """The draws of a uniform random graph: word 2 e gives an end of edge e, and the word after it the other."""

    def __init__(self, n: int, n_edges: int, seed: Seed) -> None:
        self.n = checked_count("n", n, MAX_VERTICES, least=0)
        self.n_edges = checked_count("n_edges", n_edges, _MAX_DRAWS, least=0)
        if self.n == 0 and self.n_edges:
            raise InputError(f"n_edges = {self.n_edges} edges need at least one vertex")
        self.key = key_of(checked_seed(seed))

    def graph(self) -> Graph:
        check_host_memory(f"n = {self.n}", BYTES_PER_VERTEX * self.n)
        _check_edges(self.n_edges)
        src, dst = np.empty((2, self.n_edges), np.int32)

        def draw(part: slice) -> None:
            words = random_words(self.key, 0, 2 * part.start // BLOCK, 2 * (part.stop - part.start))
            src[part], dst[part] = below(words, self.n).reshape(-1, 2).T

        in_chunks("generating edges", "edges", self.n_edges, draw, share=4)  # an edge takes more memory than R-MAT's
        return Graph.from_edges(src, dst, n=self.n, duplicates="first", self_loops="drop")


class RoadLike:
    """The draws of a graph like roads: crossings on a grid of this *width*, 16 bits for each in stream 0.

    A crossing has a road to the left where its number is below *left*, and one upward where it is at least *upper*;
    the first one reached has both neighbours, so that no other choice is left at the border. Roads are numbered by
    crossing, the left one first. Stream 1 has a word for each vertex that bends a road.
    """

    left, upper = round(0.65 * 2**16), round(0.35 * 2**16)

    def __init__(self, n: int, seed: Seed) -> None:
        self.n = checked_count("n", n, MAX_VERTICES, least=0)
        self.key = key_of(checked_seed(seed))
        self.n_crossings = self.n if self.n < 8 else round(self.n / 1.5)
        self.width = max(1, round(self.n_crossings**0.5))

    def graph(self) -> Graph:
        check_host_memory(f"n = {self.n}", BYTES_PER_VERTEX * self.n)
        tell = begin("generating roads", self.n, "vertices")
        crossing = np.arange(self.n_crossings, dtype=np.int32)
        draw = random_shorts(self.key, 0, 0, self.n_crossings)
        has_left, has_upper = crossing % self.width > 0, crossing >= self.width
        left = has_left & (~has_upper | (draw < self.left))
        upper = has_upper & (~has_left | (draw >= self.upper))
        near = np.repeat(crossing, left.astype(np.int8) + upper)
        first_road = np.searchsorted(near, crossing)
        leads_left = np.zeros(near.size, bool)
        leads_left[first_road[left]] = True
        far = near - np.where(leads_left, 1, self.width).astype(np.int32)
        at = below(random_words(self.key, 1, 0, self.n - self.n_crossings), near.size)
        bends = np.bincount(at.astype(np.int64), minlength=near.size)
        before = np.append(0, np.cumsum(bends))  # bends of earlier roads
        tell(self.n_crossings)
        # Each road's bends follow its nearer crossing.
        number = crossing + before[first_road]
        first, bent = near + 1 + before[:-1], bends > 0
        last = (first + bends - 1)[bent]
        inner = np.ones(self.n, bool)  # vertices followed along their road by the next number
        inner[number] = inner[last] = False
        along = np.flatnonzero(inner)
        src = np.concatenate([number[far], last, along])
        dst = np.concatenate([np.where(bent, first, number[near]), number[near][bent], along + 1])
        tell(self.n)
        return Graph.from_edges(src, dst, n=self.n)


def grid_size(rows: int, cols: int) -> tuple[int, int]:
    """Return the checked size of a grid."""
    rows = checked_count("rows", rows, MAX_VERTICES, least=0)
    cols = checked_count("cols", cols, MAX_VERTICES, least=0)
    checked_count("rows * cols", rows * cols, MAX_VERTICES, least=0)
    return rows, cols


def grid(rows: int, cols: int) -> Graph:
    n = rows * cols
    check_host_memory(f"rows * cols = {n}", BYTES_PER_VERTEX * n)
    vertex = np.arange(n, dtype=np.int32).reshape(rows, cols)
    neighbors = vertex[..., None] + np.array([-cols, -1, 1, cols], np.int32)
    exists = np.ones(neighbors.shape, bool)
    exists[:1, :, 0] = exists[:, :1, 1] = exists[:, -1:, 2] = exists[-1:, :, 3] = False
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(exists.sum(-1, dtype=np.int8).ravel(), out=offsets[1:])
    return Graph._trusted(offsets, neighbors[exists], sorted_rows=True)


def tree(n: int, arity: int) -> Graph:
    check_host_memory(f"n = {n}", BYTES_PER_VERTEX * n)
    children = np.arange(1, n, dtype=np.int32)
    return Graph.from_edges((children - 1) // arity, children, n=n)


def cycle(n: int) -> Graph:
    check_host_memory(f"n = {n}", BYTES_PER_VERTEX * n)
    vertices = np.arange(n, dtype=np.int32)
    return Graph.from_edges(vertices, np.roll(vertices, -1), n=n)


def two_cliques(size: int, *, bridge: bool) -> Graph:
    check_host_memory(f"size = {size}", BYTES_PER_EDGE * size**2)
    src, dst = np.triu_indices(size, 1)
    src, dst = np.concatenate([src, src + size]), np.concatenate([dst, dst + size])
    if bridge and size:
        src, dst = np.append(src, size - 1), np.append(dst, size)
    return Graph.from_edges(src, dst, n=2 * size)


def _check_edges(n_edges: int) -> None:
    check_host_memory(f"a graph of {n_edges} edges", BYTES_PER_EDGE * n_edges)
