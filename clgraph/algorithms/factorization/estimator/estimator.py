"""Matrix factorisation as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np

from clgraph.algorithms.factorization.estimator.fitting import TrainedFactorization
from clgraph.algorithms.factorization.problem import Storage
from clgraph.algorithms.factorization.training.epochs import Callback
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike

_TRIPLE = ("users", "items", "values")


class SGDMatrixFactorization(TrainedFactorization):
    """Low-rank factorisation of a sparse users × items matrix of ratings by stochastic gradient descent.

    A rating is predicted as ``mean + user_bias + item_bias + user_factors . item_factors``. One epoch makes a gradient
    step on each rating. A step's loss is the squared error plus *regularization* times the squared norms of the rows
    and biases involved [1]_ [2]_. Steps run in parallel; the strategy keeps them from conflicting [3]_.

    Parameters
    ----------
    n_factors : int
        Rank, 1 … 128.
    strategy : str
        A key of ``clgraph.algorithms.factorization.STRATEGIES``, or ``"auto"`` for the cost model's choice.
    strategy_options : dict, optional
        Options of a named strategy: the keyword-only parameters of its plan.
    n_epochs : int
        Number of sweeps over the ratings in ``fit``.
    learning_rate : float
        Rate of the first epoch. Its product with *regularization* must be at most 1/2, because a step shrinks rows by
        this product.
    schedule : {"constant", "inverse", "bold_driver"}
        Learning rate of later epochs: constant; ``learning_rate / (1 + decay * t)`` in epoch t; or 5 % higher after
        an epoch that lowered the training error, half after one that raised it, at most ``0.5 / regularization``.
    decay : float
        Coefficient of the "inverse" schedule.
    regularization : float
        Weight of the squared norms; at most ``0.5 / learning_rate``.
    biases : bool
        Whether users and items have a bias each.
    storage : {"float32", "float16"}
        Type of the factors in device memory; arithmetic is float32.
    init_scale : float
        Factors start from a normal distribution of standard deviation ``init_scale / sqrt(n_factors)``, biases at 0.
        Users and items without ratings keep their initial factors.
    clip : bool
        Cut predictions off at the least and the greatest rating of the fit.
    tol : float, optional
        Stop after an epoch that lowers the error (RMSE) on *eval_set* by less than this. Without ratings in
        *eval_set*, the error on the training ratings counts. The factors of the last epoch are kept, even if an
        earlier epoch had a lower error.
    random_state : int, RandomState or None
        Seed of the initial factors. With an integer, ``strategy="auto"`` chooses among offline strategies only. Then
        runs on one device have equal results if the choice is the same. New rates from ``clgraph probe`` may
        change it; naming an offline strategy in *strategy* fixes it.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one. An estimator that holds a
        Session cannot be pickled or deeply copied.
    devices : "all", or sequence of str, Session or pyopencl.Device, optional
        Train on several devices instead of *session*. Each device keeps its users, and blocks of items move from
        device to device [4]_. Several GPUs that are given by name, or by ``"all"``, have a process each. Folding
        users in runs on the host.
    verbose : int
        Above 0, print each epoch's errors and speed to stderr.

    Attributes
    ----------
    user_factors_, item_factors_ : float32 array, shape (n_users, n_factors) and (n_items, n_factors)
    user_biases_, item_biases_ : float32 array, shape (n_users,) and (n_items,), or None
        ``None`` without *biases*.
    mean_ : float
        (Weighted) mean of the training ratings of the first fit.
    rating_range_ : tuple of float
        The least and the greatest rating of all fits, without ratings of weight 0.
    history_ : list of Epoch
        Learning rate, errors and speed of each epoch.
    loss_curve_, eval_curve_ : list of float
        RMSE of the training ratings (weighted by *sample_weight*) and of *eval_set* (NaN without one) after each epoch.
        The training error is computed only after the last epoch, unless the schedule, *tol*, *verbose* or a callback
        needs it, or workers of a Dask client train. It is NaN for other epochs, and for the last one before Ctrl-C.
    n_iter_ : int
        Number of epochs.
    strategy_ : str
        The strategy that ran.
    info_ : RunInfo
        Where the last fit ran and how long each part took. A loaded model has none.
    known_users, known_items : array, shape (n_users,) and (n_items,)
        The id of each row of factors, or its number if users or items have no ids.
    n_features_in_ : int
        Number of items; 2 after a fit on pairs.
    feature_names_in_ : object array, shape ``(n_features_in_,)``
        Names of the columns, after a fit on a frame with column names.

    Notes
    -----
    ``fit`` accepts ratings in one of three forms, which the other methods then expect too:

    * **Pairs**: *X* has two columns, the ids of a user and of an item, and *y* holds their ratings. Each row is a
      sample, so scikit-learn's splitters hold out ratings. ``predict(X)`` and ``score(X, y)`` use the factors of the
      fit. If a user or an item had no ratings in the fit, only the mean and the other one's bias predict. Several
      ratings of one pair are replaced by their mean.
    * **A matrix**: a scipy sparse array, whose stored entries are the ratings, or a dense array, all of whose entries
      but NaN are ratings; *y* is ignored. Each row is a sample, so splitters hold out users. ``transform(X)``,
      ``predict(X)`` and ``score(X)`` fold users in: they compute a user's factors from the user's ratings in *X*. A
      dense matrix of two items that comes with *y* is taken as pairs. A frame of three columns without *y* is refused,
      because such columns are most likely users, items and ratings.
    * **Ratings**: a :class:`clgraph.Ratings`, whose users and items are named by its ids, or else by numbers.
      ``predict`` and ``score`` match them with the users of the fit; ``transform`` folds them in.

    Ctrl-C during a fit keeps the factors of the last whole epoch, from which ``partial_fit`` can continue. Before the
    first whole epoch, and after any other error, the estimator is unchanged.

    References
    ----------
    .. [1] S. Funk. "Netflix update: try this at home." 2006.
    .. [2] Y. Koren, R. Bell, C. Volinsky. "Matrix Factorization Techniques for Recommender Systems."
       IEEE Computer 42, 2009.
    .. [3] R. Kaleem, A. Venkat, S. Pai, M. Hall, K. Pingali. "Synchronization Trade-offs in GPU
       Implementations of Graph Algorithms." IPDPS 2016.
    .. [4] R. Gemulla, E. Nijkamp, P. J. Haas, Y. Sismanis. "Large-Scale Matrix Factorization with Distributed
       Stochastic Gradient Descent." KDD 2011.
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
        session: SessionLike = None,
        devices: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_factors = n_factors
        self.strategy = strategy
        self.strategy_options = strategy_options
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.decay = decay
        self.regularization = regularization
        self.biases = biases
        self.storage = storage
        self.init_scale = init_scale
        self.clip = clip
        self.tol = tol
        self.random_state = random_state
        self.session = session
        self.devices = devices
        self.verbose = verbose

    # ---- fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model to *X*, starting from new random factors.

        Parameters
        ----------
        X : Ratings, scipy sparse array or dense array, shape (n_users, n_items), or pairs, shape (n_ratings, 2)
        y : array, shape (n_ratings,)
            Ratings of the pairs; ignored otherwise. All ratings become float32. If they are large and differ little,
            subtract a constant first.
        sample_weight : array, shape (n_ratings,), optional
            Weight of each rating: finite, at least 0, not all 0. They are in the order of the pairs, of
            :class:`clgraph.Ratings`, of ``X.data`` of a CSR array (other sparse formats are refused), or row by row of
            a dense array, also for its NaN. A weight multiplies the error in the rating's gradient step and its square
            in the training loss, as if the rating were repeated. Regularization is not weighted: each step shrinks both
            rows and biases as without weights, also if the weight is 0. Otherwise a rating of weight 0 has no effect.
            The mean of the ratings is weighted. Large weights need a smaller *learning_rate*; weights with a mean of 1
            suit the rate of a fit without weights. *eval_set* is not weighted. Several ratings of one pair get the mean
            of their weights.
        eval_set : like *X*, or a tuple (X, y) of pairs and their ratings, optional
            Ratings on which the error is computed after each epoch. Pairs are allowed with any form of *X*. They name
            users and items by the ids of the fit, or by row and column numbers without ids, and may have unknown ones,
            which are predicted as in :meth:`predict`. Other forms must have the users and items of *X*.
        callback : callable, optional
            ``callback(number, epoch)`` is called after each epoch. A true result stops the fit.

        Returns
        -------
        SGDMatrixFactorization
            The estimator.

        Raises
        ------
        InputError
            No ratings, wrong weights, a rating whose square (times the greatest weight) is not finite in float32, an
            unknown id, an unknown option, or a parameter out of range, such as a rank that needs more memory than the
            device has.
        ValueError
            An infinite number in an array, a NaN in a sparse array or in pairs, or another input that scikit-learn
            rejects. In Ratings it is an InputError, which is also a ValueError.
        DeviceMemoryError
            The ratings do not fit in the device's memory.
        UnsupportedStrategyError
            The strategy is unknown, or the device cannot run it.

        Warns
        -----
        ConvergenceWarning
            The factors diverged to infinity. The last finite factors are kept.
        """
        return self._first_fit(X, y, sample_weight, self.n_epochs, eval_set, callback)

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        n_epochs: int = 1,
        eval_set: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Continue training the factorisation for *n_epochs* from the current factors, on the same or on other ratings.

        Users, items and mean stay as in the first fit, and the learning rate's schedule continues. *tol* and the
        schedule "bold_driver" compare the first epoch's error with the error on the same ratings before it. Every call
        prepares its ratings again, so few calls with many epochs are cheaper. :meth:`fit` describes the other
        parameters.

        Raises
        ------
        InputError
            *n_factors* or *biases* were changed after the first fit, or an error as in :meth:`fit`.
        """
        if not hasattr(self, "user_factors_"):
            return self._first_fit(X, y, sample_weight, n_epochs, eval_set, callback)
        for name, kept in (("n_factors", self._n_features_out), ("biases", self.user_biases_ is not None)):
            if getattr(self, name) != kept:
                raise InputError(f"{name} = {getattr(self, name)!r}, but the factors of the fit have {name}={kept}")
        known = self._known
        ratings, weights = self._numbered_with_weights(X, y, sample_weight)
        if X is not known:
            columns = (np.concatenate([getattr(r, name) for r in (known, ratings)]) for name in _TRIPLE)
            merged = Ratings.from_triples(*columns, n_users=known.n_users, n_items=known.n_items, duplicates="last")
            known = replace(merged, user_ids=known.user_ids, item_ids=known.item_ids)
        return self._train(
            ratings, weights, self._factors(), known, self.history_, n_epochs, eval_set, callback, mean=self.mean_
        )
