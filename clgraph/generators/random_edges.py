"""Generators of graphs whose edges are drawn independently: R-MAT and uniform random graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import Seed, checked_count, checked_flag, checked_number, checked_seed
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import BYTES_PER_EDGE, BYTES_PER_VERTEX
from clgraph.data.graphs.philox import BLOCK, below, in_chunks, key_of, random_shorts, random_words
from clgraph.errors import InputError
from clgraph.generators.device import bits_of, graph_of_keys, launch, new_keys, without_edges
from clgraph.host_memory import check_host_memory
from clgraph.runtime.session import Session, SessionLike, as_session

_MAX_DRAWS = 1 << 40  # The generators draw at most this number of edges.
_SCRAMBLE_STREAM = 32  # A stream of random words that no level of R-MAT uses, because R-MAT has at most 30 levels.


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: Seed = 0,
    permute: bool = True,
    session: SessionLike = None,
) -> Graph:
    """Return a scale-free undirected R-MAT graph [1]_ of ``2**scale`` vertices.

    ``edge_factor * 2**scale`` edges are drawn; repeats and self-loops are removed. The default probabilities *a*, *b*
    and *c* are Graph500's. Probabilities are rounded to multiples of ``2**-16``. *permute* renumbers the vertices at
    random; otherwise vertices of high degree have low numbers.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos. "R-MAT: A recursive model for graph mining."
       SIAM International Conference on Data Mining, 2004.
    """
    return RMat(scale, edge_factor, a, b, c, seed, permute).graph(session)


def uniform_random(n: int, n_edges: int, seed: Seed = 0, *, session: SessionLike = None) -> Graph:
    """Return an undirected graph of *n_edges* edges drawn uniformly, from
    which repeats and self-loops are then removed.
    """
    return UniformRandom(n, n_edges, seed).graph(session)


class _RandomEdges:
    """Random edges of a graph.

    An edge is a function of its number and a key, so hosts and devices draw the same edges.

    Repeats and self-loops are dropped. Subclasses check the arguments, and set *n*, *n_edges* and the *key* of the
    random words.
    """

    n: int
    n_edges: int
    key: tuple[int, int]
    kernel: str
    edges_per_item: int  # Number of edges that one work-item draws.
    # The host draws CHUNK / chunk_share edges at a time, so that the edges' random words fit the cache.
    chunk_share = 1

    def graph(self, session: SessionLike) -> Graph:
        return self._on_host() if session is None else self._on_device(as_session(session))

    def ends(self, first: int, count: int) -> Any:
        """Return the two ends of the edges *first* … *first* + *count* − 1 as an array of shape (2, count)."""
        raise NotImplementedError

    def arguments(self, session: Session) -> dict[str, Any]:
        """Return the kernel arguments that only this kind of random edges has."""
        raise NotImplementedError

    def _on_host(self) -> Graph:
        check_host_memory(f"a graph of {self.n_edges} edges", BYTES_PER_EDGE * self.n_edges)
        src, dst = np.empty((2, self.n_edges), np.int32)

        def draw(part: slice) -> None:
            src[part], dst[part] = self.ends(part.start, part.stop - part.start)

        in_chunks("generating edges", "edges", self.n_edges, draw, self.chunk_share)
        return Graph.from_edges(src, dst, n=self.n, duplicates="first", self_loops="drop")

    def _on_device(self, session: Session) -> Graph:
        if self.n < 2 or not self.n_edges:
            return without_edges(session, self.n)
        n_items = -(-self.n_edges // self.edges_per_item)
        keys = new_keys(session, 2 * self.edges_per_item * n_items)
        scope = {"n_blocks": n_items, "n_edges": self.n_edges, "keys": keys, **self.arguments(session)}
        launch(session, "edges", self.kernel, n_items, key=self.key, **scope)
        return graph_of_keys(session, self.n, keys, merged=True)


class RMat(_RandomEdges):
    """The random edges of an R-MAT graph: on each level, 16 random bits choose one of four quadrants for an edge.

    Three *thresholds* divide the range of the 16 bits into the quadrants. Stream l of the random words holds the bits
    of level l, edge by edge. *scramble* has the rounds of a permutation of the vertices. Each round multiplies and
    adds, both modulo n, and then combines the high half of the bits with the low half by exclusive or.
    """

    kernel, edges_per_item = "rmat", 16

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

    def ends(self, first: int, count: int) -> Any:
        return self._scrambled(self._in_order(first, count))

    def arguments(self, session: Session) -> dict[str, Any]:
        scramble = session.upload(np.array([*self.scramble, (0, 0)], np.uint32).ravel())
        thresholds = dict(zip(("at_a", "at_ab", "at_abc"), self.thresholds, strict=True))
        return {"scale": self.scale, "n_rounds": len(self.scramble), "scramble": scramble, **thresholds}

    def _in_order(self, first: int, count: int) -> NDArray[np.uint32]:
        """Return the ends of the edges *first* … *first* + *count* − 1 before the vertices are permuted."""
        ends = np.zeros((2, count), np.uint32)
        at_a, at_ab, at_abc = self.thresholds
        for top in range(0, self.scale, 8):  # The bits of eight levels are collected in a byte.
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


class UniformRandom(_RandomEdges):
    """The random edges of a uniform random graph.

    The ends of edge e are made from the random words 2 e and 2 e + 1.
    """

    kernel, edges_per_item = "uniform", 2
    chunk_share = 4  # Chunks of edges are smaller than R-MAT's, because drawing an edge takes more memory here.

    def __init__(self, n: int, n_edges: int, seed: Seed) -> None:
        self.n = checked_count("n", n, MAX_VERTICES, least=0)
        self.n_edges = checked_count("n_edges", n_edges, _MAX_DRAWS, least=0)
        if self.n == 0 and self.n_edges:
            raise InputError(f"n_edges = {self.n_edges} edges need at least one vertex")
        self.key = key_of(checked_seed(seed))

    def ends(self, first: int, count: int) -> Any:
        return below(random_words(self.key, 0, 2 * first // BLOCK, 2 * count), self.n).reshape(-1, 2).T

    def arguments(self, session: Session) -> dict[str, Any]:
        return {"n": self.n, "bits": bits_of(self.n)}

    def _on_host(self) -> Graph:
        check_host_memory(f"n = {self.n}", BYTES_PER_VERTEX * self.n)
        return super()._on_host()
