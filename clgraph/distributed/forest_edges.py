"""Edges of a forest, and what goes from worker to worker of them: at most 4 bytes a vertex, and the weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.distributed.chunks import Segment, Weights

_BITS = 8


class Forest(NamedTuple):
    """Edges of a forest, lesser ends first, in the order of sources and targets.

    As a message the sources are a bit for each edge and each vertex, and the targets as many bits as a vertex needs.
    """

    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: Weights
    n_vertices: int
    waiting: tuple[Segment, ...] = ()  # edges that may be in the forest, too

    @property
    def edges(self) -> Segment:
        return self.sources, self.targets, self.weights

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in a message."""
        n, m = self.n_vertices, self.sources.size
        n_bytes, n_planes = divmod(_target_bits(n), _BITS)
        arrays = [array for part in (*self.waiting, (self.weights,)) for array in part if array is not None]
        return -(-(n + m) // _BITS) + n_bytes * m + n_planes * -(-m // _BITS) + sum(array.nbytes for array in arrays)

    def __reduce__(self) -> Any:
        places = np.zeros(self.n_vertices + self.sources.size, bool)
        places[self.sources + np.arange(self.sources.size)] = True
        n_bytes, n_planes = divmod(_target_bits(self.n_vertices), _BITS)
        octets = np.ascontiguousarray(self.targets.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :n_bytes])
        planes = [np.packbits(self.targets >> (_BITS * n_bytes + k) & 1 > 0) for k in range(n_planes)]
        return _unpacked, (np.packbits(places), octets, planes, self.weights, self.n_vertices, self.waiting)


def _target_bits(n: int) -> int:
    return max(n - 1, 0).bit_length()


def _unpacked(
    places: NDArray[np.uint8],
    octets: NDArray[np.uint8],
    planes: list[NDArray[np.uint8]],
    weights: Weights,
    n: int,
    waiting: tuple[Segment, ...],
) -> Forest:
    m, n_bytes = octets.shape
    sources = (np.flatnonzero(np.unpackbits(places)) - np.arange(m)).astype(np.int32)
    words = np.zeros((m, 4), np.uint8)
    words[:, :n_bytes] = octets
    targets = words.reshape(-1).view("<i4").astype(np.int32)
    for k, plane in enumerate(planes):
        targets |= np.unpackbits(plane, count=m).astype(np.int32) << (_BITS * n_bytes + k)
    return Forest(sources, targets, weights, n, waiting)
