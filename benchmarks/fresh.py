"""Kinds of inputs that came after the cost model was done: nothing was fitted to them, and no other file has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from kinds import Ids, Kind, Pairs, Points, groups, joined, lattice, shuffled, side, tree
from numpy.random import Generator
from scipy.spatial import Delaunay


def _apollonian(n: int, rng: Generator) -> Pairs:
    """Return a planar graph in which each new vertex is tied to the corners of a random triangle."""
    corners, n_triangles = np.empty((3 * n, 3), np.int64), 1
    corners[0] = 0, 1, 2
    ends = [(0, 1), (0, 2), (1, 2)]
    for v, draw in enumerate(rng.random(n - 3), 3):
        place = int(draw * n_triangles)
        a, b, c = corners[place]
        corners[place], corners[n_triangles], corners[n_triangles + 1] = (a, b, v), (a, c, v), (b, c, v)
        n_triangles += 2
        ends += [(a, v), (b, v), (c, v)]
    return joined(n, np.array(ends, np.int64).T)


def _sierpinski(n: int, rng: Generator) -> Pairs:
    """Return the gasket: triangles of triangles that share corners."""
    points = np.array([[0, 0], [1, 0], [0, 1]])
    edges = np.array([[0, 1], [0, 2], [1, 2]])
    while len(points) < n:
        length = int(points.max())
        copies = points[edges] + np.array([[[0, 0]], [[length, 0]], [[0, length]]])[:, None]
        points, inverse = np.unique(copies.reshape(-1, 2), axis=0, return_inverse=True)
        edges = inverse.reshape(-1, 2)
    return len(points), edges[:, 0], edges[:, 1]


def _kleinberg(n: int, rng: Generator) -> Pairs:
    """Return a grid with a far edge at each vertex, the rarer the farther it goes."""
    size, a, b = lattice((side(n), side(n)), [(1, 0), (0, 1)])
    x, y = np.divmod(np.arange(size), side(n))
    length, angle = side(n) ** rng.random(size), 2 * np.pi * rng.random(size)
    ends = [(at + length * turn(angle)).astype(np.int64) % side(n) for at, turn in ((x, np.cos), (y, np.sin))]
    return joined(size, (a, b), (np.arange(size), ends[0] * side(n) + ends[1]))


def _teams(n: int, rng: Generator) -> Pairs:
    """Return members of teams, each tied to all others of its teams; few teams are large."""
    sizes = np.minimum(60, (2 * rng.random(n // 2) ** -0.6).astype(np.int64))
    members, (place, first) = rng.integers(0, n, sizes.sum()), groups(sizes)
    later = [(place[place - first >= shift], shift) for shift in range(1, 60)]
    return joined(n, *((members[p], members[p - shift]) for p, shift in later))


def _thick_path(n: int, rng: Generator) -> Pairs:
    """Return groups of twelve vertices in a row, with every edge within a group and to the next."""
    a, b = np.array([(a, b) for a in range(12) for b in range(a + 1, 24)]).T
    first = 12 * np.arange(max(2, n // 12) - 1)[:, None]
    return joined(12 * (first.size + 1), (first + a, first + b))


def _graded_mesh(n: int, rng: Generator) -> Pairs:
    """Return the edges of a triangulation of points that are dense round a few places, numbered at random."""
    points = np.concatenate([rng.random((n - n // 2, 2)), 0.5 + 0.1 * rng.standard_cauchy((n // 2, 2)).clip(-4, 4)])
    corners = Delaunay(points).simplices.astype(np.int64)
    return joined(n, (corners, np.roll(corners, 1, axis=1)))


def _duplication(n: int, rng: Generator) -> Pairs:
    """Return a graph in which a new vertex copies four in ten edges of an earlier one, and has an edge to it."""
    neighbours: list[list[int]] = [[1], [0]]
    for v in range(2, n):
        model = int(rng.integers(v))
        kept = [u for u, draw in zip(neighbours[model], rng.random(len(neighbours[model])), strict=True) if draw < 0.4]
        kept.append(model)
        neighbours.append(kept)
        for u in kept:
            neighbours[u].append(v)
    degrees = np.fromiter(map(len, neighbours), np.int64, n)
    return n, np.repeat(np.arange(n), degrees), np.fromiter((u for row in neighbours for u in row), np.int64)


def _intervals(n: int, rng: Generator) -> Pairs:
    """Return vertices that are tied to all up to some place after them, which is seldom far away."""
    lengths = np.minimum(rng.lognormal(1.0, 1.0, n).astype(np.int64) + 1, 400)
    (place, first), a = groups(lengths), np.repeat(np.arange(n), lengths)
    b = a + 1 + place - first
    return n, a[b < n], b[b < n]


def _airlines(n: int, rng: Generator) -> Pairs:
    """Return two hundred hubs that are all tied to each other, and others with one to three of them."""
    others = np.repeat(np.arange(200, n), rng.integers(1, 4, n - 200))
    hubs = np.minimum(199, (rng.random(others.size) ** 3 * 200).astype(np.int64))
    return joined(n, np.triu_indices(200, 1), (others, hubs))


def _layers(n: int, rng: Generator) -> Pairs:
    """Return fifty layers of vertices, each tied to eight random ones of the next."""
    width = max(8, n // 50)
    a = np.arange(49 * width)[:, None]
    return joined(50 * width, (a, (a // width + 1) * width + rng.integers(0, width, (a.size, 8))))


def _tree_with_chords(n: int, rng: Generator) -> Pairs:
    """Return a tree of three children a vertex, and one random edge per hundred vertices."""
    size, a, b = tree(n, rng, lambda v, n, rng: (v - 1) // 3)
    return joined(size, (a, b), rng.integers(0, size, (2, size // 100)))


def _cactus(n: int, rng: Generator) -> Pairs:
    """Return rings of unequal length in a row, each of which shares a vertex with the next."""
    lengths = np.minimum(n // 8, (3 * rng.random(n // 8) ** -0.8).astype(np.int64))
    ends = np.cumsum(lengths)
    ends = ends[ends < n]
    return joined(n, (np.arange(n - 1), np.arange(1, n)), (ends, ends - lengths[: ends.size]))


def _molecules(n: int, rng: Generator) -> Pairs:
    """Return small trees of ten to forty vertices with two more edges each, as batches of molecules are."""
    sizes = rng.integers(10, 41, n // 25)
    numbers, first = groups(sizes)
    inner = numbers > first
    parents = np.maximum(first, numbers - 1 - rng.integers(0, 3, numbers.size))
    ends = (rng.random((2 * sizes.size, 2)) * np.repeat(sizes, 2)[:, None]).astype(np.int64)
    return joined(first.size, (numbers[inner], parents[inner]), (np.repeat(np.unique(first), 2)[:, None] + ends).T)


GRAPHS: Mapping[str, Kind] = {
    "apollonian": _apollonian,
    "sierpinski": _sierpinski,
    "kleinberg": _kleinberg,
    "teams": _teams,
    "thick-path": _thick_path,
    "graded-mesh": _graded_mesh,
    "duplication": _duplication,
    "intervals": _intervals,
    "airlines": _airlines,
    "torus-of-four": lambda n, rng: lattice((side(n, 4),) * 4, np.eye(4, dtype=int).tolist(), wrap=True),
    "layers": partial(shuffled, make=_layers),
    "tree-with-chords": _tree_with_chords,
    "cactus": _cactus,
    "molecules": _molecules,
}


def _runs(n: int, rng: Generator) -> tuple[Ids, Ids]:
    """Return users with ratings of consecutive items, more or fewer, from a random one on."""
    lengths = rng.integers(4, 30, n)
    place, first = groups(lengths)
    return np.repeat(np.arange(n), lengths), (np.repeat(rng.integers(0, n, n), lengths) + place - first) % n


def _two_crowds(n: int, rng: Generator) -> tuple[Ids, Ids]:
    """Return few users and items that have rated much among themselves, and many that have rated little."""
    few = max(2, n // 50)
    users = np.append(rng.integers(0, few, 6 * n), rng.integers(0, n, 6 * n))
    return users, np.append(rng.integers(0, few, 6 * n), rng.integers(0, n, 6 * n))


def _busy_users(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users = np.minimum(n - 1, (50 * (rng.random(14 * n) ** -0.8 - 1)).astype(np.int64))
    return users, rng.integers(0, n // 2, users.size)


def _followers(n: int, rng: Generator) -> tuple[Ids, Ids]:
    """Return ratings of items that others have rated before, the more often the likelier."""
    items = rng.integers(0, n, 10 * n)
    copied = np.flatnonzero(rng.random(items.size) < 0.6)[1:]
    items[copied] = items[(rng.random(copied.size) * copied).astype(np.int64)]
    return rng.integers(0, n, items.size), items


RATINGS: Mapping[str, Callable[[int, Generator], tuple[Ids, Ids]]] = {
    "runs": _runs,
    "two-crowds": _two_crowds,
    "busy-users": _busy_users,
    "followers": _followers,
}


def _spiral(n: int, rng: Generator) -> Points:
    turns = 20 * np.sqrt(rng.random(n))
    radii = turns + 0.05 * rng.normal(size=n)
    return np.stack((radii * np.cos(2 * np.pi * turns), radii * np.sin(2 * np.pi * turns)), axis=1)


def _two_densities(n: int, rng: Generator) -> Points:
    points = rng.random((n, 2))
    points[: 9 * n // 10] *= (0.2, 1.0)
    return points


MESHES: Mapping[str, Callable[[int, Generator], Points]] = {"spiral": _spiral, "two-densities": _two_densities}
