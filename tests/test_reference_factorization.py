"""The oracle of matrix factorisation: gradients, errors by hand, wrong runs that its check finds."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from oracles import check_supersteps, sgd_sweep

from clgraph.data.ratings.generators import planted_ratings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError
from clgraph.reference.factorization import check_factorization, rmse

RATINGS = planted_ratings(12, 9, 60, rank=2, seed=1)
OPTIONS = {"learning_rate": 0.05, "regularization": 0.1, "mean": 0.25}


def new_model(*, biases: bool = True, dtype: Any = np.float64) -> list[Any]:
    rng = np.random.default_rng(2)
    shapes = [(12, 3), (9, 3), *([(12,), (9,)] if biases else [])]
    return [rng.normal(0, 0.3, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("biases", [False, True])
def test_a_step_goes_down_the_gradient(biases: bool) -> None:
    model, k, h = new_model(biases=biases), 17, 1e-6
    user, item, value = (getattr(RATINGS, name)[k] for name in ("users", "items", "values"))

    def loss(arrays: list[Any]) -> float:
        mine = [array[vertex] for array, vertex in zip(arrays, (user, item, user, item), strict=False)]
        error = value - OPTIONS["mean"] - mine[0] @ mine[1] - sum(mine[2:])
        return float(0.5 * (error**2 + OPTIONS["regularization"] * sum(np.sum(x**2) for x in mine)))

    stepped = sgd_sweep(RATINGS, model, [k], **OPTIONS)
    for position, (before, after) in enumerate(zip(model, stepped, strict=False)):
        for index in np.ndindex(before.shape):
            shifted = [[array.copy() for array in model] for _ in range(2)]
            for sign, arrays in zip((1, -1), shifted, strict=True):
                arrays[position][index] += sign * h
            gradient = (loss(shifted[0]) - loss(shifted[1])) / (2 * h)
            assert after[index] - before[index] == pytest.approx(-OPTIONS["learning_rate"] * gradient, abs=1e-9)


def test_order_matters_only_between_ratings_that_share_a_vertex() -> None:
    # By user then item, and by item then user: any two ratings of one vertex stand in the same order.
    by_user = sgd_sweep(RATINGS, new_model(), range(60), **OPTIONS)
    by_item = sgd_sweep(RATINGS, new_model(), RATINGS.item_order, **OPTIONS)
    backwards = sgd_sweep(RATINGS, new_model(), range(59, -1, -1), **OPTIONS)
    for first, second, other in zip(by_user, by_item, backwards, strict=True):
        assert first is not None and np.array_equal(first, second) and not np.array_equal(first, other)


def test_sweeps_find_a_planted_matrix() -> None:
    ratings = planted_ratings(60, 50, 2000, rank=2, noise=0.05, seed=3)
    rng = np.random.default_rng(4)
    model: Any = [rng.normal(0, 0.3, (n, 2)).astype(np.float32) for n in ratings.shape]
    for _ in range(40):
        model = sgd_sweep(
            ratings, model, rng.permutation(ratings.n_ratings), learning_rate=0.05, regularization=0.0, mean=0.0
        )
    assert model[0].dtype == np.float32 and model[2] is None
    assert rmse(ratings, model, 0.0) < 0.06


def test_the_error_of_a_matrix_by_hand() -> None:
    ratings = Ratings.from_triples([0, 1], [0, 0], [1.0, 4.0])
    model = [np.array([[1.0], [2.0]]), np.array([[1.0]]), np.array([0.0, 0.5]), np.array([0.25])]
    # Predictions: 1 + 1 + 0.25 = 2.25 and 1 + 2 + 0.5 + 0.25 = 3.75.
    assert rmse(ratings, model, 1.0) == pytest.approx(np.sqrt((1.25**2 + 0.25**2) / 2))
    assert np.isnan(rmse(Ratings.from_triples([], [], []), [np.zeros((0, 1)), np.zeros((0, 1))], 0.0))


def sweep() -> tuple[np.ndarray, np.ndarray]:
    """Return a right order of steps, by diagonals, and where the supersteps begin."""
    diagonal = (RATINGS.items - RATINGS.users) % 12
    order = np.argsort(diagonal, kind="stable")
    return order, np.searchsorted(diagonal[order], np.arange(13))


def test_a_right_run_passes() -> None:
    check_supersteps(RATINGS, *sweep())
    check_factorization(RATINGS, new_model())


def test_wrong_supersteps_are_found() -> None:
    order, offsets = sweep()
    repeated = order.copy()
    repeated[3] = repeated[4]
    for wrong, message in (
        ((repeated, offsets), "permutation"),
        ((order, np.delete(offsets, 4)), r"superstep \d+ has two ratings of (user|item) \d+"),
        ((order, offsets[:-1]), "supersteps from 0 to"),
    ):
        with pytest.raises(VerificationError, match=message):
            check_supersteps(RATINGS, *wrong)


def test_wrong_factors_are_found() -> None:
    model = new_model()
    model[3][7] = np.nan
    with pytest.raises(VerificationError, match="item biases: row 7 is not finite"):
        check_factorization(RATINGS, model)
    with pytest.raises(VerificationError, match="12 user factors; needed: 13"):
        check_factorization(replace(RATINGS, n_users=13), model)
