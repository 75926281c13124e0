"""Generators of rating matrices.

The same arguments, with the same seed, give the same matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from clgraph.arguments import Seed, checked_count, checked_number, checked_seed
from clgraph.data.graphs.pairs import distinct
from clgraph.data.ratings.chances import Chances, fitted
from clgraph.data.ratings.planted import planted_factors, planted_values
from clgraph.data.ratings.ratings import Ratings
from clgraph.data.ratings.triples import MAX_ROWS
from clgraph.host_memory import check_host_memory
from clgraph.progress import begin

# Number of ratings per task. Each task has its own seed, so the result does not depend on the number of workers.
_TASK = 1 << 20
_BLOCK = 1 << 17  # Approximate number of ratings that one call of _pivotal() draws.
_MAX_WORKERS = 1 << 10
# Least memory of the generators, in bytes: per user or item, and per rating.
_BYTES_PER_ROW, _BYTES_PER_RATING = 16, 24


def power_law_ratings(
    n_users: int,
    n_items: int,
    n_ratings: int,
    *,
    user_exponent: float = 2.2,
    item_exponent: float = 2.0,
    max_user_degree: int | None = None,
    max_item_degree: int | None = None,
    rank: int = 8,
    noise: float = 0.1,
    seed: Seed = 0,
    workers: int = 1,
) -> Ratings:
    """Return a random rating matrix in which few users and few items have most of the ratings.

    The degrees of users and of items (their numbers of ratings) follow truncated power laws whose sums are
    *n_ratings*. Each user has exactly the wanted degree. An item's degree is random: its mean is the wanted degree
    (to a thousandth, unless the degrees of the users forbid it), and its standard deviation is at most the square
    root of the mean. The items of a user are drawn without replacement by the ordered pivotal method [1]_. The
    probability of an item is proportional to its weight, but at most 1. Users and items are numbered at random.

    Parameters
    ----------
    n_users, n_items, n_ratings : int
        Size of the matrix.
    user_exponent, item_exponent : float
        The number of users (items) of degree ``d`` is proportional to ``d ** -exponent``; above 1.
    max_user_degree, max_item_degree : int, optional
        The largest wanted degrees. One user has exactly *max_user_degree* ratings. By default, the power laws decide.
    rank : int
        A value is the product of a random vector of the user and one of the item, both of this length. The values
        have variance 1.
    noise : float
        Standard deviation of the Gaussian noise added to the values.
    seed : int, or any seed that numpy.random.default_rng takes
        The matrix depends on it, but not on *workers*.
    workers : int
        Number of processes that share the work.

    Raises
    ------
    InputError
        The sizes and largest degrees contradict each other.

    References
    ----------
    .. [1] G. Chauvet. "On a characterization of ordered pivotal sampling." Bernoulli 18 (4), 2012.
    """
    n_users, n_items, n_ratings = _checked_size(n_users, n_items, n_ratings)
    workers, seed = checked_count("workers", workers, _MAX_WORKERS), checked_seed(seed)
    user_degrees = _degrees("user", n_users, n_ratings, user_exponent, max_user_degree, n_items)
    item_degrees = _degrees("item", n_items, n_ratings, item_exponent, max_item_degree, n_users)
    rng = np.random.default_rng(seed)
    user_order, item_order = (rng.permutation(n).astype(np.int32) for n in (n_users, n_items))
    offsets = np.zeros(n_users + 1, np.int64)
    offsets[1:][user_order] = user_degrees
    np.cumsum(offsets, out=offsets)
    chances = fitted(user_degrees, item_degrees, item_order)
    plan = _Plan(user_degrees, user_order, chances, rank, noise, seed)
    items, values = np.empty(n_ratings, np.int32), np.empty(n_ratings, np.float32)
    tell, n_drawn = begin("generating ratings", n_ratings, "ratings"), 0
    for users, degrees, task_items, task_values in plan.drawn(workers):
        starts = np.cumsum(degrees) - degrees
        places = np.repeat(offsets[users] - starts, degrees)
        places += np.arange(places.size)
        items[places], values[places] = task_items, task_values
        tell(n_drawn := n_drawn + places.size)
    rows = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(offsets))
    return Ratings._trusted(rows, items, values, n_users, n_items)


def planted_ratings(
    n_users: int, n_items: int, n_ratings: int, *, rank: int = 8, noise: float = 0.1, seed: Seed = 0
) -> Ratings:
    """Return ratings of uniformly drawn (user, item) pairs: entries of a matrix of rank *rank*, plus noise.

    The values have variance ``1 + noise**2``. A factorisation that recovers the matrix of that rank exactly has
    a root-mean-square error of *noise*.
    """
    n_users, n_items, n_ratings = _checked_size(n_users, n_items, n_ratings)
    seed = checked_seed(seed)
    rng, n_cells = np.random.default_rng(seed), n_users * n_items
    tell = begin("generating ratings", n_ratings, "ratings")
    if 2 * n_ratings > n_cells:
        cells = np.sort(rng.permutation(n_cells)[:n_ratings])
    else:
        cells = np.zeros(0, np.int64)
        while cells.size < n_ratings:
            drawn = rng.integers(n_cells, size=n_ratings - cells.size + n_ratings // 16 + 16)
            cells = distinct(np.concatenate([cells, drawn]))
        kept = np.arange(cells.size) < n_ratings
        rng.shuffle(kept)
        cells = cells[kept]
    users, items = (cells // max(n_items, 1)).astype(np.int32), (cells % max(n_items, 1)).astype(np.int32)
    values = planted_values(users, items, *planted_factors(n_users, n_items, rank, seed), noise, rng)
    tell(n_ratings)
    return Ratings._trusted(users, items, values, n_users, n_items)


def _checked_size(n_users: int, n_items: int, n_ratings: int) -> tuple[int, int, int]:
    n_users, n_items = (
        checked_count(name, n, MAX_ROWS, least=0) for name, n in (("n_users", n_users), ("n_items", n_items))
    )
    n_ratings = checked_count("n_ratings", n_ratings, n_users * n_items, least=0)
    check_host_memory(
        f"a matrix of {n_users} users, {n_items} items and {n_ratings} ratings",
        _BYTES_PER_ROW * (n_users + n_items) + _BYTES_PER_RATING * n_ratings,
    )
    return n_users, n_items, n_ratings


def _degrees(kind: str, n: int, total: int, exponent: float, largest: int | None, limit: int) -> NDArray[np.int64]:
    """Return *n* degrees in descending order that follow a power law and sum to *total*; all are 1 or more if possible.

    In order of the degree, element ``r`` is near ``c * (r + s) ** (-1 / (exponent - 1))``. If the
    largest degree is given, it determines ``c``, and the sum determines ``s``. Otherwise ``s`` is 1.
    """
    exponent = checked_number(f"{kind}_exponent", exponent, 1, above=True)
    if largest is not None:
        largest = checked_count(f"max_{kind}_degree", largest, min(limit, total), -(-total // max(n, 1)))
    if total == 0:
        return np.zeros(n, np.int64)
    slope, top = -1 / (exponent - 1), largest or limit
    least = int(total >= (largest or 1) + n - 1)
    rank = np.arange(n, dtype=float)

    def sequence(log: float) -> NDArray[Any]:
        scale, shift = (np.exp(log), 1) if largest is None else (top, np.exp(log))
        falling: NDArray[Any] = np.clip(scale * (rank / shift + 1) ** slope, least, top)
        return falling

    def excess(log: float) -> float:
        return float(sequence(log).sum()) - total

    low, high = -60.0, 60.0 - slope * np.log(n)
    if excess(high) <= 0 or excess(low) >= 0:  # All degrees are at their upper limit or at their lower limit.
        log = high if excess(high) <= 0 else low
    else:
        log = brentq(excess, low, high, xtol=1e-13, rtol=1e-14)
    sums = np.cumsum(sequence(log))
    sums *= total / sums[-1]
    if largest is not None:
        sums += largest - sums[0]  # The rounding error of the sums is removed from the largest degree.
    sums[-1] = total
    rounded = np.floor(sums + 0.5).astype(np.int64)
    rounded[1:] -= rounded[:-1].copy()
    return np.sort(rounded)[::-1]


@dataclass
class _Plan:
    """The data from which a worker draws the ratings of any task.

    A task is a range of users, largest degree first.
    """

    user_degrees: NDArray[np.int64]
    user_order: NDArray[np.int32]
    chances: Chances
    rank: int
    noise: float
    seed: int

    @cached_property
    def cuts(self) -> NDArray[Any]:
        """Position of each task's first user, followed by the number of users."""
        ends = np.cumsum(self.user_degrees)
        total = int(ends[-1]) if ends.size else 0
        return np.unique(np.append(np.searchsorted(ends, np.arange(0, total, _TASK), "right"), ends.size))

    @cached_property
    def factors(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return planted_factors(self.user_order.size, self.chances.weights.size, self.rank, self.seed)

    def drawn(self, workers: int) -> Iterator[tuple[NDArray[Any], ...]]:
        """Draw all tasks in at most *workers* processes, and yield each task's users, degrees, items and values."""
        tasks = range(self.cuts.size - 1)
        if (workers := min(workers, len(tasks))) <= 1:
            yield from map(self.draw, tasks)
            return
        with ProcessPoolExecutor(workers, get_context("spawn"), _keep, (self,)) as pool:
            yield from pool.map(_draw_kept, tasks)

    def draw(self, task: int) -> tuple[NDArray[Any], ...]:
        """Draw the ratings of one task.

        Return its users, degrees, items and values; each user's items are sorted.
        """
        of_task = slice(self.cuts[task], self.cuts[task + 1])
        users, degrees = self.user_order[of_task], self.user_degrees[of_task]
        rng = np.random.default_rng([self.seed, task])
        items = np.empty(int(degrees.sum()), np.int32)
        first = size = 0
        while first < users.size:
            degree = int(degrees[first])
            n = int(np.count_nonzero(degrees == degree))
            if degree:
                boundaries = self.chances.boundaries(degree)
                for start in range(0, n, step := max(1, _BLOCK // degree)):
                    block = _pivotal(rng, boundaries, degree, min(step, n - start))
                    items[size : size + block.size] = block.ravel()
                    size += block.size
            first += n
        rows = np.repeat(users, degrees)
        return users, degrees, items, planted_values(rows, items, *self.factors, self.noise, rng)


_kept: dict[str, Any] = {}


def _keep(plan: _Plan) -> None:
    _kept["plan"] = plan


def _draw_kept(task: int) -> tuple[NDArray[Any], ...]:
    drawn: tuple[NDArray[Any], ...] = _kept["plan"].draw(task)
    return drawn


def _pivotal(rng: np.random.Generator, boundaries: NDArray[Any], degree: int, n: int) -> NDArray[np.int32]:
    """Draw *degree* distinct items for each of *n* users.

    Return the items sorted, shape (n, degree).

    The items lie one after the other on a line. The length of each is its probability. The line is cut into
    *degree* strata of length 1. In each stratum, a candidate is drawn from the part before the
    item that crosses the stratum's end. One of the two is chosen at random. The other one replaces the crossing
    item's part in the next stratum.
    """
    n_items = boundaries.size
    if degree == n_items:
        return np.tile(np.arange(n_items, dtype=np.int32), (n, 1))
    ends = np.arange(1.0, degree)
    crossing = np.searchsorted(boundaries, ends, "right")
    # A rounding error may raise a crossing above its limit.
    crossing = np.minimum(crossing, n_items - degree + np.arange(1, degree))
    before, behind = ends - boundaries[crossing - 1], boundaries[crossing] - ends
    before[crossing == 0], before, behind = ends[crossing == 0], np.maximum(before, 0), np.maximum(behind, 0)
    wins = np.append(before / np.maximum(1 - behind, 1e-12), 0)
    carried, free = np.append(0, behind), 1 - np.append(before, 0)
    first, last = np.append(0, crossing + 1), np.append(crossing, n_items) - 1

    places = rng.random((n, degree)) * free
    inherits = (places < carried) | (first > last)
    inherits[:, 0] = False
    candidates = np.searchsorted(boundaries, places + np.arange(degree), "right").astype(np.int32)
    np.clip(candidates, first, np.maximum(first, last), out=candidates)
    crossing_wins = rng.random((n, degree)) < wins
    rest = np.append(crossing, 0).astype(np.int32)
    row, column = np.nonzero(inherits)
    # A stratum may take over the item that the stratum before it did not choose. Each pass of this loop decides the
    # strata whose predecessor is decided. The first pass decides most of them.
    while row.size:
        lost = np.where(crossing_wins[row, column - 1], candidates[row, column - 1], rest[column - 1])
        open_ = crossing_wins[row, column - 1] & inherits[row, column - 1]
        candidates[row[~open_], column[~open_]] = lost[~open_]
        inherits[row[~open_], column[~open_]] = False
        row, column = row[open_], column[open_]
    chosen = np.where(crossing_wins, rest, candidates)
    chosen.sort(axis=1)
    return chosen
