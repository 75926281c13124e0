"""Methods of a fitted factorisation that rank items: recommend, similar_items and ranking scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.estimator.fitted import FittedFactorization
from clgraph.algorithms.factorization.estimator.scikit_learn import check_is_fitted, ndcg_score
from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.host_model import item_means, predict_pairs
from clgraph.arguments import checked_count, checked_flag, checked_number, is_array, refusing
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import InputError

_BLOCK_SCORES = 1 << 22  # scores that are computed together, 32 MiB


class RankingScores(NamedTuple):
    """How well recommendations name the items that users rated in a test.

    Attributes
    ----------
    precision : float
        The mean share of the recommended items that are relevant.
    ndcg : float
        The mean normalised discounted cumulative gain of the ranking; 1 is best.
    n_users : int
        Users with a relevant item in the test, over which the means are taken.
    """

    precision: float
    ndcg: float
    n_users: int


class RecommendingFactorization(FittedFactorization):
    """The methods of :class:`clgraph.SGDMatrixFactorization` that rank items."""

    def recommend(
        self, user: Any, N: int = 10, filter_already_liked_items: bool = True
    ) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the items with the highest predicted ratings by a user, or by each of several users.

        Parameters
        ----------
        user : id, or array or list of ids, shape (n,), or Ratings
            The users of Ratings, known or new, are folded in from their ratings there, as by :meth:`transform`.
        N : int
            Greatest number of items to return for each user.
        filter_already_liked_items : bool
            Leave out items that the user has rated in a fit, or in the Ratings.

        Returns
        -------
        ids : array, shape (N,) or (n, N)
            Item ids, or column numbers, the best first. Ties are in the order of item numbers. If fewer than N items
            remain, the array for one user is shorter. A row for one of several users ends in ``None``, or in -1 for
            column numbers.
        scores : float32 array of the same shape
            The predicted ratings; NaN where there is no item.

        Raises
        ------
        InputError
            A user is unknown, or an item of the Ratings.

        Examples
        --------
        >>> import clgraph as cg
        >>> ratings = cg.generators.planted_ratings(40, 30, 500, rank=3)
        >>> model = cg.SGDMatrixFactorization(4, random_state=0).fit(ratings)
        >>> model.recommend([5, 7, 9], N=3)[0].shape
        (3, 3)
        """
        check_is_fitted(self)
        count = min(checked_count("N", N, 2**31 - 1), self._known.n_items)
        leave_out = checked_flag("filter_already_liked_items", filter_already_liked_items)
        if isinstance(user, Ratings):
            several, rated, factors = True, *self._folded(user)
            users = np.arange(rated.n_users, dtype=np.int32)
        else:
            with refusing("user", user, "a user, a list or an array of users, or Ratings"):
                several = isinstance(user, list) or (is_array(user) and np.ndim(user) == 1)
            rated, factors = self._known, self._factors()
            users = rated.user_index(user if several else [user])
        best = self._best(users, factors, rated if leave_out else None, count)
        items = np.concatenate([np.empty((0, count), np.int32), *best])
        pairs = np.repeat(users, count), items.ravel().clip(0)
        found = predict_pairs(factors, self.mean_, *pairs).reshape(items.shape)
        found[items < 0] = np.nan
        order = np.lexsort((items, -found, items < 0))  # The scores of the choice may differ in the last bits.
        items, found = (np.take_along_axis(array, order, axis=1) for array in (items, self._clipped(found)))
        if several:
            return self._item_ids(items), found
        exists = items[0] >= 0
        return self._item_ids(items[0][exists]), found[0][exists]

    def similar_items(self, item: Any, N: int = 10) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """Return the items whose factors point in the most similar directions.

        Parameters
        ----------
        item : id
        N : int
            Greatest number of items to return. The item itself is not among them.

        Returns
        -------
        ids : array, shape (N,)
            Item ids, or column numbers, the most similar first.
        scores : float32 array, shape (N,)
            Cosines of the angles between the rows of factors, from -1 to 1.

        Raises
        ------
        InputError
            The item is unknown.
        """
        check_is_fitted(self)
        known, rows = self._known, self.item_factors_.astype(np.float64)
        count, number = checked_count("N", N, 2**31 - 1), int(known.item_index([item])[0])
        lengths = np.linalg.norm(rows, axis=1)
        cosines = rows @ rows[number] / np.maximum(lengths * lengths[number], np.finfo(np.float64).tiny)
        cosines[number] = -np.inf
        best = np.argsort(-cosines, kind="stable")[: min(count, known.n_items - 1)]
        return self._item_ids(best), cosines[best].astype(np.float32)

    def ranking_scores(self, test: Any, *, k: int = 10, relevant: float | None = None) -> RankingScores:
        """Return precision and NDCG at *k* of the recommendations, for the items that users rated in *test*.

        Items that a user has rated in the fit are not recommended.

        Parameters
        ----------
        test : Ratings
            Ratings that the model was not fitted on, by users of the fit.
        k : int
            Number of recommended items.
        relevant : float, optional
            The least rating of a relevant item; by default every rated item is relevant.

        Returns
        -------
        RankingScores
            ``precision``, ``ndcg`` and ``n_users``.

        Raises
        ------
        InputError
            *test* has other users or items than the fit, or no relevant item.
        """
        check_is_fitted(self)
        if not isinstance(test, Ratings):
            raise InputError(f"test is of type {type(test).__name__}; allowed: Ratings")
        k = checked_count("k", k, 2**31 - 1)
        least = -np.inf if relevant is None else checked_number("relevant", relevant, -np.inf)
        numbered = self._numbered(test)
        chosen = numbered._selected(numbered.values >= least)
        users = np.flatnonzero(np.diff(chosen.user_offsets)).astype(np.int32)
        if not users.size:
            raise InputError("the test has no relevant item")
        hits = gains = 0.0
        for block, scores in self._scored(users, self._factors(), self._known):
            truth = np.zeros(scores.shape)
            for row, user in enumerate(block):
                truth[row, chosen.items[slice(*chosen.user_offsets[user : user + 2])]] = 1
            best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            hits += float(np.take_along_axis(truth, best, axis=1).sum())
            finite = np.where(np.isfinite(scores), scores, scores[np.isfinite(scores)].min() - 1)
            gains += float(ndcg_score(truth, finite, k=k)) * len(block)
        return RankingScores(hits / (k * users.size), gains / users.size, users.size)

    @property
    def known_users(self) -> NDArray[Any]:
        """The ids of all users of the fit, or their numbers if they have no ids."""
        check_is_fitted(self)
        ids = self._known.user_ids
        return np.arange(self._known.n_users) if ids is None else ids

    @property
    def known_items(self) -> NDArray[Any]:
        """The ids of all items of the fit, or their numbers if they have no ids."""
        check_is_fitted(self)
        ids = self._known.item_ids
        return np.arange(self._known.n_items) if ids is None else ids

    def _scored(
        self, users: NDArray[np.int32], factors: Factors, rated: Ratings | None
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[Any]]]:
        """Yield blocks of *users*, and the predicted rating of every item by each of them.

        Items that the user has rated in *rated* have the score -inf.
        """
        means, items = item_means(factors, self.mean_), factors.item_factors.astype(np.float64).T
        step = max(1, _BLOCK_SCORES // max(1, means.size))
        for start in range(0, users.size, step):
            block = users[start : start + step]
            scores = factors.user_factors[block].astype(np.float64) @ items + means
            if factors.user_biases is not None:
                scores += factors.user_biases[block][:, None]
            if rated is not None:
                for row, user in enumerate(block):
                    scores[row, rated.items[slice(*rated.user_offsets[user : user + 2])]] = -np.inf
            yield block, scores

    def _best(
        self, users: NDArray[np.int32], factors: Factors, rated: Ratings | None, count: int
    ) -> Iterator[NDArray[np.int32]]:
        """Yield, block by block, the numbers of the *count* best items of each user; -1 where there is no item."""
        for block, scores in self._scored(users, factors, rated):
            found = np.full((len(block), count), -1, np.int32)
            for row, of_user in enumerate(scores):
                least = np.partition(of_user, -count)[-count]
                better, equal = np.flatnonzero(of_user > least), np.flatnonzero(of_user == least)
                if least == -np.inf:
                    equal = equal[:0]
                chosen = np.concatenate([better, equal[: count - better.size]])
                found[row, : chosen.size] = chosen
            yield found

    def _item_ids(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the ids of items; for the number -1 it is ``None``, or -1 for items without ids."""
        ids = self._known.item_ids
        if ids is None:
            return numbers
        found: NDArray[Any] = ids.take(numbers, mode="clip")
        if (missing := numbers < 0).any():
            found = found.astype(object)
            found[missing] = None
        return found
