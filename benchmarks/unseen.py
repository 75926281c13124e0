"""Inputs on which the cost model is tuned and judged: kinds that no committed result has.

Each kind makes an input of about the size that is asked for, so that one kind serves small and large devices. The
kinds were split once, before anything was tuned on them: constants may be fitted to those of :data:`TUNE`, and what is
said about the model is measured on those of :data:`JUDGE`. Both halves have every family (lattices, trees, degrees
that follow a power law, dense and bipartite graphs, fragments, points in space, networks of machines).
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.ratings.ratings import Ratings

Ids: TypeAlias = NDArray[np.int64]
Points: TypeAlias = NDArray[np.float64]
Pairs: TypeAlias = tuple[int, Ids, Ids]  # how many vertices, and the ends of the edges
Steps: TypeAlias = Sequence[tuple[int, ...]]
Kind: TypeAlias = Callable[[int, Generator], Pairs]

AXES: Steps = ((1, 0), (0, 1))
AXES_IN_SPACE: Steps = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
DIAGONALS: Steps = ((1, 1), (1, -1))
ALL_AROUND = [step for step in itertools.product((-1, 0, 1), repeat=3) if step > (0, 0, 0)]


# ---- lattices


def _lattice(shape: tuple[int, ...], steps: Steps, wrap: bool = False) -> Pairs:
    """Return a grid of *shape* whose vertices have an edge along each of *steps*; it is a torus if *wrap*."""
    ids = np.arange(int(np.prod(shape))).reshape(shape)
    ends = []
    for step in steps:
        if wrap:
            ends.append((ids, np.roll(ids, [-s for s in step], tuple(range(len(shape))))))
            continue
        here = ids[tuple(slice(max(0, -s), length - max(0, s)) for s, length in zip(step, shape, strict=True))]
        there = ids[tuple(slice(max(0, s), length + min(0, s)) for s, length in zip(step, shape, strict=True))]
        ends.append((here, there))
    return ids.size, np.concatenate([a.ravel() for a, _ in ends]), np.concatenate([b.ravel() for _, b in ends])


def _side(n: int, dimensions: int) -> int:
    return max(2, round(n ** (1 / dimensions)))


def _cube(n: int, rng: Generator, steps: Steps = AXES, wrap: bool = False) -> Pairs:
    """Return a lattice with sides of one length, in as many dimensions as the steps have."""
    dimensions = len(steps[0])
    return _lattice((_side(n, dimensions),) * dimensions, steps, wrap)


def _thinned(n: int, rng: Generator, steps: Steps, share: float) -> Pairs:
    """Return a lattice of whose edges a random *share* is left."""
    size, a, b = _cube(n, rng, steps)
    kept = rng.random(a.size) < share
    return size, a[kept], b[kept]


def _honeycomb(n: int, rng: Generator) -> Pairs:
    side = _side(n, 2)
    size, a, b = _cube(n, rng)
    kept = (b - a == 1) | ((a // side + a % side) % 2 == 0)
    return size, a[kept], b[kept]


def _strip(n: int, rng: Generator) -> Pairs:
    return _lattice((max(2, n // 8), 8), AXES)


def _shuffled(n: int, rng: Generator, make: Kind) -> Pairs:
    """Return what *make* makes with its vertices numbered at random."""
    size, a, b = make(n, rng)
    order = rng.permutation(size)
    return size, order[a], order[b]


def _sites(n: int, rng: Generator) -> Pairs:
    """Return a triangular grid of which some vertices have lost their edges."""
    size, a, b = _cube(n, rng, (*AXES, (1, 1)))
    there = rng.random(size) < 0.58
    kept = there[a] & there[b]
    return size, a[kept], b[kept]


def _grid_with_hub(n: int, rng: Generator) -> Pairs:
    size, a, b = _cube(n, rng)
    spokes = rng.choice(size, size // 4, replace=False)
    return size + 1, np.concatenate([a, spokes]), np.concatenate([b, np.full(spokes.size, size)])


def _king_with_stations(n: int, rng: Generator) -> Pairs:
    """Return a king's grid and thirty hubs, each tied to one vertex in two hundred."""
    size, a, b = _cube(n, rng, (*AXES, *DIAGONALS))
    ends = rng.integers(0, size, (30, max(1, size // 200)))
    hubs = np.repeat(size + np.arange(30), ends.shape[1])
    return size + 30, np.concatenate([a, hubs]), np.concatenate([b, ends.ravel()])


def _subdivided_grid(n: int, rng: Generator) -> Pairs:
    """Return a grid whose edges are paths of ten edges, as roads with shape points are."""
    size, a, b = _cube(n // 19 + 4, rng)
    inner = size + np.arange(9 * a.size).reshape(-1, 9)
    way = np.column_stack([a, inner, b])
    return size + inner.size, way[:, :-1].ravel(), way[:, 1:].ravel()


def _band(n: int, rng: Generator, per_vertex: int, width: int) -> Pairs:
    a = np.repeat(np.arange(n), per_vertex)
    return n, a, np.minimum(n - 1, a + rng.integers(1, width + 1, a.size))


def _ring(n: int, rng: Generator, rewired: float = 0.0) -> Pairs:
    """Return a ring of neighbours up to four places away; a share of the edges is *rewired* to random vertices."""
    a = np.repeat(np.arange(n), 4)
    b = (a + np.tile(np.arange(1, 5), n)) % n
    moved = rng.random(a.size) < rewired
    return n, a, np.where(moved, rng.integers(0, n, a.size), b)


# ---- trees


def _tree(n: int, rng: Generator, parents: Callable[[Ids, int], Any]) -> Pairs:
    """Return the tree in which each vertex v from 1 on hangs from ``parents(v, n)``."""
    numbers = np.arange(1, n)
    return n, np.broadcast_to(parents(numbers, n), numbers.shape), numbers


def _recursive_tree(n: int, rng: Generator) -> Pairs:
    return _tree(n, rng, lambda v, n: (rng.random(n - 1) * v).astype(np.int64))


def _deep_tree(n: int, rng: Generator) -> Pairs:
    """Return a tree of depth about the square root of *n*: each vertex hangs from one of the last ones before it."""
    return _tree(n, rng, lambda v, n: np.maximum(0, v - 1 - rng.integers(0, max(2, int(n**0.5)), n - 1)))


def _star_of_stars(n: int, rng: Generator) -> Pairs:
    side = _side(n, 2)
    return _tree(side * side, rng, lambda v, n: np.where(v < side, 0, v // side))


def _path(n: int, rng: Generator) -> Pairs:
    return _tree(n, rng, lambda v, n: v - 1)


# ---- degrees that follow a power law


def _preferential(n: int, rng: Generator, m: int = 4) -> Pairs:
    """Return a graph after Barabási and Albert: entry 2j of the list of ends is new, 2j + 1 copies an earlier one."""
    n_edges = m * n
    copied = (rng.random(n_edges) * (2 * np.arange(n_edges) + 1)).astype(np.int64)
    ends = np.empty(2 * n_edges, np.int64)
    ends[0::2] = np.arange(n_edges) // m
    ends[1::2] = -1 - copied
    while (unknown := ends < 0).any():  # follows chains of copies, a link at a time
        ends[unknown] = ends[-1 - ends[unknown]]
    return n, ends[0::2], ends[1::2]


def _power_law(n: int, rng: Generator, least: float, exponent: float) -> Pairs:
    """Return edges between stubs, the numbers of which follow a power law and are at least *least* rounded down."""
    degrees = np.minimum(n // 8, (least * rng.random(n) ** (-1 / (exponent - 1))).astype(np.int64))
    stubs = rng.permutation(np.repeat(np.arange(n), degrees))
    half = stubs.size // 2
    return n, stubs[:half], stubs[half : 2 * half]


def _kronecker(n: int, rng: Generator) -> Pairs:
    """Return a Kronecker graph that is less skewed than the benchmarks' R-MAT, its vertices numbered at random."""
    bits, m = max(4, n.bit_length() - 1), 12 * n
    a, b = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for _ in range(bits):
        quarter = np.searchsorted(np.cumsum([0.42, 0.23, 0.23]), rng.random(m))
        a, b = 2 * a + quarter // 2, 2 * b + quarter % 2
    return 1 << bits, a, b


def _citing(n: int, rng: Generator, per_vertex: int, recent: int, power: int, share: float) -> Pairs:
    """Return pages or papers that cite a *share* of *recent* ones, and else any before, early ones more often."""
    a = np.repeat(np.arange(n), per_vertex)
    near, early = np.maximum(0, a - rng.integers(1, recent, a.size)), (a * rng.random(a.size) ** power).astype(np.int64)
    return n, a, np.where(rng.random(a.size) < share, near, early)


# ---- hubs, dense and bipartite graphs


def _wheel(n: int, rng: Generator) -> Pairs:
    rim = np.arange(1, n)
    return n, np.concatenate([np.zeros(n - 1, np.int64), rim]), np.concatenate([rim, rim % (n - 1) + 1])


def _few_hubs(n: int, rng: Generator) -> Pairs:
    return n, np.repeat(np.arange(16, n), 3), rng.integers(0, 16, 3 * (n - 16))


def _complete_bipartite(left: int, ratio: int) -> Pairs:
    """Return *left* vertices with an edge to each of *ratio* times as many on the right."""
    a, b = np.divmod(np.arange(ratio * left * left), ratio * left)
    return (1 + ratio) * left, a, left + b


def _random_bipartite(n: int, rng: Generator) -> Pairs:
    left = n // 5
    return n, rng.integers(0, left, 6 * n), rng.integers(left, n, 6 * n)


def _dense(n: int, rng: Generator) -> Pairs:
    side = 4 * _side(n, 2)
    a, b = np.triu_indices(side, 1)
    kept = rng.random(a.size) < 0.3
    return side, a[kept], b[kept]


def _copies(n: int, piece: Pairs) -> Pairs:
    """Return copies of a graph, apart from each other."""
    size, a, b = piece
    first = size * np.arange(max(2, n // size))
    return size * first.size, (first[:, None] + a).ravel(), (first[:, None] + b).ravel()


def _cliques(n: int, rng: Generator, size: int = 32) -> Pairs:
    """Return cliques, each with one edge to the next."""
    n_vertices, a, b = _copies(n, (size, *np.triu_indices(size, 1)))
    first = np.arange(0, n_vertices, size)
    return n_vertices, np.concatenate([a, first[:-1]]), np.concatenate([b, first[1:] + 1])


def _blocks(n: int, rng: Generator, per_vertex: int, size: int, share: float) -> Pairs:
    """Return communities of *size*, with a *share* of the edges inside."""
    a = np.repeat(np.arange(n), per_vertex)
    inside = (a // size * size + rng.integers(0, size, a.size)) % n
    return n, a, np.where(rng.random(a.size) < share, inside, rng.integers(0, n, a.size))


def _lollipop(n: int, rng: Generator) -> Pairs:
    """Return a clique with a long path."""
    side = 2 * _side(n, 2)
    a, b = np.triu_indices(side, 1)
    path = np.arange(side - 1, side - 1 + n)
    return side + n, np.concatenate([a, path]), np.concatenate([b, path + 1])


# ---- fragments


def _fragments(n: int, rng: Generator) -> Pairs:
    """Return paths of one to eight vertices."""
    linked = rng.random(n - 1) < 0.7
    linked[7::8] = False
    a = np.flatnonzero(linked)
    return n, a, a + 1


def _unequal_fragments(n: int, rng: Generator) -> Pairs:
    """Return random trees whose sizes follow a power law."""
    sizes = np.minimum(n // 4, (2 * rng.random(n // 4) ** -1.0).astype(np.int64))
    sizes = sizes[np.cumsum(sizes) <= n]
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    numbers = np.arange(first.size)
    parents = first + (rng.random(first.size) * (numbers - first)).astype(np.int64)
    inner = numbers > first
    return n, numbers[inner], parents[inner]


def _mostly_isolated(n: int, rng: Generator) -> Pairs:
    few = n // 20
    return n, rng.integers(0, few, 8 * few) * 20, rng.integers(0, few, 8 * few) * 20


def _thin_uniform(n: int, rng: Generator) -> Pairs:
    """Return random edges so few that a component is large, most are small, and many vertices are alone."""
    return n, *rng.integers(0, n, (2, 4 * n // 5))


def _third_isolated(n: int, rng: Generator) -> Pairs:
    linked = np.flatnonzero(rng.random(n) < 2 / 3)
    return n, *linked[rng.integers(0, linked.size, (2, 3 * linked.size))]


# ---- points in space


def _near(points: NDArray[Any], k: int) -> Pairs:
    """Return an edge from each point to its *k* nearest ones."""
    _, nearest = cKDTree(points).query(points, k + 1)
    return len(points), np.repeat(np.arange(len(points)), k), nearest[:, 1:].ravel()


def _near_in_box(n: int, rng: Generator, k: int, sides: tuple[float, ...]) -> Pairs:
    return _near(rng.random((n, len(sides))) * sides, k)


def _near_in_order(n: int, rng: Generator, k: int, cubes: int, strides: list[int]) -> Pairs:
    """Return an edge from each point in space to its *k* nearest ones, numbered cube by cube."""
    points = rng.random((n, 3))
    return _near(points[np.argsort((points * cubes).astype(int) @ strides)], k)


def _clusters(n: int, rng: Generator) -> Pairs:
    centres = rng.random((max(2, n // 2000), 2))
    return _near(centres[rng.integers(0, len(centres), n)] + rng.normal(scale=0.003, size=(n, 2)), 5)


# ---- networks of machines, and random ones


def _hypercube(n: int, rng: Generator) -> Pairs:
    bits = max(4, n.bit_length() - 1)
    ids = np.arange(1 << bits)
    return ids.size, np.tile(ids, bits), np.concatenate([ids ^ (1 << k) for k in range(bits)])


def _hamming(n: int, rng: Generator) -> Pairs:
    """Return numbers of base 4, with an edge between those that differ in one digit."""
    digits = max(2, (n.bit_length() - 1) // 2)
    ids = np.arange(4**digits)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    ends = [(ids[(digit := ids // 4**k % 4) == i], ids[digit == j]) for k in range(digits) for i, j in pairs]
    return ids.size, np.concatenate([a for a, _ in ends]), np.concatenate([b for _, b in ends])


def _de_bruijn(n: int, rng: Generator) -> Pairs:
    size = 1 << max(4, n.bit_length() - 1)
    ids = np.arange(size)
    return size, np.tile(ids, 2), np.concatenate([2 * ids % size, (2 * ids + 1) % size])


def _butterfly(n: int, rng: Generator) -> Pairs:
    bits = max(3, (n // 16).bit_length() - 1)
    rank, row = np.divmod(np.arange(bits << bits), 1 << bits)
    here, next_rank = (rank << bits) + row, (rank + 1) << bits
    return (bits + 1) << bits, np.tile(here, 2), np.concatenate([next_rank + row, next_rank + (row ^ (1 << rank))])


def _regular(n: int, rng: Generator, degree: int) -> Pairs:
    """Return the union of random cycles through all vertices."""
    cycles = [rng.permutation(n) for _ in range(degree // 2)]
    return n, np.concatenate(cycles), np.concatenate([np.roll(cycle, 1) for cycle in cycles])


def _random_and_tail(n: int, rng: Generator) -> Pairs:
    """Return a random graph with a long path, where a search runs wide first and narrow for long."""
    wide, tail = n - n // 50, np.arange(n - n // 50 - 1, n - 1)
    ends = rng.integers(0, wide, (2, 8 * wide))
    return n, np.concatenate([ends[0], tail]), np.concatenate([ends[1], tail + 1])


TUNE: Mapping[str, Kind] = {
    # The first six lines came last, when of the other half only means and three kinds that were off were known.
    "boxes": partial(_cube, steps=ALL_AROUND),
    "percolation-in-space": partial(_thinned, steps=AXES_IN_SPACE, share=0.35),
    "sites": _sites,
    "king-with-stations": _king_with_stations,
    "wide-band": partial(_band, per_vertex=16, width=300),
    "bristles": partial(_tree, parents=lambda v, n: np.where(v < n // 2, v - 1, v - n // 2)),  # a path, a leaf at each
    "thin-power-law": partial(_power_law, least=2.0, exponent=2.8),
    "citations": partial(_citing, per_vertex=5, recent=2000, power=2, share=0.4),
    "two-stars": partial(_tree, parents=lambda v, n: np.where(v < n // 2, 0, 1)),
    "long-bipartite": lambda n, rng: _complete_bipartite(max(2, _side(n // 8, 2) // 4), 64),
    "small-blocks": partial(_blocks, per_vertex=9, size=200, share=0.98),
    "thin-uniform": _thin_uniform,
    "third-isolated": _third_isolated,
    "hamming": _hamming,
    "thick-regular": partial(_regular, degree=12),
    "dense-regular": lambda n, rng: _regular(n // 4, rng, 64),
    "near-in-slab": partial(_shuffled, make=partial(_near_in_box, k=6, sides=(1.0, 1.0, 0.3))),
    "near-in-tiles": partial(_near_in_order, k=12, cubes=20, strides=[400, 20, 1]),
    "torus": partial(_cube, wrap=True),
    "king": partial(_cube, steps=(*AXES, *DIAGONALS)),
    "honeycomb": _honeycomb,
    "shuffled-grid": partial(_shuffled, make=_cube),
    "subdivided-grid": _subdivided_grid,
    "ring": _ring,
    "small-world": partial(_ring, rewired=0.1),
    "recursive-tree": _recursive_tree,
    "binary-tree": partial(_tree, parents=lambda v, n: (v - 1) // 2),
    "broom": partial(_tree, parents=lambda v, n: np.minimum(v - 1, n // 2)),
    "comb": partial(_tree, parents=lambda v, n: np.where(v % 31 == 0, v - 31, v - 1)),  # teeth of thirty vertices
    "preferential": _preferential,
    "kronecker": partial(_shuffled, make=_kronecker),
    "star-of-stars": _star_of_stars,
    "few-hubs": _few_hubs,
    "random-bipartite": _random_bipartite,
    "cliques": _cliques,
    "lollipop": _lollipop,
    "unequal-fragments": _unequal_fragments,
    "islands": lambda n, rng: _copies(n, _lattice((32, 32), AXES)),
    "near-in-plane": partial(_near_in_box, k=6, sides=(1.0, 1.0)),
    "de-bruijn": _de_bruijn,
    "regular": partial(_regular, degree=4),
    "random-path": partial(_shuffled, make=_path),
}
JUDGE: Mapping[str, Kind] = {
    "cube": partial(_cube, steps=AXES_IN_SPACE),
    "triangular": partial(_cube, steps=(*AXES, (1, 1))),
    "strip": _strip,
    "percolation": partial(_thinned, steps=AXES, share=0.6),
    "grid-with-hub": _grid_with_hub,
    "banded": partial(_band, per_vertex=10, width=20),
    "nearly-ring": partial(_ring, rewired=0.0005),
    "deep-tree": _deep_tree,
    "caterpillar": partial(_tree, parents=lambda v, n: np.where(v < n // 4, v - 1, v % (n // 4))),
    "spider": partial(_tree, parents=lambda v, n: np.where(v % 1000 == 1, 0, v - 1)),  # legs of a thousand vertices
    "power-law": partial(_power_law, least=1.5, exponent=2.3),
    "copied-web": partial(_citing, per_vertex=8, recent=200, power=3, share=0.7),
    "star": partial(_tree, parents=lambda v, n: 0),
    "wheel": _wheel,
    "complete-bipartite": lambda n, rng: _complete_bipartite(_side(n, 2) // 2 + 1, 4),
    "dense": _dense,
    "blocks": partial(_blocks, per_vertex=6, size=1000, share=0.9),
    "fragments": partial(_shuffled, make=_fragments),
    "mostly-isolated": _mostly_isolated,
    "near-in-space": partial(_near_in_order, k=8, cubes=32, strides=[1024, 32, 1]),
    "clusters": _clusters,
    "hypercube": _hypercube,
    "butterfly": _butterfly,
    "denser-regular": partial(_regular, degree=24),
    "random-and-tail": _random_and_tail,
}
WEIGHTS = ("uniform", "equal", "heavy")  # which of them a kind has, its name decides


def _rng(kind: str, seed: int) -> Generator:
    return np.random.default_rng([seed, zlib.crc32(kind.encode())])


def load(kind: str, n: int, seed: int = 0, makers: Mapping[str, Any] = MappingProxyType({**TUNE, **JUDGE})) -> Graph:
    """Return a graph of *kind* with about *n* vertices, without loops and repeats, and with weights 1 … 2^20."""
    rng = _rng(kind, seed)
    size, a, b = makers[kind](n, rng)
    graph = Graph.from_edges(a, b, n=size, duplicates="first", self_loops="drop")
    src, dst, _ = graph.edge_list()
    how = WEIGHTS[zlib.crc32(kind.encode()) % len(WEIGHTS)]
    if how == "equal":
        weights = np.ones(src.size, np.int32)
    elif how == "uniform":
        weights = rng.integers(1, 1025, src.size, np.int32)
    else:
        weights = np.minimum(2**20, 1 / np.maximum(rng.random(src.size), 2.0**-20)).astype(np.int32)
    return Graph.from_edges(src, dst, weights, n=size)


# ---- ratings


def _diagonals(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users = np.arange(n)
    return np.tile(users, 5), np.concatenate([(users + shift) % n for shift in (0, 1, 2, 100, n // 2)])


def _uniform(n_users: int, n_items: int, n_ratings: int, rng: Generator) -> tuple[Ids, Ids]:
    return rng.integers(0, n_users, n_ratings), rng.integers(0, n_items, n_ratings)


def _one_hot_item(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users, items = rng.integers(0, n, 10 * n), rng.integers(1, n, 10 * n)
    return np.concatenate([np.arange(n), users]), np.concatenate([np.zeros(n, np.int64), items])


def _hot_users(n: int, rng: Generator) -> tuple[Ids, Ids]:
    """Return ratings of which three users have one of every second item."""
    items = np.flatnonzero(np.arange(n) % 2)
    users = np.concatenate([np.repeat(np.arange(3), items.size), rng.integers(3, n, 12 * n)])
    return users, np.concatenate([np.tile(items, 3), rng.integers(0, n, 12 * n)])


def _beside(n: int, rng: Generator, per_user: int, items: Callable[[Ids, int, Generator], Ids]) -> tuple[Ids, Ids]:
    """Return ratings by random users, whose items ``items(users, n, rng)`` tells."""
    users = rng.integers(0, n, per_user * n)
    return users, items(users, n, rng)


def _drifting(users: Ids, n: int, rng: Generator) -> Ids:
    return np.maximum(0, users - (rng.exponential(300, users.size)).astype(np.int64))


def _trailing(users: Ids, n: int, rng: Generator) -> Ids:
    return np.maximum(0, users - rng.integers(0, 60, users.size))


def _sliding(users: Ids, n: int, rng: Generator) -> Ids:
    """Return items of a window that moves on with the users, half as fast."""
    return users // 2 + rng.integers(0, 2000, users.size)


def _of_community(users: Ids, n: int, rng: Generator) -> Ids:
    return (users // 500 * 500 + rng.integers(0, 500, users.size)) % n


def _checkers(users: Ids, n: int, rng: Generator) -> Ids:
    items = rng.integers(0, n, users.size)
    return items - (items + users) % 2 * (items > 0)


def _zipf_items(n: int, rng: Generator) -> tuple[Ids, Ids]:
    items = np.minimum(n - 1, (rng.random(16 * n) ** -1.1).astype(np.int64))
    return rng.integers(0, n, items.size), items


def _zipf_both(n: int, rng: Generator, per_user: int, scale: int, exponent: float) -> tuple[Ids, Ids]:
    users, items = (
        np.minimum(n - 1, (scale * (rng.random(per_user * n) ** exponent - 1)).astype(np.int64)) for _ in range(2)
    )
    return users, items


def _mild_zipf(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users, items = _zipf_both(n, rng, 14, 200, -0.9)
    return rng.permutation(n)[users], items


def _staircase(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users = np.repeat(np.arange(n), 12)
    return users, np.minimum(n - 1, users // 20 * 20 + np.tile(np.arange(12), n))


TUNE_RATINGS: Mapping[str, Callable[[int, Generator], tuple[Ids, Ids]]] = {
    "uniform": lambda n, rng: _uniform(n, n // 3 + 1, 20 * n, rng),
    "rectangle": lambda n, rng: np.divmod(np.arange(20 * n), 100),
    "communities": partial(_beside, per_user=16, items=_of_community),
    "zipf-items": _zipf_items,
    "staircase": _staircase,
    "sparse": lambda n, rng: _uniform(n, n, 2 * n, rng),
    "trailing": partial(_beside, per_user=10, items=_trailing),
    "sliding": partial(_beside, per_user=24, items=_sliding),
    "short": lambda n, rng: _uniform(300, n, 8 * n, rng),
    "hot-users": _hot_users,
    "mild-zipf": _mild_zipf,
}
JUDGE_RATINGS: Mapping[str, Callable[[int, Generator], tuple[Ids, Ids]]] = {
    "diagonals": _diagonals,
    "one-hot-item": _one_hot_item,
    "tall": lambda n, rng: _uniform(n, 50, 8 * n, rng),
    "drifting": partial(_beside, per_user=16, items=_drifting),
    "zipf-both": partial(_zipf_both, per_user=16, scale=20, exponent=-0.7),
    "checkers": partial(_beside, per_user=16, items=_checkers),
}


def load_ratings(
    kind: str, n: int, seed: int = 0, makers: Mapping[str, Any] = MappingProxyType({**TUNE_RATINGS, **JUDGE_RATINGS})
) -> Ratings:
    """Return ratings of *kind* by about *n* users, each pair once."""
    rng = _rng(kind, seed)
    users, items = makers[kind](n, rng)
    n_items = int(items.max()) + 1
    keys = np.unique(users * n_items + items)
    users, items = np.divmod(keys, n_items)
    return Ratings.from_triples(users, items, rng.normal(size=keys.size).astype(np.float32))


# ---- meshes


def _clustered_points(n: int, rng: Generator) -> Points:
    centres = rng.random((max(2, n // 500), 2))
    return centres[rng.integers(0, len(centres), n)] + rng.normal(scale=0.01, size=(n, 2))


def _shaken_lattice(n: int, rng: Generator) -> Points:
    side = _side(n, 2)
    return np.stack(np.divmod(np.arange(side * side), side), axis=1) + 0.4 * rng.random((side * side, 2))


def _rings(n: int, rng: Generator) -> Points:
    """Return points near ten circles round one centre."""
    angles, radii = 2 * np.pi * rng.random(n), rng.integers(1, 11, n) + 0.02 * rng.random(n)
    return np.stack((radii * np.cos(angles), radii * np.sin(angles)), axis=1)


TUNE_MESHES: Mapping[str, Callable[[int, Generator], Points]] = {
    "long-strip": lambda n, rng: rng.random((n, 2)) * (50.0, 1.0),
    "shaken-lattice": _shaken_lattice,
}
JUDGE_MESHES: Mapping[str, Callable[[int, Generator], Points]] = {
    "clustered-points": _clustered_points,
    "graded-points": lambda n, rng: rng.random((n, 2)) ** 2,  # the closer to each other the nearer to a corner
    "rings": _rings,
}


def load_mesh(
    kind: str, n: int, seed: int = 0, makers: Mapping[str, Any] = MappingProxyType({**TUNE_MESHES, **JUDGE_MESHES})
) -> TriangleMesh:
    """Return the Delaunay mesh of about *n* points of *kind*."""
    points = makers[kind](n, _rng(kind, seed))
    return PlanarGraph.from_arrays(points, []).triangulate()
