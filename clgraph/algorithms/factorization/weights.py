"""Checks of the weights of ratings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_array
from clgraph.errors import InputError

_LARGEST = float(np.finfo(np.float32).max)


def checked_weights(name: str, given: Any, n_ratings: int) -> NDArray[np.float32]:
    """Return the weights *given* for *n_ratings* ratings as float32, or raise an :class:`InputError`.

    Weights must be finite in float32 and at least 0, and one of them must be positive.
    """
    array = checked_array(name, given)
    if array.shape != (n_ratings,):
        raise InputError(f"{name} has shape {array.shape}; needed: ({n_ratings},), a weight for each rating")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} holds {array.dtype} values such as {array[0]!r}; needed: numbers")
    with np.errstate(over="ignore"):
        weights = np.ascontiguousarray(array, np.float32)
    right = (weights >= 0) & (weights <= _LARGEST)
    if not right.all():
        at = int(right.argmin())
        raise InputError(f"{name}[{at}] = {array[at]}; weights must be finite float32 numbers of at least 0")
    if not weights.any():
        raise InputError(f"all weights in {name} are zero; one of them must be positive")
    return weights


def check_weighted_squares(weights: NDArray[np.float32], largest: float) -> None:
    """Raise an error unless the square of the *largest* rating times the largest weight is finite in float32."""
    most = float(weights.max())
    if most * max(1.0, largest**2) > _LARGEST:
        raise InputError(
            f"a weight of {most:.3g} and a rating of {largest:.3g}; the greatest weight times the square of the "
            "greatest rating must be finite in float32. Scale the weights or the ratings"
        )
