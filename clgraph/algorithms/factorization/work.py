"""What the strategies of factorisation ask of a device, from the statistics of the ratings.

Steps on the ratings of one vertex cannot overlap, so the busiest vertex, with d_m ratings, sets a limit that no
device can hide (R. Kaleem et al., IPDPS 2016): offline at least d_m (p + b) for a step p and a barrier b, online
d_m (p + l) for a lock l, and the passes come on top. (In the study a barrier b / f stands for each pass that gets the
share f of that vertex's ratings done; here it is a fixed number of launches, since a pass goes on until little is
left.) The other limit is the throughput: the rows, ratings and locks of all steps together. The model takes the larger.

p is a chain of dependent loads. l is a critical section, and on the busiest vertex also the attempts of all compute
units on its lock. b is a device-wide barrier or a launch; in the tail of the matchings, where a few vertices are left
and one work-group goes on alone, it is only what that group's own barrier costs. How many loads and attempts a step
takes was fitted to sweeps measured on an NVIDIA H200 and on CPUs (docs/algorithms/factorization.md).
"""
from __future__ import annotations

import math

from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.matchings import FEW_ROWS
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.supersteps import GRID_WG_SIZE
from clgraph.data.ratings_stats import RatingsStats
from clgraph.device.facts import DeviceFacts
from clgraph.engine.problem import shared
from clgraph.model.cost import Atomics, Chain, Gathers, Work

_RATING_BYTES = 12.0
CACHED_BYTES = 2.0**20
_NEAR_ROWS = 2.0**12  # RatingsStats.far_item_share counts rows that are farther away
_ROWS_APART = 4.0  # of two steps on a diagonal, up to which rows come in order
_IN_ORDER = 0.5  # of the time to move a row, if the next one comes after it
_CPU_LOADS = 2.5  # in turn from the first-level cache, which take as long as the arithmetic on 64 bytes of both rows
_CPU_GRID_LOADS = 4.2  # the same where users come in no order, and cores wait for each other
_IN_PART = 0.5  # of the rows of a part's users, which its last block has not left in a cache
_CPU_GRID_SECONDS = 1e-5  # cores that are done wait so long in each step
_BARRIER_LOADS = 2.0  # as long as one core's way from diagonal to diagonal
_CPU_TAIL_LOADS = 4.0  # and from matching to matching, of which most have a rating of the same vertex
CPU_TAIL = 512  # one core has done a superstep of so many ratings before two have started
_MATCH_LOADS = 9.0  # one after the other, in which a CPU finds the matching of a rating
_ASKED_AGAIN = 0.5  # of the times that a vertex with few ratings left might ask, it does
_FEW_RATINGS = 8.0  # a vertex with so few has no other choice than to wait
_CPU_LOADS_UNDER_WAY = 4.0
_CPU_CACHE_BYTES = 2.0**21  # of a core
_CPU_SHARED_BYTES = 2.0**24  # if rows take more, they come from memory, near ones one after the other
_CPU_STEP_GATHERS = 2.0  # from the first-level cache they take as long as the arithmetic on 64 bytes of both rows
_CPU_WALK = 1.5  # a walk also looks for users that are free
_CPU_LOCKS = 5.0  # so many locks, one after the other, take as long as a step behind a lock beside others
FIRST_WALK = 0.9  # whole walks over the items take as long as one that leaves to others what it puts off
_STEP_LOADS = 2.0  # a step behind a lock loads rows, and its store comes before the lock is free
_TAIL_LOADS = 6.0  # a step of one work-group takes so many, its barriers included
_ATTEMPTS = 16.0  # so many of each compute unit meet on the busiest lock at each hand-over
_UPLOAD_BYTES_PER_SECOND = 8e9
_PASS_LOCKS = 200.0  # critical sections that take as long as a slot's ratings in a pass, one after the other
_SLOTS_PER_UNIT = 128.0  # ratings under way in a GPU's compute unit
DEFERRED_EDGES = Work(launches=6.0, read_backs=2.0)  # passes over what was put off; the host looks twice
DEFERRED_ITEMS = Work(launches=3.0, read_backs=1.0)
DEFERRED_BY_ITEMS = Work(launches=6.0, read_backs=1.0)  # a walk over the items leaves edges that meet again


@shared
def row_bytes(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Bytes of a row and its bias in memory."""
    return row_layout(problem.rank, facts).padded * problem.number_type.itemsize + 4 * problem.biases


@shared
def _side_bytes(problem: FactorizationProblem, facts: DeviceFacts) -> tuple[float, float]:
    """Bytes of the rows of all users, and of all items."""
    (n_users, n_items), each = problem.ratings.shape, row_bytes(problem, facts)
    return float(each * n_users), float(each * n_items)


# ---- throughput


@shared
def steps(problem: FactorizationProblem, facts: DeviceFacts, *, near: bool, item_share: float = 1.0) -> Work:
    """Read the ratings, and read and write both rows at each.

    If *near*, rows of neighbours are met while they are in a cache, or one after the other. *item_share* of the steps
    move the item's row, too. On a CPU a row's cache lines are moved once for reading and writing, and the arithmetic
    counts too; on a GPU it hides behind the memory.
    """
    if facts.is_cpu:
        return _cpu_steps(problem, facts, near=near, item_share=item_share)
    each = row_bytes(problem, facts)
    lines = 2 * math.ceil(each / 32) * problem.n
    far = (1 + problem.stats.far_item_share) / 2 if near else 1.0
    near_bytes = min(_NEAR_ROWS * each, CACHED_BYTES)
    users_bytes, items_bytes = _side_bytes(problem, facts)
    return Work(
        streamed_bytes=_RATING_BYTES * problem.n,
        gathers=(
            Gathers(lines * far, users_bytes), Gathers(lines * item_share * far, items_bytes),
            Gathers(lines * (1 + item_share) * (1 - far), near_bytes),
        ),
    )  # fmt: skip


def _cpu_steps(problem: FactorizationProblem, facts: DeviceFacts, *, near: bool, item_share: float) -> Work:
    """A row's cache lines move once for reading and writing, and the arithmetic counts.

    A core has only a few loads under way, which the probe's gathers do not show: the chain stands for that.
    """
    each = row_bytes(problem, facts)
    lines = math.ceil(each / 64) * problem.n
    far = problem.stats.far_item_share if near else 1.0
    streamed = _RATING_BYTES * problem.n
    gathers, chains = [Gathers(_CPU_STEP_GATHERS * lines, 4096)], []
    for share, row_set in zip((1.0, item_share), _side_bytes(problem, facts), strict=True):
        gathers.append(Gathers(lines * share * far, row_set))
        chains.append(Chain(lines * share * far / (_CPU_LOADS_UNDER_WAY * facts.compute_units), row_set))
        if row_set > _CPU_SHARED_BYTES:
            streamed += 2 * each * problem.n * share * (1 - far)
        else:
            gathers.append(Gathers(lines * share * (1 - far), min(row_set, CACHED_BYTES)))
    return Work(streamed_bytes=streamed, gathers=tuple(gathers), chains=tuple(chains))


def _cpu_moves(
    problem: FactorizationProblem, facts: DeviceFacts, user_rows: float, item_rows: float, *, loads: float = _CPU_LOADS,
    alone: float = 0.0,
) -> Work:
    """Return the work of all steps on a CPU, where so many rows of users and of items are moved from memory and back.

    Arithmetic takes *loads* in turn for 64 bytes of both rows, and *alone* steps of one core's; it goes on while rows
    are moved. A side that stays in a cache is not moved.
    """
    lines = math.ceil(row_bytes(problem, facts) / 64)
    moved = sum(
        rows for rows, side_bytes in zip((user_rows, item_rows), _side_bytes(problem, facts), strict=True)
        if side_bytes > _CPU_CACHE_BYTES
    )
    in_turn = loads * lines * (alone + (problem.n - alone) / facts.compute_units)
    return Work(streamed_bytes=_RATING_BYTES * problem.n + 2 * 64 * lines * moved, chains=(Chain(in_turn, 4096),))


def cpu_diagonals(problem: FactorizationProblem, facts: DeviceFacts, diagonals: float, *, is_wide: bool) -> Work:
    """Return the work of the steps on *diagonals* on a CPU; those of narrow ones are one core's.

    A vertex with so many ratings that a cache holds the rows of all steps between two of them is not moved again. The
    ratings of one on the longer side lie on as many diagonals as the shorter side has vertices, and on few where the
    ratings are in a band. Without gaps on a diagonal, rows come one after the other.
    """
    stats, shorter = problem.stats, min(problem.ratings.shape)
    far_apart = 2 * row_bytes(problem, facts) * problem.n / _CPU_CACHE_BYTES  # a vertex with fewer ratings
    users, items = (
        _held_below(counts, far_apart * (min(1.0, shorter / diagonals) if n > shorter else 1.0))
        for n, counts in zip(
            problem.ratings.shape, (stats.user_degree_rating_counts, stats.item_degree_rating_counts), strict=True
        )
    )
    if far_apart * stats.mean_item_step < diagonals:
        users = items = 0.0
    gaps = max(0.0, 1.0 - _ROWS_APART * problem.n / max(1.0, diagonals * shorter))
    share = _IN_ORDER + (1 - _IN_ORDER) * gaps
    moves = _cpu_moves(problem, facts, share * users, share * items, alone=0.0 if is_wide else problem.n)
    return moves + Work(launches=diagonals if is_wide else 3.0, chains=(Chain(_BARRIER_LOADS * diagonals, 4096),))


def cpu_matchings(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Return the work of the steps on matchings on a CPU, in which users come in order; small ones are one core's."""
    (counts, ratings), _ = _degrees(problem.stats)
    wide = min(problem.busiest, _degree_exceeded_by(counts, CPU_TAIL))
    alone = sum(max(0.0, r - wide * c) for k, (c, r) in enumerate(zip(counts, ratings, strict=True)) if 2**k > wide)
    users = _IN_ORDER * problem.n
    moves = _cpu_moves(problem, facts, users, users * (1 + problem.stats.far_item_share / 2), alone=alone)
    tail = Chain(_CPU_TAIL_LOADS * (problem.busiest - wide), CACHED_BYTES)
    return moves + Work(launches=3.0 + wide, chains=(tail,))


def cpu_grid(problem: FactorizationProblem, facts: DeviceFacts, groups: int) -> Work:
    """Return the work of the steps on a grid of *groups* x *groups* blocks on a CPU.

    A row is moved in each block in which its vertex has ratings; about half of the users of a part are in a cache
    still. Cores wait for the slowest block of a step, and steps on one item for each other.
    """
    stats = problem.stats
    users, items = (
        sum(min(r, groups * c) for c, r in zip(counts, ratings, strict=True))
        for counts, ratings in (
            (stats.user_degree_counts, stats.user_degree_rating_counts),
            (stats.item_degree_counts, stats.item_degree_rating_counts),
        )
    )
    moves = _cpu_moves(problem, facts, _IN_PART * users, items, loads=_CPU_GRID_LOADS)
    in_turn = Chain(_TAIL_LOADS * stats.max_item_degree, CACHED_BYTES)
    return moves + Work(host_seconds=_CPU_GRID_SECONDS * groups, chains=(in_turn,))


def _held_below(rating_counts: tuple[int, ...], degree: float) -> float:
    """Return the ratings of the vertices that have fewer than *degree*; the counts are those of RatingsStats."""
    return float(sum(rating_counts[: math.ceil(math.log2(max(1.0, degree))) + 1]))


# ---- online


def locks(problem: FactorizationProblem, facts: DeviceFacts, *sizes: int) -> Work:
    """Take and release a lock of each of *sizes* words at every rating; on a CPU the fences cost more."""
    if facts.is_cpu:
        return Work(locks=_CPU_LOCKS * problem.n * len(sizes) / facts.compute_units)
    return Work(atomics=tuple(Atomics(2 * problem.n, max(2.0, size)) for size in sizes))


def _hand_overs(problem: FactorizationProblem, facts: DeviceFacts, count: float) -> Work:
    """*count* steps on one vertex, each after its lock has been handed over."""
    return Work(
        locks=count, contended_attempts=_ATTEMPTS * facts.compute_units * count,
        chains=(Chain(_STEP_LOADS * count, sum(_side_bytes(problem, facts))),),
    )


def lock_edges(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Lock both ends of each rating and step, in all passes."""
    return (
        locks(problem, facts, problem.stats.n_users, problem.stats.n_items)
        + _hand_overs(problem, facts, problem.busiest) + steps(problem, facts, near=False)
    )  # fmt: skip


def put_off(problem: FactorizationProblem, facts: DeviceFacts, passes: float) -> Work:
    """Go over what was put off in *passes*: much, where a GPU has as many ratings under way as there are vertices."""
    if facts.is_cpu:
        return Work()
    share = min(1.0, _SLOTS_PER_UNIT * facts.compute_units / max(1, min(problem.ratings.shape)))
    return Work(locks=share * passes * _PASS_LOCKS)


def item_hand_overs(problem: FactorizationProblem, facts: DeviceFacts, lone: float) -> Work:
    """A team of work-items locks four users at a time on average; a lone one takes *lone* of the time of edges."""
    share = 0.25 if facts.sub_group_size > 1 else lone
    stats = problem.stats
    return _hand_overs(problem, facts, max(float(stats.max_user_degree), share * stats.max_item_degree))


@shared
def walk_items(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Walk the ratings of each item, whose row stays at hand.

    Near users are met in a cache only on NVIDIA's GPUs before Volta: on later ones and AMD's the fence of a lock
    empties the first-level cache, and on CPUs other cores write the lines.
    """
    moves = steps(problem, facts, near=0 < facts.dialect.nvidia_sm < 70, item_share=once_an_item(problem))
    return locks(problem, facts, problem.stats.n_users) + moves.times(_CPU_WALK if facts.is_cpu else 1)


def once_an_item(problem: FactorizationProblem) -> float:
    """Share of the steps that move an item's row, if each item's is moved once."""
    return min(1.0, problem.n_rated_items / max(1, problem.n))


# ---- offline


def slots(problem: FactorizationProblem, facts: DeviceFacts) -> int:
    """Ratings that a work-group of a persistent kernel takes at a time."""
    if facts.is_cpu:
        return CPU_TAIL
    lanes = min(facts.sub_group_size, max(1, row_bytes(problem, facts) // 16))
    return GRID_WG_SIZE // lanes


def superstep_chain(
    problem: FactorizationProblem, facts: DeviceFacts, wide: float, tail: float, *, in_one_launch: bool
) -> Work:
    """*wide* supersteps with a barrier of the device, *tail* ones that one work-group goes through alone."""
    return Work(
        grid_barriers=wide if in_one_launch else 0.0, launches=3.0 if in_one_launch else 1 + max(2.0, wide),
        chains=(Chain(3 * wide, sum(_side_bytes(problem, facts))), Chain(_TAIL_LOADS * tail, CACHED_BYTES)),
    )


def _degree_exceeded_by(counts: tuple[int, ...], n: float) -> float:
    """Return the degree that *n* vertices reach; the bins are those of RatingsStats."""
    above = 0.0
    for k in range(len(counts) - 1, 0, -1):
        if above + counts[k] >= n:
            return float(2.0 ** (k - (n - above) / counts[k]))
        above += counts[k]
    return 0.0


_Bins = tuple[int, ...]


def _degrees(stats: RatingsStats) -> tuple[tuple[_Bins, _Bins], tuple[_Bins, _Bins]]:
    """Return the vertices of each degree, and their ratings: of the side with the busiest vertex, then the other."""
    items = stats.item_degree_counts, stats.item_degree_rating_counts
    users = stats.user_degree_counts, stats.user_degree_rating_counts
    return (items, users) if stats.max_item_degree >= stats.max_user_degree else (users, items)


def matchings_chain(problem: FactorizationProblem, facts: DeviceFacts, *, in_one_launch: bool) -> Work:
    """There are as many matchings as the busiest vertex has ratings; many vertices take part in the wide ones."""
    (counts, _), _ = _degrees(problem.stats)
    wide = min(problem.busiest, _degree_exceeded_by(counts, slots(problem, facts)))
    return superstep_chain(problem, facts, wide, problem.busiest - wide, in_one_launch=in_one_launch)


# ---- preprocessing


@shared
def sort_ratings(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Copy the ratings to the device and put them in order."""
    upload = 0.0 if facts.is_cpu else _RATING_BYTES * problem.n / _UPLOAD_BYTES_PER_SECOND
    moved = (560 if facts.is_cpu else 200) * problem.n
    return Work(launches=20, read_backs=2, streamed_bytes=moved, host_seconds=upload + 2e-3)


@shared
def sort_items(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """The same, and the host sorts the items by degree."""
    return sort_ratings(problem, facts).times(1.3) + Work(host_seconds=2e-8 * problem.stats.n_items)


@shared
def matchings(problem: FactorizationProblem, facts: DeviceFacts) -> Work:
    """Find maximal matchings, in rounds as many as the busiest vertex has ratings.

    On a GPU one work-group goes on alone when few vertices have ratings left; a CPU takes rating by rating.
    """
    rounds, sort = problem.busiest, sort_ratings(problem, facts).times(1.5)
    (counts, ratings), (other_counts, other_ratings) = _degrees(problem.stats)
    if facts.is_cpu:
        # Vertices with few ratings left ask a busy one on the other side again in every round.
        asked = sum(r * r / c for c, r in zip(other_counts, other_ratings, strict=True) if c) / 2
        have_few = min(1.0, _FEW_RATINGS * sum(counts[1:]) / max(1.0, problem.n))
        return sort + Work(chains=(Chain(_MATCH_LOADS * problem.n + _ASKED_AGAIN * have_few * asked, CACHED_BYTES),))
    begins = _degree_exceeded_by(counts, FEW_ROWS)
    alone = sum(r - begins * c for k, (c, r) in enumerate(zip(counts, ratings, strict=True)) if 2**k > 2 * begins)
    return sort + Work(
        launches=30, read_backs=min(20.0, rounds), gathers=(Gathers(20 * problem.n, 8 * problem.n),),
        chains=(Chain(500 * rounds + alone, CACHED_BYTES),),
    )
