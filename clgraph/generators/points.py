"""Graphs of random points in the unit square."""
from __future__ import annotations

from clgraph.arguments import Seed
from clgraph.data.geometric import Ids, RandomGeometric
from clgraph.data.graph import Graph


def random_geometric(n: int, degree: float = 14, seed: Seed = 0, *, ids: Ids = "spatial") -> Graph:
    """Return the graph of *n* random points in the unit square, joined when near.

    The radius is such that an inner point has *degree* neighbours on average. *ids* numbers the
    points cell by cell along a space-filling curve ("spatial") or at random.
    """
    return RandomGeometric(n, degree, seed, ids).graph()
