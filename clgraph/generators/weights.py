"""Random weights of edges."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from clgraph.arguments import Seed
from clgraph.data.edge_weights import RandomWeights
from clgraph.data.graph import Graph, as_graph


def random_weights(
    graph: Any, seed: Seed = 0, *, low: float = 1, high: float = 256, dtype: DTypeLike = np.int32
) -> Graph:
    """Return *graph* with random weights in ``[low, high)``, equal in both directions of an edge.

    Each weight is a hash (the finaliser of SplitMix64) of the edge's two ends and the seed, so
    parallel edges weigh the same.
    """
    return RandomWeights(seed, low, high, dtype).graph(as_graph(graph))
