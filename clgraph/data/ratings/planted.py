"""Ratings made from known random factors plus noise, so that a factorisation's error can be judged."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_count, checked_number
from clgraph.data.ratings.stats import chunks
from clgraph.host_memory import check_host_memory

_MAX_RANK = 1 << 16  # The largest rank of planted factors.


def planted_factors(
    n_users: int, n_items: int, rank: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return random user factors, shape (n_users, rank), and item factors, shape (n_items, rank).

    The product of a user's and an item's factors has mean 0 and variance 1.
    """
    rank = checked_count("rank", rank, _MAX_RANK)
    check_host_memory(f"rank = {rank}", 4 * rank * (n_users + n_items))
    rng, scale = np.random.default_rng([seed, rank]), np.float32(rank**-0.25)
    user_factors, item_factors = (rng.standard_normal((n, rank), np.float32) for n in (n_users, n_items))
    return user_factors * scale, item_factors * scale


def planted_values(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    user_factors: NDArray[np.float32],
    item_factors: NDArray[np.float32],
    noise: float,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    """Return, for each rating, the product of its user's and its item's factors, plus noise.

    The noise is Gaussian and has standard deviation *noise*.
    """
    noise = checked_number("noise", noise, most=1e30)
    values = np.empty(users.size, np.float32)
    for chunk in chunks(users.size):
        part = values[chunk]
        np.einsum("ij,ij->i", user_factors[users[chunk]], item_factors[items[chunk]], out=part)
        part += np.float32(noise) * rng.standard_normal(part.size, np.float32)
    return values
