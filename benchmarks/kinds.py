"""Makers of graphs of many kinds, for the tables of ``unseen.py`` and ``fresh.py``.

A maker ``make(n, rng)`` returns a graph of about *n* vertices as its size and the ends of its edges. Loops and repeated
edges are dropped later.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Ids: TypeAlias = NDArray[np.int64]
Points: TypeAlias = NDArray[np.float64]
Pairs: TypeAlias = tuple[int, Ids, Ids]  # the number of vertices, and the ends of the edges
Steps: TypeAlias = Sequence[tuple[int, ...]]
Kind: TypeAlias = Callable[[int, Generator], Pairs]

AXES: Steps = ((1, 0), (0, 1))
AXES_IN_SPACE: Steps = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
DIAGONALS: Steps = ((1, 1), (1, -1))
ALL_AROUND = [step for step in itertools.product((-1, 0, 1), repeat=3) if step > (0, 0, 0)]


def joined(n: int, *parts: Any) -> Pairs:
    """Return a graph of *n* vertices; each of *parts* has the two ends of some edges, which are broadcast."""
    ends = [[end.ravel() for end in np.broadcast_arrays(*part)] for part in parts]
    return n, np.concatenate([a for a, _ in ends]), np.concatenate([b for _, b in ends])


def side(n: int, dimensions: int = 2) -> int:
    """Return the side of a cube of about *n* vertices."""
    return max(2, round(n ** (1 / dimensions)))


def groups(sizes: Ids) -> tuple[Ids, Ids]:
    """Return the number of each member of groups of these sizes, and the number of the first one of its group."""
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.arange(first.size), first


def shuffled(n: int, rng: Generator, make: Kind) -> Pairs:
    """Return the graph of *make* with its vertices numbered at random."""
    size, a, b = make(n, rng)
    order = rng.permutation(size)
    return size, order[a], order[b]


# ---- lattices


def lattice(shape: tuple[int, ...], steps: Steps, wrap: bool = False) -> Pairs:
    """Return a grid of *shape* whose vertices have an edge along each of *steps*; it is a torus if *wrap*."""
    ids = np.arange(math.prod(shape)).reshape(shape)

    def starts(step: Sequence[int]) -> Ids:
        """Return the vertices from which the step does not leave the grid."""
        return ids[tuple(slice(max(0, -s), length - max(0, s)) for s, length in zip(step, shape, strict=True))]

    parts = []
    for step in steps:
        back = [-s for s in step]
        parts.append((ids, np.roll(ids, back, range(len(shape)))) if wrap else (starts(step), starts(back)))
    return joined(ids.size, *parts)


def cube(n: int, rng: Generator, steps: Steps = AXES, wrap: bool = False) -> Pairs:
    """Return a lattice with sides of one length, in the dimensions of the steps."""
    dimensions = len(steps[0])
    return lattice((side(n, dimensions),) * dimensions, steps, wrap)


def thinned(n: int, rng: Generator, steps: Steps, share: float) -> Pairs:
    """Return a lattice that has kept a random *share* of its edges."""
    size, a, b = cube(n, rng, steps)
    kept = rng.random(a.size) < share
    return size, a[kept], b[kept]


def honeycomb(n: int, rng: Generator) -> Pairs:
    size, a, b = cube(n, rng)
    kept = (b - a == 1) | ((a // side(n) + a % side(n)) % 2 == 0)
    return size, a[kept], b[kept]


def sites(n: int, rng: Generator) -> Pairs:
    """Return a triangular grid of which some vertices have lost their edges."""
    size, a, b = cube(n, rng, (*AXES, (1, 1)))
    there = rng.random(size) < 0.58
    kept = there[a] & there[b]
    return size, a[kept], b[kept]


def grid_with_hub(n: int, rng: Generator) -> Pairs:
    size, a, b = cube(n, rng)
    return joined(size + 1, (a, b), (rng.choice(size, size // 4, replace=False), size))


def king_with_stations(n: int, rng: Generator) -> Pairs:
    """Return a king's grid and thirty hubs, each tied to one vertex in two hundred."""
    size, a, b = cube(n, rng, (*AXES, *DIAGONALS))
    ends = rng.integers(0, size, (30, max(1, size // 200)))
    return joined(size + 30, (a, b), (size + np.arange(30)[:, None], ends))


def subdivided_grid(n: int, rng: Generator) -> Pairs:
    """Return a grid whose edges are paths of ten edges, as roads with shape points are."""
    size, a, b = cube(n // 19 + 4, rng)
    inner = size + np.arange(9 * a.size).reshape(-1, 9)
    way = np.column_stack([a, inner, b])
    return joined(size + inner.size, (way[:, :-1], way[:, 1:]))


def band(n: int, rng: Generator, per_vertex: int, width: int) -> Pairs:
    a = np.arange(n)[:, None]
    return joined(n, (a, np.minimum(n - 1, a + rng.integers(1, width + 1, (n, per_vertex)))))


def ring(n: int, rng: Generator, rewired: float = 0.0) -> Pairs:
    """Return a ring of neighbours up to four places away; a share of the edges is *rewired* to random vertices."""
    a = np.arange(n)[:, None]
    b = (a + np.arange(1, 5)) % n
    return joined(n, (a, np.where(rng.random(b.shape) < rewired, rng.integers(0, n, b.shape), b)))


# ---- trees, and degrees that follow a power law


def tree(n: int, rng: Generator, parents: Callable[[Ids, int, Generator], Any]) -> Pairs:
    """Return the tree in which each vertex v from 1 on hangs from ``parents(v, n, rng)``."""
    v = np.arange(1, n)
    return joined(n, (parents(v, n, rng), v))


def preferential(n: int, rng: Generator, m: int = 4) -> Pairs:
    """Return a graph after Barabási and Albert: entry 2j of the list of ends is new, 2j + 1 copies an earlier one."""
    n_edges = m * n
    copied = (rng.random(n_edges) * (2 * np.arange(n_edges) + 1)).astype(np.int64)
    ends = np.empty(2 * n_edges, np.int64)
    ends[0::2] = np.arange(n_edges) // m
    ends[1::2] = -1 - copied
    while (unknown := ends < 0).any():  # follows chains of copies, a link at a time
        ends[unknown] = ends[-1 - ends[unknown]]
    return n, ends[0::2], ends[1::2]


def power_law(n: int, rng: Generator, least: float, exponent: float) -> Pairs:
    """Return edges between stubs, the numbers of which follow a power law and are at least *least* rounded down."""
    degrees = np.minimum(n // 8, (least * rng.random(n) ** (-1 / (exponent - 1))).astype(np.int64))
    stubs = rng.permutation(np.repeat(np.arange(n), degrees))
    half = stubs.size // 2
    return n, stubs[:half], stubs[half : 2 * half]


def kronecker(n: int, rng: Generator) -> Pairs:
    """Return a Kronecker graph that is less skewed than the benchmarks' R-MAT."""
    bits, m = max(4, n.bit_length() - 1), 12 * n
    a, b = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for _ in range(bits):
        quarter = np.searchsorted(np.cumsum([0.42, 0.23, 0.23]), rng.random(m))
        a, b = 2 * a + quarter // 2, 2 * b + quarter % 2
    return 1 << bits, a, b


def citing(n: int, rng: Generator, per_vertex: int, recent: int, power: int, share: float) -> Pairs:
    """Return pages or papers that cite a *share* of *recent* ones, and else any before, early ones more often."""
    a, shape = np.arange(n)[:, None], (n, per_vertex)
    near, early = np.maximum(0, a - rng.integers(1, recent, shape)), (a * rng.random(shape) ** power).astype(np.int64)
    return joined(n, (a, np.where(rng.random(shape) < share, near, early)))


# ---- dense graphs and fragments


def wheel(n: int, rng: Generator) -> Pairs:
    rim = np.arange(1, n)
    return joined(n, (0, rim), (rim, rim % (n - 1) + 1))


def complete_bipartite(left: int, ratio: int) -> Pairs:
    """Return *left* vertices that are tied to all on the right, which are *ratio* times more."""
    return joined((1 + ratio) * left, (np.arange(left)[:, None], np.arange(left, (1 + ratio) * left)))


def dense(n: int, rng: Generator) -> Pairs:
    a, b = np.triu_indices(4 * side(n), 1)
    kept = rng.random(a.size) < 0.3
    return 4 * side(n), a[kept], b[kept]


def copies(n: int, piece: Pairs) -> Pairs:
    """Return copies of a graph, apart from each other."""
    size, a, b = piece
    first = size * np.arange(max(2, n // size))[:, None]
    return joined(size * first.size, (first + a, first + b))


def cliques(n: int, rng: Generator, size: int = 32) -> Pairs:
    """Return cliques, each with one edge to the next."""
    n_vertices, a, b = copies(n, (size, *np.triu_indices(size, 1)))
    first = np.arange(0, n_vertices, size)
    return joined(n_vertices, (a, b), (first[:-1], first[1:] + 1))


def blocks(n: int, rng: Generator, per_vertex: int, size: int, share: float) -> Pairs:
    """Return communities of *size*, with a *share* of the edges inside."""
    a, shape = np.arange(n)[:, None], (n, per_vertex)
    inside = (a // size * size + rng.integers(0, size, shape)) % n
    return joined(n, (a, np.where(rng.random(shape) < share, inside, rng.integers(0, n, shape))))


def lollipop(n: int, rng: Generator) -> Pairs:
    """Return a clique with a long path."""
    size = 2 * side(n)
    path = np.arange(size - 1, size - 1 + n)
    return joined(size + n, np.triu_indices(size, 1), (path, path + 1))


def fragments(n: int, rng: Generator) -> Pairs:
    """Return paths of one to eight vertices."""
    linked = rng.random(n - 1) < 0.7
    linked[7::8] = False
    a = np.flatnonzero(linked)
    return n, a, a + 1


def unequal_fragments(n: int, rng: Generator) -> Pairs:
    """Return random trees whose sizes follow a power law."""
    sizes = np.minimum(n // 4, (2 * rng.random(n // 4) ** -1.0).astype(np.int64))
    numbers, first = groups(sizes[np.cumsum(sizes) <= n])
    parents = first + (rng.random(first.size) * (numbers - first)).astype(np.int64)
    inner = numbers > first
    return n, numbers[inner], parents[inner]


def third_isolated(n: int, rng: Generator) -> Pairs:
    linked = np.flatnonzero(rng.random(n) < 2 / 3)
    return n, *linked[rng.integers(0, linked.size, (2, 3 * linked.size))]


# ---- points in space, and networks of machines


def near(points: NDArray[Any], k: int) -> Pairs:
    """Return an edge from each point to its *k* nearest ones."""
    _, nearest = cKDTree(points).query(points, k + 1)
    return joined(len(points), (np.arange(len(points))[:, None], nearest[:, 1:]))


def near_in_order(n: int, rng: Generator, k: int, cubes: int) -> Pairs:
    """Return an edge from each point in space to its *k* nearest ones, numbered cube by cube, *cubes* a side."""
    points = rng.random((n, 3))
    return near(points[np.argsort((points * cubes).astype(int) @ [cubes**2, cubes, 1])], k)


def hypercube(n: int, rng: Generator) -> Pairs:
    bits = max(4, n.bit_length() - 1)
    ids = np.arange(1 << bits)
    return joined(ids.size, *((ids, ids ^ (1 << k)) for k in range(bits)))


def hamming(n: int, rng: Generator) -> Pairs:
    """Return numbers of base 4, with an edge between two that differ in one digit."""
    digits = max(2, (n.bit_length() - 1) // 2)
    ids = np.arange(4**digits).reshape((4,) * digits)
    pairs = [(i, j) for i in range(4) for j in range(i)]
    return joined(ids.size, *((ids.take(i, axis), ids.take(j, axis)) for axis in range(digits) for i, j in pairs))


def de_bruijn(n: int, rng: Generator) -> Pairs:
    size = 1 << max(4, n.bit_length() - 1)
    ids = np.arange(size)
    return joined(size, (ids, 2 * ids % size), (ids, (2 * ids + 1) % size))


def butterfly(n: int, rng: Generator) -> Pairs:
    bits = max(3, (n // 16).bit_length() - 1)
    rank, row = np.divmod(np.arange(bits << bits), 1 << bits)
    here, next_rank = (rank << bits) + row, (rank + 1) << bits
    return joined((bits + 1) << bits, (here, next_rank + row), (here, next_rank + (row ^ (1 << rank))))


def regular(n: int, rng: Generator, degree: int) -> Pairs:
    """Return the union of random cycles through all vertices."""
    cycles = [rng.permutation(n) for _ in range(degree // 2)]
    return joined(n, *((cycle, np.roll(cycle, 1)) for cycle in cycles))


def random_and_tail(n: int, rng: Generator) -> Pairs:
    """Return a random graph with a long path, where a search runs wide first and narrow for long."""
    wide, tail = n - n // 50, np.arange(n - n // 50 - 1, n - 1)
    return joined(n, rng.integers(0, wide, (2, 8 * wide)), (tail, tail + 1))
