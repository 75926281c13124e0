"""Places on Morton's curve, which keeps near points of the plane together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def interleaved(x: NDArray[np.uint64], y: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return positions on Morton's curve, whose bits alternate between *x* and *y*.

    The lowest bit is from *x*.

    *x* and *y* are below 2**32.
    """
    spread = np.stack([x, y])
    for shift in (16, 8, 4, 2, 1):  # Insert a zero between any two bits.
        spread = (spread | spread << np.uint64(shift)) & np.uint64((2**64 - 1) // (2**shift + 1))
    places: NDArray[np.uint64] = spread[0] | spread[1] << np.uint64(1)
    return places
