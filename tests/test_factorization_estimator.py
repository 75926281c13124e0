"""The scikit-learn estimator: training, schedules of rates, partial fits, interrupts, what is refused."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import printed_by, run_python, session_on
from estimators import (
    NAMED,
    OFFLINE,
    SMALL,
    assert_same,
    factors_of,
    make_fixture,  # noqa: F401
)
from oracles import sgd_sweep
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

import clgraph as cg
from clgraph.algorithms import factorization
from clgraph.algorithms.factorization.estimator import fitting
from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.algorithms.factorization.factors import initial_factors
from clgraph.algorithms.factorization.training import training
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.algorithms.factorization.training.learning_rates import SCHEDULES, make_schedule
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.data.ratings.generators import planted_ratings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import ConvergenceWarning, DeviceError, DeviceMemoryError, InputError, UnsupportedStrategyError
from clgraph.reference.factorization import check_factorization, rmse
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.session import Session


def test_schedules_have_the_rates_by_hand() -> None:
    constant, inverse, bold = (make_schedule(name, 0.8, 0.5) for name in SCHEDULES)
    assert [constant(n, 0.8, 1.0) for n in range(3)] == [0.8, 0.8, 0.8]
    assert [inverse(n, 0.8, 1.0) for n in range(3)] == pytest.approx([0.8, 0.8 / 1.5, 0.4])
    assert bold(0, math.nan, math.nan) == 0.8
    # The gain of the last epoch is unknown, none, above and below 0.
    rates = [bold(3, 0.6, gain) for gain in (math.nan, 0.0, 0.1, -0.1)]
    assert rates == pytest.approx([0.6, 0.6, 0.63, 0.3])


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
def test_wrong_schedules_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_schedule(*arguments)


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
def test_errors_and_predictions_are_right_for_every_size(session: Session, n: int) -> None:
    ratings = planted_ratings(40, 30, n, seed=n)
    engine = Factorization(session, ratings, rank=7, strategy=OFFLINE, biases=True)
    engine.model.set(initial_factors(40, 30, 7, scale=1.0, biases=True, rng=np.random.default_rng(n)))
    model, mean = engine.model.get(), engine.model.mean
    assert engine.loss() == pytest.approx(rmse(ratings, model, mean), rel=1e-5)
    expected = mean + np.einsum("ij,ij->i", model[0][ratings.users], model[1][ratings.items])
    np.testing.assert_allclose(engine.predict(ratings.users, ratings.items), expected, atol=1e-5)
    empty = Ratings.from_triples([], [], [], n_users=40, n_items=30)
    assert math.isnan(Errors(session, empty, engine.model).rmse())


def test_first_predictions_are_near_the_mean() -> None:
    factors = initial_factors(500, 400, 64, scale=0.2, biases=True, rng=np.random.default_rng(0))
    products = factors.user_factors @ factors.item_factors.T
    # A sum of 64 products of two normal numbers of deviation 0.2 / 8.
    assert products.std() == pytest.approx(8 * (0.2 / 8) ** 2, rel=0.05)
    assert not factors.user_biases.any() and factors.item_factors.dtype == np.float32


def test_rank_1_fits_one_rating(make: Any) -> None:
    model = make(n_factors=1, n_epochs=2).fit(Ratings.from_triples([0], [0], [3.0]))
    assert model.predict([0], [0]) == pytest.approx([3.0], abs=1e-2)


def test_a_rate_that_grows_stays_where_regularization_allows_it(pocl: Session) -> None:
    engine = Factorization(pocl, SMALL, rank=4, strategy=OFFLINE)
    for regularization in (0.049, 0.3, 1.0, 7.0):
        wanted = [share / regularization for share in (0.3, 0.45, 0.6)]
        epochs = engine.train(3, schedule=lambda n, *_, w=wanted: w[n], regularization=regularization)
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
            assert engine.loss() == engine.epochs[-1].loss
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


# A matrix has a weight for each entry, where these checks give one for each row.
WEIGHTS_OF_ROWS = dict.fromkeys(
    (
        "check_sample_weights_list",
        "check_all_zero_sample_weights_error",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    "the weights of a matrix are those of its entries",
)


@parametrize_with_checks(
    [
        SGDMatrixFactorization(n_factors=2, n_epochs=2, strategy=OFFLINE, session="pocl"),
        SGDMatrixFactorization(n_factors=2, n_epochs=2, biases=True, session="pocl"),
    ],
    expected_failed_checks=lambda _: WEIGHTS_OF_ROWS,
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


def test_a_fit_sets_the_attributes(make: Any) -> None:
    model = make(biases=True).fit(SMALL)
    assert model.user_factors_.shape == (40, 4) and model.item_factors_.shape == (30, 4)
    assert model.user_biases_.shape == (40,) and model.item_biases_.shape == (30,)
    assert {array.dtype for array in factors_of(model)} == {np.dtype(np.float32)}
    assert model.n_iter_ == 4 == len(model.loss_curve_) and rmse(
        SMALL, factors_of(model), model.mean_
    ) == pytest.approx(model.loss_curve_[-1], rel=1e-3)
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


def test_losses_are_computed_where_something_needs_them(make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def known(**options: Any) -> list[bool]:
        fit = {name: options.pop(name) for name in ("callback", "eval_set") if name in options}
        return [math.isfinite(loss) for loss in make(n_epochs=3, **options).fit(SMALL, **fit).loss_curve_]

    assert known() == known(eval_set=SMALL) == [False, False, True]
    assert known(tol=100.0, eval_set=SMALL) == [False, True], "the last epoch is not the last that was allowed"
    every = [{"schedule": "bold_driver"}, {"tol": -100.0}, {"verbose": 1}, {"callback": lambda *_: None}]
    assert all(known(**options) == [True] * 3 for options in every) and "epoch 3: RMSE" in capsys.readouterr().err
    model = make(n_epochs=2).fit(SMALL)
    model.set_params(schedule="bold_driver").partial_fit(SMALL, n_epochs=2)
    assert len({epoch.learning_rate for epoch in model.history_[:3]}) == 1, "one loss is not known, so the rate stays"


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 2e8])
@pytest.mark.parametrize("name", ["user_factors", "item_factors", "user_biases", "item_biases"])
@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_numbers_that_went_to_infinity_are_found(session: Session, name: str, value: float, storage: Any) -> None:
    engine = Factorization(session, SMALL, rank=5, strategy=OFFLINE, biases=True, storage=storage)
    factors = initial_factors(40, 30, 5, scale=1.0, biases=True, rng=np.random.default_rng(0))
    engine.model.set(factors)
    assert engine.is_finite()
    with np.errstate(over="ignore"):
        getattr(factors, name).flat[-1] = value
        engine.model.set(factors)
    assert not engine.is_finite()


def test_training_stops_at_tol(make: Any) -> None:
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
    with pytest.warns(ConvergenceWarning, match=r"in epoch \d+ with learning rate 0.05; .* smaller learning_rate"):
        model = make(learning_rate=0.05, init_scale=1.0, n_epochs=50).fit(ratings)
    assert 1 <= model.n_iter_ < 50 and math.isfinite(model.loss_curve_[-1])
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
    "place", [(fitting, "make_schedule"), (SGDMatrixFactorization, "_numbered"), (Factorization, "epoch")]
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
def test_wrong_parameters_are_refused(make: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**parameters).fit(SMALL)


def test_tol_heeds_the_training_error_if_nothing_is_evaluated(make: Any) -> None:
    nothing = SMALL.split(0)[1]
    wanted = make(n_epochs=60, tol=0.01).fit(SMALL)
    assert 1 < wanted.n_iter_ < 60
    assert_same(make(n_epochs=60, tol=0.01).fit(SMALL, eval_set=nothing), wanted)


def test_a_partial_fit_compares_errors_on_its_own_ratings(make: Any, tmp_path: Path) -> None:
    """The second half has ratings twice as far from the mean, whose errors are larger."""
    first, second = SMALL.split(0.5, seed=0)
    second = replace(second, values=2 * second.values)
    model = make(n_epochs=20, tol=1e-5, biases=True).fit(first)
    n_before = model.n_iter_
    model.partial_fit(second, n_epochs=6)
    assert model.n_iter_ == n_before + 6 and model.loss_curve_[n_before] > model.loss_curve_[n_before - 1]
    low, high = (replace(first, values=factor * first.values) for factor in (0.1, 1.0))
    evaluated = make(tol=1e-5, n_epochs=3).fit(first, eval_set=low).partial_fit(first, n_epochs=3, eval_set=high)
    assert evaluated.n_iter_ == 6 and evaluated.eval_curve_[3] > evaluated.eval_curve_[2]

    def rates(model: Any) -> list[float]:
        return [epoch.learning_rate for epoch in model.history_]

    bold = make(schedule="bold_driver").fit(first)
    bold.partial_fit(second, n_epochs=3)
    expected = [0.01, 0.01, *(0.01 * 1.05**power for power in (1, 2, 3, 4, 5))]
    assert bold.loss_curve_[4] > bold.loss_curve_[3] and rates(bold) == pytest.approx(expected)
    # One epoch at a time is the same as all at once, also if the model is saved and loaded in between.
    whole, parts = make(schedule="bold_driver", n_epochs=6).fit(first), make(schedule="bold_driver", n_epochs=1)
    for _ in range(6):
        parts.partial_fit(first)
        parts.save(tmp_path / "parts")
        parts = parts.load(tmp_path / "parts", session=parts.session)
    assert rates(parts)[2:] == pytest.approx([0.01 * 1.05**power for power in (1, 2, 3, 4)])
    assert rates(parts) == rates(whole) and parts.loss_curve_[-1] == pytest.approx(whole.loss_curve_[-1])


def test_a_partial_fit_with_other_factors_is_refused(make: Any) -> None:
    for changed, message in (({"n_factors": 3}, "n_factors = 3, but .* n_factors=4"), ({"biases": True}, "biases")):
        with pytest.raises(InputError, match=message):
            make().fit(SMALL).set_params(**changed).partial_fit(SMALL)


def test_a_wrong_strategy_is_refused(make: Any) -> None:
    with pytest.raises(UnsupportedStrategyError, match="nonsense"):
        make(strategy="nonsense").fit(SMALL)


def test_wrong_ratings_are_refused(make: Any) -> None:
    with pytest.raises(InputError, match="no ratings"):
        make().fit(csr_array((3, 3)))
    with pytest.raises(ValueError, match="infinity"):
        make().fit([[1.0, math.inf]])
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
