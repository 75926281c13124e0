"""Methods of a fitted factorisation: predict, transform (fold users in) and score."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from clgraph.algorithms.factorization.estimator.inputs import (
    Weights,
    are_pairs,
    numbered_as,
    pair_ids,
    refuse_triples,
    split_pairs,
    weighted_matrix,
    weighted_pairs,
    weighted_ratings,
)
from clgraph.algorithms.factorization.estimator.scikit_learn import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    check_is_fitted,
    check_X_y,
    r2_score,
    validate_data,
)
from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.host_model import fold_in, item_means, predict_pairs
from clgraph.algorithms.factorization.training.epochs import Training, UnseenPairs
from clgraph.arguments import checked_flag, refuse_masked
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError


class FittedFactorization(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The methods of :class:`clgraph.SGDMatrixFactorization` that use the fitted factors."""

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return rows of factors for the users of *X*, known or new, by folding the users in:
        the item factors stay fixed.

        A user's row minimises the squared errors of the user's ratings plus *regularization* times their number times
        the row's squared norm, with fixed item factors. This is the loss of ``fit``, solved for one user. With biases,
        the user's bias is solved for too. Rows of users without ratings are 0.

        Parameters
        ----------
        X : Ratings, scipy sparse array or dense array, shape (n, n_items)
            After a fit on pairs: Ratings, or pairs. Users of pairs get their rows of the fit, or 0 if unknown.

        Returns
        -------
        float32 array, shape (n, n_factors)
        """
        check_is_fitted(self)
        if self._fitted_on_pairs and not isinstance(X, Ratings):
            users = self._pair_numbers(X)[0]
            return np.where(users[:, None] < 0, np.float32(0), self.user_factors_[users])
        return self._fold_in(X)[0].astype(np.float32)

    def predict(self, users: Any, items: ArrayLike | None = None) -> NDArray[np.float32]:
        """Return the predicted ratings of *items* by *users*, pair by pair, or of a whole *X*.

        Parameters
        ----------
        users, items : array, shape (n,)
            Ids as in the fit, or row and column numbers if it had none. Without *items*, *users* is an *X* in the
            form of the fit: pairs; a dense array of ratings of shape (n, n_items), also by new users; or Ratings.

        Returns
        -------
        float32 array, shape (n,) or (n, n_items)
            For Ratings, a prediction for each rating, in order.

        Raises
        ------
        InputError
            An id is unknown; the message names it. Pairs may have unknown ids, see the notes of the class.
        """
        check_is_fitted(self)
        if items is not None:
            numbers_ = self._known.user_index(users), self._known.item_index(items)
            if numbers_[0].size != numbers_[1].size:
                raise InputError(f"{numbers_[0].size} users and {numbers_[1].size} items; they must be as many")
            return self._of_pairs(*numbers_)
        if isinstance(users, Ratings):
            ratings = self._numbered(users)
            return self._of_pairs(ratings.users, ratings.items)
        if self._fitted_on_pairs:
            return self._of_pairs(*self._pair_numbers(users))
        if issparse(users):
            raise InputError(
                "predict(X) of a sparse X would be dense; give predict(users, items) the pairs that are needed"
            )
        rows, biases = self._fold_in(users)
        predictions = rows @ self._factors().item_factors.T + biases[:, None]
        return self._clipped((predictions + item_means(self._factors(), self.mean_)).astype(np.float32))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R² of the predictions of :meth:`predict` for *X* and *y*.

        1 is perfect; always predicting the mean gives 0. The users of a matrix are folded in from the same ratings that
        are scored. So the score of a matrix shows how well the items' factors describe users, not how well unknown
        ratings are predicted. For that, score held-out ratings as pairs or as Ratings.

        Parameters
        ----------
        X, y
            In the form of the fit.
        sample_weight : array, shape (n_ratings,), optional
            The weight of each rating in the score. :meth:`clgraph.SGDMatrixFactorization.fit` tells their order.
        """
        check_is_fitted(self)
        if self._fitted_on_pairs and not isinstance(X, Ratings):
            if y is None:
                raise InputError("score(X) of pairs needs their ratings: score(X, y)")
            refuse_masked("y", y)
            return float(r2_score(y, self.predict(X), sample_weight=sample_weight))
        if isinstance(X, Ratings):
            ratings = self._numbered(X)
            predicted = self._of_pairs(ratings.users, ratings.items)
            return float(r2_score(ratings.values, predicted, sample_weight=sample_weight))
        ratings, weights = self._weighted(X, None, sample_weight, reset=False)
        factors = self._folded(ratings)[1]
        predicted = self._clipped(predict_pairs(factors, self.mean_, ratings.users, ratings.items))
        return float(r2_score(ratings.values, predicted, sample_weight=weights))

    def _of_pairs(self, users: NDArray[np.int32], items: NDArray[np.int32]) -> NDArray[np.float32]:
        return self._clipped(predict_pairs(self._factors(), self.mean_, users, items))

    def _clipped(self, predictions: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return *predictions*, with ``clip=True`` cut off at the least and the greatest rating of the fit."""
        if not checked_flag("clip", self.clip) or self.rating_range_ is None:
            return predictions
        least, most = self.rating_range_
        clipped: NDArray[np.float32] = np.clip(predictions, np.float32(least), np.float32(most))
        return clipped

    def _keep(self, engine: Training, known: Ratings, values: NDArray[np.float32], *, continued: bool) -> None:
        """Keep the result of a training on ratings of these *values*, all at once, for Ctrl-C."""
        ends = [float(values.min()), float(values.max())]
        if continued and self.rating_range_ is not None:
            ends += self.rating_range_
        found = {f"{name}_": array for name, array in engine.model.get()._asdict().items()}
        found |= {"mean_": engine.model.mean, "_known": known, "history_": engine.epochs, "n_iter_": len(engine.epochs)}
        found["_gain"] = engine.gain
        found |= {"rating_range_": (min(ends), max(ends)), "strategy_": engine.strategy, "info_": engine.info()}
        self.__dict__.update(found)

    def _pair_numbers(self, X: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the user and item numbers of the pairs *X*, with -1 for
        each user or item that the fit does not know.
        """
        refuse_masked("X", X)
        users, items = pair_ids(X, validate_data(self, X, reset=False, dtype=None))
        return self._known.user_index(users, default=-1), self._known.item_index(items, default=-1)

    def _fold_in(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._fold_in_numbered(numbered_as(self._known, self._ratings(X, reset=False), new_users=True))

    def _fold_in_numbered(self, ratings: Ratings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Fold in the users of *ratings*, which have the item numbers of the fit."""
        return fold_in(self._factors(), self.mean_, ratings, self.regularization)

    def _folded(self, X: Ratings) -> tuple[Ratings, Factors]:
        """Fold the users of *X* in, and return *X* with the item numbers of the fit, and the factors of its users."""
        rated = numbered_as(self._known, X, new_users=True)
        rows, biases = (array.astype(np.float32) for array in self._fold_in_numbered(rated))
        return rated, self._factors()._replace(user_factors=rows, user_biases=biases)

    def _factors(self) -> Factors:
        return Factors(*(getattr(self, f"{name}_") for name in Factors._fields))

    # ---- inputs

    def _ratings(self, X: Any, y: Any = None, *, reset: bool) -> Ratings:
        """Return the arguments *X* and *y* as Ratings.

        With *reset*, later calls expect the same form and the same items.
        """
        return self._weighted(X, y, None, reset=reset)[0]

    def _weighted(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> tuple[Ratings, Weights]:
        """Return the arguments *X* and *y* as Ratings, with the weights in their order.

        *reset* is as in _ratings().
        """
        if isinstance(X, Ratings):
            if reset:
                self._fitted_on_pairs = False
                self.n_features_in_ = X.n_items
                self.__dict__.pop("feature_names_in_", None)
            return weighted_ratings(X, sample_weight)
        refuse_masked("X", X)
        if reset:
            self._fitted_on_pairs = y is not None and are_pairs(X)
            if y is None:
                refuse_triples(X)
        if not self._fitted_on_pairs:
            finite: Any = True if issparse(X) else "allow-nan"
            formats = ("csr", "csc", "coo")
            matrix = validate_data(self, X, reset=reset, accept_sparse=formats, ensure_all_finite=finite)
            return weighted_matrix(matrix, sample_weight)
        if y is None:
            raise InputError("pairs need their ratings, y")
        refuse_masked("y", y)
        array, values = validate_data(self, X, y, reset=reset, dtype=None, y_numeric=True)
        return weighted_pairs(pair_ids(X, array), values, sample_weight)

    def _numbered(self, X: Any, y: Any = None, *, known: Ratings | None = None) -> Ratings:
        """Return *X* and *y* as Ratings with the user and item numbers of *known*, by default the fit's numbers."""
        return numbered_as(known or self._known, self._ratings(X, y, reset=False), new_users=False)

    def _numbered_with_weights(self, X: Any, y: Any, sample_weight: Any) -> tuple[Ratings, Weights]:
        """Return *X* and *y* as Ratings with the fit's numbers, and the weights in the order of these Ratings."""
        ratings, weights = self._weighted(X, y, sample_weight, reset=False)
        numbered = numbered_as(self._known, ratings, new_users=False)
        if weights is not None and numbered is not ratings:
            weights = numbered_as(self._known, replace(ratings, values=weights), new_users=False).values
        return numbered, weights

    def _evaluation(self, eval_set: Any, known: Ratings) -> tuple[Ratings | None, UnseenPairs | None]:
        """Return the ratings of *eval_set* with the numbers of *known*, and the pairs whose user or item is unknown."""
        if eval_set is None:
            return None, None
        X, y = eval_set if isinstance(eval_set, tuple) and len(eval_set) == 2 else (eval_set, None)
        if y is None or not are_pairs(X):
            return self._numbered(X, y, known=known), None
        refuse_masked("X", X)
        refuse_masked("y", y)
        if self._fitted_on_pairs:
            array, values = validate_data(self, X, y, reset=False, dtype=None, y_numeric=True)
        else:
            array, values = check_X_y(X, y, dtype=None, y_numeric=True)
        return split_pairs(known, pair_ids(X, array), values)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "user_factors_")

    @property
    def _n_features_out(self) -> int:
        return int(self.item_factors_.shape[1])

    @property
    def loss_curve_(self) -> list[float]:
        return [epoch.loss for epoch in self.history_]

    @property
    def eval_curve_(self) -> list[float]:
        return [epoch.eval_loss for epoch in self.history_]
