"""Random edge weights of a graph.

A weight is a hash of the edge's two ends and the seed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import Seed, checked_number, checked_seed, refusing
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.entries import rows_of
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.philox import below, in_chunks
from clgraph.errors import InputError
from clgraph.generators.device import launch
from clgraph.runtime.graphs.device_graph import DeviceGraph, GraphOnDevice

_C_NAMES = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}


def random_weights(
    graph: Any, seed: Seed = 0, *, low: float = 1, high: float = 256, dtype: DTypeLike = np.int32
) -> Graph:
    """Return *graph* with random weights in ``[low, high)``, equal in both directions of an edge.

    Each weight is a hash (the finaliser of SplitMix64) of the edge's two ends and the seed, so
    parallel edges weigh the same. For a graph on a device, the weights are computed there.
    """
    drawn, graph = _RandomWeights(seed, low, high, dtype), as_graph(graph)
    return drawn.on_device(graph.on_device) if isinstance(graph, GraphOnDevice) else drawn.on_host(graph)


class _RandomWeights:
    """Random edge weights in ``[low, high)``, made by hashing both ends of an edge.

    SplitMix64's finaliser hashes the two ends, as one 64-bit number, plus *start*. An integer weight is *low* plus the
    high word of hash × (high − low). A float weight takes the highest 24 or 53 bits of the hash as a fraction.
    """

    def __init__(self, seed: Seed, low: float, high: float, dtype: DTypeLike) -> None:
        self.start = (checked_seed(seed) + 1) * 0x9E3779B97F4A7C15 % 2**64
        with refusing("dtype", dtype, ", ".join(_C_NAMES)):
            kind: Any = np.dtype(dtype).newbyteorder("=")
            if kind.name not in _C_NAMES:
                raise TypeError("it is another type")
        # Bounds of weights are float64, in which all integers up to 2**53 are exact.
        is_float = kind.kind == "f"
        most = float(np.finfo(kind).max) / 2 if is_float else min(2.0**53, float(np.iinfo(kind).max) + 1)
        low, high = checked_number("low", low, -most, most), checked_number("high", high, -most, most)
        if not low < high:
            raise InputError(f"low = {low:g}, high = {high:g}; low must be below high")
        self.dtype, number = kind, kind.type if is_float else math.ceil
        self.low: Any = number(low)
        end: Any = number(high)
        if not is_float and self.low == end:
            raise InputError(f"low = {low:g}, high = {high:g}; there is no integer from the one to below the other")
        self.span: Any = end - self.low
        self.most: Any = np.nextafter(end, self.low) if is_float else end - 1

    def scaled(self, hashed: NDArray[np.uint64]) -> NDArray[Any]:
        """Return edge weights in ``[low, high)``, converted from the hashes of edges."""
        kind: Any = self.dtype
        weights: NDArray[Any]
        if kind.kind == "i":
            weights = below(hashed, self.span).astype(kind) + kind.type(self.low)
            return weights
        bits = 24 if kind.itemsize == 4 else 53
        fraction = (hashed >> np.uint64(64 - bits)).astype(kind) * kind.type(2.0**-bits)
        # Rounding may raise the sum to the upper bound, which must not be reached.
        weights = np.minimum(fraction * self.span + self.low, self.most)
        return weights

    def on_host(self, graph: Graph) -> Graph:
        offsets, columns = graph.row_offsets, graph.column_indices
        weights = np.empty(graph.n_edges, self.dtype)

        def fill(part: slice) -> None:
            u, v = rows_of(offsets, part.start, part.stop), columns[part]
            if not graph.directed:
                u, v = np.minimum(u, v), np.maximum(u, v)
            weights[part] = self.scaled(self._hashed(u.astype(np.uint64) << np.uint64(32) | v.astype(np.uint64)))

        in_chunks("generating weights", "edges", graph.n_edges, fill)
        return graph._replaced(edge_weights=weights)

    def on_device(self, graph: DeviceGraph) -> Graph:
        session, kind, m = graph.session, self.dtype, graph.n_edges
        if kind == np.float64 and not session.facts.has_fp64:
            raise InputError(f"{session.facts.name} has no 64-bit floats; allowed there: int32, int64, float32")
        weights = session.empty(m, kind)
        defines = graph.defines() | {"WEIGHT_T": _C_NAMES[kind.name]}
        defines |= {"WEIGHTS_ARE_FLOATS": int(kind.kind == "f"), "DIRECTED": int(graph.directed)}
        numbers = {"start": self.start, "low": self.low, "span": self.span, "most": self.most}
        scope = {"n": graph.n_vertices, "m": m, **numbers, **graph.scope}
        launch(session, "weights", "hash_edges", m, defines, edge_weights=weights, **scope)
        return replace(graph, edge_weights=weights, _source=None).as_graph()

    def _hashed(self, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
        keys += np.uint64(self.start)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            keys ^= keys >> np.uint64(shift)
            keys *= np.uint64(factor)
        keys ^= keys >> np.uint64(31)
        return keys
