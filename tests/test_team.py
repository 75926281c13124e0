"""Several devices of one problem: threads, copies between devices, and the tree of merges."""

import math
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from conftest import session_on
from scipy.sparse import random_array

from clgraph import Ratings, SGDMatrixFactorization
from clgraph.algorithms.factorization import factors
from clgraph.algorithms.factorization.epochs import Epoch
from clgraph.algorithms.factorization.factors import Factors, RowLayout
from clgraph.algorithms.factorization.strata import Strata, cut
from clgraph.algorithms.factorization.team_training import TeamFactorization
from clgraph.engine.team import _PIECE_BYTES, Team
from clgraph.errors import DeviceError, DeviceMemoryError, InputError, NoDeviceError
from clgraph.runtime.devices import sub_devices
from clgraph.runtime.session import Session


@pytest.fixture(scope="module")
def halves(pair: list[Session]) -> list[Session]:
    """The devices of the tests in one context if they have one platform, else two parts of one CPU."""
    parts = [session.device for session in pair]
    if parts[0].platform != parts[1].platform:
        parts = [session.device for session in sub_devices(session_on("pocl").device, [1, 1])]
    context = cl.Context(parts)
    return [Session(cl.CommandQueue(context, part)) for part in parts]


@pytest.mark.parametrize("size", [0, 1, 1000, _PIECE_BYTES // 4 + 17, 3 * _PIECE_BYTES // 4])
def test_an_array_goes_to_another_device(pair: list[Session], size: int) -> None:
    team = Team(pair)
    for own, to in (team.sessions, team.sessions[::-1]):
        array = own.upload(np.arange(size, dtype=np.int32))
        copy = team.send(array, to)
        assert copy.session is to
        np.testing.assert_array_equal(copy.get(), np.arange(size))
    assert team.sent_bytes == 2 * 4 * size


@pytest.mark.parametrize("over_the_host", [False, True])
def test_an_array_goes_to_a_device_of_the_same_context(
    halves: list[Session], monkeypatch: pytest.MonkeyPatch, over_the_host: bool
) -> None:
    monkeypatch.setattr("clgraph.engine.team.copies_faster_over_the_host", lambda _device: over_the_host)
    team = Team(halves)
    array = halves[0].zeros(100_000, np.int32)
    array.fill(7)
    array.fill(5, 10, 20)
    found = team.send(array, halves[1]).get()
    assert found[10:20].tolist() == [5] * 10
    assert (found[20:] == 7).all()


def test_each_device_has_a_thread_and_results_are_in_order(pair: list[Session]) -> None:
    team, meeting = Team(pair), threading.Barrier(2)

    def work(place: int) -> int:
        meeting.wait(300)  # each needs the other
        return 10 * place

    assert team.each(work) == [0, 10]
    assert team.each(lambda place: place, [1]) == [1]
    assert team.each(lambda place: place, []) == []


def test_a_copy_that_fails_ends(pair: list[Session], monkeypatch: pytest.MonkeyPatch) -> None:
    """More pieces are left than there is room for on the host."""

    def write(*_given: object) -> None:
        raise DeviceError("it is full")

    team = Team(pair)
    monkeypatch.setattr(team, "write", write)
    array = pair[0].zeros(6 * _PIECE_BYTES // 4, np.int32)
    with pytest.raises(DeviceError, match="it is full"):
        team.send(array, pair[1])


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (DeviceError("it is broken"), DeviceError, ": it is broken"),
        (DeviceMemoryError("it is full"), DeviceMemoryError, ": it is full"),
        (cl.LogicError("clEnqueueNDRangeKernel", cl.status_code.INVALID_KERNEL_ARGS, ""), DeviceError, ""),
    ],
)
def test_a_device_that_fails_is_named(
    pair: list[Session], raised: Exception, kind: type[DeviceError], message: str
) -> None:
    ended: list[int] = []

    def work(place: int) -> None:
        if place == 1:
            raise raised
        ended.append(place)

    with pytest.raises(kind, match=rf"devices\[1\], .*{message}"):
        Team(pair).each(work)
    assert ended == [0]


def _placed(*places: tuple[int, int]) -> Team:
    """Return a team of devices that are not there, each of a platform and a context."""
    team = object.__new__(Team)
    team.sessions = tuple(
        SimpleNamespace(
            device=SimpleNamespace(platform=SimpleNamespace(int_ptr=platform)), context=SimpleNamespace(int_ptr=context)
        )
        for platform, context in places
    )  # type: ignore[assignment]
    return team


@pytest.mark.parametrize("n", range(1, 10))
def test_every_device_gives_once_but_the_last(n: int) -> None:
    rounds = _placed(*[(0, 0)] * n).merge_rounds()
    assert len(rounds) == (n - 1).bit_length()
    merged = {place: {place} for place in range(n)}
    for pairs in rounds:
        assert len({place for pair in pairs for place in pair}) == 2 * len(pairs)
        for taker, giver in pairs:
            merged[taker] |= merged.pop(giver)
    assert [*merged.values()] == [{*range(n)}]


def test_devices_of_one_context_merge_first_and_then_those_of_one_platform() -> None:
    team = _placed((1, 10), (2, 20), (1, 11), (1, 10), (2, 20))
    assert team.merge_rounds() == [[(0, 3), (1, 4)], [(0, 2)], [(0, 1)]]
    assert team.merge_rounds([2, 4]) == [[(2, 4)]]


def test_what_is_refused(pair: list[Session]) -> None:
    with pytest.raises(NoDeviceError, match="no device is given"):
        Team([])
    with pytest.raises(InputError, match=r"devices\[0\] and devices\[1\]"):
        Team([pair[0], pair[0].device])
    with pytest.raises(InputError, match="devices = 'pocl'"):
        Team("pocl")


# ---- factorisation


OPTIONS: dict[str, Any] = {
    "strategy": "auto",
    "options": None,
    "deterministic": True,
    "n_epochs": 1,
    "storage": "float32",
    "mean": None,
}


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


@pytest.mark.parametrize("strategy", ["block_grid", "edge_locked", "matching_edge"])
def test_no_step_is_lost(devices: list[Any], strategy: str) -> None:
    ratings = planted()
    engine = TeamFactorization(devices, ratings, rank=4, biases=True, **{**OPTIONS, "strategy": strategy, "mean": 0.0})
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


def test_the_error_is_that_of_one_device(devices: list[Any]) -> None:
    train, test = planted().split(0.1, seed=0)
    options: dict[str, Any] = {"n_factors": 4, "n_epochs": 12, "learning_rate": 0.03, "random_state": 0, "biases": True}
    one = SGDMatrixFactorization(session=session_on("pocl"), **options).fit(train, eval_set=test)
    several = SGDMatrixFactorization(devices=devices, **options).fit(train, eval_set=test)
    assert one.loss_curve_[-1] < 0.75 * one.loss_curve_[0]
    assert several.loss_curve_[-1] == pytest.approx(one.loss_curve_[-1], rel=0.05)
    assert several.eval_curve_[-1] == pytest.approx(one.eval_curve_[-1], rel=0.05)
    assert several.score(test) == pytest.approx(one.score(test), abs=0.05)
    assert several.info_.device.count(";") == 1
    again = SGDMatrixFactorization(devices=devices, **options).fit(train)
    assert np.array_equal(again.user_factors_, several.user_factors_)  # offline strategies are the same in every run
    several.partial_fit(train, n_epochs=2)
    assert several.n_iter_ == 14 and several.loss_curve_[-1] < several.loss_curve_[11]


def test_parts_of_a_cpu_and_more_devices_than_items() -> None:
    parts = sub_devices("pocl", [1, 1])
    ratings = Ratings([0, 1, 2], [0, 0, 0], np.float32([1, 2, 3]), 3, 1)
    fitted = SGDMatrixFactorization(2, devices=parts, n_epochs=2, random_state=0).fit(ratings)
    assert len(fitted.loss_curve_) == 2 and ";" not in fitted.info_.device
    sparse = Ratings([0, 3], [0, 1], np.float32([1, 2]), 4, 2)  # blocks without ratings
    fitted = SGDMatrixFactorization(2, devices=parts, n_epochs=2, random_state=0).fit(sparse)
    assert fitted.user_factors_.shape == (4, 2) and np.isfinite(fitted.loss_curve_).all()


def test_an_interrupt_keeps_the_last_whole_epoch(devices: list[Any]) -> None:
    ratings, kept = planted(60, 50), []

    def interrupt(number: int, _epoch: Epoch) -> None:
        if number == 3:
            raise KeyboardInterrupt

    model = SGDMatrixFactorization(3, devices=devices, n_epochs=5, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ratings, callback=interrupt)
    kept.append(model.user_factors_)
    whole = SGDMatrixFactorization(3, devices=devices, n_epochs=3, random_state=0).fit(ratings)
    assert model.n_iter_ == 3 and np.array_equal(kept[0], whole.user_factors_)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"devices": []}, NoDeviceError, "no device"),
        ({"devices": ["pocl", "pocl"]}, InputError, r"devices\[0\] and devices\[1\] are both"),
        ({"devices": ["pocl"], "session": "pocl"}, InputError, "session= and devices= are both given"),
        ({"devices": "pocl"}, InputError, "devices = 'pocl'"),
    ],
)
def test_bad_devices(options: dict[str, Any], error: type[Exception], message: str) -> None:
    session_on("pocl")
    with pytest.raises(error, match=message):
        SGDMatrixFactorization(2, **options).fit(planted(20, 20))
