"""Saved and copied models, damaged files, and the factorisation command."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import session_on
from estimators import (
    NAMED,
    OFFLINE,
    SMALL,
    assert_same,
    make_fixture,  # noqa: F401
)
from sklearn.base import clone

from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.cli.main import main
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError
from clgraph.runtime.session import Session


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


def test_copies_predict_the_same(make: Any, pocl: Session) -> None:
    model = make().fit(SMALL)
    copy = clone(model)
    assert copy.session is pocl and not hasattr(copy, "user_factors_")
    model.set_params(session="pocl")
    assert_same(pickle.loads(pickle.dumps(model)), model)


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


def test_the_command_prints_json_and_takes_a_rate_that_decays(
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

    def epoch(engine: Factorization, *arguments: Any, **options: Any) -> Any:
        if len(engine.epochs) == n_whole:
            raise KeyboardInterrupt
        return whole(engine, *arguments, **options)

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
def test_the_command_refuses_wrong_arguments(
    ratings_file: str, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert main([*command(ratings_file), *arguments]) == code
    assert message in capsys.readouterr().err
