"""The factorisation over Dask's workers as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clgraph.algorithms.factorization.epochs import Training
from clgraph.algorithms.factorization.estimator import SGDMatrixFactorization as _OnOneMachine
from clgraph.algorithms.factorization.problem import Storage
from clgraph.data.ratings import Ratings
from clgraph.distributed.factorization import DistributedTraining
from clgraph.distributed.workers import as_client


class SGDMatrixFactorization(_OnOneMachine):
    """:class:`clgraph.SGDMatrixFactorization` whose ``fit`` trains over the workers of a Dask client.

    Each worker keeps blocks of ratings, and rows of factors pass from worker to worker as futures. The fitted factors
    are in this process.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the one that was made last. The other parameters are those of
        :class:`clgraph.SGDMatrixFactorization`, without *session* and *devices*.

    Raises
    ------
    ClusterError
        In ``fit``: there is no client, no worker, or one with other packages.
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
        tol: float | None = None,
        random_state: Any = None,
        client: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_factors, strategy=strategy, strategy_options=strategy_options, n_epochs=n_epochs,
            learning_rate=learning_rate, schedule=schedule, decay=decay, regularization=regularization, biases=biases,
            storage=storage, init_scale=init_scale, tol=tol, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.client = client

    def _engine(self, ratings: Ratings, **options: Any) -> Training:
        return DistributedTraining(as_client(self.client), ratings, **options)

    def to_local(self) -> _OnOneMachine:
        """Return an estimator with the same parameters and factors that needs no client."""
        local = _OnOneMachine(**{name: value for name, value in self.get_params().items() if name != "client"})
        local.__dict__.update({name: value for name, value in vars(self).items() if name != "client"})
        return local
