"""Graphs made of numbers and seeds, on the host or on a device: the same arguments give the same graph everywhere.

A seed is what :func:`numpy.random.default_rng` takes. A function with a parameter *session* makes the graph on
the host if that is ``None``, else on the device for which it stands; such a graph stays there, and each of its arrays
comes to the host when it is read. :func:`delaunay_points` and the ratings are always made on the host.
"""

from __future__ import annotations

from clgraph.data.graphs.geometric import delaunay_points
from clgraph.data.ratings.generators import planted_ratings, power_law_ratings
from clgraph.generators.points import random_geometric
from clgraph.generators.random_edges import rmat, uniform_random
from clgraph.generators.regular import cycle, grid, path, star, tree, two_cliques
from clgraph.generators.roads import road_like
from clgraph.generators.weights import random_weights

__all__ = [
    "cycle", "delaunay_points", "grid", "path", "planted_ratings", "power_law_ratings", "random_geometric",
    "random_weights", "rmat", "road_like", "star", "tree", "two_cliques", "uniform_random",
]  # fmt: skip
