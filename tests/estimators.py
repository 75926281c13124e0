"""Estimators that are quick and the same each time, and comparisons of two."""

from typing import Any

import numpy as np
import pytest

from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.data.ratings.generators import planted_ratings
from clgraph.data.ratings.ratings import Ratings
from clgraph.runtime.session import Session

OFFLINE = "diagonal"
SMALL = planted_ratings(40, 30, 500, rank=3, noise=0.1, seed=1)
NAMED = Ratings.from_triples(
    ["ann", "bob", "ann", "cy", "bob"], ["p", "q", "q", "r", "p"], [1.0, 2.0, 3.0, 4.0, 5.0], ids="compact"
)


@pytest.fixture(name="make")
def make_fixture(pocl: Session) -> Any:
    """Return an estimator with these parameters that is quick, on PoCL, and the same each time."""

    def estimator(**parameters: Any) -> SGDMatrixFactorization:
        defaults = {"n_factors": 4, "strategy": OFFLINE, "n_epochs": 4, "random_state": 0, "session": pocl}
        return SGDMatrixFactorization(**defaults | parameters)

    return estimator


def factors_of(model: SGDMatrixFactorization) -> list[Any]:
    return [model.user_factors_, model.item_factors_, model.user_biases_, model.item_biases_]


def assert_same_factors(first: SGDMatrixFactorization, second: SGDMatrixFactorization) -> None:
    for a, b in zip(factors_of(first), factors_of(second), strict=True):
        np.testing.assert_array_equal(a, b)


def assert_same(first: SGDMatrixFactorization, second: SGDMatrixFactorization) -> None:
    assert_same_factors(first, second)
    assert first.n_iter_ == second.n_iter_ and first.loss_curve_[-1] == second.loss_curve_[-1]
