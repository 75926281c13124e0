"""Factorisation on several devices: blocks, cuts, errors as of the model, interrupts."""

import math
import os
import signal
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import session_on
from scipy.sparse import random_array
from test_processes import name_of, process_ids

from clgraph import Ratings, SGDMatrixFactorization, shared_memory
from clgraph.algorithms.factorization import factors
from clgraph.algorithms.factorization.estimator import fitting
from clgraph.algorithms.factorization.factors import Factors, RowLayout, initial_factors
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.training import process_training
from clgraph.algorithms.factorization.training.device_blocks import in_layout
from clgraph.algorithms.factorization.training.epochs import Epoch
from clgraph.algorithms.factorization.training.learning_rates import Schedule, make_schedule
from clgraph.algorithms.factorization.training.process_training import ProcessFactorization
from clgraph.algorithms.factorization.training.strata import Strata, cut
from clgraph.algorithms.factorization.training.team_training import TeamFactorization
from clgraph.data.ratings import stats
from clgraph.errors import ConvergenceWarning, DeviceError, InputError, NoDeviceError
from clgraph.multi_device.interrupts import delayed_interrupt
from clgraph.multi_device.processes import Processes
from clgraph.reference.factorization import rmse
from clgraph.runtime.devices import sub_devices
from clgraph.runtime.session import Session

OPTIONS: dict[str, Any] = {
    "strategy": "auto",
    "options": None,
    "deterministic": True,
    "n_epochs": 1,
    "storage": "float32",
    "mean": None,
}


@pytest.fixture(scope="module")
def twins() -> Any:
    """Two processes on one device; their training takes them in place of processes of several GPUs."""
    name = name_of(session_on("pocl"))
    made = Processes([name] * 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process_training, "processes_of", lambda names: made)
        yield [name] * 2
    made._end()


@pytest.fixture(scope="module")
def devices() -> list[Any]:
    """Two runtimes whose rows of factors may be padded differently."""
    return [session_on("pocl"), session_on("intel")]


def planted(n_users: int = 300, n_items: int = 200, density: float = 0.2, seed: int = 0) -> Ratings:
    rng = np.random.default_rng(seed)
    pattern = random_array((n_users, n_items), density=density, rng=rng).tocsr()
    pattern.sort_indices()
    users = np.repeat(np.arange(n_users), np.diff(pattern.indptr))
    left, right = rng.normal(size=(n_users, 3)), rng.normal(size=(n_items, 3))
    values = 3 + (left[users] * right[pattern.indices]).sum(1) + 0.1 * rng.normal(size=users.size)
    return Ratings(users, pattern.indices, values.astype(np.float32), n_users, n_items)


def test_blocks_have_each_rating_once_and_about_as_many() -> None:
    ratings = planted()
    strata = Strata(ratings, 3)
    seen = np.zeros(ratings.shape)
    for d, row in enumerate(strata.blocks):
        for q, block in enumerate(row):
            users, items = strata.users.members[d][block.users], strata.items.members[q][block.items]
            seen[users, items] += block.values
            assert abs(block.n_ratings / ratings.n_ratings - 1 / 9) < 0.02
    assert np.array_equal(seen, ratings.to_scipy().toarray())


@pytest.mark.parametrize("n_blocks", [1, 3, 17])
@pytest.mark.parametrize("empty", [np.empty, shared_memory.empty])
def test_threads_cut_chunks_in_order(n_blocks: int, empty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats, "_CHUNK", 700)
    ratings = planted()
    strata = Strata(ratings, n_blocks, empty)
    weights = np.arange(ratings.n_ratings, dtype=np.float32)
    for d, row in enumerate(strata.problems(FactorizationProblem(ratings, weights=weights))):
        for q, problem in enumerate(row):
            there = (strata.users.block[ratings.users] == d) & (strata.items.block[ratings.items] == q)
            block = problem.ratings
            assert problem.weights.tolist() == np.flatnonzero(there).tolist()
            assert block.shape == (strata.users.members[d].size, strata.items.members[q].size)
            assert np.array_equal(strata.users.members[d][block.users], ratings.users[there])
            assert np.array_equal(strata.items.members[q][block.items], ratings.items[there])
            assert np.array_equal(block.values, ratings.values[there])
            assert (shared_memory.place_of(block.values) is None) == (empty is np.empty)
    nothing = Ratings([], [], np.float32([]), *ratings.shape)
    assert all(not block.n_ratings for row in strata.blocks_of(nothing) for block in row)


@pytest.mark.parametrize("n_blocks", [1, 2, 5])
def test_a_cut_deals_by_ratings(n_blocks: int) -> None:
    counts = np.array([9, 1, 1, 1, 8, 1, 5, 0])
    found = cut(counts, n_blocks)
    assert sorted(np.concatenate(found.members).tolist()) == list(range(8)) and all(m.size for m in found.members)
    for block, members in enumerate(found.members):
        assert (found.block[members] == block).all() and found.place[members].tolist() == [*range(members.size)]
    if n_blocks == 2:
        assert abs(int(counts[found.members[0]].sum()) - int(counts[found.members[1]].sum())) <= 4


def test_factors_are_cut_and_joined() -> None:
    strata = Strata(planted(7, 5, 0.9), 3)
    rng = np.random.default_rng(0)
    whole = Factors(*(rng.random(shape, np.float32) for shape in ((7, 2), (5, 2), 7, 5)))
    joined = strata.whole([strata.part(whole, d, d) for d in range(3)])
    assert all(np.array_equal(a, b) for a, b in zip(whole, joined, strict=True))
    assert strata.whole([strata.part(Factors(*whole[:2]), d, d) for d in range(3)]).user_biases is None


@pytest.mark.parametrize("kind", [TeamFactorization, ProcessFactorization])
@pytest.mark.parametrize("strategy", ["block_grid", "edge_locked", "matching_edge"])
def test_no_step_is_lost(devices: list[Any], twins: list[str], strategy: str, kind: Any) -> None:
    ratings = planted()
    those = devices if kind is TeamFactorization else twins
    engine = kind(those, ratings, rank=4, biases=True, **{**OPTIONS, "strategy": strategy, "mean": 0.0})
    zeros = Factors(*(np.zeros(shape, np.float32) for shape in ((300, 4), (200, 4), 300, 200)))
    engine.model.set(zeros)
    rate = 1e-6
    engine.epoch(rate, 0.0, None)
    found, matrix = engine.model.get(), ratings.to_scipy()
    for biases, axis in ((found.user_biases, 1), (found.item_biases, 0)):
        wanted = np.asarray(matrix.sum(axis=axis)).ravel()
        assert np.allclose(biases / rate, wanted, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("layouts", ["equal", "unequal"])
@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("biases", [False, True])
def test_errors_are_those_of_the_model(
    devices: list[Any], monkeypatch: pytest.MonkeyPatch, biases: bool, storage: Any, layouts: str
) -> None:
    if layouts == "unequal":  # as of a GPU and a CPU
        wide = {devices[0].facts.platform: RowLayout(5, 8, 1, 1)}
        monkeypatch.setattr(factors, "row_layout", lambda _rank, facts: wide.get(facts.platform, RowLayout(5, 4, 3, 1)))
    ratings, others = planted(rank_seed := 60, 50, 0.3, 1), planted(rank_seed, 50, 0.1, 2)
    engine = TeamFactorization(devices, ratings, rank=5, biases=biases, **{**OPTIONS, "storage": storage})
    rng = np.random.default_rng(3)
    shapes = ((60, 5), (50, 5), 60, 50)[: 4 if biases else 2]
    engine.model.set(Factors(*(rng.normal(size=shape).astype(np.float32) for shape in shapes)))
    epoch: Epoch = engine.epoch(0.0, 0.0, engine.errors_on(others))
    model = engine.model.get()

    def rmse(given: Ratings) -> float:
        predicted = engine.model.mean + (model.user_factors[given.users] * model.item_factors[given.items]).sum(1)
        if model.user_biases is not None and model.item_biases is not None:
            predicted = predicted + model.user_biases[given.users] + model.item_biases[given.items]
        return math.sqrt(float(((predicted - given.values) ** 2).mean()))

    assert epoch.loss == pytest.approx(rmse(ratings), rel=1e-3)
    assert epoch.eval_loss == pytest.approx(rmse(others), rel=1e-3)


@pytest.fixture(params=["threads", "processes"])
def several(request: pytest.FixtureRequest, devices: list[Any], twins: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Devices for the estimator: sessions, or names of devices that get processes."""
    if request.param == "threads":
        return devices
    monkeypatch.setattr(fitting, "names_of", lambda names: names)
    return twins


def test_the_error_is_that_of_one_device(several: list[Any]) -> None:
    devices = several
    train, test = planted().split(0.1, seed=0)
    options: dict[str, Any] = {"n_factors": 4, "n_epochs": 12, "learning_rate": 0.03, "random_state": 0, "biases": True}
    one = SGDMatrixFactorization(session=session_on("pocl"), **options).fit(train, eval_set=test)
    every_loss = {"callback": lambda *_: False}
    several = SGDMatrixFactorization(devices=devices, **options).fit(train, eval_set=test, **every_loss)
    assert several.loss_curve_[-1] < 0.75 * several.loss_curve_[0]
    assert several.loss_curve_[-1] == pytest.approx(one.loss_curve_[-1], rel=0.05)
    assert several.eval_curve_[-1] == pytest.approx(one.eval_curve_[-1], rel=0.05)
    assert several.score(test) == pytest.approx(one.score(test), abs=0.05)
    assert several.info_.device.count(";") == 1
    again = SGDMatrixFactorization(devices=devices, **options).fit(train)
    assert np.array_equal(again.user_factors_, several.user_factors_)  # offline strategies are the same in every run
    several.partial_fit(train, n_epochs=2)
    assert several.n_iter_ == 14 and several.loss_curve_[-1] < several.loss_curve_[11]


@pytest.mark.parametrize("kind", [TeamFactorization, ProcessFactorization])
def test_a_skipped_loss_is_computed_if_its_epoch_was_the_last(devices: list[Any], twins: list[str], kind: Any) -> None:
    train, test = planted().split(0.1, seed=0)
    those = devices if kind is TeamFactorization else twins

    def check(n_wanted: int, schedule: Schedule, **given: Any) -> None:
        engine = kind(those, train, rank=4, biases=True, **OPTIONS)
        engine.model.set(initial_factors(*train.shape, 4, scale=0.2, biases=True, rng=np.random.default_rng(0)))
        losses = [epoch.loss for epoch in engine.train(9, schedule=schedule, every_loss=False, **given)]
        assert len(losses) == n_wanted and np.isnan(losses[:-1]).all()
        assert losses[-1] == pytest.approx(rmse(train, [*engine.model.get()], engine.model.mean), rel=1e-3)

    check(9, make_schedule("constant", 0.03, 0.0))
    check(2, make_schedule("constant", 0.03, 0.0), eval_ratings=test, tol=10.0)
    with pytest.warns(ConvergenceWarning, match="went to infinity in epoch 6"):
        check(5, lambda n, *_: 0.03 if n < 5 else 1e30)


def test_there_may_be_more_devices_than_items() -> None:
    parts = sub_devices("pocl", [1, 1])
    ratings = Ratings([0, 1, 2], [0, 0, 0], np.float32([1, 2, 3]), 3, 1)
    fitted = SGDMatrixFactorization(2, devices=parts, n_epochs=2, random_state=0).fit(ratings)
    assert len(fitted.loss_curve_) == 2 and ";" not in fitted.info_.device
    sparse = Ratings([0, 3], [0, 1], np.float32([1, 2]), 4, 2)  # blocks without ratings
    model = SGDMatrixFactorization(2, devices=parts, n_epochs=2, random_state=0)
    fitted = model.fit(sparse, callback=lambda *_: False)  # asks for the loss of each epoch
    assert fitted.user_factors_.shape == (4, 2) and np.isfinite(fitted.loss_curve_).all()


def test_an_interrupt_keeps_the_last_whole_epoch(several: list[Any]) -> None:
    devices, ratings, kept = several, planted(60, 50), []

    def interrupt(number: int, _epoch: Epoch) -> None:
        if number == 3:
            raise KeyboardInterrupt

    model = SGDMatrixFactorization(3, devices=devices, n_epochs=5, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ratings, callback=interrupt)
    kept.append(model.user_factors_)
    whole = SGDMatrixFactorization(3, devices=devices, n_epochs=3, random_state=0).fit(ratings)
    assert model.n_iter_ == 3 and np.array_equal(kept[0], whole.user_factors_)


@pytest.mark.parametrize("n", [2, 3])
def test_processes_train_as_threads_do(
    devices: list[Any], twins: list[str], n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads of n sessions on one device, and n processes on it, take the same steps, so the bits are the same."""
    ratings, schedule = planted(), make_schedule("constant", 0.03, 0.0)
    weights = np.where(np.arange(ratings.n_ratings) % 3, np.float32(1), np.float32(0.5))
    options = {**OPTIONS, "strategy": "matching_edge", "weights": weights}
    start = initial_factors(300, 200, 4, scale=0.2, biases=True, rng=np.random.default_rng(0))
    monkeypatch.setattr("clgraph.multi_device.team.sessions_of", lambda given: given)
    processes = process_training.processes_of(twins) if n == 2 else Processes(twins[:1] * n)
    monkeypatch.setattr(process_training, "processes_of", lambda names: processes)
    engines = (
        TeamFactorization([Session(devices[0].device) for _ in range(n)], ratings, rank=4, biases=True, **options),
        ProcessFactorization(twins[:1] * n, ratings, rank=4, biases=True, **options),
    )
    for every_loss in (True, False):
        found = []
        for engine in engines:
            engine.model.set(start)
            given = {"schedule": schedule, "regularization": 0.02, "every_loss": every_loss}
            epochs = engine.train(3, eval_ratings=ratings, **given)
            losses = np.array([(epoch.loss, epoch.eval_loss) for epoch in epochs])
            found.append([*engine.model.get(), losses, np.array(engine.sent_bytes)])
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(*found, strict=True))
        assert np.isfinite(losses[:, 1]).all() and np.isfinite(losses[:-1, 0]).all() == every_loss
    if n > 2:
        processes._end()


def test_layouts_of_rows_are_changed_between_processes(twins: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.arange(12, dtype=np.float32)
    model: Any = SimpleNamespace(layout=RowLayout(3, 8, 1, 1))
    changed = in_layout(rows, 3, model, 4).reshape(3, 8)
    assert np.array_equal(changed[:, :3], rows.reshape(3, 4)[:, :3])
    assert not changed[:, 3:].any()
    assert in_layout(rows, 3, model, 8) is rows


def test_a_lost_process_ends_the_training_with_an_error(twins: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting, "names_of", lambda names: names)
    model = SGDMatrixFactorization(3, devices=twins, n_epochs=5, random_state=0).fit(planted(60, 50))
    before = model.user_factors_

    def kill(number: int, _epoch: Epoch) -> None:
        team = process_training.processes_of(twins)
        if number == 7:
            os.kill(team.each(process_ids)[1], signal.SIGKILL)

    with pytest.raises(DeviceError, match=r"devices\[1\], .* has ended \(exit code -9\)"):
        model.partial_fit(planted(60, 50), n_epochs=4, callback=kill)
    assert model.user_factors_ is before
    assert model.fit(planted(60, 50)).n_iter_ == 5


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C raise; the children of a shell in the background ignore it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_in_an_epoch_keeps_the_processes(twins: list[str]) -> None:
    engine = ProcessFactorization(twins, planted(60, 50), rank=3, biases=True, **OPTIONS)
    before = process_training.processes_of(twins).each(process_ids)
    with pytest.raises(KeyboardInterrupt), delayed_interrupt():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        engine.epoch(0.01, 0.0, None)
    assert process_training.processes_of(twins).each(process_ids) == before
    with pytest.raises(KeyboardInterrupt), delayed_interrupt():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    engine.close()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"devices": []}, NoDeviceError, "no device"),
        ({"devices": ["pocl", "pocl"]}, InputError, r"devices\[0\] and devices\[1\] are both"),
        ({"devices": {"pocl": 1}}, InputError, r"devices = \{'pocl': 1\}; allowed: 'all', or a list"),
        ({"devices": ["pocl"], "session": "pocl"}, InputError, "session= and devices= are both given"),
        ({"devices": "pocl"}, InputError, "devices = 'pocl'"),
    ],
)
def test_bad_devices_are_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    session_on("pocl")
    with pytest.raises(error, match=message):
        SGDMatrixFactorization(2, **options).fit(planted(20, 20))
