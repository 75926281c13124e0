"""Weights of ratings: every strategy, the loss, each form of input, several devices, and what is refused."""

from typing import Any

import numpy as np
import pytest
from conftest import session_on
from estimators import (
    OFFLINE,
    SMALL,
    assert_same,
    assert_same_factors,
    factors_of,
    make_fixture,  # noqa: F401
)
from factorization_checks import OFFLINE as ALL_OFFLINE
from factorization_checks import ZOO, check_replay, check_sweeps, random_weights
from numpy.typing import NDArray
from oracles import sgd_sweep
from scipy.sparse import coo_array, csr_array

from clgraph import Ratings, SGDMatrixFactorization
from clgraph.algorithms.factorization import STRATEGIES
from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training.learning_rates import make_schedule
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.data.ratings.generators import planted_ratings
from clgraph.errors import InputError
from clgraph.reference.factorization import rmse
from clgraph.runtime.session import Session

WEIGHTS = random_weights(SMALL)
N = SMALL.n_ratings


def fits_of(make: Any, weights: NDArray[Any], **parameters: Any) -> list[SGDMatrixFactorization]:
    """Return a fit on SMALL without weights, and one with *weights*."""
    return [make(**parameters).fit(SMALL, sample_weight=w) for w in (None, weights)]


@pytest.mark.parametrize("strategy", ALL_OFFLINE)
@pytest.mark.parametrize("name", ["empty", "one", "one user", "one item", "cross", "dense", "skewed"])
def test_weighted_sweeps_are_those_of_numpy(session: Session, strategy: str, name: str) -> None:
    """Each rating has one step, times its weight, in the order of the unweighted sweep."""
    ratings = ZOO[name]
    options = {"shape": (16, 32)} if strategy == "block_diagonal" else {}
    check_replay(session, strategy, ratings, biases=True, weights=random_weights(ratings), **options)


@pytest.mark.parametrize("model", [(1,), (16, "float16", True), (128, "float32", True)])
@pytest.mark.parametrize("strategy", ["matching_edge", "subgraph_matching", "block_grid", "block_diagonal"])
def test_every_model_is_trained_with_weights(session: Session, strategy: str, model: tuple[Any, ...]) -> None:
    check_replay(session, strategy, ZOO["512"], *model, checked=False, weights=random_weights(ZOO["512"]))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES.keys() - set(ALL_OFFLINE)))
def test_weighted_online_sweeps_have_each_rating_once(session: Session, strategy: str) -> None:
    check_sweeps(session, strategy, ZOO["skewed"], 16, biases=True, weights=random_weights(ZOO["skewed"]))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights_of_1_change_no_bit(make: Any, strategy: str) -> None:
    """PoCL runs the online strategies on so few ratings in one order, too, but other devices need not."""
    first, second = fits_of(make, np.ones(N), strategy=strategy, biases=True)
    if strategy in ALL_OFFLINE:
        assert_same(first, second)
        assert first.mean_ == second.mean_ and first.rating_range_ == second.rating_range_
    else:
        assert second.loss_curve_[-1] == pytest.approx(first.loss_curve_[-1], rel=0.02)


def test_a_weight_is_like_a_repeated_rating() -> None:
    """To first order in the rate: two steps on a rating differ from one of weight 2 by the square of the rate."""
    start = initial_factors(40, 30, 4, scale=1.0, biases=True, rng=np.random.default_rng(0))
    times = np.random.default_rng(1).integers(4, size=N)
    errors = []
    for rate in (1e-3, 1e-4):
        engine = Factorization(
            session_on("pocl"), SMALL, rank=4, strategy=OFFLINE, biases=True, weights=times.astype(np.float32)
        )
        engine.model.set(start)
        engine.train(1, schedule=make_schedule("constant", rate))
        order = np.argsort((SMALL.items - SMALL.users) % max(SMALL.shape), kind="stable")
        repeated = sgd_sweep(
            SMALL, start, np.repeat(order, times[order]), learning_rate=rate, regularization=0.0, mean=engine.model.mean
        )
        moved = np.abs(repeated[0] - start.user_factors).max()
        errors.append(np.abs(engine.model.get().user_factors - repeated[0]).max() / moved)
        assert engine.model.mean == pytest.approx(np.repeat(SMALL.values, times).mean())
    assert errors[0] < 0.02 and errors[1] < 0.004


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_training_lowers_the_weighted_loss(session: Session, strategy: str) -> None:
    """Corrupted ratings of weight 0 do no harm: the loss and the other ratings' error are as without them."""
    if strategy == "hogwild" and not session.facts.is_cpu:
        pytest.skip("a GPU updates the factors of 100 users at once, and hogwild loses most of these steps")
    ratings = planted_ratings(100, 80, 4000, rank=2, noise=0.1, seed=3)
    rng = np.random.default_rng(0)
    wrong = rng.random(4000) < 0.2
    values = np.where(wrong, 50 * rng.normal(size=4000), ratings.values)
    weights = np.where(wrong, 0, rng.uniform(0.5, 1.5, 4000))
    corrupted = Ratings(ratings.users, ratings.items, values, *ratings.shape)
    model = SGDMatrixFactorization(
        4, strategy=strategy, n_epochs=15, learning_rate=0.05, random_state=0, session=session, init_scale=1.0
    ).fit(corrupted, sample_weight=weights, callback=lambda *_: None)
    losses = model.loss_curve_
    assert losses[-1] < 0.7 * losses[0]
    assert losses[-1] == pytest.approx(rmse(corrupted, factors_of(model), model.mean_, weights), rel=1e-4)
    assert model.mean_ == pytest.approx(np.average(values, weights=weights), abs=1e-6)
    assert model.rating_range_ == (pytest.approx(values[~wrong].min()), pytest.approx(values[~wrong].max()))
    assert rmse(ratings, factors_of(model), model.mean_) < 0.7 * ratings.values.std()


@pytest.mark.parametrize("strategy", ALL_OFFLINE)
def test_values_of_weight_0_change_no_bit(make: Any, strategy: str) -> None:
    values = np.where(WEIGHTS > 0, SMALL.values, -77)
    corrupted = Ratings(SMALL.users, SMALL.items, values, *SMALL.shape)
    clean, other = (make(strategy=strategy, clip=True).fit(X, sample_weight=WEIGHTS) for X in (SMALL, corrupted))
    assert (WEIGHTS == 0).any()
    assert_same(clean, other)
    np.testing.assert_array_equal(clean.predict(*SMALL.to_pairs()[0].T), other.predict(*SMALL.to_pairs()[0].T))


def test_weights_of_0_leave_regularization(make: Any) -> None:
    """The rows of a rating of weight 0 shrink as without weights."""
    ratings = Ratings.from_triples([0, 1], [0, 1], [1.0, 9.0])
    model = make(n_epochs=1).fit(ratings, sample_weight=[1, 0])
    start = initial_factors(
        2, 2, 4, scale=0.2, biases=False, rng=np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
    )
    np.testing.assert_allclose(model.user_factors_[1], (1 - 0.01 * 0.05) * start.user_factors[1], rtol=1e-6)
    assert model.mean_ == 1.0 and model.rating_range_ == (1.0, 1.0)


def test_each_form_of_input_has_its_own_order(make: Any) -> None:
    expected = make(biases=True).fit(SMALL, sample_weight=WEIGHTS)
    matrix = SMALL.to_scipy()
    assert_same(make(biases=True).fit(matrix, sample_weight=WEIGHTS.tolist()), expected)
    shuffled, order = matrix.copy(), np.arange(N)
    for row in range(SMALL.n_users):  # the entries of each row from right to left
        part = slice(*matrix.indptr[row : row + 2])
        order[part] = order[part][::-1]
    shuffled.indices, shuffled.data = matrix.indices[order], matrix.data[order]
    shuffled.has_sorted_indices = False
    assert_same(make(biases=True).fit(shuffled, sample_weight=WEIGHTS[order]), expected)
    order = np.random.default_rng(2).permutation(N)
    pairs = np.column_stack((SMALL.users, SMALL.items))[order]
    by_pairs = make(biases=True).fit(pairs, SMALL.values[order], WEIGHTS[order])
    assert_same_factors(by_pairs, expected)
    names = np.array([f"u{user:02}" for user in SMALL.users]), np.array([f"i{item:02}" for item in SMALL.items])
    named = make(biases=True).fit(np.column_stack(names)[order], SMALL.values[order], sample_weight=WEIGHTS[order])
    assert_same_factors(named, expected)
    dense, weights = np.random.default_rng(0).normal(size=(6, 5)), np.arange(30.0)
    assert_same(
        make().fit(dense, sample_weight=weights), make().fit(csr_array(dense), sample_weight=weights.astype(int))
    )


def test_scores_take_the_same_weights_as_fits(make: Any) -> None:
    model = make().fit(SMALL)
    matrix = SMALL.to_scipy()
    shuffled = coo_array(matrix).tocsc().tocsr()
    assert model.score(matrix, sample_weight=WEIGHTS) == pytest.approx(model.score(shuffled, sample_weight=WEIGHTS))
    assert model.score(matrix, sample_weight=np.ones(N)) == pytest.approx(model.score(matrix))
    assert model.score(SMALL, sample_weight=WEIGHTS) != model.score(SMALL)


def test_several_ratings_of_a_pair_are_merged_by_weight(make: Any) -> None:
    pairs, values = np.array([[0, 0], [1, 1], [0, 0], [1, 0], [1, 0]]), np.array([1.0, 2.0, 5.0, 7.0, 8.0])
    merged = make().fit([[0, 0], [1, 0], [1, 1]], [4.0, 7.5, 2.0], [2.0, 0.0, 1.0])
    assert_same(make().fit(pairs, values, [1.0, 1.0, 3.0, 0.0, 0.0]), merged)
    assert_same(make().fit(pairs, values, np.ones(5)), make().fit(pairs, values))
    repeated = csr_array((values[:3], [0, 1, 0], [0, 3]), shape=(1, 2))  # Repeated entries of a matrix are added up.
    summed = make().fit(csr_array([[6.0, 2.0]]), sample_weight=[2.0, 1.0])
    assert_same(make().fit(repeated, sample_weight=[1.0, 1.0, 3.0]), summed)


def test_partial_fit_takes_weights(make: Any) -> None:
    whole = make(n_epochs=3).fit(SMALL, sample_weight=WEIGHTS)
    parts = make().partial_fit(SMALL, None, WEIGHTS, n_epochs=2).partial_fit(SMALL, sample_weight=WEIGHTS)
    assert_same(whole, parts)
    # Items in another order: the fit's numbers sort the ratings and their weights again.
    pairs, values = SMALL.to_pairs()
    named = np.column_stack((pairs[:, 0], 100 - pairs[:, 1]))
    model, other = (make(n_epochs=1).fit(named, values) for _ in range(2))
    renamed = Ratings.from_triples(SMALL.users, SMALL.items, SMALL.values)
    renamed = Ratings(
        renamed.users, renamed.items, renamed.values, *renamed.shape, range(renamed.n_users),
        100 - np.arange(renamed.n_items),
    )  # fmt: skip
    model.partial_fit(renamed, sample_weight=WEIGHTS)
    other.partial_fit(named, values, sample_weight=WEIGHTS)
    assert_same_factors(model, other)


def test_several_devices_have_the_weighted_loss() -> None:
    ratings = planted_ratings(60, 50, 1200, rank=2, noise=0.1, seed=1)
    weights = random_weights(ratings)
    weights[: 20 * 20] = 0.0
    devices = [session_on("pocl"), session_on("intel")]
    options: dict[str, Any] = {"n_epochs": 4, "learning_rate": 0.03, "biases": True, "random_state": 0}
    model = SGDMatrixFactorization(4, devices=devices, **options)
    model.fit(ratings, sample_weight=weights, callback=lambda *_: False)  # computes the loss of each epoch
    assert model.loss_curve_[-1] == pytest.approx(rmse(ratings, factors_of(model), model.mean_, weights), rel=1e-4)
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    plain, ones = (
        SGDMatrixFactorization(4, devices=devices, **options).fit(ratings, sample_weight=w)
        for w in (None, np.ones(ratings.n_ratings))
    )
    assert_same(plain, ones)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(N - 1), rf"sample_weight has shape \({N - 1},\); needed: \({N},\), a weight for each rating"),
        (np.ones((N, 1)), rf"sample_weight has shape \({N}, 1\)"),
        (1.0, r"sample_weight has shape \(\)"),
        (np.where(np.arange(N) == 3, -0.5, 1.0), r"sample_weight\[3\] = -0.5; weights must be finite"),
        (np.where(np.arange(N) == 4, np.nan, 1.0), r"sample_weight\[4\] = nan"),
        (np.where(np.arange(N) == 5, np.inf, 1.0), r"sample_weight\[5\] = inf"),
        (np.where(np.arange(N) == 6, 1e39, 1.0), r"sample_weight\[6\] = 1e\+39"),
        (np.zeros(N), "all weights in sample_weight are zero"),
        (["much"] * N, r"sample_weight holds <U4 values such as .*'much'.*; needed: numbers"),
        (np.full(N, 3e38), r"a weight of 3e\+38 and a rating of .*; the greatest weight times"),
    ],
)
def test_wrong_weights_are_refused(make: Any, weights: Any, message: str) -> None:
    for X, y in ((SMALL, None), (SMALL.to_scipy(), None), SMALL.to_pairs()):
        with pytest.raises(InputError, match=message):
            make().fit(X, y, weights)
    model = make().fit(SMALL)
    old = factors_of(model)
    with pytest.raises(InputError, match=message):
        model.partial_fit(SMALL, sample_weight=weights)
    assert all(a is b for a, b in zip(old, factors_of(model), strict=True))


def test_weights_of_an_ambiguous_order_are_refused(make: Any) -> None:
    for matrix in (SMALL.to_scipy().tocsc(), SMALL.to_scipy().tocoo()):
        with pytest.raises(InputError, match=rf"in format {matrix.format}; give X.tocsr\(\)"):
            make().fit(matrix, sample_weight=WEIGHTS)
