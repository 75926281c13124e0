"""How large ratings, and how long rows of factors may be."""

from __future__ import annotations

import math

import numpy as np

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.data.ratings import Ratings
from clgraph.errors import DeviceMemoryError, InputError
from clgraph.runtime.session import Session

_LARGEST_RATING = math.sqrt(float(np.finfo(np.float32).max))
_BYTES_PER_RATING = {  # while the plan is made of the strategy that needs most
    "ratings": 12, "ratings in order": 16, "positions": 12, "keys to sort": 8, "sorted keys": 8, "keys in between": 8,
}  # fmt: skip


def check_squares(ratings: Ratings) -> None:
    """Raise unless the squares of the ratings are finite in float32, in which errors are summed up."""
    largest = max(float(ratings.values.max()), float(ratings.values.min()), key=abs)
    if abs(largest) > _LARGEST_RATING:
        raise InputError(
            f"a rating of {largest:.3g}; the square of a rating must be finite in float32, so allowed are numbers up "
            f"to {_LARGEST_RATING:.3g} and down to minus that. Scale the ratings"
        )


def check_memory(session: Session, problem: FactorizationProblem) -> None:
    """Raise unless ratings, factors and their copy fit on the device; name the largest rank that does.

    What the ratings need is an estimate: 64 bytes each at the peak, while the plan sorts them, and on a CPU, which
    reads them where they are, 52.
    """
    per_rating = {k: b for k, b in _BYTES_PER_RATING.items() if not (k == "ratings" and session.facts.is_cpu)}
    needed = {name: n_bytes * problem.n for name, n_bytes in per_rating.items()}

    def check(rank: int) -> None:
        row_bytes = row_layout(rank, session.facts).padded * problem.number_type.itemsize
        n_users, n_items = problem.ratings.shape
        factors = {"user factors": n_users * row_bytes, "item factors": n_items * row_bytes}
        copies = {f"copy of the {name}": size for name, size in factors.items()}
        session.check_memory({**factors, **copies, **needed})

    def fits(rank: int) -> bool:
        try:
            check(rank)
        except DeviceMemoryError:
            return False
        return True

    try:
        check(problem.rank)
    except DeviceMemoryError as error:
        largest = next(filter(fits, range(problem.rank - 1, 0, -1)), 0)
        if not largest:
            raise
        raise InputError(f"n_factors={problem.rank}: {error}; the largest possible here is {largest}") from error
