"""Weights and distances as kernels hold them: cl/traversal/distances.h."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graph import Graph
from clgraph.device.facts import DeviceFacts
from clgraph.errors import UnsupportedStrategyError
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_KINDS = {"int32": "WEIGHT_INT", "int64": "WEIGHT_LONG", "float32": "WEIGHT_FLOAT", "float64": "WEIGHT_DOUBLE"}


class Distances:
    """How one graph's distances are held on one device.

    Attributes
    ----------
    defines : dict
        For kernels.
    weights : DeviceArray
        A weight for every entry; nothing of use where every edge weighs 1.
    wide : bool
        Whether distances have 64 bits.
    dtype : dtype
        Unsigned type that kernels use.
    """

    def __init__(self, session: Session, graph: Graph, *, wide: bool = False, weighted: bool = True) -> None:
        self._given = weights = graph.edge_weights if weighted else None
        self.is_float = weights is not None and weights.dtype.kind == "f"
        if weights is None:
            self.weights, kind = session.empty(1, np.int32), "WEIGHT_NONE"
        elif weights.dtype == np.int64 and int(weights.max(initial=0)) < 2**31:
            self.weights, kind = session.upload(weights.astype(np.int32)), "WEIGHT_INT"
        else:
            on_device = device_graph(session, graph, weights=True).edge_weights
            assert on_device is not None
            self.weights, kind = on_device, _KINDS[weights.dtype.name]
        self.wide = wide or kind in ("WEIGHT_LONG", "WEIGHT_DOUBLE")
        if reason := wide_reason(session.facts, self.wide, kind == "WEIGHT_DOUBLE"):
            raise UnsupportedStrategyError(f"{session.facts.name} cannot hold these distances: {reason}")
        self.dtype: np.dtype[Any] = np.dtype(np.uint64 if self.wide else np.uint32)
        self.defines: dict[str, int | str] = {"WEIGHT_KIND": kind, "WIDE": int(self.wide)}

    def has_flat_edges(self) -> bool:
        """Return whether there may be edges that add nothing to a distance."""
        weights = self._given
        return weights is not None and weights.size > 0 and (self.is_float or bool(weights.min() == 0))

    def limit(self, limit: float | None) -> Any:
        """Return the greatest distance of interest as kernels hold it."""
        most = np.iinfo(self.dtype).max - 1
        if limit is None or limit == np.inf:
            return self.dtype.type(most)
        if self.is_float:
            with np.errstate(over="ignore"):
                value = np.float64(limit) if self.wide else np.float32(limit)
            if not self.wide and float(value) > limit:
                value = np.nextafter(value, np.float32(0))
            return np.asarray(value).view(self.dtype)[()]
        return self.dtype.type(min(int(limit), most))

    def on_host(self, words: NDArray[Any]) -> NDArray[Any]:
        """Return distances as the user gets them: int64 with -1, or floats with inf, for the unreached."""
        unreached = words == np.iinfo(self.dtype).max
        if self.is_float:
            values = words.view(np.float64 if self.wide else np.float32)
            values[unreached] = np.inf
            return values
        distances = words.astype(np.int64)
        distances[unreached] = -1
        return distances


def wide_reason(facts: DeviceFacts, wide: bool, double: bool) -> str | None:
    """Return why a device cannot hold such distances, or ``None``."""
    if wide and not facts.has_int64_atomics:
        return "it has no 64-bit atomics"
    return "it has no 64-bit floats" if double and not facts.has_fp64 else None
