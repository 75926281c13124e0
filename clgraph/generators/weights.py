"""Random weights of edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from clgraph.arguments import Seed
from clgraph.data.edge_weights import RandomWeights
from clgraph.data.graph import Graph, as_graph
from clgraph.errors import InputError
from clgraph.generators.device import launch
from clgraph.runtime.device_graph import DeviceGraph
from clgraph.runtime.graph_on_device import GraphOnDevice

_C_NAMES = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}


def random_weights(
    graph: Any, seed: Seed = 0, *, low: float = 1, high: float = 256, dtype: DTypeLike = np.int32
) -> Graph:
    """Return *graph* with random weights in ``[low, high)``, equal in both directions of an edge.

    Each weight is a hash (the finaliser of SplitMix64) of the edge's two ends and the seed, so
    parallel edges weigh the same. A graph on a device gets them there.
    """
    drawn, graph = RandomWeights(seed, low, high, dtype), as_graph(graph)
    return _on_device(graph.on_device, drawn) if isinstance(graph, GraphOnDevice) else drawn.graph(graph)


def _on_device(graph: DeviceGraph, drawn: RandomWeights) -> Graph:
    session, kind = graph.session, drawn.dtype
    if kind == np.float64 and not session.facts.has_fp64:
        raise InputError(f"{session.facts.name} has no 64-bit floats; allowed there: int32, int64, float32")
    weights = session.empty(graph.n_edges, kind)
    defines = {
        **graph.defines(),
        "WEIGHT_T": _C_NAMES[kind.name],
        "WEIGHTS_ARE_FLOATS": int(kind.kind == "f"),
        "DIRECTED": int(graph.directed),
    }
    launch(
        session,
        "weights",
        "hash_edges",
        graph.n_edges,
        defines,
        n=graph.n_vertices,
        m=graph.n_edges,
        start=drawn.start,
        low=drawn.low,
        span=drawn.span,
        most=drawn.most,
        edge_weights=weights,
        **graph.scope,
    )
    return replace(graph, edge_weights=weights, _source=None).as_graph()
