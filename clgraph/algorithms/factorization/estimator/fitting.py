"""The training behind ``fit`` and ``partial_fit`` of a factorisation."""

from __future__ import annotations

import contextlib
import math
import numbers
from typing import Any, Self

import numpy as np

from clgraph.algorithms.factorization.estimator.inputs import Weights
from clgraph.algorithms.factorization.estimator.saved import SavedFactorization
from clgraph.algorithms.factorization.estimator.scikit_learn import check_random_state
from clgraph.algorithms.factorization.factors import Factors, initial_factors
from clgraph.algorithms.factorization.problem import MAX_RANK
from clgraph.algorithms.factorization.training.epochs import Callback, Epoch, Training, show_epoch
from clgraph.algorithms.factorization.training.learning_rates import make_schedule
from clgraph.algorithms.factorization.training.process_training import ProcessFactorization
from clgraph.algorithms.factorization.training.team_training import TeamFactorization
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.arguments import check_callback, checked_count, checked_number
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError
from clgraph.multi_device.processes import names_of
from clgraph.runtime.session import as_session

_MAX_EPOCHS = 2**31 - 1
_FORM = ("n_features_in_", "feature_names_in_", "_fitted_on_pairs")


class TrainedFactorization(SavedFactorization):
    """The methods of :class:`clgraph.SGDMatrixFactorization` that train it."""

    def _first_fit(
        self, X: Any, y: Any, sample_weight: Any, n_epochs: int, eval_set: Any, callback: Callback | None
    ) -> Self:
        """Train new random factors on *X* and *y*.

        After an error, the estimator is as before.
        """
        old = self.__dict__.copy()
        try:
            ratings, weights = self._weighted(X, y, sample_weight, reset=True)
            rank = checked_count("n_factors", self.n_factors, MAX_RANK)
            rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
            start = initial_factors(*ratings.shape, rank, scale=self.init_scale, biases=self.biases, rng=rng)
            return self._train(ratings, weights, start, ratings, [], n_epochs, eval_set, callback)
        except BaseException:
            if self.__dict__.get("history_") is old.get("history_"):  # The failed fit has added no epoch.
                for name in _FORM:
                    self.__dict__.pop(name, None)
                self.__dict__.update({name: old[name] for name in _FORM if name in old})
            raise

    def _train(
        self, ratings: Ratings, weights: Weights, start: Factors, known: Ratings, history: list[Epoch], n_epochs: int,
        eval_set: Any, callback: Callback | None, mean: float | None = None,
    ) -> Self:  # fmt: skip
        """Train the factorisation from *start* on weighted *ratings*, and keep the result of all completed epochs."""
        check_callback("callback", callback)
        verbose = checked_count("verbose", self.verbose, _MAX_EPOCHS, least=-_MAX_EPOCHS)
        tol = None if self.tol is None else checked_number("tol", self.tol, -math.inf)
        schedule = make_schedule(self.schedule, self.learning_rate, self.decay, self.regularization)
        eval_ratings, unseen = self._evaluation(eval_set, known)
        engine = self._engine(
            ratings, rank=start.user_factors.shape[1], strategy=self.strategy,
            options=self.strategy_options, deterministic=isinstance(self.random_state, numbers.Integral),
            n_epochs=checked_count("n_epochs", n_epochs, _MAX_EPOCHS), storage=self.storage,
            biases=start.user_biases is not None, mean=mean, weights=weights,
        )  # fmt: skip
        engine.model.set(start)
        # Ratings of weight 0 do not widen the range to which predictions are clipped.
        counted = ratings.values if weights is None else ratings.values[weights > 0]

        def after_epoch(number: int, epoch: Epoch) -> object:
            if verbose > 0:
                show_epoch(number, epoch)
            return callback is not None and callback(number, epoch)

        n_evaluated = sum(each.values.size for each in (eval_ratings, unseen) if each is not None)
        every_loss = self.schedule == "bold_driver" or callback is not None or verbose > 0
        every_loss |= tol is not None and not n_evaluated
        compares = tol is not None or self.schedule == "bold_driver"
        gain = self._gain if history else math.nan
        with contextlib.closing(engine):
            try:
                engine.train(
                    n_epochs, schedule=schedule, regularization=self.regularization, every_loss=every_loss,
                    history=history, gain=gain, compares=compares, tol=tol, callback=after_epoch,
                    eval_ratings=eval_ratings, unseen=unseen,
                )  # fmt: skip
            except KeyboardInterrupt:
                if len(engine.epochs) > len(history):
                    self._keep(engine, known, counted, continued=mean is not None)
                raise
            self._keep(engine, known, counted, continued=mean is not None)
        return self

    def _engine(self, ratings: Ratings, **options: Any) -> Training:
        """Return an object that trains a factorisation of *ratings*, on one device or on several devices."""
        if self.devices is None:
            return Factorization(as_session(self.session), ratings, **options)
        if self.session is not None:
            raise InputError("session= and devices= are both given; devices= names all that take part")
        if (names := names_of(self.devices)) is not None:
            return ProcessFactorization(names, ratings, **options)
        return TeamFactorization(self.devices, ratings, **options)
