"""Graphs of edges that are drawn one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.arguments import Seed
from clgraph.data.generators import RMat, UniformRandom
from clgraph.data.graph import Graph
from clgraph.generators.device import bits_of, graph_of_keys, launch, new_keys, without_edges
from clgraph.runtime.session import Session, SessionLike, as_session


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    seed: Seed = 0,
    permute: bool = True,
    session: SessionLike = None,
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
    drawn = RMat(scale, edge_factor, a, b, c, seed, permute)
    return drawn.graph() if session is None else _rmat(as_session(session), drawn)


def uniform_random(n: int, n_edges: int, seed: Seed = 0, *, session: SessionLike = None) -> Graph:
    """Return an undirected graph of *n_edges* edges drawn uniformly, less repeats and self-loops."""
    drawn = UniformRandom(n, n_edges, seed)
    return drawn.graph() if session is None else _uniform_random(as_session(session), drawn)


def _rmat(session: Session, drawn: RMat) -> Graph:
    at_a, at_ab, at_abc = drawn.thresholds
    scramble = session.upload(np.array([*drawn.scramble, (0, 0)], np.uint32).ravel())
    return _drawn(
        session,
        drawn,
        "rmat",
        16,
        scale=drawn.scale,
        at_a=at_a,
        at_ab=at_ab,
        at_abc=at_abc,
        n_rounds=len(drawn.scramble),
        scramble=scramble,
    )


def _uniform_random(session: Session, drawn: UniformRandom) -> Graph:
    return _drawn(session, drawn, "uniform", 2, n=drawn.n, bits=bits_of(drawn.n))


def _drawn(session: Session, drawn: RMat | UniformRandom, kernel: str, edges_per_block: int, **arguments: Any) -> Graph:
    if drawn.n < 2 or not drawn.n_edges:
        return without_edges(session, drawn.n)
    n_blocks = -(-drawn.n_edges // edges_per_block)
    keys = new_keys(session, 2 * edges_per_block * n_blocks)
    key0, key1 = drawn.key
    launch(
        session,
        "edges",
        kernel,
        n_blocks,
        n_blocks=n_blocks,
        n_edges=drawn.n_edges,
        key0=key0,
        key1=key1,
        keys=keys,
        **arguments,
    )
    return graph_of_keys(session, drawn.n, keys, merged=True)
