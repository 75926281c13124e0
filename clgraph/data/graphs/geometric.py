"""Graphs of random points in the unit square, made on the host."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, cKDTree

from clgraph.arguments import Seed, check_choice, checked_count, checked_number, checked_seed
from clgraph.data.graphs.csr import MAX_VERTICES
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.morton import interleaved
from clgraph.data.graphs.pairs import BYTES_PER_EDGE, BYTES_PER_VERTEX
from clgraph.data.graphs.philox import key_of, random_words
from clgraph.host_memory import check_host_memory
from clgraph.progress import begin

Ids: TypeAlias = Literal["random", "spatial"]
# Length of the square's sides. Coordinates are integers, so that all computers agree on which points are near.
SIDE = 1 << 24


class Points:
    """Random points in a square, and a grid of square cells by which the points may be sorted.

    A point is made from two random words. There are about *n* cells, or fewer. Cells are in the order of Morton's
    curve. Within a cell, points keep the order in which they were drawn.
    """

    def __init__(self, n: int, seed: Seed, ids: Ids, cell: int = 1) -> None:
        self.n = checked_count("n", n, MAX_VERTICES, least=0)
        check_choice("ids", ids, ("random", "spatial"))
        self.ids, self.key = ids, key_of(checked_seed(seed))
        self.cell = min(max(cell, SIDE // math.isqrt(max(n, 1))), SIDE)
        self.cell_bits = (-(-SIDE // self.cell) - 1).bit_length()

    def words(self) -> NDArray[np.uint64]:
        """Return the two random words of each point, which give its coordinates,
        in the order of the points' ids, shape (n, 2).
        """
        check_host_memory(f"n = {self.n}", BYTES_PER_VERTEX * self.n)
        words = random_words(self.key, 0, 0, 2 * self.n).reshape(-1, 2)
        if self.ids == "random":
            return words
        column, row = ((words >> np.uint64(40)) // np.uint64(self.cell)).T
        return words[np.argsort(interleaved(column, row), kind="stable")]


class RandomGeometric(Points):
    """The points of a random geometric graph.

    Two points are neighbours if their squared distance is at most *limit*.
    """

    def __init__(self, n: int, degree: float, seed: Seed, ids: Ids) -> None:
        n, self.degree = checked_count("n", n, MAX_VERTICES, least=0), checked_number("degree", degree)
        self.limit = min(2 * SIDE**2, int(SIDE**2 * min(2.0, self.degree / (np.pi * max(n, 1)))))
        super().__init__(n, seed, ids, math.isqrt(self.limit) + 1)

    def graph(self) -> Graph:
        n, degree = self.n, self.degree
        check_host_memory(f"n = {n}, degree = {degree:g}", int(BYTES_PER_EDGE * n * min(n, degree) / 2))
        tell = begin("joining near points", n, "points")
        # Coordinates have 24 bits, so squared distances are exact in float64.
        points = (self.words() >> np.uint64(40)).astype(np.float64)
        pairs = cKDTree(points).query_pairs((self.limit + 0.5) ** 0.5, output_type="ndarray")
        tell(n)
        return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


def delaunay_points(n: int, seed: Seed = 0, *, ids: Ids = "random") -> Graph:
    """Return the graph of the Delaunay triangulation of *n* random points in the unit square.

    *ids* is as in :func:`random_geometric`. The graph is always made on the host.
    """
    points = (Points(n, seed, ids).words() >> np.uint64(11)) * 2.0**-53
    if len(points) < 3:
        return Graph.from_edges(range(n - 1), range(1, n), n=n)
    tell = begin("triangulating", n, "points")
    corners = Delaunay(points).simplices
    tell(n)
    src, dst = corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    return Graph.from_edges(src, dst, n=n, duplicates="first")
