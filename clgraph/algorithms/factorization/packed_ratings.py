"""Ratings packed on the device in the order of 64-bit keys (cl/factorization/block_order.cl)."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.factorization.factors import DeviceRatings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.rating_order import enqueue_order
from clgraph.primitives.fill import iota
from clgraph.primitives.sort import sort
from clgraph.runtime.arrays import DeviceArray


def sort_by_block(
    plan: FactorizationPlan, given: DeviceRatings, kernel: str, n_keys: int, **arguments: Any
) -> tuple[DeviceArray, DeviceArray]:
    """Sort the ratings by the keys below *n_keys* that *kernel* gives them; return the sorted keys and the order."""
    session, n = plan.session, len(given)
    keys, positions = session.empty(n, np.uint64), session.empty(n, plan.problem.offset_type)
    enqueue_order(plan, "block_order", kernel, {**given.scope, **arguments}, n=n, keys=keys)
    iota(session, positions)
    by_key, order = sort(session, keys, positions, end_bit=max(n_keys - 1, 0).bit_length())
    assert order is not None
    return by_key, order


def pack(plan: FactorizationPlan, given: DeviceRatings, order: DeviceArray) -> DeviceArray:
    """Return user, item, bits of the value, and 0, four int32 for each rating in *order*."""
    ratings = plan.session.empty(4 * len(given), np.int32)
    enqueue_order(plan, "block_order", "pack_ratings", given.scope, n=len(given), order=order, ratings=ratings)
    return ratings
