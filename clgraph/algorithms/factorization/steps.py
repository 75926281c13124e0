"""Predicted work of the training steps of a sweep: rows of factors and ratings that they move, on CPUs and on GPUs.

The constants were fitted together with the constants of ``prices.py``, to the same measurements.
"""

from __future__ import annotations

import math

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.preparation import CACHED_BYTES, RATING_BYTES
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Chain, Gathers, Work

L1_BYTES = 4096.0  # A working set of this size fits the first-level cache of a CPU core.

# The arithmetic of a step on a CPU takes as long as 3.69 loads from the first-level cache, per 64 bytes of factors.
# A row of factors that is in no cache is loaded from memory, and a CPU core has 9.59 such loads in flight.
CPU_STEP_LOADS = 3.69
CPU_LOADS_UNDER_WAY = 9.59

# GPUs.
SECTOR_BYTES = 32.0  # Bytes that a GPU loads in one memory transaction.
# The first two sectors of a row in memory cost a random access each, and the others come at the rate of streams. On an
# H200 this predicts 1.4 times the measured time of hogwild at rank 128; only random accesses predicted 2.3 times.
RANDOM_SECTORS = 2
NEAR_ROWS = 2.0**12  # Items whose numbers differ by more than 4096 count as far apart in RatingsStats.far_item_share.


def row_bytes(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return the number of bytes that a row of factors and its bias take in memory."""
    return row_layout(problem.rank, facts).padded * problem.number_type.itemsize + 4 * problem.biases


def side_bytes(problem: FactorizationProblem, facts: DeviceFacts) -> tuple[float, float]:
    """Return the number of bytes of all users' rows of factors, and of all items' rows."""
    (n_users, n_items), each = problem.ratings.shape, row_bytes(problem, facts)
    return float(each * n_users), float(each * n_items)


def cpu_steps(
    problem: FactorizationProblem,
    facts: DeviceFacts,
    user_rows: float,
    item_rows: float,
    *,
    loads: float = CPU_STEP_LOADS,
) -> Work:
    """Predict the work of all training steps on a CPU, which load *user_rows* and *item_rows* rows from memory."""
    lines, cores = math.ceil(row_bytes(problem, facts) / 64), facts.compute_units
    users_bytes, items_bytes = side_bytes(problem, facts)
    moved = lines / (CPU_LOADS_UNDER_WAY * cores)
    return Work(streamed_bytes=RATING_BYTES * problem.n, chains=(
        Chain(loads * lines * problem.n / cores, L1_BYTES),
        Chain(moved * user_rows, users_bytes), Chain(moved * item_rows, items_bytes),
    ))  # fmt: skip


def gpu_steps(
    problem: FactorizationProblem, facts: DeviceFacts, *, near: bool = False, item_share: float = 1.0
) -> Work:
    """Predict the work of all training steps on a GPU. The item's row is moved in the share *item_share* of the steps.

    With *near*, rows of vertices with near numbers are found in a cache.
    """
    each = row_bytes(problem, facts)
    sectors = math.ceil(each / SECTOR_BYTES)
    lines, random = 2 * sectors * problem.n, 2 * min(sectors, RANDOM_SECTORS) * problem.n
    far = (1 + problem.stats.far_item_share) / 2 if near else 1.0
    users_bytes, items_bytes = side_bytes(problem, facts)
    return Work(
        streamed_bytes=RATING_BYTES * problem.n + SECTOR_BYTES * (lines - random) * (1 + item_share) * far,
        gathers=(
            Gathers(random * far, users_bytes), Gathers(random * item_share * far, items_bytes),
            Gathers(lines * (1 + item_share) * (1 - far), min(NEAR_ROWS * each, CACHED_BYTES)),
        ),
    )  # fmt: skip


def item_share_of(problem: FactorizationProblem) -> float:
    """Return the share of the training steps that move an item's row of
    factors, if each item's row is moved only once.
    """
    return min(1.0, problem.n_rated_items / max(1, problem.n))
