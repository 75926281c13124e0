"""What the edges of a forest weigh, by sums in one order, which kernels and the host make alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LANES, ADDENDS = 64, 128
"""There are so many sums for each ``LANES * ADDENDS`` edges, and each is of so many; as ``cl/mst/answer.cl`` tells."""


def total_weight(weights: NDArray[Any]) -> int | float:
    """Return the sum of *weights*: an exact integer, or a float64."""
    n = weights.size
    if weights.dtype.kind == "f":
        n_addends = min(ADDENDS, -(-n // LANES))  # zeros after the last weight change nothing
        padded = np.zeros((_n_sums(n) // LANES, n_addends, LANES))
        padded.reshape(-1)[:n] = weights
        with np.errstate(over="ignore", invalid="ignore"):  # infinite weights are legal
            return sum_of_parts(padded.sum(axis=1).reshape(-1), n, weights.dtype)
    if weights.itemsize == 4:
        return int(weights.sum(dtype=np.int64))
    return (int((weights >> 32).sum()) << 32) + int((weights & 0xFFFFFFFF).sum())


def sum_of_parts(sums: NDArray[Any], n: int, dtype: np.dtype[Any]) -> int | float:
    """Return the sum of *n* weights of *dtype*, from *sums* of parts; of 64-bit integers the halves take turns."""
    if dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return float(sums[: _n_sums(n)].sum())
    if dtype.itemsize == 4:
        return int(sums.sum())
    return (int(sums[::2].sum()) << 32) + int(sums[1::2].sum())


def _n_sums(n: int) -> int:
    return LANES * -(-n // (LANES * ADDENDS))
