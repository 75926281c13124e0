"""Learning-rate schedules as pure functions.

References
----------
.. [1] R. Battiti. "Accelerated backpropagation learning: two optimization methods." Complex Systems 3, 1989
   (the bold driver).
.. [2] H. Robbins, S. Monro. "A stochastic approximation method." Annals of Mathematical Statistics 22, 1951
   (rates that fall like 1/t).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from clgraph.algorithms.factorization.factors import MOST_SHRINKING
from clgraph.arguments import check_choice, checked_number
from clgraph.errors import InputError

Schedule: TypeAlias = Callable[[int, float, float], float]
"""``schedule(n, rate, gain)`` returns the rate of the epoch after *n* epochs.

The last one of them had the learning rate *rate* and lowered the loss by *gain*. NaN stands for an unknown number.
"""

SCHEDULES = ("constant", "inverse", "bold_driver")
_GROW, _SHRINK = 1.05, 0.5


def make_schedule(name: str, learning_rate: float, decay: float = 0.0, regularization: float = 0.0) -> Schedule:
    """Return a learning-rate schedule by its name.

    Parameters
    ----------
    name : {"constant", "inverse", "bold_driver"}
        A constant rate; ``learning_rate / (1 + decay * t)`` in epoch t = 0, 1, … [2]_; or a rate that rises by 5 %
        after an epoch that lowered the loss, and halves after one that raised it [1]_.
    learning_rate : float
        Rate of the first epoch.
    decay : float
        The ``decay`` of "inverse", at least 0.
    regularization : float
        Regularization of the training, at most 1 / (2 *learning_rate*).

    Raises
    ------
    InputError
        The name is unknown, or a number is out of range.
    """
    check_choice("schedule", name, SCHEDULES)
    learning_rate = checked_number("learning_rate", learning_rate, above=True)
    decay = checked_number("decay", decay)
    checked_number("regularization", regularization)
    if capped(learning_rate, regularization) < learning_rate:
        raise InputError(
            f"learning_rate={learning_rate!r} times regularization={regularization!r} is above {MOST_SHRINKING}: a "
            f"step would shrink rows by more than half. Use at most learning_rate={MOST_SHRINKING / regularization:.3g}"
        )

    def constant(n: int, rate: float, gain: float) -> float:
        return learning_rate

    def inverse(n: int, rate: float, gain: float) -> float:
        return learning_rate / (1.0 + decay * n)

    def bold_driver(n: int, rate: float, gain: float) -> float:
        if not n:
            return learning_rate
        if not gain or math.isnan(gain):
            return rate
        return rate * (_GROW if gain > 0 else _SHRINK)

    return {"constant": constant, "inverse": inverse, "bold_driver": bold_driver}[name]


def capped(rate: float, regularization: float) -> float:
    """Return the learning *rate*, or a lower one if a step would shrink rows by *rate* × *regularization* > 1/2."""
    if rate * regularization > MOST_SHRINKING:
        return math.nextafter(MOST_SHRINKING / regularization, 0.0)
    return rate
