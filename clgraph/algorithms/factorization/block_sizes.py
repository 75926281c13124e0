"""How the block strategies cut users and items: what their plans and the cost model both go by."""

from __future__ import annotations

import math

from clgraph.data.ratings_stats import RatingsStats
from clgraph.device.facts import DeviceFacts

_LOCAL_SHARE = 0.9  # drivers keep the rest of the local memory for themselves
_CPU_LOCAL_BYTES = 1 << 18  # so many bytes of rows stay in a core's cache
_BLOCKS_PER_UNIT = 4  # a block-diagonal should have so many blocks for each compute unit


def block_shape(n_users: int, n_items: int, facts: DeviceFacts, row_bytes: int) -> tuple[int, int]:
    """Choose the sides of block_diagonal's blocks: powers of two that local memory holds."""
    most = most_local_rows(facts, row_bytes)
    wanted = _BLOCKS_PER_UNIT * facts.compute_units
    rows, columns = (1 << max(4, min(most // 2, n // wanted)).bit_length() - 1 for n in (n_users, n_items))
    return rows, columns


def local_row_bytes(padded: int) -> int:
    """Local memory that a row takes, with its bias and flag; there it is float32."""
    return 4 * padded + 8


def most_local_rows(facts: DeviceFacts, row_bytes: int) -> int:
    """Rows of users and items together that a work-group can hold."""
    room = min(facts.local_mem_bytes, _CPU_LOCAL_BYTES) if facts.is_cpu else facts.local_mem_bytes
    return max(8, int(_LOCAL_SHARE * room) // row_bytes)


def grid_groups(stats: RatingsStats, facts: DeviceFacts) -> int:
    """Choose into how many parts block_grid cuts users and items.

    Each step costs a wait, each group walks its share of the ratings: the best number is near the square root of
    n_ratings over the ratings that a wait is worth. More than the device has room for does not help.
    """
    wait, most = (2000, 8 * facts.compute_units) if facts.is_cpu else (60, 4 * facts.compute_units)
    wanted = math.isqrt(stats.n_ratings // wait)
    return max(1, min(most, max(wanted, facts.compute_units if facts.is_cpu else 1), stats.n_users, stats.n_items))
