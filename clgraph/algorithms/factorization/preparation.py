"""Predicted work of preparing a factorisation: copying and sorting ratings, sorting items, finding matchings.

The constants were fitted together with the constants of ``prices.py``, to the same measurements.
"""

from __future__ import annotations

from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.schedules.matchings import FEW_ROWS
from clgraph.data.ratings.stats import RatingsStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Chain, Gathers, Work

RATING_BYTES = 12.0  # A rating takes this memory: a user, an item and a value of 4 bytes each.
CACHED_BYTES = 2.0**20  # A working set of this size fits the second-level cache of a CPU core.

# CPUs.
# A sort of the ratings on a CPU moves 705 bytes per rating, and takes a fixed time of 2.43 ms.
CPU_SORT_BYTES, CPU_SORT_SECONDS = 705.0, 2.43e-3
# On a CPU, sorting ratings by block or by matching takes 1.44 times the time of sorting ratings by user and item.
CPU_KEYED_SORT = 1.44
# The search for matchings on a CPU makes 18.2 dependent loads per matched rating and 0.428 per repeated proposal.
CPU_MATCH_LOADS, CPU_REPEATED_LOADS = 18.2, 0.428

# On GPUs: bytes per rating that a sort moves, fixed seconds of a sort, and speed of copies to the device.
SORT_BYTES, SORT_SECONDS, UPLOAD_BYTES_PER_SECOND = 200.0, 2e-3, 8e9
ROUND_LOADS = 500.0  # Dependent loads per round of the search for matchings on a GPU.

# The host.
ITEM_SECONDS = 2e-8  # Time per item for the host to sort the items by their number of ratings.

Bins = tuple[int, ...]


def sorted_ratings(problem: FactorizationProblem, facts: DeviceFacts, weight: float = 1.0) -> Work:
    """Predict the work of copying the ratings to the device and of sorting the ratings there.

    *weight* is the time of the sort over the time of a sort by user and item.
    """
    moved, seconds = (CPU_SORT_BYTES, CPU_SORT_SECONDS) if facts.is_cpu else (SORT_BYTES, SORT_SECONDS)
    sort = Work(launches=20.0, read_backs=2.0, streamed_bytes=moved * problem.n, host_seconds=seconds)
    copy = 0.0 if facts.is_cpu else RATING_BYTES * problem.n / UPLOAD_BYTES_PER_SECOND
    return sort.times(1.0, weight) + Work(host_seconds=copy)


def sorted_items(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Predict the work of copying and sorting the ratings, and of sorting
    items on the host by their number of ratings.
    """
    return sorted_ratings(problem, facts, 1.3) + Work(host_seconds=ITEM_SECONDS * problem.stats.n_items)


def matched(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Predict the work of finding maximal matchings of the ratings:
    a round for each rating of the busiest user or item.

    On a GPU a single work-group continues when few vertices have ratings left. A CPU processes rating by rating, and
    in every round vertices with few ratings left propose to a busy vertex of the other side again.
    """
    (counts, ratings), (other_counts, other_ratings) = degrees(problem.stats)
    if facts.is_cpu:
        asked = sum(r * r / c for c, r in zip(other_counts, other_ratings, strict=True) if c) / 2
        loads = CPU_MATCH_LOADS * problem.n + CPU_REPEATED_LOADS * asked
        return sorted_ratings(problem, facts, CPU_KEYED_SORT) + Work(chains=(Chain(loads, CACHED_BYTES),))
    begins = degree_exceeded_by(counts, FEW_ROWS)
    alone = sum(r - begins * c for k, (c, r) in enumerate(zip(counts, ratings, strict=True)) if 2**k > 2 * begins)
    return sorted_ratings(problem, facts).times(1.0, 1.5) + Work(
        launches=30.0,
        read_backs=min(20.0, problem.busiest),
        gathers=(Gathers(20 * problem.n, 8 * problem.n),),
        chains=(Chain(ROUND_LOADS * problem.busiest + alone, CACHED_BYTES),),
    )


def sides(stats: RatingsStats) -> tuple[tuple[Bins, Bins], tuple[Bins, Bins]]:
    """Return two histograms for the users, then two for the items:
    of vertices and of ratings, by a vertex's ratings.
    """
    users = stats.user_degree_counts, stats.user_degree_rating_counts
    return users, (stats.item_degree_counts, stats.item_degree_rating_counts)


def degrees(stats: RatingsStats) -> tuple[tuple[Bins, Bins], tuple[Bins, Bins]]:
    """Return the histograms of :func:`sides` for both sides, users and
    items, with the side of the busiest vertex first.
    """
    users, items = sides(stats)
    return (items, users) if stats.max_item_degree >= stats.max_user_degree else (users, items)


def degree_exceeded_by(counts: Bins, n: float) -> float:
    """Estimate the degree that exactly *n* vertices reach or exceed, by interpolation between histogram bins."""
    above = 0.0
    for k in range(len(counts) - 1, 0, -1):
        if above + counts[k] >= n:
            return float(2.0 ** (k - (n - above) / counts[k]))
        above += counts[k]
    return 0.0
