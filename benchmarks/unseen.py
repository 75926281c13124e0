"""Inputs on which the cost model is tuned and judged: kinds that no committed result has.

Each kind makes an input of about the size that is asked for, so that one kind serves small and large devices. The
kinds were split once, before anything was tuned on them: constants may be fitted to the half "tune", and statements
about the model are measured on the half "judge". Both have every family (lattices, trees, degrees that follow a power
law, dense and bipartite graphs, fragments, points in space, networks of machines). ``fresh.py`` has later ones.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import fresh
import kinds
import numpy as np
from kinds import AXES, AXES_IN_SPACE, DIAGONALS, Ids, Kind, Points, cube, shuffled, side, tree
from numpy.random import Generator

from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.ratings.ratings import Ratings

RatingsKind: TypeAlias = Callable[[int, Generator], tuple[Ids, Ids]]
MeshKind: TypeAlias = Callable[[int, Generator], Points]
WEIGHTS = ("uniform", "equal", "heavy")  # The name of a kind decides which weights its graphs have.

_path = partial(tree, parents=lambda v, n, rng: v - 1)
TUNE: Mapping[str, Kind] = {
    # The first six lines came last, when of the other half only means and three kinds that were off were known.
    "boxes": partial(cube, steps=kinds.ALL_AROUND),
    "percolation-in-space": partial(kinds.thinned, steps=AXES_IN_SPACE, share=0.35),
    "sites": kinds.sites,
    "king-with-stations": kinds.king_with_stations,
    "wide-band": partial(kinds.band, per_vertex=16, width=300),
    "bristles": partial(tree, parents=lambda v, n, rng: np.where(v < n // 2, v - 1, v - n // 2)),  # a leaf at each
    "thin-power-law": partial(kinds.power_law, least=2.0, exponent=2.8),
    "citations": partial(kinds.citing, per_vertex=5, recent=2000, power=2, share=0.4),
    "two-stars": partial(tree, parents=lambda v, n, rng: np.where(v < n // 2, 0, 1)),
    "long-bipartite": lambda n, rng: kinds.complete_bipartite(max(2, side(n // 8) // 4), 64),
    "small-blocks": partial(kinds.blocks, per_vertex=9, size=200, share=0.98),
    "thin-uniform": lambda n, rng: (n, *rng.integers(0, n, (2, 4 * n // 5))),  # one large component, many small ones
    "third-isolated": kinds.third_isolated,
    "hamming": kinds.hamming,
    "thick-regular": partial(kinds.regular, degree=12),
    "dense-regular": lambda n, rng: kinds.regular(n // 4, rng, 64),
    "near-in-slab": partial(shuffled, make=lambda n, rng: kinds.near(rng.random((n, 3)) * (1.0, 1.0, 0.3), 6)),
    "near-in-tiles": partial(kinds.near_in_order, k=12, cubes=20),
    "torus": partial(cube, wrap=True),
    "king": partial(cube, steps=(*AXES, *DIAGONALS)),
    "honeycomb": kinds.honeycomb,
    "shuffled-grid": partial(shuffled, make=cube),
    "subdivided-grid": kinds.subdivided_grid,
    "ring": kinds.ring,
    "small-world": partial(kinds.ring, rewired=0.1),
    "recursive-tree": partial(tree, parents=lambda v, n, rng: (rng.random(n - 1) * v).astype(np.int64)),
    "binary-tree": partial(tree, parents=lambda v, n, rng: (v - 1) // 2),
    "broom": partial(tree, parents=lambda v, n, rng: np.minimum(v - 1, n // 2)),
    "comb": partial(tree, parents=lambda v, n, rng: np.where(v % 31 == 0, v - 31, v - 1)),  # teeth of thirty vertices
    "preferential": kinds.preferential,
    "kronecker": partial(shuffled, make=kinds.kronecker),
    "star-of-stars": lambda n, rng: tree(side(n) ** 2, rng, lambda v, n, rng: v // math.isqrt(n)),
    "few-hubs": lambda n, rng: kinds.joined(n, (np.arange(16, n)[:, None], rng.integers(0, 16, (n - 16, 3)))),
    "random-bipartite": lambda n, rng: (n, rng.integers(0, n // 5, 6 * n), rng.integers(n // 5, n, 6 * n)),
    "cliques": kinds.cliques,
    "lollipop": kinds.lollipop,
    "unequal-fragments": kinds.unequal_fragments,
    "islands": lambda n, rng: kinds.copies(n, kinds.lattice((32, 32), AXES)),
    "near-in-plane": lambda n, rng: kinds.near(rng.random((n, 2)), 6),
    "de-bruijn": kinds.de_bruijn,
    "regular": partial(kinds.regular, degree=4),
    "random-path": partial(shuffled, make=_path),
}


def _clustered(n: int, rng: Generator, per_cluster: int, spread: float) -> Points:
    """Return points round random centres."""
    centres = rng.random((max(2, n // per_cluster), 2))
    return centres[rng.integers(0, len(centres), n)] + rng.normal(scale=spread, size=(n, 2))


JUDGE: Mapping[str, Kind] = {
    "cube": partial(cube, steps=AXES_IN_SPACE),
    "triangular": partial(cube, steps=(*AXES, (1, 1))),
    "strip": lambda n, rng: kinds.lattice((max(2, n // 8), 8), AXES),
    "percolation": partial(kinds.thinned, steps=AXES, share=0.6),
    "grid-with-hub": kinds.grid_with_hub,
    "banded": partial(kinds.band, per_vertex=10, width=20),
    "nearly-ring": partial(kinds.ring, rewired=0.0005),
    "deep-tree": partial(  # Its depth is about the square root of n.
        tree, parents=lambda v, n, rng: np.maximum(0, v - 1 - rng.integers(0, max(2, int(n**0.5)), n - 1))
    ),
    "caterpillar": partial(tree, parents=lambda v, n, rng: np.where(v < n // 4, v - 1, v % (n // 4))),
    "spider": partial(tree, parents=lambda v, n, rng: np.where(v % 1000 == 1, 0, v - 1)),  # legs of a thousand vertices
    "power-law": partial(kinds.power_law, least=1.5, exponent=2.3),
    "copied-web": partial(kinds.citing, per_vertex=8, recent=200, power=3, share=0.7),
    "star": partial(tree, parents=lambda v, n, rng: 0),
    "wheel": kinds.wheel,
    "complete-bipartite": lambda n, rng: kinds.complete_bipartite(side(n) // 2 + 1, 4),
    "dense": kinds.dense,
    "blocks": partial(kinds.blocks, per_vertex=6, size=1000, share=0.9),
    "fragments": partial(shuffled, make=kinds.fragments),
    "mostly-isolated": lambda n, rng: (n, *(20 * rng.integers(0, n // 20, (2, 8 * (n // 20))))),
    "near-in-space": partial(kinds.near_in_order, k=8, cubes=32),
    "clusters": lambda n, rng: kinds.near(_clustered(n, rng, 2000, 0.003), 5),
    "hypercube": kinds.hypercube,
    "butterfly": kinds.butterfly,
    "denser-regular": partial(kinds.regular, degree=24),
    "random-and-tail": kinds.random_and_tail,
}


# ---- ratings


def _diagonals(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users = np.arange(n)
    return np.tile(users, 5), np.concatenate([(users + shift) % n for shift in (0, 1, 2, 100, n // 2)])


def _uniform(n_users: int, n_items: int, n_ratings: int, rng: Generator) -> tuple[Ids, Ids]:
    return rng.integers(0, n_users, n_ratings), rng.integers(0, n_items, n_ratings)


def _one_hot_item(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users, items = rng.integers(0, n, 10 * n), rng.integers(1, n, 10 * n)
    return np.append(np.arange(n), users), np.append(np.zeros(n, np.int64), items)


def _hot_users(n: int, rng: Generator) -> tuple[Ids, Ids]:
    """Return ratings of which three users have one of every second item."""
    items = np.flatnonzero(np.arange(n) % 2)
    users = np.append(np.repeat(np.arange(3), items.size), rng.integers(3, n, 12 * n))
    return users, np.append(np.tile(items, 3), rng.integers(0, n, 12 * n))


def _beside(n: int, rng: Generator, per_user: int, items: Callable[[Ids, int, Generator], Ids]) -> tuple[Ids, Ids]:
    """Return ratings by random users, whose items are ``items(users, n, rng)``."""
    users = rng.integers(0, n, per_user * n)
    return users, items(users, n, rng)


def _checkers(users: Ids, n: int, rng: Generator) -> Ids:
    items = rng.integers(0, n, users.size)
    return items - (items + users) % 2 * (items > 0)


def _zipf_items(n: int, rng: Generator) -> tuple[Ids, Ids]:
    items = np.minimum(n - 1, (rng.random(16 * n) ** -1.1).astype(np.int64))
    return rng.integers(0, n, items.size), items


def _zipf_both(n: int, rng: Generator, per_user: int, scale: int, exponent: float) -> tuple[Ids, Ids]:
    draws = rng.random((2, per_user * n))
    users, items = np.minimum(n - 1, (scale * (draws**exponent - 1)).astype(np.int64))
    return users, items


def _mild_zipf(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users, items = _zipf_both(n, rng, 14, 200, -0.9)
    return rng.permutation(n)[users], items


def _staircase(n: int, rng: Generator) -> tuple[Ids, Ids]:
    users = np.repeat(np.arange(n), 12)
    return users, np.minimum(n - 1, users // 20 * 20 + np.tile(np.arange(12), n))


TUNE_RATINGS: Mapping[str, RatingsKind] = {
    "uniform": lambda n, rng: _uniform(n, n // 3 + 1, 20 * n, rng),
    "rectangle": lambda n, rng: np.divmod(np.arange(20 * n), 100),
    "communities": partial(
        _beside, per_user=16, items=lambda users, n, rng: (users // 500 * 500 + rng.integers(0, 500, users.size)) % n
    ),
    "zipf-items": _zipf_items,
    "staircase": _staircase,
    "sparse": lambda n, rng: _uniform(n, n, 2 * n, rng),
    "trailing": partial(
        _beside, per_user=10, items=lambda users, n, rng: np.maximum(0, users - rng.integers(0, 60, users.size))
    ),
    # The items of a window that moves on with the users, half as fast.
    "sliding": partial(
        _beside, per_user=24, items=lambda users, n, rng: users // 2 + rng.integers(0, 2000, users.size)
    ),
    "short": lambda n, rng: _uniform(300, n, 8 * n, rng),
    "hot-users": _hot_users,
    "mild-zipf": _mild_zipf,
}
JUDGE_RATINGS: Mapping[str, RatingsKind] = {
    "diagonals": _diagonals,
    "one-hot-item": _one_hot_item,
    "tall": lambda n, rng: _uniform(n, 50, 8 * n, rng),
    "drifting": partial(
        _beside,
        per_user=16,
        items=lambda users, n, rng: np.maximum(0, users - rng.exponential(300, users.size).astype(np.int64)),
    ),
    "zipf-both": partial(_zipf_both, per_user=16, scale=20, exponent=-0.7),
    "checkers": partial(_beside, per_user=16, items=_checkers),
}


# ---- meshes


def _shaken_lattice(n: int, rng: Generator) -> Points:
    return np.stack(np.divmod(np.arange(side(n) ** 2), side(n)), axis=1) + 0.4 * rng.random((side(n) ** 2, 2))


def _rings(n: int, rng: Generator) -> Points:
    """Return points near ten circles round one centre."""
    angles, radii = 2 * np.pi * rng.random(n), rng.integers(1, 11, n) + 0.02 * rng.random(n)
    return np.stack((radii * np.cos(angles), radii * np.sin(angles)), axis=1)


TUNE_MESHES: Mapping[str, MeshKind] = {
    "long-strip": lambda n, rng: rng.random((n, 2)) * (50.0, 1.0),
    "shaken-lattice": _shaken_lattice,
}
JUDGE_MESHES: Mapping[str, MeshKind] = {
    "clustered-points": partial(_clustered, per_cluster=500, spread=0.01),
    "graded-points": lambda n, rng: rng.random((n, 2)) ** 2,  # the closer to each other the nearer to a corner
    "rings": _rings,
}


class Kinds(NamedTuple):
    """The kinds of graphs, of ratings and of meshes of one half."""

    graphs: Mapping[str, Kind]
    ratings: Mapping[str, RatingsKind]
    meshes: Mapping[str, MeshKind]


HALVES = {
    "tune": Kinds(TUNE, TUNE_RATINGS, TUNE_MESHES),
    "judge": Kinds(JUDGE, JUDGE_RATINGS, JUDGE_MESHES),
    "fresh": Kinds(fresh.GRAPHS, fresh.RATINGS, fresh.MESHES),
}


def load(takes: str, kind: str, n: int, seed: int = 0) -> Any:
    """Return an input of a *kind* of *takes*: "graphs", "ratings" or "meshes", with about *n* vertices or users."""
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    make = next(table[kind] for half in HALVES.values() if kind in (table := getattr(half, takes)))
    finish: Callable[..., Any] = {"graphs": _weighted, "ratings": _rated, "meshes": _triangulated}[takes]
    return finish(kind, make(n, rng), rng)


def _weighted(kind: str, made: kinds.Pairs, rng: Generator) -> Graph:
    """Return the graph without loops and repeats, and with weights 1 … 2^20."""
    size, a, b = made
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


def _rated(_kind: str, made: tuple[Ids, Ids], rng: Generator) -> Ratings:
    """Return the ratings, each pair once."""
    users, items = made
    n_items = int(items.max()) + 1
    keys = np.unique(users * n_items + items)
    return Ratings.from_triples(*np.divmod(keys, n_items), rng.normal(size=keys.size).astype(np.float32))


def _triangulated(_kind: str, made: Points, _rng: Generator) -> TriangleMesh:
    return PlanarGraph.from_arrays(made, []).triangulate()
