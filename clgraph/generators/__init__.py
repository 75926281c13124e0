"""Generators of graphs and ratings.

The same arguments give the same graph on the host and on every device.

A seed is anything that :func:`numpy.random.default_rng` takes. If a function has a parameter *session*, ``None`` makes
the graph on the host, and a session makes it on that session's device. Such a graph stays on the device, and each of
its arrays is copied to the host when it is first read. :func:`delaunay_points` and the ratings are always made on the
host.
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
