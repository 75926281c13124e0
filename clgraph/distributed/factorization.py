"""Matrix factorisation on Dask workers.

Each worker trains its own users, and item factors move between workers.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self
from uuid import uuid4

import distributed
import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization import STRATEGIES
from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization as _OnOneMachine
from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.problem import FactorizationProblem, Storage
from clgraph.algorithms.factorization.training.epochs import Training
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.algorithms.factorization.training.strata import Strata
from clgraph.algorithms.factorization.training.training import Cell, checked_problem
from clgraph.data.ratings.ratings import Ratings
from clgraph.distributed.waiting import results, submit, wait_for
from clgraph.distributed.workers import as_client, devices_of, given, on_device, worker_session
from clgraph.runtime.driver.timing import RunInfo, Seconds

Side = tuple[Any, Any]  # A side of the model: the factors and biases of all users, or of all items.


@dataclass(frozen=True)
class Block:
    """The ratings of one block of the matrix, and the settings for the training on these ratings."""

    run: str
    name: tuple[int, int]
    problem: FactorizationProblem
    strategy: str
    options: Mapping[str, Any] | None
    deterministic: bool


class _Kept:
    """A Dask worker's cache for the latest training run.

    All epochs reuse its plans, because a plan takes long to make.
    """

    def __init__(self) -> None:
        self.run, self.cells = "", dict[Any, Cell]()
        self.errors: dict[Any, Errors] = {}

    def cell(self, block: Block) -> Cell:
        """Return the :class:`Cell` of *block*, which is made on first use.

        A new training run drops the old run's cells.
        """
        if self.run != block.run:
            self.__init__()  # type: ignore[misc]
            self.run = block.run
        if block.name not in self.cells:
            self.cells[block.name] = Cell(
                worker_session(), block.problem, block.strategy, block.options, block.deterministic
            )
        return self.cells[block.name]


_kept = _Kept()


def _chosen(block: Block) -> tuple[str, dict[str, float]]:
    with on_device():
        choice = _kept.cell(block).choice
    return ("", {}) if choice is None else (choice.strategy, choice.seconds)


def _swept(block: Block, users: Side, items: Side, rate: float, regularization: float) -> tuple[Side, Side]:
    """Make one gradient step for each rating of *block*, and return the new factors of the block's users and items."""
    with on_device():
        cell = _kept.cell(block)
        cell.model.set(Factors(users[0], items[0], users[1], items[1]))
        cell.sweep(rate, regularization)
        found = cell.model.get()
    return (found.user_factors, found.user_biases), (found.item_factors, found.item_biases)


# Tasks that select the users' or the items' part of a result of _swept().
_users, _items = itemgetter(0), itemgetter(1)


def _squares(block: Block, users: Side, items: Side, key: str, others: Ratings | None) -> tuple[float, float]:
    """Return the sums of squared errors on the ratings of *block* and on *others*.

    *others* is cached under *key*.
    """
    with on_device():
        cell = _kept.cell(block)
        cell.model.set(Factors(users[0], items[0], users[1], items[1]))
        if others is None:
            return cell.squares(cell.errors), 0.0
        name = (key, block.name)
        if name not in _kept.errors:
            _kept.errors[name] = Errors(cell.session, others, cell.model)
        return cell.squares(cell.errors), cell.squares(_kept.errors[name])


class RemoteModel:
    """The factors of all users and items, as futures of parts that are on the Dask workers."""

    def __init__(self, training: DistributedTraining, mean: float) -> None:
        self.mean, self._training = mean, training
        self.users: list[distributed.Future] = []
        self.items: list[distributed.Future] = []

    def set(self, factors: Factors) -> None:
        """Split the *factors* of a model into parts, and send each part to its Dask worker."""
        training = self._training
        parts = [training.strata.part(factors, d, d) for d in range(training.n)]
        pairs = [((p.user_factors, p.user_biases), (p.item_factors, p.item_biases)) for p in parts]
        self.users = [training.submit(d, _users, pair) for d, pair in enumerate(pairs)]
        self.items = [training.submit(d, _items, pair) for d, pair in enumerate(pairs)]

    def get(self) -> Factors:
        """Return the current factors and biases of all users and items, which the workers send."""
        found = results(self._training.client, [*self.users, *self.items])
        sides = zip(found[: len(self.users)], found[len(self.users) :], strict=True)
        return self._training.strata.whole([Factors(u[0], i[0], u[1], i[1]) for u, i in sides])


class DistributedTraining(Training):
    """Training of a factorisation on the workers of a Dask client, with the arguments of ``SeveralDevices``.

    The number of strata equals the number of workers. A task trains on one block. It takes the factors of the block's
    users and items as futures and returns new factors. So a worker begins the next stratum as soon as its items arrive.
    """

    def __init__(
        self, client: distributed.Client, ratings: Ratings, *, rank: int, strategy: str,
        options: Mapping[str, Any] | None, deterministic: bool, n_epochs: int, storage: Any, biases: bool,
        mean: float | None, weights: NDArray[np.float32] | None = None,
    ) -> None:  # fmt: skip
        problem = checked_problem(ratings, rank, n_epochs, storage, biases, mean, weights)
        self._total_weight = problem.total_weight
        self._started, self.epochs, self.ratings, self.client = time.perf_counter(), [], ratings, client
        self.workers = devices_of(client)
        # With more workers than users or items, some workers would have nothing to train.
        self.n = min(len(self.workers), *ratings.shape)
        self.strata, self._run = Strata(ratings, self.n), uuid4().hex
        self._blocks = [
            [
                self.submit(d, given, Block(self._run, (d, q), part, strategy, options, deterministic))
                for q, part in enumerate(row)
            ]
            for d, row in enumerate(self.strata.problems(problem))
        ]
        choices = results(client, [self.submit(d, _chosen, b) for d, row in enumerate(self._blocks) for b in row])
        largest = max(range(self.n**2), key=lambda k: self.strata.blocks[k // self.n][k % self.n].n_ratings)
        self.strategy, self._predicted = choices[largest]
        assert problem.mean is not None
        self.model: RemoteModel = RemoteModel(self, problem.mean)
        self._whole: tuple[list[Any], list[Any], int] = [], [], 0

    def submit(self, d: int, function: Any, *arguments: Any) -> distributed.Future:
        """Return the future of a task for the worker that trains block row *d*.

        If that worker is lost, another one takes over.
        """
        return submit(self.client, self.workers[d].address, function, *arguments)

    def errors_on(self, ratings: Ratings) -> tuple[str, int, list[list[distributed.Future]]]:
        blocks = self.strata.blocks_of(ratings)
        futures = [[self.submit(d, given, block) for block in row] for d, row in enumerate(blocks)]
        return uuid4().hex, ratings.n_ratings, futures

    def save(self, n_epochs: int) -> None:
        self._whole = self.model.users, self.model.items, n_epochs

    def restore(self) -> int:
        self.model.users, self.model.items, n_epochs = self._whole
        return n_epochs

    def sweep(self, rate: float, regularization: float) -> float:
        began, n, model = time.perf_counter(), self.n, self.model
        users, items = list(model.users), list(model.items)
        for s in range(n):
            for d in range(n):
                q = (d + s) % n
                swept = self.submit(d, _swept, self._blocks[d][q], users[d], items[q], rate, regularization)
                users[d], items[q] = self.submit(d, _users, swept), self.submit(d, _items, swept)
        wait_for(self.client, [*users, *items])
        model.users, model.items = users, items
        return time.perf_counter() - began

    def errors(self, evaluation: Any, *, with_loss: bool) -> tuple[float, float]:
        key, n_evaluated, others = evaluation or ("", 0, None)
        users, items = self.model.users, self.model.items
        sums = results(self.client, [
            self.submit(d, _squares, self._blocks[d][q], users[d], items[q], key, others and others[d][q])
            for q in range(self.n) for d in range(self.n)
        ])  # fmt: skip
        loss = math.sqrt(math.fsum(first for first, _ in sums) / self._total_weight)
        eval_loss = math.sqrt(math.fsum(second for _, second in sums) / n_evaluated) if n_evaluated else math.nan
        return loss, eval_loss

    def info(self) -> RunInfo:
        seconds = Seconds(time.perf_counter() - self._started, math.nan, math.nan, math.nan)
        names = "; ".join(f"{worker.address} {worker.device}" for worker in self.workers[: self.n])
        kind = STRATEGIES[self.strategy].kind
        return RunInfo(self.strategy, kind, names, "workers of the client", seconds, self._predicted, {})


class SGDMatrixFactorization(_OnOneMachine):
    """A :class:`clgraph.SGDMatrixFactorization` whose ``fit`` trains on the workers of a Dask client.

    Each worker keeps blocks of ratings, and factors move between workers as futures. The fitted factors are in this
    process.

    Parameters
    ----------
    client : distributed.Client, optional
        By default, the client that was created last. An estimator that holds a client cannot be pickled. The other
        parameters are as in
        :class:`clgraph.SGDMatrixFactorization`, without *session* and *devices*.

    Raises
    ------
    ClusterError
        In ``fit``: there is no client, there is no worker, or a worker has other versions of packages.
    NoDeviceError
        In ``fit``: a worker has no device.
    """

    def __init__(
        self,
        n_factors: int = 16,
        *,
        strategy: str = "auto",
        strategy_options: Mapping[str, Any] | None = None,
        n_epochs: int = 20,
        learning_rate: float = 0.01,
        schedule: str = "constant",
        decay: float = 0.1,
        regularization: float = 0.05,
        biases: bool = False,
        storage: Storage = "float32",
        init_scale: float = 0.2,
        clip: bool = False,
        tol: float | None = None,
        random_state: Any = None,
        client: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_factors, strategy=strategy, strategy_options=strategy_options, n_epochs=n_epochs,
            learning_rate=learning_rate, schedule=schedule, decay=decay, regularization=regularization, biases=biases,
            storage=storage, init_scale=init_scale, clip=clip, tol=tol, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.client = client

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, client: Any = None) -> Self:  # type: ignore[override]
        """Return the model that ``save`` has written to the file *path*.

        Further training runs on the workers of *client*.
        """
        model = super().load(path)
        model.client = client
        return model

    def _engine(self, ratings: Ratings, **options: Any) -> Training:
        return DistributedTraining(as_client(self.client), ratings, **options)

    def to_local(self) -> _OnOneMachine:
        """Return an estimator that needs no Dask client, with the same parameters and factors."""
        local = _OnOneMachine(**{name: value for name, value in self.get_params().items() if name != "client"})
        local.__dict__.update({name: value for name, value in vars(self).items() if name != "client"})
        return local
