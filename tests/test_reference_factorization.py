from typing import Any

import numpy as np
import pytest

from clgraph.data.ratings import Ratings
from clgraph.data.ratings_generators import planted_ratings
from clgraph.errors import VerificationError
from clgraph.reference.factorization import check_factorization, rmse, sgd_sweep

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


def good() -> dict[str, Any]:
    counts = np.zeros(RATINGS.shape, np.uint32)
    counts[RATINGS.users, RATINGS.items] = 1
    diagonal = (RATINGS.items - RATINGS.users) % 12
    order = np.argsort(diagonal, kind="stable")
    offsets = np.searchsorted(diagonal[order], np.arange(13))
    model = new_model()
    return {
        "counts": counts, "supersteps": (order, offsets), "model": model, "mean": 0.5,
        "loss": rmse(RATINGS, model, 0.5),
    }  # fmt: skip


def test_a_right_run_passes() -> None:
    check_factorization(RATINGS, **good())


def miss_a_rating(run: dict[str, Any]) -> None:
    run["counts"][RATINGS.users[5], RATINGS.items[5]] = 0


def step_on_no_rating(run: dict[str, Any]) -> None:
    run["counts"][np.unravel_index(int((run["counts"] == 0).argmax()), run["counts"].shape)] = 1


def repeat_a_position(run: dict[str, Any]) -> None:
    run["supersteps"][0][3] = run["supersteps"][0][4]


def join_two_supersteps(run: dict[str, Any]) -> None:
    run["supersteps"] = run["supersteps"][0], np.delete(run["supersteps"][1], 4)


def forget_the_end(run: dict[str, Any]) -> None:
    run["supersteps"] = run["supersteps"][0], run["supersteps"][1][:-1]


def plant_a_nan(run: dict[str, Any]) -> None:
    run["model"][3][7] = np.nan


def tell_another_loss(run: dict[str, Any]) -> None:
    run["loss"] *= 1.001


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (miss_a_rating, r"0 steps on user \d+, item \d+, which has 1"),
        (step_on_no_rating, "1 steps on user .*, which has 0"),
        (repeat_a_position, "permutation"),
        (join_two_supersteps, r"superstep \d+ has two ratings of (user|item) \d+"),
        (forget_the_end, "supersteps from 0 to"),
        (plant_a_nan, "item biases: row 7 is not finite"),
        (tell_another_loss, "the factors have"),
    ],
)
def test_a_wrong_run_is_found(spoil: Any, message: str) -> None:
    run = good()
    spoil(run)
    with pytest.raises(VerificationError, match=message):
        check_factorization(RATINGS, **run)
