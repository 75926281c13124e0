"""What the strategies of factorisation ask of a device, from the statistics of the ratings.

Steps on the ratings of one vertex cannot overlap, so the busiest vertex, with d_m ratings, sets a limit that no
device can hide (R. Kaleem et al., IPDPS 2016): offline d_m (p + b) for a step p and a barrier b, online d_m (p + l) + b / f for
a lock l and the share f of that vertex's ratings that a pass can make. Beside that limit stands the throughput:
the rows, ratings and locks of all steps together. The model takes the larger.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Gathers, Work
from clgraph.ratings_stats import RatingsStats

_SECTOR_BYTES = 64.0
_RATING_BYTES = 12.0


@dataclass(frozen=True)
class Task:
    """A factorisation to be done.

    Attributes
    ----------
    stats : RatingsStats
    row_bytes : int
        Of a factor row in memory.
    n_sweeps : int
        Over which the preprocessing pays off.
    """

    stats: RatingsStats
    row_bytes: int
    n_sweeps: int

    @property
    def busiest(self) -> int:
        """The most ratings of one vertex, d_m."""
        return max(self.stats.max_user_degree, self.stats.max_item_degree)

    @property
    def largest_bytes(self) -> float:
        """Bytes of the factors, users and items together."""
        return float(self.row_bytes) * (self.stats.n_users + self.stats.n_items)


Estimator = Callable[[Task, DeviceFacts], Work]


def _steps(task: Task, *, user_reads: float = 1.0, item_reads: float = 1.0) -> Work:
    """Read the ratings once, and read and write both rows at each; less where a row stays at hand."""
    stats, n = task.stats, float(task.stats.n_ratings)
    sectors = math.ceil(task.row_bytes / _SECTOR_BYTES)
    return Work(
        streamed_bytes=_RATING_BYTES * n,
        gathers=(
            Gathers(2 * sectors * user_reads * n, float(task.row_bytes * stats.n_users)),
            Gathers(2 * sectors * item_reads * n, float(task.row_bytes * stats.n_items)),
        ),
    )


def hogwild_sweep(task: Task, facts: DeviceFacts) -> Work:
    return Work(launches=1) + _steps(task)


def edge_locked_sweep(task: Task, facts: DeviceFacts) -> Work:
    stats, n = task.stats, float(task.stats.n_ratings)
    locks = Work(
        launches=16, read_backs=4, locks=float(task.busiest), chain_loads=2.0 * task.busiest,
        chain_bytes=task.largest_bytes,
        atomics=(Atomics(2 * n, max(2.0, stats.n_users)), Atomics(2 * n, max(2.0, stats.n_items))),
    )
    return locks + _steps(task)


def node_locked_sweep(task: Task, facts: DeviceFacts) -> Work:
    stats, n = task.stats, float(task.stats.n_ratings)
    locks = Work(
        launches=8, read_backs=3, locks=float(task.busiest) / facts.sub_group_size, chain_loads=float(task.busiest),
        chain_bytes=task.largest_bytes, atomics=(Atomics(2 * n, max(2.0, stats.n_users)),),
    )
    return locks + _steps(task, item_reads=0.1)


def hybrid_locked_sweep(task: Task, facts: DeviceFacts) -> Work:
    return node_locked_sweep(task, facts)


def _supersteps(task: Task, facts: DeviceFacts, n: float) -> Work:
    has_grid = facts.dialect.has_grid_barrier
    return Work(
        grid_barriers=n if has_grid else 0.0, launches=0.0 if has_grid else n, chain_loads=3 * n,
        chain_bytes=task.largest_bytes,
    )


def matching_edge_sweep(task: Task, facts: DeviceFacts) -> Work:
    return _supersteps(task, facts, float(task.busiest)) + _steps(task)


def diagonal_sweep(task: Task, facts: DeviceFacts) -> Work:
    stats = task.stats
    return _supersteps(task, facts, float(min(stats.n_diagonals, max(stats.n_users, stats.n_items)))) + _steps(task)


def matching_node_sweep(task: Task, facts: DeviceFacts) -> Work:
    return _supersteps(task, facts, float(task.busiest)) + _steps(task, item_reads=0.1)


def subgraph_matching_sweep(task: Task, facts: DeviceFacts) -> Work:
    return _supersteps(task, facts, float(task.busiest)) + _steps(task, item_reads=0.1)


def block_diagonal_sweep(task: Task, facts: DeviceFacts) -> Work:
    return _supersteps(task, facts, float(task.stats.n_users) / 64) + _steps(task)


def grid_groups(stats: RatingsStats, facts: DeviceFacts) -> int:
    """Choose into how many parts block_grid cuts users and items.

    Each step costs a wait, each group walks its share of the ratings: the best number is near the square root of
    n_ratings over the ratings that a wait is worth. More than the device has room for does not help.
    """
    wait, most = (2000, 8 * facts.compute_units) if facts.is_cpu else (60, 4 * facts.compute_units)
    wanted = math.isqrt(stats.n_ratings // wait)
    return max(1, min(most, max(wanted, facts.compute_units if facts.is_cpu else 1), stats.n_users, stats.n_items))


def block_grid_sweep(task: Task, facts: DeviceFacts) -> Work:
    return Work(launches=1, grid_barriers=4 * facts.compute_units) + _steps(task, item_reads=0.1)


def sort_ratings(task: Task, facts: DeviceFacts) -> Work:
    """Copy the ratings to the device and put them in order."""
    n = float(task.stats.n_ratings)
    return Work(launches=20, streamed_bytes=200 * n)


def matchings(task: Task, facts: DeviceFacts) -> Work:
    """Find maximal matchings, in rounds as many as the busiest vertex has ratings."""
    rounds = float(task.busiest)
    return sort_ratings(task, facts) + Work(launches=rounds, chain_loads=10 * rounds, chain_bytes=task.largest_bytes)


PARTS: dict[str, tuple[Estimator, Estimator]] = {  # of each strategy: a sweep, the preprocessing
    "edge_locked": (edge_locked_sweep, sort_ratings),
    "node_locked": (node_locked_sweep, sort_ratings),
    "hybrid_locked": (hybrid_locked_sweep, sort_ratings),
    "hogwild": (hogwild_sweep, sort_ratings),
    "matching_edge": (matching_edge_sweep, matchings),
    "matching_node": (matching_node_sweep, matchings),
    "subgraph_matching": (subgraph_matching_sweep, matchings),
    "diagonal": (diagonal_sweep, sort_ratings),
    "block_diagonal": (block_diagonal_sweep, sort_ratings),
    "block_grid": (block_grid_sweep, sort_ratings),
}


def whole(strategy: str) -> Estimator:
    """Return the work of the preprocessing and all sweeps of *strategy*."""
    sweep, prepare = PARTS[strategy]
    return lambda task, facts: prepare(task, facts) + sweep(task, facts).times(task.n_sweeps)
