"""Predicted work of each factorisation strategy, from statistics of the ratings: for the preparation and for a sweep.

Steps on the ratings of one vertex cannot overlap. So the busiest vertex, with d ratings, sets a lower bound on every
device (R. Kaleem et al., IPDPS 2016): d steps with a barrier each (offline strategies) or with a lock each (online).
The other bound is the throughput: the rows, ratings and locks of all steps together. The larger bound counts.

The constants are fitted to sweeps on two GPUs and two CPUs (``benchmarks/results/factorization-*.json`` and
``cost_model-*.json``). The fit minimises the time lost by picking a slower strategy. The GPU constants also rank the
strategies as the study measured them on a Tesla K40 and a Radeon R9-290X.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from clgraph.algorithms.factorization.plan import slice_size
from clgraph.algorithms.factorization.preparation import (
    CACHED_BYTES,
    CPU_KEYED_SORT,
    ITEM_SECONDS,
    degree_exceeded_by,
    degrees,
    matched,
    sides,
    sorted_items,
    sorted_ratings,
)
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.schedules.block_diagonal import block_shape
from clgraph.algorithms.factorization.schedules.block_grid import grid_groups
from clgraph.algorithms.factorization.schedules.supersteps import has_grid_barrier, slots
from clgraph.algorithms.factorization.steps import (
    L1_BYTES,
    cpu_steps,
    gpu_steps,
    item_share_of,
    row_bytes,
    side_bytes,
)
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Atomics, Chain, Part, Work

# CPUs.
# Cache loads per training step of block_grid: less than CPU_STEP_LOADS, because the rows of factors stay in the cache.
CPU_GRID_STEP_LOADS = 2.08
CPU_STEP_LOCKS = 3.47  # The two locks of a training step together take the time of 3.47 measured critical sections.
# Rows of factors that a block loads from memory, per user or item that has ratings in the block.
CPU_GRID_MISSES = 0.506
CPU_MATCHING_MISSES = 0.363  # Rows of user and item factors that a training step of a matching loads from memory.
# If a diagonal has one rating per 20 vertices of the shorter side, the diagonal's rows of factors are read in order.
CPU_NEAR_RATINGS = 20.0
CPU_DIAGONAL_LOADS = 9.6  # loads per diagonal
CPU_GROUP_SECONDS = 1.77e-4  # In each step of a grid of blocks, the other blocks wait this long for the slowest block.
CPU_BLOCK_LOADS = 3.0  # Cache loads per rating in the schedule block_diagonal on a CPU.

# GPUs.
# A training step loads two rows of factors and stores them before it unlocks, which takes 2 dependent loads.
LOCKED_STEP_LOADS = 2.0
HAND_OVER_ATTEMPTS = 16.0  # Before the busiest lock changes hands, each compute unit tries 16 times to take it.
# Correction factors of three training strategies: measured time divided by computed time.
MATCHING_WEIGHT, DIAGONAL_WEIGHT, GRID_WEIGHT = 1.0, 0.46, 0.75
# Ratings that a compute unit processes at the same time, if it has 32 times as many.
SLOTS_PER_UNIT, RATINGS_PER_SLOT = 128.0, 32.0
LATER_PASS_LOCKS = 200.0  # A pass over the deferred ratings takes the time of 200 critical sections.
# Without sub-groups, the walks over ratings in hybrid_locked take 0.9 of the time of the walks in node_locked.
WALK_SHARE = 0.9
TEAM_SHARE = 0.25  # A team locks four users at a time, so the lock of an item changes hands once per four ratings.
# Dependent loads per superstep if all work-groups run the superstep, and if a single work-group runs it.
WIDE_LOADS, TAIL_LOADS = 3.0, 6.0
# In block_grid, a rating costs 0.6 loads and 1 per 400 bytes of a row, and a step with its wait costs 20 loads.
GRID_LOADS, GRID_BYTES_PER_LOAD, GRID_STEP_LOADS = 0.6, 400.0, 20.0
# In block_diagonal, a rating costs 7 loads and a superstep 20. A compute unit runs 12 blocks at the same time.
BLOCK_LOADS, BLOCK_STEP_LOADS, BLOCKS_PER_UNIT = 7.0, 20.0, 12.0

# The host.
# Time for the host to deal one user or item to a part of a block grid, and to sort one diagonal.
DEAL_SECONDS, DIAGONAL_SECONDS = 5e-8, 1.2e-8


class Price(NamedTuple):
    """The predicted work of a factorisation strategy: of its preparation, which runs once, and of one sweep."""

    preparation: Work
    sweep: Work

    def parts(self, n_sweeps: int) -> list[Part]:
        """Return the predicted work of the preparation and of *n_sweeps* training sweeps, as parts of an estimate."""
        return [(self.preparation, 1.0, 1.0), (self.sweep, float(n_sweeps), 1.0)]


Priced = Callable[[FactorizationProblem, DeviceFacts], Price]


# ---- online


def _slices(problem: FactorizationProblem, facts: DeviceFacts) -> float:
    return max(1.0, float(-(-problem.n // slice_size(problem, facts))))


def _locks(problem: FactorizationProblem, *sizes: int) -> Work:
    """Predict the work on a GPU of a lock and an unlock per rating in several arrays of locks of these *sizes*."""
    return Work(atomics=tuple(Atomics(2 * problem.n, max(2.0, size)) for size in sizes))


def _hand_overs(problem: FactorizationProblem, facts: DeviceFacts, count: float) -> Work:
    """Predict the work on a GPU of *count* training steps on one vertex, whose lock changes hands before each step."""
    return Work(
        locks=count,
        contended_attempts=HAND_OVER_ATTEMPTS * facts.compute_units * count,
        chains=(Chain(LOCKED_STEP_LOADS * count, sum(side_bytes(problem, facts))),),
    )


def _put_off(problem: FactorizationProblem, facts: DeviceFacts, passes: float) -> Work:
    """Predict the work of *passes* over deferred ratings.

    There are many if a vertex has several ratings in flight.
    """
    share = min(1.0, SLOTS_PER_UNIT * facts.compute_units / max(1, min(problem.ratings.shape)))
    return Work(locks=share * passes * LATER_PASS_LOCKS)


def hogwild(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``hogwild``, which makes training steps on all ratings at the same time."""
    steps = cpu_steps(problem, facts, problem.n, problem.n) if facts.is_cpu else gpu_steps(problem, facts)
    return Price(sorted_ratings(problem, facts), steps + Work(launches=_slices(problem, facts)))


def edge_locked(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``edge_locked``: locks on user and item of each rating, and passes over deferred ratings."""
    later = Work(launches=7.0, read_backs=2.0)
    if facts.is_cpu:
        locks = Work(locks=CPU_STEP_LOCKS * problem.n / facts.compute_units + problem.busiest)
        sweep = locks + cpu_steps(problem, facts, problem.n, problem.n)
    else:
        steps = _locks(problem, *problem.ratings.shape) + gpu_steps(problem, facts)
        # A slot tries again if another slot has the user or the item.
        in_flight = min(SLOTS_PER_UNIT * facts.compute_units, problem.n / RATINGS_PER_SLOT)
        sweep = steps.times(1.0, 1 + in_flight / max(1, min(problem.ratings.shape)))
        sweep += _hand_overs(problem, facts, problem.busiest)
        later += _put_off(problem, facts, 2.0)
    return Price(sorted_ratings(problem, facts), sweep + Work(launches=_slices(problem, facts)) + later)


def node_locked(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``node_locked``: walks over the ratings of each item, and then over the deferred ratings."""
    return _walked(problem, facts, 1.0, 1.6, Work(launches=4.0, read_backs=1.0))


def hybrid_locked(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``hybrid_locked``: a walk over each item's ratings, then edge locks on deferred ratings."""
    later = Work(launches=7.0, read_backs=1.0)
    if not facts.is_cpu:
        later += _put_off(problem, facts, 6.0)
    return _walked(problem, facts, WALK_SHARE if facts.sub_group_size == 1 else 1.0, 0.9, later)


def _walked(problem: FactorizationProblem, facts: DeviceFacts, walk: float, lone: float, later: Work) -> Price:
    """Predict the work of factorisation strategies that walk over the ratings of each item.

    *walk* is the relative time of the walks, *later* the work on deferred ratings. Without sub-groups, an item's lock
    is handed over *lone* times per rating. Rows of near users are cached only on NVIDIA's GPUs before Volta. On later
    GPUs, and on AMD's, the fence of a lock empties the first-level cache.
    """
    stats, launches = problem.stats, Work(launches=_slices(problem, facts))
    if facts.is_cpu:
        moves = cpu_steps(problem, facts, problem.n, item_share_of(problem) * problem.n)
        walked = (moves + Work(locks=CPU_STEP_LOCKS * problem.n / facts.compute_units)).times(1.0, walk)
        return Price(sorted_items(problem, facts), walked + launches + later + Work(locks=problem.busiest))
    moves = gpu_steps(problem, facts, near=0 < facts.dialect.nvidia_sm < 70, item_share=item_share_of(problem))
    share = TEAM_SHARE if facts.sub_group_size > 1 else lone
    count = max(float(stats.max_user_degree), share * stats.max_item_degree)
    walked = (moves + _locks(problem, stats.n_users)).times(1.0, walk)
    return Price(sorted_items(problem, facts), walked + launches + later + _hand_overs(problem, facts, count))


# ---- supersteps


def _supersteps(problem: FactorizationProblem, facts: DeviceFacts, wide: float, tail: float, *, is_one: bool) -> Work:
    """Predict the work of *wide* supersteps, each with a grid barrier, and *tail* supersteps of a single work-group."""
    return Work(
        grid_barriers=wide if is_one else 0.0,
        launches=3.0 if is_one else 1 + max(2.0, wide),
        chains=(Chain(WIDE_LOADS * wide, sum(side_bytes(problem, facts))), Chain(TAIL_LOADS * tail, CACHED_BYTES)),
    )


def matching_edge(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``matching_edge``, in which each superstep is a matching:
    one per rating of the busiest vertex.

    A wide matching has ratings for more than one work-group.
    """
    (counts, _), _ = degrees(problem.stats)
    wide = min(problem.busiest, degree_exceeded_by(counts, slots(problem, facts)))
    if facts.is_cpu:
        rows = CPU_MATCHING_MISSES * problem.n
        sweep = cpu_steps(problem, facts, rows, rows) + Work(launches=3.0 + wide)
    else:
        chain = _supersteps(problem, facts, wide, problem.busiest - wide, is_one=has_grid_barrier(facts))
        sweep = (chain + gpu_steps(problem, facts)).times(1.0, MATCHING_WEIGHT)
    return Price(matched(problem, facts), sweep)


def diagonal(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``diagonal``, which has a superstep for each diagonal of the matrix that has ratings.

    Along a full diagonal, rows are accessed in order.
    """
    longer, shorter = max(problem.ratings.shape), min(problem.ratings.shape)
    diagonals = float(max(1, min(problem.stats.n_diagonals, longer)))
    is_wide = problem.n > diagonals * slots(problem, facts)
    if facts.is_cpu:
        rows = max(0.0, 1 - CPU_NEAR_RATINGS * problem.n / max(1.0, diagonals * shorter)) * problem.n
        turns = Work(launches=diagonals if is_wide else 3.0, chains=(Chain(CPU_DIAGONAL_LOADS * diagonals, L1_BYTES),))
        sweep, ordering = turns + cpu_steps(problem, facts, rows, rows), DEAL_SECONDS
    else:
        wide, tail = (diagonals, 0.0) if is_wide else (0.0, diagonals)
        chain = _supersteps(problem, facts, wide, tail, is_one=has_grid_barrier(facts))
        sweep = (chain + gpu_steps(problem, facts, near=True)).times(1.0, DIAGONAL_WEIGHT)
        ordering = DIAGONAL_SECONDS
    return Price(sorted_ratings(problem, facts) + Work(host_seconds=ordering * longer), sweep)


def matching_node(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``matching_node``: matchings in blocks of items, whose rows of factors stay in the slots."""
    return _by_items(problem, facts, problem.busiest * max(1.0, 0.6 * _item_blocks(problem, facts)))


def subgraph_matching(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``subgraph_matching``, which finds the matchings of each block of items separately.

    A block of rare items has few matchings.
    """
    later = 2 * problem.n / max(1, problem.stats.n_items) * _item_blocks(problem, facts)
    return _by_items(problem, facts, 1.3 * problem.busiest + later)


def _item_blocks(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Return the number of blocks of items.

    Without a grid barrier, a block has items for only one work-group.
    """
    groups = facts.compute_units if has_grid_barrier(facts) else 1
    return max(1, -(-problem.n_rated_items // (groups * slots(problem, facts))))


def _by_items(problem: FactorizationProblem, facts: DeviceFacts, n_supersteps: float) -> Price:
    preparation = matched(problem, facts) + Work(host_seconds=ITEM_SECONDS * problem.stats.n_items)
    if facts.is_cpu:  # one core
        moves = cpu_steps(problem, facts, problem.n, item_share_of(problem) * problem.n).times(facts.compute_units)
        return Price(preparation, moves + Work(launches=3.0))
    moves = gpu_steps(problem, facts, near=True, item_share=item_share_of(problem))
    if has_grid_barrier(facts):
        return Price(preparation, moves + _supersteps(problem, facts, n_supersteps, 0.0, is_one=True))
    alone = _supersteps(problem, facts, 0.0, n_supersteps, is_one=True)
    return Price(preparation, alone + moves.times(facts.compute_units))


# ---- blocks


def block_diagonal(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``block_diagonal``: copies of each block's rows of factors, and waves of its ratings."""
    shape = block_shape(problem, facts)
    n_blocks = [-(-n // side) for n, side in zip(problem.ratings.shape, shape, strict=True)]
    supersteps = min(float(max(n_blocks)), 1 + 0.2 * problem.stats.n_diagonals)
    if facts.is_cpu:
        loads, at_a_time = CPU_BLOCK_LOADS, float(facts.compute_units)
        moves, sort = cpu_steps(problem, facts, problem.n, problem.n), sorted_ratings(problem, facts)
    else:
        loads, at_a_time = BLOCK_LOADS, BLOCKS_PER_UNIT * facts.compute_units
        moves, sort = gpu_steps(problem, facts, near=True), sorted_ratings(problem, facts).times(3.0)
    loads = loads * problem.n / max(1.0, min(*n_blocks, at_a_time)) + BLOCK_STEP_LOADS * supersteps
    waves = Work(launches=1.5 * supersteps, chains=(Chain(loads, CACHED_BYTES),))
    return Price(sort, waves + moves)


def block_grid(problem: FactorizationProblem, facts: DeviceFacts) -> Price:
    """Predict the work of ``block_grid``, which moves a user's or item's row once for each block with its ratings."""
    stats, groups = problem.stats, grid_groups(problem.stats, facts)
    launches = 3.0 if has_grid_barrier(facts) else float(groups)
    if facts.is_cpu:
        users, items = (
            CPU_GRID_MISSES * sum(min(r, groups * c) for c, r in zip(*side, strict=True)) for side in sides(stats)
        )
        steps = cpu_steps(problem, facts, users, items, loads=CPU_GRID_STEP_LOADS)
        sort = sorted_ratings(problem, facts, CPU_KEYED_SORT)
        sweep = steps + Work(launches=launches, host_seconds=CPU_GROUP_SECONDS * groups)
    else:
        loads = GRID_LOADS + row_bytes(problem, facts) / GRID_BYTES_PER_LOAD
        chain = Chain(loads * max(problem.n / groups, problem.busiest) + GRID_STEP_LOADS * groups, CACHED_BYTES)
        waits = Work(launches=launches, chains=(chain,))
        sweep = (waits + gpu_steps(problem, facts, item_share=0.3)).times(1.0, GRID_WEIGHT)
        sort = sorted_ratings(problem, facts, 1.3)
    return Price(sort + Work(host_seconds=DEAL_SECONDS * sum(problem.ratings.shape)), sweep)
