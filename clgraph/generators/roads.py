"""Graphs like road networks."""
from __future__ import annotations

from clgraph.arguments import Seed
from clgraph.data.generators import RoadLike
from clgraph.data.graph import Graph


def road_like(n: int, seed: Seed = 0) -> Graph:
    """Return a connected graph shaped like a road network: mean degree 2.4, diameter near ``2 sqrt(n)``.

    Crossings form a grid in which each is joined to its left or its upper neighbour at random (a
    spanning tree) and in three cases of ten to the other as well; the rest of the *n* vertices
    subdivide random roads. Ids run row by row, so that neighbours are near, as in road files.
    """
    return RoadLike(n, seed).graph()
