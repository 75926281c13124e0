"""Graphs that are hard to colour, and the order of priorities on a device."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

import clgraph as cg
from clgraph.algorithms.color.plan import ranks
from clgraph.data.graphs.graph import Graph
from clgraph.runtime.session import Session

SHAPES: dict[str, Callable[[], Graph]] = {
    "scale-free": lambda: cg.generators.rmat(12, 16),
    "dense": lambda: cg.generators.uniform_random(700, 60000),  # more colours than one word has bits
    "complete": lambda: Graph.from_scipy(sp.csr_array(np.ones((100, 100)))),
    "star": lambda: cg.generators.star(9000),  # a row that is a hub to every strategy
    "odd-cycle": lambda: cg.generators.cycle(501).permuted(3),
}


def turns_of(graph: Graph, session: Session, order: str, seed: int = 0) -> list[int]:
    """Return the vertices in the order of the device's priorities."""
    priorities = ranks(session, graph, order, seed).get().astype(np.int64)
    turns: list[int] = np.lexsort((np.arange(priorities.size), -priorities)).tolist()
    return turns
