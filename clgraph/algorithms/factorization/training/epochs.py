"""The training loop of a factorisation: learning rates, errors, and recovery from divergence or interrupts."""

from __future__ import annotations

import math
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.host_model import predict_pairs
from clgraph.algorithms.factorization.training.learning_rates import Schedule, capped
from clgraph.arguments import checked_number
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import ConvergenceWarning
from clgraph.progress import begin, is_heard
from clgraph.runtime.driver.timing import RunInfo

_SECONDS_SHOWN = 1.0  # Losses that are only shown as progress are computed at most once per second.


class Epoch(NamedTuple):
    """The record of one training epoch: its learning rate, errors and time.

    Attributes
    ----------
    learning_rate : float
    loss : float
        Root mean square error on the training ratings, after the epoch; NaN if it was not computed. With weights, the
        mean is a weighted one.
    eval_loss : float
        Root mean square error on the evaluation ratings; NaN if there are none.
    seconds : float
        Time of the sweep alone, without evaluation.
    updates_per_second : float
        Number of training ratings divided by ``seconds``.
    """

    learning_rate: float
    loss: float
    eval_loss: float
    seconds: float
    updates_per_second: float


Callback = Callable[[int, Epoch], object]
"""``callback(number, epoch)`` is called after each epoch, numbered from 1. A true result stops the training."""


class UnseenPairs(NamedTuple):
    """Pairs of an evaluation set whose user or item the fit does not know, and the ratings of these pairs.

    Attributes
    ----------
    users, items : int32 array, shape (n,)
        Numbers in the fit; -1 if unknown.
    values : float32 array, shape (n,)
    """

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]


class Training(ABC):
    """Base class of factorisation training in epochs, on one device or on several devices.

    Attributes
    ----------
    model : object
        The factors and biases on the devices. ``set`` and ``get`` copy them; ``mean`` is added to every prediction.
    ratings : Ratings
    strategy : str
        The strategy that runs.
    epochs : list of Epoch
        The epochs of the last ``train``, after its *history*.
    gain : float
        By how much the last epoch lowered the loss; NaN if this is unknown.
    may_skip_losses : bool
        Whether epochs are faster without their loss. Then :meth:`is_finite` is implemented.
    """

    model: Any
    ratings: Ratings
    strategy: str
    epochs: list[Epoch]
    gain = math.nan
    may_skip_losses = False

    def train(
        self,
        n_epochs: int,
        *,
        schedule: Schedule,
        regularization: float = 0.0,
        every_loss: bool = True,
        history: Sequence[Epoch] = (),
        gain: float = math.nan,
        compares: bool = False,
        eval_ratings: Ratings | None = None,
        unseen: UnseenPairs | None = None,
        tol: float | None = None,
        callback: Callback | None = None,
    ) -> list[Epoch]:
        """Run up to *n_epochs* training sweeps, and return the records of all epochs.

        Parameters
        ----------
        n_epochs : int
        schedule : callable
            See :mod:`clgraph.algorithms.factorization.training.learning_rates`.
        regularization : float
            Factor of the squared norms of both rows (and biases) in the loss of a rating. Rates of *schedule* are
            capped at 1/2 divided by it.
        every_loss : bool
            Compute the error on the training ratings after each epoch, which takes longer than most sweeps. Otherwise
            it is computed after the last epoch, and once a second if progress is shown. It is needed if *schedule*,
            *callback*, or *tol* without evaluation ratings depends on it.
        history : sequence of Epoch
            Earlier epochs, which may have trained on other ratings. The schedule and the numbering of epochs continue
            from them.
        gain : float
            By how much the last epoch of *history* lowered its loss, for *schedule*.
        compares : bool
            Compute the errors before the first epoch after *history*, for *tol* or *schedule*.
        eval_ratings : Ratings, optional
            Ratings of the same users and items.
        unseen : UnseenPairs, optional
            More evaluation ratings. Only the mean and the biases of known users and items predict them.
        tol : float, optional
            Stop after an epoch that lowers the error by less than this. It is the error on *eval_ratings* and *unseen*,
            or without them on the training ratings.
        callback : callable, optional
            See :data:`Callback`.

        Returns
        -------
        list of Epoch
            *history* and the new epochs.

        Raises
        ------
        BaseException
            Any error, and Ctrl-C. The factors of the last whole epoch are restored first; it is the last in ``epochs``.

        Warns
        -----
        ConvergenceWarning
            The factors diverged to infinity. The training ends and the last finite factors are restored.
        """
        checked_number("regularization", regularization)
        n_seen = 0 if eval_ratings is None else eval_ratings.n_ratings
        evaluation = None if eval_ratings is None or not n_seen else self.errors_on(eval_ratings)
        self.epochs, self.gain, rate = list(history), gain, history[-1].learning_rate if history else math.nan
        self.save(len(self.epochs))
        tell, shown = begin("fitting", n_epochs, "epochs"), time.perf_counter()
        every_loss = every_loss or not self.may_skip_losses
        try:
            loss = eval_loss = math.nan  # The errors before the next epoch. Errors of random factors do not matter.
            if history and compares:
                loss, eval_loss = self.errors(evaluation, with_loss=every_loss)
                eval_loss = self._with_unseen(eval_loss, n_seen, unseen)
            for done in range(1, n_epochs + 1):
                rate = capped(schedule(len(self.epochs), rate, self.gain), regularization)
                is_due = is_heard() and time.perf_counter() - shown > _SECONDS_SHOWN
                with_loss = every_loss or is_due or done == n_epochs
                epoch = self.epoch(rate, regularization, evaluation, with_loss=with_loss)
                if not (math.isfinite(epoch.loss) if with_loss else self.is_finite()):
                    self.restore()
                    self._complete()
                    warnings.warn(
                        f"the factors went to infinity in epoch {len(self.epochs) + 1} with learning rate {rate:.3g}; "
                        "the factors before it are kept. Use a smaller learning_rate",
                        ConvergenceWarning, stacklevel=2,
                    )  # fmt: skip
                    break
                epoch = epoch._replace(eval_loss=self._with_unseen(epoch.eval_loss, n_seen, unseen))
                self.epochs.append(epoch)
                self.save(len(self.epochs))
                self.gain, eval_gain = loss - epoch.loss, eval_loss - epoch.eval_loss
                loss, eval_loss = epoch.loss, epoch.eval_loss
                tell(done, f"RMSE {epoch.loss:.4f}" if with_loss else "")
                shown = time.perf_counter() if with_loss else shown
                if callback is not None and callback(len(self.epochs), epoch):
                    break
                if tol is not None and (self.gain if math.isnan(eval_loss) else eval_gain) < tol:
                    self._complete()
                    break
        except BaseException:
            del self.epochs[self.restore() :]
            raise
        return self.epochs

    def _complete(self) -> None:
        """Compute the loss of the last training epoch, if the epoch skipped its loss."""
        if self.epochs and math.isnan(self.epochs[-1].loss):
            self.epochs[-1] = self.epochs[-1]._replace(loss=self.loss())

    def epoch(self, rate: float, regularization: float, evaluation: Any, *, with_loss: bool = True) -> Epoch:
        """Make one training step on each rating, and return the record of this epoch."""
        seconds = self.sweep(rate, regularization)
        loss, eval_loss = self.errors(evaluation, with_loss=with_loss)
        return Epoch(rate, loss, eval_loss, seconds, self.ratings.n_ratings / seconds)

    def loss(self) -> float:
        """Return the current root mean square error on the training ratings."""
        return self.errors(None, with_loss=True)[0]

    def is_finite(self) -> bool:
        """Return whether the model gives a finite error for every rating.

        Used only if :attr:`may_skip_losses`.
        """
        raise NotImplementedError

    def _with_unseen(self, eval_loss: float, n_seen: int, unseen: UnseenPairs | None) -> float:
        """Return the root mean square error on *unseen* and *n_seen* other ratings.

        *eval_loss* is the error on the others.
        """
        if unseen is None or not unseen.values.size:
            return eval_loss
        predictions = predict_pairs(self.model.get(), self.model.mean, unseen.users, unseen.items)
        squares = float(np.square(unseen.values - predictions, dtype=np.float64).sum())
        if n_seen:
            squares += n_seen * eval_loss**2
        return math.sqrt(squares / (n_seen + unseen.values.size))

    def close(self) -> None:  # noqa: B027
        """Free the memory of the devices, unless the end of this object frees it."""

    @abstractmethod
    def errors_on(self, ratings: Ratings) -> Any:
        """Return an object that computes the model's error on *ratings*, for :meth:`errors`."""

    @abstractmethod
    def save(self, n_epochs: int) -> None:
        """Save the current model of the training, and *n_epochs*, the number of epochs that trained the model."""

    @abstractmethod
    def restore(self) -> int:
        """Restore the model that was saved last, and return the number of epochs that trained it."""

    @abstractmethod
    def sweep(self, rate: float, regularization: float) -> float:
        """Make one training step on each rating, and return how many seconds this took."""

    @abstractmethod
    def errors(self, evaluation: Any, *, with_loss: bool) -> tuple[float, float]:
        """Return the model's root mean square errors on the training ratings and on the evaluation ratings.

        *evaluation* is an object of :meth:`errors_on`; if it is ``None``, the second error is NaN. Without *with_loss*,
        the first error may be NaN.
        """

    @abstractmethod
    def info(self) -> RunInfo:
        """Return the :class:`RunInfo` of all training epochs so far."""


def show_epoch(number: int, epoch: Epoch) -> None:
    """Print a line about a training epoch to stderr, as the option ``verbose`` asks."""
    text = f"epoch {number}: RMSE {epoch.loss:.4f}"
    if not math.isnan(epoch.eval_loss):
        text += f", evaluation {epoch.eval_loss:.4f}"
    text += f", {epoch.updates_per_second:.3g} updates/s"
    print(text, file=sys.stderr)
