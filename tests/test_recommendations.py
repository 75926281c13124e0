"""Recommendations for many users, similar items, clipping, ranking scores, and the command `recommend`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from estimators import NAMED, SMALL, make_fixture  # noqa: F401
from test_arguments import Broken

import clgraph as cg
from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.cli.main import main
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError


def test_recommendations_for_many_users_are_those_of_each(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = make(biases=True, n_epochs=10).fit(SMALL)
    monkeypatch.setattr("clgraph.algorithms.factorization.estimator.recommending._BLOCK_SCORES", 100)  # three users
    users = np.arange(40)
    ids, scores = model.recommend(users, N=25)
    assert ids.shape == scores.shape == (40, 25) and scores.dtype == np.float32
    for user in users.tolist():
        one, of_one = model.recommend(user, N=25)
        padding = 25 - one.size
        assert ids[user].tolist() == one.tolist() + [-1] * padding
        np.testing.assert_array_equal(scores[user], [*of_one, *[np.nan] * padding])
        assert {*one.tolist()}.isdisjoint(SMALL.items[SMALL.users == user].tolist())
    assert model.recommend([3, 3], N=2, filter_already_liked_items=False)[0].shape == (2, 2)
    assert model.recommend([], N=2)[0].shape == (0, 2)


def test_names_of_items_are_recommended_to_named_users(make: Any) -> None:
    model = make(biases=True).fit(NAMED)
    ids, scores = model.recommend(NAMED.user_ids, N=2)
    assert ids[0].tolist() == ["r", None] and np.isnan(scores[0, 1]) and {*ids[2].tolist()} == {"p", "q"}
    assert model.known_users.tolist() == ["ann", "bob", "cy"]
    with pytest.raises(InputError, match="'dan' is no known user"):
        model.recommend(["ann", "dan"])
    with pytest.raises(InputError, match=r"user = .*RuntimeError: no"):
        model.recommend(Broken())


def test_equal_scores_are_in_the_order_of_the_items(make: Any) -> None:
    model = make(n_factors=2).fit(SMALL)
    model.item_factors_ = np.repeat(np.array([[1.0, 0.0], [2.0, 0.0], [0.5, 0.0]], np.float32), 10, axis=0)
    model.user_factors_[:] = [1, 0]
    assert model.recommend(0, N=12, filter_already_liked_items=False)[0].tolist() == [*range(10, 20), 0, 1]


def test_similar_items_have_similar_directions(make: Any) -> None:
    model = make(n_factors=2).fit(SMALL)
    angles = np.linspace(0, np.pi, 30)
    model.item_factors_ = (np.column_stack([np.cos(angles), np.sin(angles)]) * np.arange(1, 31)[:, None]).astype(
        np.float32
    )
    ids, cosines = model.similar_items(0, N=3)
    assert ids.tolist() == [1, 2, 3] and cosines == pytest.approx(np.cos(angles[1:4]), abs=1e-6)
    assert model.similar_items(29, N=99)[0].size == 29
    with pytest.raises(InputError, match="30 is no known item"):
        model.similar_items(30)


def test_clipped_predictions_stay_in_the_range_of_the_ratings(make: Any, tmp_path: Path) -> None:
    plain, clipped = (make(biases=True, clip=clip, n_epochs=2).fit(SMALL) for clip in (False, True))
    for model in (plain, clipped):
        model.user_factors_ *= 90
    pairs = np.repeat(np.arange(40), 30), np.tile(np.arange(30), 40)
    low, high = clipped.rating_range_
    assert (low, high) == (SMALL.values.min(), SMALL.values.max())
    free = plain.predict(*pairs)
    assert free.max() > high and free.min() < low
    np.testing.assert_array_equal(clipped.predict(*pairs), free.clip(low, high))
    assert clipped.score(SMALL) > plain.score(SMALL)
    assert clipped.recommend(5, N=9)[0].tolist() == plain.recommend(5, N=9)[0].tolist()
    clipped.save(tmp_path / "model")
    loaded = SGDMatrixFactorization.load(tmp_path / "model", session="pocl")
    np.testing.assert_array_equal(loaded.predict(*pairs), clipped.predict(*pairs))
    loaded.user_factors_ /= 90
    loaded.partial_fit(Ratings(SMALL.users, SMALL.items, SMALL.values + 1, *SMALL.shape))
    assert loaded.rating_range_ == (low, float(np.float32(high) + np.float32(1)))


def test_weights_of_samples_count_in_scores(make: Any) -> None:
    model, weights = make(biases=True).fit(SMALL), np.zeros(500)
    weights[:50] = 1
    few = SMALL._selected(weights > 0)
    assert model.score(SMALL, sample_weight=weights) == pytest.approx(model.score(few), rel=1e-4)


def test_ranking_scores_are_those_of_their_definitions(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    train, test = cg.generators.planted_ratings(40, 30, 700, rank=3, noise=0.1, seed=1).split(0.3)
    model = make(biases=True, n_epochs=20).fit(train)
    monkeypatch.setattr("clgraph.algorithms.factorization.estimator.recommending._BLOCK_SCORES", 100)
    relevant = float(np.median(test.values))
    found = model.ranking_scores(test, k=5, relevant=relevant)
    precision, ndcg = [], []
    discounts = 1 / np.log2(np.arange(2, 7))
    for user in range(40):
        wanted = {*test.items[(test.users == user) & (test.values >= relevant)].tolist()}
        if wanted:
            hits = np.array([item in wanted for item in model.recommend(user, N=5)[0].tolist()])
            precision.append(hits.sum() / 5)
            ndcg.append(discounts[: hits.size][hits].sum() / discounts[: len(wanted)].sum())
    assert found.n_users == len(precision) > 30
    assert found.precision == pytest.approx(np.mean(precision)) and found.ndcg == pytest.approx(np.mean(ndcg))
    with pytest.raises(InputError, match="no relevant item"):
        model.ranking_scores(test, relevant=99)
    with pytest.raises(InputError, match="test is of type list; allowed: Ratings"):
        model.ranking_scores([1])


def test_the_command_recommends_to_all_or_some_users(make: Any, tmp_path: Path, capsys: Any) -> None:
    make(biases=True).fit(NAMED).save(tmp_path / "model.npz")
    file, written = str(tmp_path / "model.npz"), tmp_path / "all.csv"
    assert main(["recommend", file, "-o", str(written)]) == 0
    rows = [line.split(",") for line in written.read_text(encoding="utf-8").splitlines()]
    assert sorted(row[:2] for row in rows) == [["ann", "r"], ["bob", "r"], ["cy", "p"], ["cy", "q"]]
    assert "4 items for 3 users" in capsys.readouterr().out
    assert main(["recommend", file, "cy", "-n", "1", "--json"]) == 0
    (best,) = json.loads(capsys.readouterr().out)["recommended"]
    assert best["user"] == "cy" and best["item"] in "pq"
    assert main(["recommend", file, "dan"]) == 4 and "'dan' is no known user" in capsys.readouterr().err
    make(biases=True).fit(SMALL).save(tmp_path / "numbers.npz")
    assert main(["recommend", str(tmp_path / "numbers.npz"), "7", "-n", "2", "--with-rated"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["recommend", str(tmp_path / "numbers.npz"), "x"]) == 4
