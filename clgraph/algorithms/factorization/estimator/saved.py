"""Copying, saving and loading an estimator of matrix factorisation."""

from __future__ import annotations

import copy
import math
import numbers
import os
from typing import Any, Self

import numpy as np

from clgraph.algorithms.factorization.estimator.model_file import check_factors, check_model, read_model, write_model
from clgraph.algorithms.factorization.estimator.recommending import RecommendingFactorization
from clgraph.algorithms.factorization.estimator.scikit_learn import BaseEstimator, check_is_fitted
from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.strategies import STRATEGIES
from clgraph.algorithms.factorization.training.epochs import Epoch
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike

# Parameters of the estimators that tell where to run: on sessions, devices or a Dask client.
_PLACES = ("session", "devices", "client")


class SavedFactorization(RecommendingFactorization):
    """The methods of :class:`clgraph.SGDMatrixFactorization` that copy, save and load it."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to the file *path* atomically.

        :meth:`load` reads it.

        The file is an ``.npz`` archive, whatever its name, without pickles. It holds the parameters except *session*
        and *devices* (and *random_state* if it is not an integer), the factors, the history, the ids, and the items
        that each user has rated.

        Raises
        ------
        InputError
            An id or an option is a Python object that cannot be saved, or the file cannot be written.
        """
        check_is_fitted(self)
        parameters = {name: value for name, value in self.get_params().items() if name not in _PLACES}
        if not isinstance(self.random_state, numbers.Integral):
            parameters["random_state"] = None
        settings = {
            "parameters": parameters, "mean": self.mean_, "history": self.history_, "strategy": self.strategy_,
            "pairs": self._fitted_on_pairs, "range": self.rating_range_, "gain": self._gain,
        }  # fmt: skip
        known = self._known
        arrays = {name: getattr(self, f"{name}_") for name in Factors._fields}
        arrays |= {"offsets": known.user_offsets, "items": known.items}
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names"] = self.feature_names_in_.astype(str)
        write_model(path, settings, arrays | {"user_ids": known.user_ids, "item_ids": known.item_ids})

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, session: SessionLike = None) -> Self:
        """Return the model that :meth:`save` has written to the file *path*.

        Further training runs on *session*.

        Raises
        ------
        InputError
            The file is not a saved model, has another version, or is damaged.
        """
        settings, arrays = read_model(path)
        try:
            model = cls(**settings["parameters"] | ({} if session is None else {"session": session}))
            factors = Factors(*(arrays.get(name) for name in Factors._fields))  # type: ignore[arg-type]
            n_users, n_items = check_factors(factors)
            check_model(settings, arrays, factors, cls().get_params())
            offsets, items = arrays["offsets"], arrays["items"]
            users = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(offsets))
            names = arrays.get("user_ids"), arrays.get("item_ids")
            model._known = Ratings(users, items, np.zeros(items.size, np.float32), n_users, n_items, *names)
            model.mean_, model.strategy_ = float(settings["mean"]), str(settings["strategy"])
            model._fitted_on_pairs = bool(settings.get("pairs", False))
            ends = settings.get("range")
            model.rating_range_ = None if ends is None else (float(ends[0]), float(ends[1]))
            model.history_ = [Epoch(*map(float, epoch)) for epoch in settings["history"]]
            model._gain = float(settings.get("gain", math.nan))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{path}: a damaged factorisation: {type(error).__name__}: {error}") from error
        for name, array in factors._asdict().items():
            setattr(model, f"{name}_", array)
        model.n_iter_, model.n_features_in_ = len(model.history_), 2 if model._fitted_on_pairs else n_items
        if (names_in := arrays.get("feature_names")) is not None:
            if names_in.shape != (model.n_features_in_,) or names_in.dtype.kind != "U":
                raise InputError(f"{path}: {names_in.shape} names of {model.n_features_in_} features")
            model.feature_names_in_ = names_in.astype(object)
        return model

    def __sklearn_clone__(self) -> Self:
        # Sessions cannot be copied, so the clone shares the sessions of the original estimator.
        places = {name: getattr(self, name) for name in _PLACES if hasattr(self, name)}
        plain = copy.copy(self)
        plain.__dict__.update(dict.fromkeys(places))
        clone: Self = BaseEstimator.__sklearn_clone__(plain)
        clone.__dict__.update(places)
        return clone

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        strategy = STRATEGIES.get(self.strategy)
        tags.non_deterministic = strategy is not None and strategy.kind == "online"
        return tags
