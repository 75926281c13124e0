"""Probabilities that users rate items, fitted to given degrees (numbers of ratings) of users and items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FITS = 30  # The largest number of rounds in fitted().
_CLOSE = 1e-3  # Largest accepted error of an item's expected degree, relative to the largest given degree.
_ALMOST_SURE = 1 - 1e-9  # Upper limit of the probability that a user rates an item.


@dataclass
class Chances:
    """The probability that a user of degree ``d`` rates item ``i``: ``min(1, scale(d) * weights[i])``.

    Attributes
    ----------
    weights : float64 array, shape (n_items,)
        The weight of each item; their sum is 1.
    ordered : float64 array, shape (n_items,)
        The weights from the largest to the smallest.
    """

    weights: NDArray[Any]
    ordered: NDArray[Any]

    @cached_property
    def sums(self) -> NDArray[Any]:
        return np.cumsum(self.weights)

    @cached_property
    def tails(self) -> NDArray[Any]:
        """For each position in ``ordered``, the sum of the item weights from this position to the end."""
        tails: NDArray[Any] = np.cumsum(self.ordered[::-1])[::-1]
        return tails

    def scales(self, degrees: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return, for each user degree, the number of items with probability 1, and the scale of all other items."""
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.arange(self.ordered.size) + self.tails / self.ordered
        sure = np.searchsorted(np.nan_to_num(reach, nan=np.inf), degrees)
        return sure, np.maximum(degrees - sure, 0) / self.tails[sure]

    def expected(self, degrees: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
        """Return the ordered items' expected degrees, if ``counts[k]`` users have the degree ``degrees[k]``."""
        n = self.ordered.size
        sure, scale = self.scales(degrees)
        at_least = np.cumsum(np.bincount(sure, counts * scale, n))
        never = counts.sum() - np.cumsum(np.bincount(sure, counts, n))
        expected: NDArray[Any] = never + at_least * self.ordered
        return expected

    def boundaries(self, degree: int) -> NDArray[Any]:
        """Return the running sums of the probabilities that a user of *degree* rates each item."""
        if degree * self.ordered[0] <= _ALMOST_SURE:
            sums = self.sums
        else:
            _, scale = self.scales(np.array([degree]))
            sums = np.cumsum(np.minimum(self.weights * scale, _ALMOST_SURE))
        boundaries: NDArray[Any] = sums * (degree / sums[-1])
        return boundaries


def fitted(user_degrees: NDArray[np.int64], item_degrees: NDArray[np.int64], item_order: NDArray[np.int32]) -> Chances:
    """Return rating probabilities with which the items' expected degrees are *item_degrees*.

    *item_degrees* is in descending order; *item_order* holds the item number of each entry.
    """
    degrees, counts = np.unique(user_degrees, return_counts=True)
    wanted = item_degrees.astype(float)
    ordered = wanted / max(wanted.sum(), 1)
    chances = Chances(ordered, ordered)
    for _ in range(_FITS if ordered.size and ordered[0] else 0):
        expected = chances.expected(degrees, counts)
        if np.abs(expected - wanted).max() <= _CLOSE * wanted[0] and abs(expected[0] / wanted[0] - 1) <= _CLOSE:
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            ordered = ordered * np.nan_to_num(wanted / expected, posinf=1)
        ordered = -np.sort(-ordered)
        ordered /= ordered.sum()
        chances = Chances(ordered, ordered)
    weights = np.empty_like(ordered)
    weights[item_order] = ordered
    return Chances(weights, ordered)
