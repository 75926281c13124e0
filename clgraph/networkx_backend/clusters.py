"""networkx's functions on triangles and clustering, without weights and for all nodes."""

from __future__ import annotations

from typing import Any

from clgraph.algorithms.triangles import Triangles
from clgraph.algorithms.triangles import triangles as counted
from clgraph.networkx_backend.calls import arrays, by_networkx, run_options


def _counted(G: Any) -> Triangles:
    return counted(arrays(G).in_order, **run_options("triangles"))


def triangles(G: Any, nodes: Any = None) -> dict[Any, int]:
    return dict(zip(arrays(G).nodes, _counted(G).counts.tolist(), strict=True))


def clustering(G: Any, nodes: Any = None, weight: Any = None) -> dict[Any, float]:
    return dict(zip(arrays(G).nodes, _counted(G).clustering.tolist(), strict=True))


def average_clustering(G: Any, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    values = _counted(G).clustering
    if not count_zeros:
        values = values[values > 0]
    if not values.size:
        return float(by_networkx("average_clustering", G, nodes, weight, count_zeros))
    return float(sum(values.tolist()) / values.size)


def transitivity(G: Any) -> float:
    return _counted(G).transitivity
