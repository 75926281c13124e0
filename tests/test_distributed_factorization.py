"""Factorisation over Dask's workers: the factors of one machine, also when a worker is killed."""

import os
import signal
from typing import Any

import distributed
import numpy as np
import pytest
from conftest import session_on
from dask_clusters import (
    client_fixture,  # noqa: F401
    on_pocl,
    plain,
)
from factorization_checks import random_ratings, random_weights
from sklearn.base import clone

import clgraph as cg
import clgraph.distributed as cgd
from clgraph import Ratings
from clgraph.algorithms.factorization.training.epochs import Epoch
from clgraph.errors import ClusterError, InputError
from clgraph.reference.factorization import rmse

pytestmark = pytest.mark.xdist_group("distributed")
SMALL = random_ratings(800)


OPTIONS: dict[str, Any] = {
    "n_factors": 4,
    "n_epochs": 4,
    "learning_rate": 0.03,
    "random_state": 0,
    "strategy": "matching_edge",
}


@pytest.fixture(scope="module")
def wanted() -> cg.SGDMatrixFactorization:
    """The same strata on two devices of this process; with a callback, each epoch has a loss, as it has on workers."""
    model = cg.SGDMatrixFactorization(devices=[session_on("pocl"), session_on("intel")], biases=True, **OPTIONS)
    return model.fit(SMALL, eval_set=SMALL, callback=lambda *_: False)


def assert_like(found: Any, wanted: Any) -> None:
    assert np.allclose(found.loss_curve_, wanted.loss_curve_, rtol=1e-4)
    assert np.allclose(found.eval_curve_, wanted.eval_curve_, rtol=1e-4, equal_nan=True)
    for name in ("user_factors_", "item_factors_", "user_biases_", "item_biases_"):
        assert np.allclose(getattr(found, name), getattr(wanted, name), rtol=1e-3, atol=1e-4), name


def test_factors_are_those_of_strata_on_one_machine(client: distributed.Client, wanted: Any) -> None:
    found = cgd.SGDMatrixFactorization(client=client, biases=True, **OPTIONS).fit(SMALL, eval_set=SMALL)
    assert_like(found, wanted)
    assert found.loss_curve_[-1] < found.loss_curve_[0] and found.info_.device.count("tcp://127.0.0.1") == 2
    local = found.to_local()
    assert type(local) is cg.SGDMatrixFactorization and local.score(SMALL) == found.score(SMALL)
    local.set_params(session=session_on("pocl")).partial_fit(SMALL)
    assert local.n_iter_ == 5 and found.n_iter_ == 4
    found.partial_fit(SMALL)
    assert found.n_iter_ == 5 and found.loss_curve_[-1] == pytest.approx(local.loss_curve_[-1], rel=0.05)


def test_workers_have_the_weighted_loss(client: distributed.Client) -> None:
    weights = random_weights(SMALL)
    model = cgd.SGDMatrixFactorization(client=client, biases=True, **OPTIONS).fit(SMALL, sample_weight=weights)
    factors = (model.user_factors_, model.item_factors_, model.user_biases_, model.item_biases_)
    assert model.loss_curve_[-1] == pytest.approx(rmse(SMALL, factors, model.mean_, weights), rel=1e-4)


class KillerAfterTwoEpochs:
    """A callback that kills a worker after the second epoch."""

    def __init__(self, client: distributed.Client) -> None:
        self.client = client
        self.killed = 0

    def __call__(self, number: int, _epoch: Epoch) -> None:
        if number == 2:
            pids = self.client.run(os.getpid)
            self.killed = pids[min(pids)]
            os.kill(self.killed, signal.SIGKILL)


def test_a_killed_worker_changes_no_factors(wanted: Any) -> None:
    with on_pocl() as client:
        killer = KillerAfterTwoEpochs(client)
        model = cgd.SGDMatrixFactorization(client=client, biases=True, **OPTIONS)
        model.fit(SMALL, eval_set=SMALL, callback=killer)
    assert killer.killed
    assert_like(model, wanted)


def test_an_estimator_is_cloned_saved_and_refused(client: distributed.Client, tmp_path: Any) -> None:
    model = cgd.SGDMatrixFactorization(2, client=client, n_epochs=1, random_state=0)
    assert clone(model).client is client and "session" not in model.get_params()
    few = Ratings([0, 1, 2], [0, 0, 0], np.float32([1, 2, 3]), 3, 1)  # more workers than items
    model.fit(few).to_local().save(tmp_path / "model.npz")
    assert np.array_equal(cg.SGDMatrixFactorization.load(tmp_path / "model.npz").item_factors_, model.item_factors_)
    loaded = cgd.SGDMatrixFactorization.load(tmp_path / "model.npz", client=client)
    assert loaded.client is client and np.array_equal(loaded.item_factors_, model.item_factors_)
    assert "nan" not in str(model.info_) and "strategy" in str(model.info_)
    with pytest.raises(InputError, match="no ratings"):
        model.fit(Ratings([], [], np.float32([]), 3, 2))
    with plain() as empty, pytest.raises(ClusterError, match="has no workers"):
        cgd.SGDMatrixFactorization(2, client=empty).fit(few)
    with pytest.raises(ClusterError, match="is closed"):
        cgd.SGDMatrixFactorization(2, client=empty).fit(few)
