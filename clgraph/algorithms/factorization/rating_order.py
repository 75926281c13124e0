"""Ratings on the device in another order: random, by item, by a key that kernels compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import DeviceRatings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed, checked_flag, checked_seed
from clgraph.primitives.fill import iota
from clgraph.primitives.scan import Scan
from clgraph.primitives.sort import sort
from clgraph.primitives.types import c_type
from clgraph.runtime.arrays import DeviceArray


def enqueue_order(
    plan: FactorizationPlan,
    source: str,
    kernel: str,
    scope: Mapping[str, Any] | None = None,
    /,
    *,
    n: int,
    defines: Mapping[str, str] | None = None,
    **arguments: Any,
) -> None:
    """Enqueue a kernel of cl/factorization/*source*.cl that takes *n* ratings, or one more."""
    program = plan.session.program(f"factorization/{source}.cl", {"OFFSET_T": plan.offset_name, **(defines or {})})
    program.bind(kernel, n + 1, scope, n=n, **arguments)()


def find_offsets(plan: FactorizationPlan, sorted_keys: DeviceArray, n_ranges: int, width: int = 1) -> DeviceArray:
    """Return where in *sorted_keys* each of *n_ranges* ranges of *width* keys begins, and the end."""
    offsets = plan.session.empty(n_ranges + 1, plan.problem.offset_type)
    enqueue_order(
        plan,
        "order",
        "find_offsets",
        n=sorted_keys.size,
        width=width,
        n_ranges=n_ranges,
        keys=sorted_keys,
        offsets=offsets,
        defines={"KEY_T": c_type(sorted_keys.dtype)},
    )
    return offsets


def stable_order(
    plan: FactorizationPlan, keys: DeviceArray, n_keys: int, positions: DeviceArray | None = None
) -> tuple[DeviceArray, DeviceArray]:
    """Sort *positions*, by default all in ascending order, by their 32-bit *keys* below *n_keys*.

    Returns
    -------
    order : DeviceArray
        Positions; those of equal keys as they were.
    offsets : DeviceArray
        Those with key ``c`` are ``order[offsets[c]:offsets[c + 1]]``.
    """
    session, n = plan.session, keys.size
    if positions is None:
        positions = session.empty(n, plan.problem.offset_type)
        iota(session, positions)
    else:
        given, keys = keys, session.empty(n, keys.dtype)
        enqueue_order(plan, "order", "gather_keys", n=n, order=positions, items=given, keys=keys)
    by_key, order = sort(session, keys, positions, end_bit=max(n_keys - 1, 0).bit_length())
    assert order is not None
    return order, find_offsets(plan, by_key, n_keys)


def number_runs(
    plan: FactorizationPlan, order: DeviceArray, a: DeviceArray, b: DeviceArray
) -> tuple[DeviceArray, DeviceArray]:
    """Number the pairs (a, b) of ratings, equal ones neighbours in *order*, as they come.

    Returns
    -------
    numbers : DeviceArray
        Number of each rating's pair, uint32.
    offsets : DeviceArray
        Pair ``p`` is ``order[offsets[p]:offsets[p + 1]]``.
    """
    session, n = plan.session, order.size
    begins, ascending, numbers = (session.empty(n, np.uint32) for _ in range(3))
    enqueue_order(plan, "superstep_order", "mark_runs", n=n, order=order, a=a, b=b, begins=begins)
    Scan(session, begins, ascending, inclusive=True).run_checked()
    enqueue_order(plan, "superstep_order", "scatter_numbers", n=n, order=order, sorted=ascending, numbers=numbers)
    return numbers, find_offsets(plan, ascending, int(ascending.item(n - 1)) + 1 if n else 0)


def gather_ratings(plan: FactorizationPlan, given: DeviceRatings, order: DeviceArray) -> DeviceRatings:
    """Return the ratings in *order* (positions)."""
    gathered = {name: plan.session.empty(len(given), array.dtype) for name, array in given.scope.items()}
    scope = given.scope | {f"out_{name}": array for name, array in gathered.items()}
    enqueue_order(plan, "order", "gather_ratings", scope, n=len(given), order=order)
    return DeviceRatings(**gathered)


def ordered_ratings(
    plan: FactorizationPlan, *, shuffle: bool, seed: Seed, by_item: bool = False
) -> dict[str, DeviceArray]:
    """Copy the ratings of *plan* to the device, by user, then item, or in another order; return the arrays by name.

    Parameters
    ----------
    plan : FactorizationPlan
    shuffle : bool
        Permute them at random.
    seed : int
        Seed of the permutation, which is the same on every device.
    by_item : bool
        Sort them by item; equal items keep their order.
    """
    shuffle, seed = checked_flag("shuffle", shuffle), checked_seed(seed)
    session, n = plan.session, plan.problem.n
    given = DeviceRatings.upload(session, plan.problem.ratings)
    if not n or not (shuffle or by_item):
        return given.scope
    order, keys = session.empty(n, plan.problem.offset_type), session.empty(n, np.uint32)
    iota(session, order)
    if shuffle:
        enqueue_order(plan, "order", "draw_keys", n=n, seed=seed % 2**64, keys=keys)
        order = _sorted(plan, keys, order, 32)
    if by_item:
        enqueue_order(plan, "order", "gather_keys", n=n, order=order, items=given.items, keys=keys)
        order = _sorted(plan, keys, order, (plan.problem.ratings.n_items - 1).bit_length())
    return gather_ratings(plan, given, order).scope


def _sorted(plan: FactorizationPlan, keys: DeviceArray, order: DeviceArray, end_bit: int) -> DeviceArray:
    _, values = sort(plan.session, keys, order, end_bit=end_bit)
    assert values is not None
    return values


def by_descending_degree(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the vertices that have ratings, those of most ratings first; equal ones as they are."""
    rated = np.flatnonzero(degrees)
    keys = -degrees[rated]
    if degrees.max(initial=0) < 2**15:
        keys = keys.astype(np.int16)  # numpy sorts int16 by radix, ten times as fast
    return rated[np.argsort(keys, kind="stable")]
