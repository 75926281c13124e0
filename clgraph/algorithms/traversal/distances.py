"""Weights and distances as kernels hold them: cl/traversal/distances.h."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clgraph.device.facts import DeviceFacts

_KINDS = {"int32": "WEIGHT_INT", "int64": "WEIGHT_LONG", "float32": "WEIGHT_FLOAT", "float64": "WEIGHT_DOUBLE"}


@dataclass(frozen=True)
class DistanceType:
    """How kernels hold weights and distances.

    Attributes
    ----------
    kind : str
        The kernels' name for the type of the weights.
    wide : bool
        Whether distances have 64 bits; those by float32 weights are float64 then.
    """

    kind: str
    wide: bool

    @property
    def is_float(self) -> bool:
        return self.kind in ("WEIGHT_FLOAT", "WEIGHT_DOUBLE")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned type of a distance."""
        return np.dtype(np.uint64 if self.wide else np.uint32)

    @property
    def defines(self) -> dict[str, int | str]:
        return {"WEIGHT_KIND": self.kind, "WIDE": int(self.wide)}

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

    @property
    def answer_dtype(self) -> np.dtype[Any]:
        """The type of a distance as the user gets it: int64, with -1 for the unreached, or a float, with inf."""
        if not self.is_float:
            return np.dtype(np.int64)
        return np.dtype(np.float64 if self.wide else np.float32)

    def unsupported(self, facts: DeviceFacts) -> str | None:
        """Return why a device cannot hold such distances, or ``None``."""
        if self.wide and not facts.has_int64_atomics:
            return "it has no 64-bit atomics"
        return "it has no 64-bit floats" if self.is_float and self.wide and not facts.has_fp64 else None


def distance_type(weights: np.dtype[Any] | None, greatest: float, *, wide: bool) -> DistanceType:
    """Return how distances by weights of at most *greatest* are held: with 64 bits if need be, or if *wide*."""
    if weights is None:
        kind = "WEIGHT_NONE"
    elif weights == np.int64 and greatest < 2**31:
        kind = "WEIGHT_INT"
    else:
        kind = _KINDS[weights.name]
    return DistanceType(kind, wide or kind in ("WEIGHT_LONG", "WEIGHT_DOUBLE"))
