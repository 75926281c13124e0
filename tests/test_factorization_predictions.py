"""Predictions, recommendations and folding in; forms of ratings; scikit-learn's tools."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA
from estimators import (
    NAMED,
    OFFLINE,
    SMALL,
    assert_same,
    assert_same_factors,
    make_fixture,  # noqa: F401
)
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline

from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.algorithms.factorization.estimator.model_file import read_model, write_model
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError
from clgraph.io.ratings import read_ratings
from clgraph.runtime.session import Session


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


@pytest.mark.parametrize("n_folds", [2, 3, 5])
@pytest.mark.parametrize("ids", [int, str])
def test_cross_validation_over_pairs_scores_ratings_that_are_held_out(make: Any, n_folds: int, ids: type) -> None:
    """Scores are those by hand, also for the user whose only rating is held out."""
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
        np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))  # It does not warn.
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


def test_columns_of_a_frame_keep_their_large_ids(make: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = SMALL.to_pairs()
    plain = pandas.DataFrame(X + np.int64(2**60), columns=["user", "item"])
    wanted = make().fit(plain, y)
    for kinds in ({"item": "uint64"}, {"user": "Int64", "item": "Int64"}):
        frame = plain.astype(kinds)
        model = make().fit(frame, y, eval_set=(frame[:50], y[:50]))
        assert_same_factors(model, wanted)
        assert model.known_users.tolist() == np.unique(plain["user"]).tolist()
        np.testing.assert_array_equal(model.predict(frame), wanted.predict(plain))
        assert model.score(frame, y) == pytest.approx(wanted.score(plain, y))
        assert model.eval_curve_[-1] == pytest.approx(rmse_of(wanted.predict(plain[:50]), y[:50]), rel=1e-4)


def rmse_of(predictions: Any, wanted: Any) -> float:
    return float(np.sqrt(np.mean(np.square(predictions - wanted))))


def test_masked_elements_are_refused(make: Any) -> None:
    X, y = SMALL.to_pairs()
    hidden = np.ma.masked_array(y, np.arange(y.size) == 3)
    pairs = np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == 5)
    model = make().fit(np.ma.masked_array(X), np.ma.masked_array(y))  # no element is masked
    matrix = np.ma.masked_equal(np.ones((3, 4)) * np.arange(4), 0)
    for call in (
        lambda: make().fit(X, hidden), lambda: make().fit(pairs, y), lambda: make().fit(matrix),
        lambda: make().fit(X, y, eval_set=(X, hidden)), lambda: make().fit(SMALL, eval_set=(pairs, y)),
        lambda: model.predict(pairs), lambda: model.score(X, hidden), lambda: make().fit(X, y, hidden**2),
    ):  # fmt: skip
        with pytest.raises(InputError, match="is masked; fill or drop what is masked"):
            call()


def test_nan_in_a_dense_matrix_is_a_missing_rating(make: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = SMALL.to_pairs()
    frame = pandas.DataFrame({"user": X[:, 0], "item": X[:, 1], "rating": y})
    pivoted = frame.pivot(index="user", columns="item", values="rating")
    assert pivoted.isna().any(axis=None)
    wanted = make(biases=True).fit(SMALL)
    model = make(biases=True).fit(pivoted)
    assert_same_factors(model, wanted)
    np.testing.assert_array_equal(model.transform(pivoted), wanted.transform(SMALL))
    assert model.predict(pivoted).shape == pivoted.shape and model.score(pivoted) == pytest.approx(
        wanted.score(SMALL.to_scipy())
    )
    weights = np.linspace(0.5, 1.5, y.size)
    dense = np.full(SMALL.shape, 7.0)  # Weights of missing ratings have no effect.
    dense[SMALL.users, SMALL.items] = weights
    weighted = make().fit(pivoted.to_numpy(), sample_weight=dense.ravel())
    assert_same_factors(weighted, make().fit(SMALL, sample_weight=weights))
    with pytest.raises(InputError, match="a frame of three columns without y"):
        make().fit(frame)


@pytest.mark.parametrize("biases", [False, True])
def test_new_users_get_recommendations_for_their_own_ratings(make: Any, biases: bool) -> None:
    names = [f"item {k}" for k in range(SMALL.n_items)]
    known = Ratings(SMALL.users, SMALL.items, SMALL.values, *SMALL.shape, None, np.array(names))
    model = make(biases=biases).fit(known)
    new = Ratings.from_triples(["z", "z", "y"], [names[3], names[20], names[3]], [2.0, -1.0, 0.5], ids="compact")
    rows = np.full((2, SMALL.n_items), np.nan)
    rows[0, 3], rows[1, [3, 20]] = 0.5, [2.0, -1.0]  # The users of compact ids are sorted: y, z.
    scores = make(biases=biases).fit(SMALL).predict(rows)
    for leave_out in (True, False):
        items, found = model.recommend(new, SMALL.n_items, filter_already_liked_items=leave_out)
        for k, rated in enumerate([{names[3]}, {names[3], names[20]}] if leave_out else [set(), set()]):
            best = [names[j] for j in np.argsort(-scores[k], kind="stable") if names[j] not in rated]
            assert items[k, : len(best)].tolist() == best and [*items[k, len(best) :]] == [None] * len(rated)
            np.testing.assert_allclose(found[k, : len(best)], scores[k][[names.index(n) for n in best]], atol=1e-6)
    with pytest.raises(InputError, match="item 'no' was not in the ratings of the fit"):
        model.recommend(Ratings.from_triples(["z"], ["no"], [1.0], ids="compact"))
    assert model.known_items.tolist() == names and model.known_users.tolist() == [*range(SMALL.n_users)]
