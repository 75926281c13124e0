"""Sort ratings on the device: at random, by item, or by a key that a kernel computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import RatingArrays
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.arguments import Seed, checked_flag, checked_seed
from clgraph.primitives.fill import iota
from clgraph.primitives.scan import Scan
from clgraph.primitives.sort import sort
from clgraph.primitives.types import c_type
from clgraph.runtime.memory.arrays import DeviceArray


def enqueue_order(
    plan: FactorizationPlan,
    source: str,
    kernel: str,
    scope: Mapping[str, Any] | None = None,
    /,
    *,
    defines: Mapping[str, int | str] | None = None,
    **arguments: Any,
) -> None:
    """Enqueue a kernel of cl/factorization/*source*.cl that orders
    ratings, with a work-item per rating and one more.
    """
    n = plan.problem.n
    defines = {"OFFSET_T": plan.offset_name, **plan.problem.weight_defines, **(defines or {})}
    program = plan.session.program(f"factorization/{source}.cl", defines)
    program.bind(kernel, n + 1, scope, n=n, **arguments)()


def find_offsets(plan: FactorizationPlan, sorted_keys: DeviceArray, n_ranges: int, width: int = 1) -> DeviceArray:
    """Return the positions in *sorted_keys* at which *n_ranges* ranges of
    *width* key values begin, and the end position.
    """
    offsets = plan.session.empty(n_ranges + 1, plan.problem.offset_type)
    scope = {"width": width, "n_ranges": n_ranges, "keys": sorted_keys, "offsets": offsets}
    enqueue_order(plan, "order", "find_offsets", scope, defines={"KEY_T": c_type(sorted_keys.dtype)})
    return offsets


def sort_positions(
    plan: FactorizationPlan, keys: DeviceArray, n_keys: int, positions: DeviceArray | None = None
) -> tuple[DeviceArray, DeviceArray]:
    """Sort *positions* of ratings (by default all) by *keys* below *n_keys*.

    Return the sorted keys and positions.
    """
    if positions is None:
        positions = plan.session.empty(keys.size, plan.problem.offset_type)
        iota(plan.session, positions)
    by_key, order = sort(plan.session, keys, positions, end_bit=max(n_keys - 1, 0).bit_length())
    assert order is not None
    return by_key, order


def gather_keys(plan: FactorizationPlan, keys: DeviceArray, order: DeviceArray) -> DeviceArray:
    """Return the 32-bit sort *keys* at the positions *order*, as a device array."""
    gathered = plan.session.empty(keys.size, np.uint32)
    enqueue_order(plan, "order", "gather_keys", order=order, items=keys, keys=gathered)
    return gathered


def stable_order(
    plan: FactorizationPlan, keys: DeviceArray, n_keys: int, positions: DeviceArray | None = None
) -> tuple[DeviceArray, DeviceArray]:
    """Sort *positions* of ratings (by default all, ascending) stably by their 32-bit *keys*, which are below *n_keys*.

    Returns
    -------
    order : DeviceArray
        The sorted positions. Positions with equal keys keep their order.
    offsets : DeviceArray
        The positions with key ``c`` are ``order[offsets[c]:offsets[c + 1]]``.
    """
    if positions is not None:
        keys = gather_keys(plan, keys, positions)
    by_key, order = sort_positions(plan, keys, n_keys, positions)
    return order, find_offsets(plan, by_key, n_keys)


def number_runs(
    plan: FactorizationPlan, order: DeviceArray, a: DeviceArray, b: DeviceArray
) -> tuple[DeviceArray, DeviceArray]:
    """Number the distinct pairs (a, b) of ratings.

    *order* groups equal pairs, and the numbers follow this order.

    Returns
    -------
    numbers : DeviceArray
        The number of each rating's pair, uint32.
    offsets : DeviceArray
        The ratings of pair ``p`` are ``order[offsets[p]:offsets[p + 1]]``.
    """
    session, n = plan.session, order.size
    begins, ascending, numbers = (session.empty(n, np.uint32) for _ in range(3))
    enqueue_order(plan, "superstep_order", "mark_runs", order=order, a=a, b=b, begins=begins)
    Scan(session, begins, ascending, inclusive=True).run_checked()
    enqueue_order(plan, "superstep_order", "scatter_numbers", order=order, sorted=ascending, numbers=numbers)
    return numbers, find_offsets(plan, ascending, int(ascending.item(n - 1)) + 1 if n else 0)


def gather_ratings(plan: FactorizationPlan, given: RatingArrays, order: DeviceArray) -> RatingArrays:
    """Return the ratings at the positions *order*, as device arrays."""
    gathered = {name: plan.session.empty(array.size, array.dtype) for name, array in given.items()}
    scope = given | {f"out_{name}": array for name, array in gathered.items()}
    enqueue_order(plan, "order", "gather_ratings", scope, order=order)
    return gathered


def ordered_ratings(plan: FactorizationPlan, *, shuffle: bool, seed: Seed, by_item: bool = False) -> RatingArrays:
    """Copy the ratings of *plan* to the device: by user, then item; shuffled; or by item.

    Parameters
    ----------
    plan : FactorizationPlan
    shuffle : bool
        Permute the ratings at random.
    seed : int
        Seed of the permutation, which is the same on every device.
    by_item : bool
        Sort the ratings by item. Ratings of one item keep their order.
    """
    shuffle, seed = checked_flag("shuffle", shuffle), checked_seed(seed)
    given, order = plan.upload_ratings(), None
    if not plan.problem.n:
        return given
    if shuffle:
        drawn = plan.session.empty(plan.problem.n, np.uint32)
        enqueue_order(plan, "order", "draw_keys", seed=seed % 2**64, keys=drawn)
        _, order = sort_positions(plan, drawn, 2**32)
    if by_item:
        keys = given["items"] if order is None else gather_keys(plan, given["items"], order)
        _, order = sort_positions(plan, keys, plan.problem.ratings.n_items, order)
    return given if order is None else gather_ratings(plan, given, order)


def sort_by_block(
    plan: FactorizationPlan, given: RatingArrays, kernel: str, n_keys: int, **arguments: Any
) -> tuple[DeviceArray, DeviceArray]:
    """Sort ratings by the keys below *n_keys* that *kernel* computes.

    Return the sorted keys and the order of the ratings.
    """
    keys = plan.session.empty(plan.problem.n, np.uint64)
    enqueue_order(plan, "block_order", kernel, {**given, **arguments}, keys=keys)
    return sort_positions(plan, keys, n_keys)


def pack(plan: FactorizationPlan, given: RatingArrays, order: DeviceArray) -> DeviceArray:
    """Return the ratings at the positions *order*, packed in four int32 each.

    These are user, item, the bits of the value, and the bits of the weight, or 0 without weights.
    """
    ratings = plan.session.empty(4 * plan.problem.n, np.int32)
    enqueue_order(plan, "block_order", "pack_ratings", given, order=order, ratings=ratings)
    return ratings


def by_descending_degree(degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the users or items that have ratings, sorted stably by descending number of ratings."""
    rated = np.flatnonzero(degrees)
    keys = -degrees[rated]
    if degrees.max(initial=0) < 2**15:
        keys = keys.astype(np.int16)  # numpy sorts int16 by radix, which takes a tenth of the time.
    return rated[np.argsort(keys, kind="stable")]
