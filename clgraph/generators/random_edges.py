"""Graphs of edges that are drawn one by one."""
from __future__ import annotations

from clgraph.arguments import Seed
from clgraph.data.generators import RMat, UniformRandom
from clgraph.data.graph import Graph


def rmat(
    scale: int, edge_factor: int = 16, *, a: float = 0.57, b: float = 0.19, c: float = 0.19, seed: Seed = 0,
    permute: bool = True,
) -> Graph:
    """Return a scale-free undirected R-MAT graph [1]_ of ``2**scale`` vertices.

    ``edge_factor * 2**scale`` edges are drawn; repeats and self-loops are removed. The defaults are
    those of Graph500; probabilities are rounded to whole parts of ``2**16``. *permute* renumbers the vertices at
    random, which hides the order by degree.

    References
    ----------
    .. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos. "R-MAT: A recursive model for graph mining."
       SIAM International Conference on Data Mining, 2004.
    """
    return RMat(scale, edge_factor, a, b, c, seed, permute).graph()


def uniform_random(n: int, n_edges: int, seed: Seed = 0) -> Graph:
    """Return an undirected graph of *n_edges* edges drawn uniformly, less repeats and self-loops."""
    return UniformRandom(n, n_edges, seed).graph()
