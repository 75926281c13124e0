"""Training on a device, and the scikit-learn estimator."""

import json
import math
import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import DATA, printed_by, run_python, session_on
from oracles import sgd_sweep
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import clgraph as cg
from clgraph.algorithms import factorization
from clgraph.algorithms.factorization.estimator import estimator
from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.algorithms.factorization.estimator.model_file import read_model, write_model
from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training import training
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.algorithms.factorization.training.learning_rates import SCHEDULES, make_schedule
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.cli.main import main
from clgraph.data.ratings.generators import planted_ratings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import ConvergenceWarning, DeviceError, DeviceMemoryError, InputError, UnsupportedStrategyError
from clgraph.io.ratings import read_ratings
from clgraph.reference.factorization import check_factorization, rmse
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.session import Session

OFFLINE = "diagonal"
SMALL = planted_ratings(40, 30, 500, rank=3, noise=0.1, seed=1)
NAMED = Ratings.from_triples(
    ["ann", "bob", "ann", "cy", "bob"], ["p", "q", "q", "r", "p"], [1.0, 2.0, 3.0, 4.0, 5.0], ids="compact"
)


@pytest.fixture
def make(pocl: Session) -> Any:
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
    assert first.loss_curve_ == second.loss_curve_


# ---- schedules


def test_schedules_by_hand() -> None:
    constant, inverse, bold = (make_schedule(name, 0.8, 0.5) for name in SCHEDULES)
    assert [constant([0.8] * t, [1.0] * t) for t in range(3)] == [0.8, 0.8, 0.8]
    assert [inverse([0.8] * t, [1.0] * t) for t in range(3)] == pytest.approx([0.8, 0.8 / 1.5, 0.4])
    rates, losses = [], []
    for loss in (1.0, 0.9, 0.95, 0.95, 0.5):
        rates.append(bold(rates, losses))
        losses.append(loss)
    # The first two epochs have nothing to compare; then lower, higher, equal.
    assert rates == pytest.approx([0.8, 0.8, 0.84, 0.42, 0.42])
    assert bold(rates, losses) == pytest.approx(0.42 * 1.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("linear", 0.1), "'bold_driver'"),
        (("constant", 0.0), "learning_rate = 0.0"),
        (("constant", math.nan), "learning_rate = nan"),
        (("inverse", 0.1, -1.0), "decay = -1.0"),
        (("constant", 0.6, 0.0, 1.0), "learning_rate=0.6 times regularization=1.0 .* at most learning_rate=0.5"),
        (("constant", 0.1, 0.0, -1.0), "regularization = -1.0"),
    ],
)
def test_schedules_refuse(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_schedule(*arguments)


# ---- training


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_the_device_computes_what_the_definition_says(session: Session, biases: bool, storage: Any) -> None:
    engine = Factorization(session, SMALL, rank=5, strategy=OFFLINE, biases=biases, storage=storage)
    start = initial_factors(40, 30, 5, scale=1.0, biases=biases, rng=np.random.default_rng(0))
    engine.model.set(start)
    mean = engine.model.mean
    assert mean == pytest.approx(SMALL.values.mean(), abs=1e-6)
    (epoch,) = engine.train(1, schedule=make_schedule("constant", 0.02), regularization=0.1)
    model = engine.model.get()
    check_factorization(SMALL, model)
    assert epoch.loss == pytest.approx(rmse(SMALL, model, mean), rel=1e-4)
    modulus = max(SMALL.shape)
    order = np.argsort((SMALL.items - SMALL.users) % modulus, kind="stable")
    expected = sgd_sweep(SMALL, start, order, learning_rate=0.02, regularization=0.1, mean=mean)
    for got, wanted in zip(model, expected, strict=True):
        if wanted is not None:
            np.testing.assert_allclose(got, wanted, atol=1e-5 if storage == "float32" else 5e-3)
    assert epoch.seconds > 0 and epoch.updates_per_second == pytest.approx(500 / epoch.seconds)
    info = engine.info()
    assert info.kind == "offline" and info.seconds.kernel > 0 and "squared_errors" not in info.kernels


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 1200])
def test_errors_and_predictions_of_every_size(session: Session, n: int) -> None:
    ratings = planted_ratings(40, 30, n, seed=n)
    engine = Factorization(session, ratings, rank=7, strategy=OFFLINE, biases=True)
    engine.model.set(initial_factors(40, 30, 7, scale=1.0, biases=True, rng=np.random.default_rng(n)))
    model, mean = engine.model.get(), engine.model.mean
    assert engine.rmse() == pytest.approx(rmse(ratings, model, mean), rel=1e-5)
    expected = mean + np.einsum("ij,ij->i", model[0][ratings.users], model[1][ratings.items])
    np.testing.assert_allclose(engine.predict(ratings.users, ratings.items), expected, atol=1e-5)
    nobody = Ratings.from_triples([], [], [], n_users=40, n_items=30)
    assert math.isnan(Errors(session, nobody, engine.model).rmse())


def test_first_predictions_are_near_the_mean() -> None:
    factors = initial_factors(500, 400, 64, scale=0.2, biases=True, rng=np.random.default_rng(0))
    products = factors.user_factors @ factors.item_factors.T
    # A sum of 64 products of two normal numbers of deviation 0.2 / 8.
    assert products.std() == pytest.approx(8 * (0.2 / 8) ** 2, rel=0.05)
    assert not factors.user_biases.any() and factors.item_factors.dtype == np.float32


def test_rank_1_on_one_rating(make: Any) -> None:
    model = make(n_factors=1, n_epochs=2).fit(Ratings.from_triples([0], [0], [3.0]))
    assert model.predict([0], [0]) == pytest.approx([3.0], abs=1e-2)


def test_a_rate_that_grows_stays_where_regularization_allows_it(pocl: Session) -> None:
    engine = Factorization(pocl, SMALL, rank=4, strategy=OFFLINE)
    for regularization in (0.049, 0.3, 1.0, 7.0):
        wanted = [share / regularization for share in (0.3, 0.45, 0.6)]
        epochs = engine.train(3, schedule=lambda rates, _, w=wanted: w[len(rates)], regularization=regularization)
        shares = [epoch.learning_rate * regularization for epoch in epochs]
        assert shares == pytest.approx([0.3, 0.45, 0.5]) and shares[-1] <= 0.5


@pytest.mark.parametrize("error", [KeyboardInterrupt, DeviceError])
def test_factors_and_history_agree_wherever_the_training_breaks(
    pocl: Session, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    engine = Factorization(pocl, SMALL, rank=4, strategy=OFFLINE, biases=True)
    start = initial_factors(40, 30, 4, scale=1.0, biases=True, rng=np.random.default_rng(0))
    wanted, calls, breaks_at = [start], 0, 0

    def train(**options: Any) -> None:
        engine.model.set(start)
        engine.train(2, schedule=make_schedule("constant", 0.05), **options)

    def counted(name: str) -> Any:
        original = getattr(Commands, name)

        def call(*arguments: Any) -> Any:
            nonlocal calls
            result = original(*arguments)
            calls += 1
            if calls == breaks_at:
                raise error
            return result

        return call

    train(callback=lambda number, epoch: wanted.append(engine.model.get()))
    for name in ("record_transfer", "record_kernel", "finish"):
        monkeypatch.setattr(Commands, name, counted(name))
    train()
    most, lengths = calls, set()
    for breaks_at in range(5, most + 1):  # the first four calls set the factors
        calls = 0
        with pytest.raises(error):
            train()
        breaks_at = 0
        lengths.add(len(engine.epochs))
        for got, expected in zip(engine.model.get(), wanted[len(engine.epochs)], strict=True):
            np.testing.assert_array_equal(got, expected)
        if engine.epochs:
            assert engine.rmse() == engine.epochs[-1].loss
    assert lengths == {0, 1, 2}


def test_the_choice_is_what_runs(pocl: Session) -> None:
    for deterministic in (False, True):
        engine = Factorization(pocl, SMALL, deterministic=deterministic)
        assert engine.choice.strategy == engine.strategy == engine.info().strategy


def test_a_deterministic_run_takes_an_offline_strategy(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    online = replace(factorization.ALGORITHM.choose(pocl, factorization.as_problem(SMALL)), strategy="edge_locked")
    monkeypatch.setattr(training, "ALGORITHM", SimpleNamespace(choose=lambda *_: online))
    engine = Factorization(pocl, SMALL, deterministic=True)
    assert factorization.STRATEGIES[engine.strategy].kind == "offline" and engine.choice.strategy == engine.strategy


# ---- the estimator


@parametrize_with_checks(
    [
        SGDMatrixFactorization(n_factors=2, n_epochs=2, strategy=OFFLINE, session="pocl"),
        SGDMatrixFactorization(n_factors=2, n_epochs=2, biases=True, session="pocl"),
    ]
)
def test_scikit_learn_finds_a_good_estimator(estimator: Any, check: Any) -> None:
    session_on("pocl")
    check(estimator)


@pytest.mark.parametrize("biases", [False, True])
def test_a_planted_matrix_is_found(session: Session, biases: bool) -> None:
    noise = 0.3
    train, test = planted_ratings(300, 200, 24_000, rank=4, noise=noise, seed=5).split(0.1, seed=6)
    model = SGDMatrixFactorization(
        4, strategy=OFFLINE, n_epochs=60, learning_rate=0.05, schedule="inverse", regularization=0.01,
        biases=biases, init_scale=1.0, random_state=0, session=session,
    ).fit(train, eval_set=test)  # fmt: skip
    assert model.eval_curve_[-1] <= 1.1 * noise
    predicted = model.predict(test.users, test.items)
    assert np.sqrt(np.mean((predicted - test.values) ** 2)) == pytest.approx(model.eval_curve_[-1], rel=1e-4)
    assert model.score(test) == pytest.approx(1 - model.eval_curve_[-1] ** 2 / test.values.var(), abs=1e-3)


def test_attributes(make: Any) -> None:
    model = make(biases=True).fit(SMALL)
    assert model.user_factors_.shape == (40, 4) and model.item_factors_.shape == (30, 4)
    assert model.user_biases_.shape == (40,) and model.item_biases_.shape == (30,)
    assert {array.dtype for array in factors_of(model)} == {np.dtype(np.float32)}
    assert model.n_iter_ == 4 == len(model.loss_curve_) and model.loss_curve_[0] > model.loss_curve_[-1]
    assert all(map(math.isnan, model.eval_curve_))
    assert model.n_features_in_ == 30 and model.strategy_ == OFFLINE
    assert model.info_.strategy == OFFLINE and model.info_.seconds.total > 0
    assert make().fit(SMALL).user_biases_ is None


def test_all_kinds_of_input_are_the_same_ratings(make: Any) -> None:
    matrix = SMALL.to_scipy()
    expected = make().fit(SMALL)
    for X in (matrix, matrix.tocoo(), matrix.tocsc(), matrix.astype(np.float64)):
        assert_same(make().fit(X), expected)
    dense = np.random.default_rng(0).normal(size=(6, 5))
    assert_same(make().fit(dense), make().fit(csr_array(dense)))
    zeros = csr_array((np.zeros(3), ([0, 1, 2], [0, 1, 1])), shape=(3, 2))
    assert make().fit(zeros)._known.n_ratings == 3  # an explicit zero is a rating


def test_users_and_items_without_ratings_stay_where_they_started(make: Any) -> None:
    ratings = Ratings.from_triples([0, 2], [0, 2], [1.0, 2.0], n_users=4, n_items=5)
    once, twice = (make(n_epochs=n, biases=True).fit(ratings) for n in (1, 5))
    np.testing.assert_array_equal(once.user_factors_[[1, 3]], twice.user_factors_[[1, 3]])
    np.testing.assert_array_equal(once.item_factors_[[1, 3, 4]], twice.item_factors_[[1, 3, 4]])
    assert not twice.item_biases_[[1, 3, 4]].any()
    assert not np.array_equal(once.user_factors_[0], twice.user_factors_[0])


def test_the_same_seed_gives_the_same_model(session: Session) -> None:
    for strategy in ("auto", OFFLINE):
        models = [
            SGDMatrixFactorization(4, strategy=strategy, n_epochs=3, random_state=seed, session=session).fit(SMALL)
            for seed in (7, 7, 8)
        ]
        assert_same(models[0], models[1])
        assert not np.array_equal(models[0].user_factors_, models[2].user_factors_)
        assert factorization.STRATEGIES[models[0].strategy_].kind == "offline"


def test_partial_fit_goes_on(make: Any) -> None:
    parameters = {"schedule": "inverse", "biases": True}
    whole = make(n_epochs=5, **parameters).fit(SMALL)
    parts = make(**parameters).partial_fit(SMALL, n_epochs=2)
    for _ in range(3):
        parts.partial_fit(SMALL)
    assert_same(whole, parts)
    rates = [epoch.learning_rate for epoch in parts.history_]
    assert rates == pytest.approx([0.01 / (1 + 0.1 * t) for t in range(5)])


def test_partial_fit_on_other_ratings_remembers_the_old(make: Any) -> None:
    first, second = SMALL.split(0.5, seed=0)
    model = make().fit(first).partial_fit(second)
    assert model._known.n_ratings == SMALL.n_ratings and model.mean_ == pytest.approx(first.values.mean())
    for user in range(3):
        rated = SMALL.items[SMALL.user_offsets[user] : SMALL.user_offsets[user + 1]]
        assert set(model.recommend(user, 30)[0]) == set(range(30)) - set(rated)
    with pytest.raises(InputError, match="ratings of 3 users; the model was fitted on 40"):
        model.partial_fit(Ratings.from_triples([2], [29], [1.0]))


def test_the_bold_driver_slows_down_after_a_worse_epoch(make: Any) -> None:
    model = make(schedule="bold_driver", learning_rate=0.2, n_epochs=25, init_scale=1.0).fit(SMALL)
    rates, losses = [e.learning_rate for e in model.history_], model.loss_curve_
    assert rates[0] == rates[1] == 0.2
    worse = 0
    for t in range(2, 25):
        factor = 1.05 if losses[t - 1] < losses[t - 2] else 0.5
        worse += factor == 0.5
        assert rates[t] == pytest.approx(factor * rates[t - 1])
    assert worse


def test_tol_stops(make: Any) -> None:
    model = make(n_epochs=500, tol=1e-3).fit(SMALL)
    steps = -np.diff(model.loss_curve_)
    assert 1 < model.n_iter_ < 500 and steps[-1] < 1e-3 and (steps[:-1] >= 1e-3).all()


def test_a_callback_sees_each_epoch_and_may_stop(make: Any) -> None:
    seen = []

    def callback(number: int, epoch: Any) -> bool:
        seen.append((number, epoch))
        return number == 3

    model = make(n_epochs=9).fit(SMALL, eval_set=SMALL, callback=callback)
    assert [number for number, _ in seen] == [1, 2, 3] and model.history_ == [epoch for _, epoch in seen]
    assert seen[2][1].eval_loss == pytest.approx(seen[2][1].loss)


def test_divergence_keeps_the_last_finite_factors(make: Any) -> None:
    ratings = replace(SMALL, values=10 * SMALL.values)
    with pytest.warns(ConvergenceWarning, match=r"after epoch \d+ with learning rate 0.05; .* smaller learning_rate"):
        model = make(learning_rate=0.05, init_scale=1.0, n_epochs=50).fit(ratings)
    assert 1 <= model.n_iter_ < 50 and all(map(math.isfinite, model.loss_curve_))
    check_factorization(ratings, factors_of(model))
    assert rmse(ratings, factors_of(model), model.mean_) == pytest.approx(model.loss_curve_[-1], rel=1e-3)


def test_an_interrupted_fit_keeps_the_last_whole_epoch(make: Any) -> None:
    def interrupt(number: int, epoch: Any) -> None:
        if number == 3:
            raise KeyboardInterrupt

    model = make(n_epochs=8)
    with pytest.raises(KeyboardInterrupt):
        model.fit(SMALL, callback=interrupt)
    assert_same(model, make(n_epochs=3).fit(SMALL))
    assert_same(model.partial_fit(SMALL, n_epochs=5), make(n_epochs=8).fit(SMALL))


def test_a_failed_fit_leaves_the_old_model(make: Any) -> None:
    model = make().fit(SMALL)
    old = factors_of(model)
    with pytest.raises(InputError):
        model.set_params(n_factors=0).fit(NAMED)
    assert all(a is b for a, b in zip(old, factors_of(model), strict=True))
    assert model.predict([39], [29]).shape == (1,)
    assert model.n_features_in_ == 30 and model.transform(SMALL.to_scipy()).shape == (40, 4)
    with pytest.raises(InputError):
        model.fit(csr_array((3, 3)))
    assert model.n_features_in_ == 30


@pytest.mark.parametrize(
    "place", [(estimator, "make_schedule"), (SGDMatrixFactorization, "_numbered"), (Factorization, "epoch")]
)
def test_an_interrupt_before_the_first_epoch_changes_nothing(
    make: Any, monkeypatch: pytest.MonkeyPatch, place: tuple[Any, str]
) -> None:
    def interrupt(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    fitted, new = make().fit(SMALL), make()
    states = [dict(vars(model)) for model in (fitted, new)]
    monkeypatch.setattr(*place, interrupt)
    for call, ratings in ((fitted.fit, NAMED), (fitted.partial_fit, SMALL), (new.fit, SMALL)):
        with pytest.raises(KeyboardInterrupt):
            call(ratings, eval_set=ratings)
    assert [vars(model) for model in (fitted, new)] == states


# ---- predictions


def test_ids_are_the_users_own(make: Any) -> None:
    model = make(biases=True).fit(NAMED)
    by_number = make(biases=True).fit(NAMED.to_scipy())
    np.testing.assert_array_equal(model.predict(["cy", "ann"], ["q", "p"]), by_number.predict([2, 0], [1, 0]))
    with pytest.raises(InputError, match="'dan' is no known user"):
        model.predict(["ann", "dan"], ["p", "p"])
    with pytest.raises(InputError, match="'z' is no known item"):
        model.predict(["ann"], ["z"])
    with pytest.raises(InputError, match="3 is no known user"):
        by_number.predict([3], [0])
    with pytest.raises(InputError, match="2 users and 1 items"):
        model.predict(["ann", "bob"], ["p"])
    ids, scores = model.recommend("ann")
    assert ids.tolist() == ["r"] and scores == pytest.approx(model.predict(["ann"], ["r"]))
    with pytest.raises(InputError, match="'dan' is no known user"):
        model.recommend("dan")


def test_ratings_with_ids_are_matched_by_them(make: Any) -> None:
    model = make(biases=True, n_epochs=9).fit(NAMED)
    other = Ratings.from_triples(["cy", "ann"], ["r", "q"], [4.0, 3.0], ids="compact")
    expected = model.predict(["ann", "cy"], ["q", "r"])
    errors = np.square(np.array([3.0, 4.0]) - expected).sum()
    assert model.score(other) == pytest.approx(1 - errors / 0.5, abs=1e-5)
    np.testing.assert_allclose(model.transform(other)[1], model.transform(NAMED)[2], rtol=1e-6)  # cy
    new = Ratings.from_triples(["dan", "cy"], ["r", "z"], [4.0, 3.0], ids="compact")
    with pytest.raises(InputError, match="item 'z' was not in"):
        model.transform(new)
    with pytest.raises(InputError, match="user 'dan' was not in"):
        model.score(Ratings.from_triples(["dan"], ["r"], [4.0], ids="compact"))


# ---- scikit-learn's tools


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("ids", [int, str])
def test_cross_validation_over_pairs_scores_ratings_that_are_held_out(make: Any, n_folds: int, ids: type) -> None:
    """As one would by hand, also for the user whose only rating is held out."""
    X, y = SMALL.to_pairs()
    X, y = np.vstack((X, [99, 7])).astype(ids), np.append(y, np.float32(1.0))
    model, folds = make(biases=True, learning_rate=0.05), KFold(n_folds, shuffle=True, random_state=0)
    found = cross_validate(model, X, y, cv=folds, return_train_score=True, error_score="raise")
    n_unknown = 0
    for k, (train, test) in enumerate(folds.split(X)):
        ratings = Ratings.from_triples(*X[train].T, y[train], ids="compact")
        alone = clone(model).fit(ratings)
        names = ratings.user_ids, ratings.item_ids
        users, items = ({name: i for i, name in enumerate(ids.tolist())} for ids in names)
        by_hand = []
        for user, item in X[test].tolist():
            u, i = users.get(user), items[item]
            n_unknown += u is None
            of_user = 0.0 if u is None else alone.user_biases_[u] + alone.user_factors_[u] @ alone.item_factors_[i]
            by_hand.append(alone.mean_ + alone.item_biases_[i] + of_user)
        assert found["test_score"][k] == pytest.approx(r2_score(y[test], by_hand), abs=1e-5)
        assert found["train_score"][k] == pytest.approx(alone.score(ratings), abs=1e-5)
    assert n_unknown == 1


def test_a_search_over_pairs_in_a_pipeline(make: Any) -> None:
    X, y = SMALL.to_pairs()
    pipeline, rates = Pipeline([("model", make(n_epochs=20))]), [1e-4, 0.05]
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(pipeline, {"model__learning_rate": rates}, cv=folds, scoring="neg_root_mean_squared_error")
    search.fit(X, y)
    assert search.best_params_ == {"model__learning_rate": 0.05}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert_same(search.best_estimator_["model"], make(n_epochs=20, learning_rate=0.05).fit(X, y))
    assert search.predict(X[:7]).shape == (7,)
    with pytest.raises(InputError, match=r"X, y = to_pairs\(\)"):
        GridSearchCV(make(), {"n_factors": [2]}).fit(SMALL)


@pytest.mark.parametrize("biases", [False, True])
def test_a_matrix_is_scored_as_it_is_predicted(make: Any, biases: bool) -> None:
    """Users of the fit are folded in like all others, whatever their place."""
    X = SMALL.to_scipy()
    model = make(biases=biases).fit(X[:20])
    for part in (X[:20], X[20:], X[5:12]):
        entries = Ratings.from_scipy(part)
        rows, user_biases = model._fold_in(entries)
        predicted = model.mean_ + rows @ model.item_factors_.T + user_biases[:, None]
        predicted = (predicted + (model.item_biases_ if biases else 0.0))[entries.users, entries.items]
        assert model.score(part) == pytest.approx(r2_score(entries.values, predicted), abs=1e-5)
    dense = X.toarray()
    scores = cross_val_score(make(biases=biases), dense, cv=3, error_score="raise")
    for score, (train, test) in zip(scores, KFold(3).split(dense), strict=True):
        alone = make(biases=biases).fit(dense[train])
        assert score == alone.score(dense[test])
        assert score == pytest.approx(r2_score(dense[test].ravel(), alone.predict(dense[test]).ravel()), abs=1e-5)


def test_pairs_are_the_same_ratings_in_every_form(make: Any, tmp_path: Path, pocl: Session) -> None:
    X, y = NAMED.to_pairs()
    expected = make(biases=True).fit(NAMED)
    model = make(biases=True).fit(X.tolist(), y, eval_set=(X[:2], y[:2]))
    assert_same_factors(model, expected)
    mixed = np.empty(X.shape, object)
    mixed[:, 0], mixed[:, 1] = X[:, 0], [ord(item) for item in X[:, 1]]
    assert_same_factors(make(biases=True).fit(mixed, y), expected)
    twice = make(biases=True).fit(np.vstack((X, X[:1])), [y[0] - 1, *y[1:], y[0] + 1])
    assert_same_factors(twice, expected)  # several ratings of a pair count as their mean
    np.testing.assert_array_equal(model.predict(X), expected.predict(NAMED))
    np.testing.assert_array_equal(model.transform(NAMED), expected.transform(NAMED))
    strange = model.predict([["ann", "z"], ["dan", "p"], ["dan", "z"]])
    ann, p = model._known.user_index(["ann"])[0], model._known.item_index(["p"])[0]
    biases = [model.user_biases_[ann], model.item_biases_[p], 0.0]
    assert strange == pytest.approx([model.mean_ + bias for bias in biases], rel=1e-6)
    model.save(tmp_path / "model")
    loaded = SGDMatrixFactorization.load(tmp_path / "model", session=pocl)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert_same_factors(loaded.partial_fit(X, y), model.partial_fit(X, y))
    np.testing.assert_array_equal(model.transform([["dan", "p"], ["ann", "z"]]), [[0.0] * 4, model.user_factors_[ann]])
    for call in (model.score, model.partial_fit):
        with pytest.raises(InputError, match="pairs"):
            call(X)
    with pytest.raises(InputError, match="user 'dan' was not in"):
        model.partial_fit([["dan", "p"]], [1.0])


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("form", ["pairs", "ratings", "matrix"])
def test_pairs_to_evaluate_on_go_with_every_form_and_may_be_unseen(make: Any, form: str, biases: bool) -> None:
    X, y = SMALL.to_pairs()
    given = {"pairs": (X, y), "ratings": (SMALL, None), "matrix": (SMALL.to_scipy(), None)}[form]
    for pairs in (X[:9], [*X[:9].tolist(), [0, 99], [77, 0], [77, 99]], [[77, 99], [0, 99]]):
        told = np.linspace(-2, 2, len(pairs)).astype(np.float32)
        model = make(biases=biases).fit(*given, eval_set=(pairs, told))
        assert_same_factors(model, make(biases=biases).fit(*given))
        users, items = np.transpose(pairs)
        known = (users < 40) & (items < 30)
        u, i = np.where(users < 40, users, 0), np.where(items < 30, items, 0)
        predicted = model.mean_ + known * (model.user_factors_[u] * model.item_factors_[i]).sum(axis=1)
        if biases:
            predicted += (users < 40) * model.user_biases_[u] + (items < 30) * model.item_biases_[i]
        assert model.eval_curve_[-1] == pytest.approx(np.sqrt(((predicted - told) ** 2).mean()), rel=1e-5)
    with pytest.raises(InputError, match="item 'z' was not in"):
        make().fit(NAMED, eval_set=Ratings.from_triples(["ann"], ["z"], [1.0], ids="compact"))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        make().fit(*given, eval_set=(X[:3], y[:2]))


def test_a_loaded_model_knows_the_names_of_its_columns(make: Any, tmp_path: Path, pocl: Session) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = SMALL.to_pairs()
    frames = (
        (pandas.DataFrame(X, columns=["user", "item"]), y),
        (pandas.DataFrame(SMALL.to_scipy().toarray()).rename(columns=lambda k: f"item {k}"), None),
    )
    for frame, values in frames:
        model = make().fit(frame, values)
        model.save(tmp_path / "model")
        loaded = SGDMatrixFactorization.load(tmp_path / "model", session=pocl)
        assert loaded.feature_names_in_.dtype == object
        np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
        np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))  # without a warning
        with pytest.raises(ValueError, match="feature names should match"):
            loaded.predict(frame.rename(columns={frame.columns[0]: "other"}))
    settings, arrays = read_model(tmp_path / "model")
    write_model(tmp_path / "model", settings, arrays | {"feature_names": np.array(["only one"])})
    with pytest.raises(InputError, match="names of 30 features"):
        SGDMatrixFactorization.load(tmp_path / "model", session=pocl)


def test_recommend_ranks_all_items(make: Any) -> None:
    model = make(biases=True, n_epochs=10).fit(SMALL)
    scores = model.predict([5] * 30, list(range(30)))
    ids, found = model.recommend(5, N=30, filter_already_liked_items=False)
    np.testing.assert_array_equal(found, np.sort(scores)[::-1])
    np.testing.assert_array_equal(scores[ids], found)
    unrated = np.setdiff1d(np.arange(30), SMALL.items[SMALL.users == 5])
    ids, found = model.recommend(5, N=3)
    assert ids.tolist() == unrated[np.argsort(-scores[unrated])][:3].tolist() and found.dtype == np.float32


@pytest.mark.parametrize("biases", [False, True])
def test_folding_in_is_the_minimum_of_the_loss(make: Any, biases: bool) -> None:
    model = make(biases=biases, n_epochs=20, learning_rate=0.05).fit(SMALL)
    rows = model.transform(SMALL)
    assert rows.shape == (40, 4) and rows.dtype == np.float32
    user, weight = 3, 0.05
    part = slice(*SMALL.user_offsets[user : user + 2])
    items, values = SMALL.items[part], SMALL.values[part]
    rows64, user_biases = model._fold_in(SMALL)

    def loss(row: Any, bias: float) -> float:
        item_biases = model.item_biases_[items] if biases else 0.0
        errors = values - model.mean_ - item_biases - bias - model.item_factors_[items] @ row
        return float(errors @ errors + weight * items.size * (row @ row + bias**2))

    best = loss(rows64[user], user_biases[user])
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-2 * rng.normal(size=5)
        assert loss(rows64[user] + step[:4], user_biases[user] + biases * step[4]) > best
    assert (user_biases != 0).all() == biases
    empty = Ratings.from_triples([], [], [], n_users=2, n_items=30)
    assert not model.transform(empty).any()
    unregularised = model.set_params(regularization=0).transform(Ratings.from_triples([0], [4], [1.0], n_items=30))
    assert np.isfinite(unregularised).all()  # one rating for four unknowns: the smallest row


def test_folding_in_finds_the_shortest_row_where_factors_are_huge(make: Any) -> None:
    """Beside squares of 1e60 a regularisation of 0.05 is lost, and the equations are singular."""
    model = make(n_epochs=1, regularization=0.05).fit(SMALL)
    model.item_factors_[4] = np.float32(1e30) * np.arange(1, 5, dtype=np.float32)
    (row,) = model.transform(Ratings.from_triples([0], [4], [7.0], n_items=30))
    np.testing.assert_allclose(row, (7 - model.mean_) / 30e30 * np.arange(1, 5), rtol=1e-5)


def test_whole_rows_are_predicted_for_new_users(make: Any) -> None:
    dense = np.random.default_rng(0).normal(size=(20, 6))
    model = make(biases=True, n_epochs=30, learning_rate=0.05).fit(dense)
    predicted = model.predict(dense)
    assert predicted.shape == dense.shape
    rows, user_biases = model._fold_in(dense)
    expected = rows @ model.item_factors_.T + user_biases[:, None] + model.item_biases_ + model.mean_
    np.testing.assert_allclose(predicted, expected, rtol=1e-5)
    with pytest.raises(InputError, match=r"predict\(users, items\)"):
        model.predict(csr_array(dense))


# ---- what is refused


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_factors": 0}, r"n_factors = 0; allowed: 1 to 128"),
        ({"n_factors": 129}, r"n_factors = 129; allowed: 1 to 128"),
        ({"n_factors": 2.5}, r"n_factors = 2.5; allowed: integers"),
        ({"n_epochs": 0}, r"n_epochs = 0"),
        ({"init_scale": -1.0}, r"init_scale = -1.0"),
        ({"storage": "float64"}, r"storage = 'float64'"),
        ({"storage": "nonsense"}, r"storage = 'nonsense'"),
        ({"strategy": "auto", "strategy_options": {"seed": 1}}, r"name the strategy that has by strategy="),
        ({"strategy_options": {"shuffle": True, "seed": 1}}, r"diagonal has no option shuffle; it has barrier, seed"),
        ({"strategy_options": {"model": None}}, r"diagonal has no option model; it has barrier, seed"),
        ({"learning_rate": 11.0}, r"learning_rate=11.0 times regularization=0.05 is above 0.5"),
    ],
)
def test_wrong_parameters(make: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**parameters).fit(SMALL)


def test_wrong_strategy(make: Any) -> None:
    with pytest.raises(UnsupportedStrategyError, match="nonsense"):
        make(strategy="nonsense").fit(SMALL)


def test_wrong_ratings(make: Any) -> None:
    with pytest.raises(InputError, match="no ratings"):
        make().fit(csr_array((3, 3)))
    with pytest.raises(ValueError, match="NaN"):
        make().fit([[1.0, math.nan]])
    with pytest.raises(ValueError, match="NaN"):
        make().fit(csr_array([[1.0, math.nan]]))
    with pytest.raises(InputError, match=r"1e\+300; ratings must be finite"):
        make().fit(np.array([[1.0, 1e300]]))
    with pytest.raises(ValueError, match=r"expecting 30 features"):
        make().fit(SMALL).transform(NAMED)
    for value in (2e19, -2e19):
        with pytest.raises(InputError, match=r"a rating of -?2e\+19; .* up to 1.84e\+19"):
            make().fit(Ratings.from_triples([0, 1], [0, 0], [1.0, value]))
    make(n_epochs=1).fit(Ratings.from_triples([0], [0], [-1.8e19]))


def test_ratings_too_many_for_the_device_are_refused(make: Any, pocl: Session, monkeypatch: Any) -> None:
    monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, max_alloc_bytes=16 * SMALL.n_ratings - 1))
    with pytest.raises(DeviceMemoryError, match=r"ratings in order needs 8,000 bytes in one buffer"):
        make().fit(SMALL)


def test_a_rank_too_large_for_the_device_names_the_largest(make: Any, pocl: Session, monkeypatch: Any) -> None:
    big = Ratings.from_triples([1999], [0], [1.0])
    monkeypatch.setattr(pocl.commands, "facts", replace(pocl.facts, max_alloc_bytes=2000 * 4 * 40))
    with pytest.raises(InputError, match=r"n_factors=128: .*; the largest possible here is (3\d|40)$") as error:
        make(n_factors=128).fit(big)
    largest = int(str(error.value).split()[-1])
    assert make(n_factors=largest, n_epochs=1).fit(big).n_iter_ == 1
    with pytest.raises(InputError, match=f"is {largest}$"):
        make(n_factors=largest + 1, n_epochs=1).fit(big)


# ---- copies and files


@pytest.mark.parametrize("ratings", [SMALL, NAMED], ids=["numbers", "ids"])
@pytest.mark.parametrize("biases", [False, True])
def test_a_saved_model_comes_back(make: Any, pocl: Session, tmp_path: Path, ratings: Ratings, biases: bool) -> None:
    model = make(biases=biases, schedule="bold_driver").fit(ratings, eval_set=ratings)
    model.save(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    loaded = SGDMatrixFactorization.load(tmp_path / "model", session=pocl)
    assert_same(model, loaded)
    assert loaded.get_params() == model.get_params() and loaded.history_ == model.history_
    user = 0 if ratings is SMALL else "ann"
    for a, b in zip(model.recommend(user), loaded.recommend(user), strict=True):
        assert a.tolist() == b.tolist()
    assert_same(model.partial_fit(ratings), loaded.partial_fit(ratings))


def test_damaged_models_are_refused(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    make(biases=True).fit(NAMED).save(path)
    good = path.read_bytes()
    with np.load(path) as archive:
        arrays = dict(archive)
    settings = json.loads(str(arrays.pop("clgraph_factorization")))

    def write(**changes: Any) -> None:
        words = settings | changes.pop("settings", {})
        kept = {name: array for name, array in (arrays | changes).items() if array is not None}
        np.savez(path, clgraph_factorization=np.array(json.dumps(words)), **kept)

    def refused(match: str) -> None:
        with pytest.raises(InputError, match=match) as error:
            SGDMatrixFactorization.load(path)
        assert str(path) in str(error.value)

    write()
    SGDMatrixFactorization.load(path)
    for changes, match in (
        ({"user_factors": arrays["user_factors"][:2]}, "damaged"),
        ({"user_factors": arrays["user_factors"] * np.nan}, "user_factors"),
        ({"item_biases": None}, "biases of one side"),
        ({"items": arrays["items"] + 5}, "items"),
        ({"offsets": arrays["offsets"][:-1]}, "damaged"),
        ({"user_ids": arrays["user_ids"][[0, 0, 1]]}, "distinct"),
        ({"settings": {"parameters": {"n_knobs": 3}}}, "n_knobs"),
        ({"settings": {"version": 99}}, "version 99"),
    ):
        write(**changes)
        refused(match)
    for content in (good[: len(good) // 2], b"not a model"):
        path.write_bytes(content)
        refused("no saved factorisation")
    np.savez(path, a=np.array([{}], object))
    refused("no saved factorisation")
    path.unlink()
    refused("cannot be read")


def test_what_cannot_be_saved_leaves_the_file(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    names = np.array([("a", 1), ("b", 2)], object)
    odd = np.empty(2, object)
    odd[:] = [tuple(name) for name in names]
    with pytest.raises(InputError, match="user_ids: Python objects"):
        make().fit(Ratings([0, 1], [0, 0], [1.0, 2.0], 2, 1, odd)).save(path)
    assert path.read_text() == "old"
    with pytest.raises(InputError, match="cannot be written"):
        make().fit(SMALL).save(tmp_path / "no" / "folder")


def test_copies(make: Any, pocl: Session) -> None:
    model = make().fit(SMALL)
    copy = clone(model)
    assert copy.session is pocl and not hasattr(copy, "user_factors_")
    model.set_params(session="pocl")
    assert_same(pickle.loads(pickle.dumps(model)), model)


def test_a_plain_import_does_not_load_scikit_learn() -> None:
    code = (
        "import sys, clgraph, clgraph.algorithms.factorization.training.training; assert 'sklearn' not in sys.modules"
    )
    printed_by(code)
    assert cg.SGDMatrixFactorization is SGDMatrixFactorization


def test_without_scikit_learn_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
        "import clgraph; clgraph.SGDMatrixFactorization"
    )
    command = code.replace("clgraph; clgraph.SGD", "clgraph.cli.main as m; sys.exit(m.main(['factorization', 'x'])) #")
    for text in (code, command):
        child = run_python(text)
        assert child.returncode == 1 and "pip install 'scikit-learn>=1.6'" in child.stderr


def test_verbose_tells_each_epoch_on_stderr(make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    make(verbose=1, n_epochs=2).fit(SMALL, eval_set=SMALL)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert not out and len(lines) == 2 and lines[1].startswith("epoch 2: RMSE 0.") and "evaluation" in lines[1]
    assert lines[0].endswith("updates/s")
    make(n_epochs=2).fit(SMALL)
    assert not capsys.readouterr().err


# ---- the command


@pytest.fixture
def ratings_file(tmp_path: Path) -> str:
    path = tmp_path / "ratings.tsv"
    rows = zip(SMALL.users.tolist(), SMALL.items.tolist(), SMALL.values.tolist(), strict=True)
    path.write_text("".join(f"{10 + user}\t{20 + item}\t{value}\n" for user, item, value in rows), encoding="utf-8")
    return str(path)


def command(*arguments: str) -> list[str]:
    session_on("pocl")
    return ["factorization", *arguments, "-d", "pocl", "-s", OFFLINE, "--rank", "4", "--epochs", "12", "--seed", "1"]


def test_the_command_shows_a_table_and_saves_a_model(
    ratings_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.npz"
    assert main(command(ratings_file, "--biases", "--test-share", "0.2", "--save", str(file))) == 0
    printed = capsys.readouterr()
    out = printed.out
    assert "test RMSE" in out and "400 of 40 users and 30 items; 100 for the test" in out
    assert f"{OFFLINE} (offline, forced)" in out and f"saved     {file}" in out and "epoch" not in printed.err
    epochs = [line.split()[0] for line in out.splitlines() if line[:1] == " "]
    assert epochs == ["epoch", "2", "4", "6", "8", "10", "12"]
    model = SGDMatrixFactorization.load(file, session="pocl")
    assert model.n_iter_ == 12 and model.recommend(10, N=2)[0].min() >= 20  # ids of the file


def test_the_command_for_programs_and_with_a_rate_that_decays(
    ratings_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(ratings_file), "--schedule", "inverse", "--decay", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n_ratings"] == 500 and document["n_test_ratings"] == 0
    assert [e["learning_rate"] for e in document["epochs"]] == pytest.approx([0.01 / (1 + t) for t in range(12)])
    assert document["epochs"][0]["eval_loss"] is None
    assert document["strategy"] == OFFLINE and document["seconds"]["total"] > 0


@pytest.mark.parametrize("n_whole", [0, 3])
def test_an_interrupted_command_saves_the_last_whole_epoch(
    ratings_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], n_whole: int
) -> None:
    file, whole = tmp_path / "model.npz", Factorization.epoch

    def epoch(engine: Factorization, *arguments: Any) -> Any:
        if len(engine.epochs) == n_whole:
            raise KeyboardInterrupt
        return whole(engine, *arguments)

    monkeypatch.setattr(Factorization, "epoch", epoch)
    assert main(command(ratings_file, "--save", str(file))) == 130
    err = capsys.readouterr().err
    assert err.endswith("clgraph: interrupted\n") and (f"{file} holds the model after epoch 3" in err) == (n_whole > 0)
    assert file.exists() == (n_whole > 0)
    if n_whole:
        assert SGDMatrixFactorization.load(file, session="pocl").n_iter_ == 3


@pytest.mark.parametrize("name", ["no/folder", "."])
def test_the_command_finds_out_first_whether_it_can_save(
    ratings_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.delattr(SGDMatrixFactorization, "fit")
    assert main(command(ratings_file, "--save", str(tmp_path / name))) == 4
    assert "cannot be written" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["ratings.tsv"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--rank", "0"], 4, "n_factors = 0; allowed: 1 to 128"),
        (["--schedule", "cosine"], 4, "'bold_driver'"),
        (["--test-share", "2"], 4, "test_share"),
        (["-s", "nonsense"], 2, "nonsense"),
    ],
)
def test_the_command_refuses(
    ratings_file: str, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert main([*command(ratings_file), *arguments]) == code
    assert message in capsys.readouterr().err


# ---- a real matrix


@pytest.fixture(scope="module")
def movies() -> Ratings:
    path = DATA / "ml-100k.tsv"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return read_ratings(path)


@pytest.mark.parametrize(("biases", "most"), [(True, 0.95), (False, 0.96)])
def test_movie_ratings_are_predicted(session: Session, movies: Ratings, biases: bool, most: float) -> None:
    train, test = next(movies.folds(5, seed=0))
    model = SGDMatrixFactorization(biases=biases, strategy=OFFLINE, random_state=0, session=session)
    model.fit(train, eval_set=test)
    assert model.eval_curve_[-1] <= most
    ids, scores = model.recommend(196, N=5)
    assert np.isin(ids, movies.item_ids).all() and (np.diff(scores) <= 0).all()
