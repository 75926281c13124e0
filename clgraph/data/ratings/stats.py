"""Statistics of a rating matrix for the cost model: degrees, locality and diagonals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.pairs import distinct, in_threads

_N_SAMPLES = 1 << 14  # The largest number of sampled pairs of consecutive ratings.
_FAR = 1 << 12  # Two items are far apart if their numbers differ by more than this.
_CHUNK = 1 << 18  # Number of ratings per chunk, few enough to fit the second-level cache.


@dataclass(frozen=True)
class RatingsStats:
    """Statistics of one rating matrix, from which the cost model predicts run times.

    Attributes
    ----------
    n_users, n_items, n_ratings : int
        The size of the matrix.
    max_user_degree, max_item_degree : int
        The most ratings of one user and of one item.
    mean_item_degree : float
        Ratings per item, empty ones included.
    n_empty_items : int
        Items without a rating.
    user_degree_counts, item_degree_counts : tuple of int
        Number of users (items) in each bin of degrees: bin 0 is degree 0, bin ``k`` has the degrees
        ``2**(k-1) <= d < 2**k``.
    user_degree_rating_counts, item_degree_rating_counts : tuple of int
        Number of ratings of the users (items) in each of these bins.
    n_diagonals : int
        Number of distinct differences ``item - user``. Two ratings on one diagonal have different users and
        different items.
    far_item_share : float
        Share of 2**14 sampled pairs of consecutive ratings (by user, then item) whose items differ
        by more than 2**12. It measures how local the items are if ratings are visited in user order.
    """

    n_users: int
    n_items: int
    n_ratings: int
    max_user_degree: int
    max_item_degree: int
    mean_item_degree: float
    n_empty_items: int
    user_degree_counts: tuple[int, ...]
    user_degree_rating_counts: tuple[int, ...]
    item_degree_counts: tuple[int, ...]
    item_degree_rating_counts: tuple[int, ...]
    n_diagonals: int
    far_item_share: float


class RatingArrays(Protocol):
    """The attributes of :class:`clgraph.Ratings` from which statistics are computed."""

    @property
    def users(self) -> NDArray[np.int32]: ...
    @property
    def items(self) -> NDArray[np.int32]: ...
    @property
    def user_offsets(self) -> NDArray[Any]: ...
    @property
    def item_offsets(self) -> NDArray[Any]: ...
    @property
    def n_users(self) -> int: ...
    @property
    def n_items(self) -> int: ...
    @property
    def n_ratings(self) -> int: ...


def ratings_stats(ratings: RatingArrays) -> RatingsStats:
    """Compute the statistics of *ratings*.

    Consecutive pairs of ratings are sampled with a fixed seed.
    """
    n = ratings.n_ratings
    user_degrees, item_degrees = np.diff(ratings.user_offsets), np.diff(ratings.item_offsets)
    user_bins, item_bins = _degree_bins(user_degrees), _degree_bins(item_degrees)
    return RatingsStats(
        n_users=ratings.n_users,
        n_items=ratings.n_items,
        n_ratings=n,
        max_user_degree=int(user_degrees.max(initial=0)),
        max_item_degree=int(item_degrees.max(initial=0)),
        mean_item_degree=n / max(ratings.n_items, 1),
        n_empty_items=ratings.n_items - int(np.count_nonzero(item_degrees)),
        user_degree_counts=user_bins[0],
        user_degree_rating_counts=user_bins[1],
        item_degree_counts=item_bins[0],
        item_degree_rating_counts=item_bins[1],
        n_diagonals=_n_diagonals(ratings),
        far_item_share=_far_share(ratings.items),
    )


def chunks(n: int, *, at_least: int = 0) -> Iterator[slice]:
    """Cut ``range(n)`` into slices so short that their arrays fit a cache, but of at least *at_least* elements."""
    step = max(_CHUNK, at_least)
    return (slice(start, min(n, start + step)) for start in range(0, n, step))


def _degree_bins(degrees: NDArray[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the number of rows and the number of ratings in each bin of degrees.

    Powers of two bound the bins.
    """
    bins = np.frexp(degrees.astype(float))[1]
    counts, held = np.bincount(bins), np.bincount(bins, degrees)
    return tuple(counts.tolist()), tuple(held.astype(int).tolist())


def _n_diagonals(ratings: RatingArrays) -> int:
    n_possible = ratings.n_users + ratings.n_items
    if n_possible > 16 * ratings.n_ratings:
        return int(distinct(ratings.items.astype(np.int64) - ratings.users).size)
    # The index is item - user, and a negative index counts from the end of the array.
    seen = np.zeros(n_possible, bool)

    def see(chunk: slice) -> None:
        seen[ratings.items[chunk].astype(np.int64) - ratings.users[chunk]] = True

    for _ in in_threads(see, [*chunks(ratings.n_ratings)]):
        pass
    return int(np.count_nonzero(seen))


def _far_share(items: NDArray[np.int32]) -> float:
    """Return the share of sampled pairs of consecutive ratings whose items are far apart, or 0 without pairs."""
    n_pairs = items.size - 1
    if n_pairs < 1:
        return 0.0
    at = np.random.default_rng(0).integers(n_pairs, size=_N_SAMPLES) if n_pairs > _N_SAMPLES else np.arange(n_pairs)
    return float((np.abs(items[at + 1].astype(np.int64) - items[at]) > _FAR).mean())
