"""Every strategy of matrix factorisation: offline by matchings and blocks, online by locks; the choice among them."""

import dataclasses
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from conftest import run_at_width
from numpy.typing import NDArray
from oracles import check_supersteps, sgd_sweep
from test_vocabulary import random_words

import clgraph as cg
from clgraph.algorithms.factorization import ALGORITHM, STRATEGIES, FactorizationProblem, as_problem, prices, problem
from clgraph.algorithms.factorization import plan as plans
from clgraph.algorithms.factorization.factors import Factors, row_layout, upload_ratings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.problem import offset_type
from clgraph.algorithms.factorization.schedules import matchings, supersteps
from clgraph.algorithms.factorization.schedules.block_grid import (
    _chain,
    _checked_lanes,
    _default_lanes,
    balanced_parts,
    grid_groups,
)
from clgraph.algorithms.factorization.schedules.matchings import find_matchings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import DeviceTimeoutError, InputError, UnsupportedStrategyError
from clgraph.model.recipe import Recipe
from clgraph.reference.factorization import rmse
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.session import Session

RATE, REGULARIZATION, MEAN = 0.02, 0.1, 0.5  # at a rate of 0.05 a few rows overshoot, in some orders


def some_ratings(users, items, n_users: int | None = None, n_items: int | None = None) -> Ratings:
    values = np.random.default_rng(8).normal(1, 1, len(users)).astype(np.float32)
    return Ratings.from_triples(users, items, values, n_users=n_users, n_items=n_items)


def random_ratings(n: int, n_users: int = 60, n_items: int = 50, *, skew: float = 0.0, seed: int = 1) -> Ratings:
    """Draw *n* distinct pairs; with a larger *skew* fewer vertices have most of them."""
    rng = np.random.default_rng(seed)
    weights = np.outer(*(np.arange(1, m + 1) ** -skew for m in (n_users, n_items))).ravel()
    pairs = rng.choice(weights.size, n, replace=False, p=weights / weights.sum())
    return some_ratings(pairs // n_items, pairs % n_items, n_users, n_items)


def cross(n: int) -> Ratings:
    """One item rated by all users, and one user who rated all items."""
    side = np.arange(n)
    return some_ratings(np.append(side, np.full(n - 1, n // 2)), np.append(np.full(n, n // 3), np.delete(side, n // 3)))


ZOO = {
    "no vertices": some_ratings([], [], 0, 0),
    "empty": some_ratings([], [], 3, 4),
    "one": some_ratings([1], [2], 3, 4),
    "one user": some_ratings(np.zeros(511, int), np.arange(511)),
    "one item": some_ratings(np.arange(513), np.zeros(513, int), n_items=2),
    "cross": cross(150),
    "diagonal": some_ratings(np.arange(512), np.arange(512)),
    "dense": some_ratings(*np.divmod(np.arange(20 * 30), 30)),
    "511": random_ratings(511, 100, 40, skew=1.0),
    "512": random_ratings(512, 40, 100),
    "513": random_ratings(513, 300, 300, skew=1.0),
    "skewed": random_ratings(1500, 60, 900, skew=1.0),
}


def random_factors(ratings: Ratings, rank: int, biases: bool = False) -> Factors:
    rng = np.random.default_rng(5)
    rows = (rng.normal(0, 0.3, (n, rank)).astype(np.float32) for n in ratings.shape)
    return Factors(*rows, *(rng.normal(0, 0.3, n).astype(np.float32) if biases else None for n in ratings.shape))


def test_positions_are_as_wide_as_the_ratings_need() -> None:
    assert [offset_type(n) for n in (1, 2**30, 2**31)] == [np.int32, np.int32, np.int64]


def problem_of(
    ratings: Ratings, rank: int = 5, storage="float32", biases=False, *, checked: bool = True
) -> FactorizationProblem:
    return FactorizationProblem(ratings, rank, 1, storage, biases, MEAN, checked=checked)


def start(plan: FactorizationPlan) -> Factors:
    """Set random factors, and the rate; return the factors."""
    factors = random_factors(plan.problem.ratings, plan.problem.rank, plan.problem.biases)
    plan.model.set(factors)
    plan.model.set_hyper(RATE, REGULARIZATION)
    return factors


def plan_on(session: Session, strategy: str, problem: FactorizationProblem, **options) -> FactorizationPlan:
    plan = STRATEGIES[strategy].plan(session, problem, **options)
    start(plan)
    return plan


def assert_each_once(plan, n_sweeps: int = 1, *, is_racy: bool = False) -> None:
    """Of the sweeps since the model was last asked: each rating once a sweep, and no conflict unless *is_racy*."""
    ratings, (counts, conflicts) = plan.problem.ratings, plan.model.take_checks()
    expected = np.zeros(ratings.shape, np.uint32)
    expected[ratings.users, ratings.items] = n_sweeps
    np.testing.assert_array_equal(counts, expected)
    assert not conflicts or is_racy


def check_sweeps(
    session: Session, strategy: str, ratings: Ratings, rank: int, storage="float32", biases=False, **options
):
    """Make two sweeps: each rating once in each of them, and no conflict if the strategy locks."""
    plan = plan_on(session, strategy, problem_of(ratings, rank, storage, biases), **options)
    for _ in range(2):
        plan.sweep()
        plan.check()
        assert_each_once(plan, is_racy=strategy == "hogwild")
    assert all(np.isfinite(part).all() for part in plan.model.get() if part is not None)


def sweep_order(plan) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of a sweep, and where in it steps that share no vertex begin and end."""
    if "order" not in plan.scope:
        (made,), n = plan.used, plan.problem.n
        offsets = made.offsets if hasattr(made, "offsets") else np.append(made.waves.get(), n)
        return made.order.get().astype(np.int64), offsets.astype(np.int64)
    n_groups, order, ends = plan.scope["n_groups"], plan.scope["order"].get(), plan.scope["offsets"].get()
    by_step = np.arange(n_groups**2).reshape(n_groups, -1).T.ravel()
    serial = np.concatenate([order[ends[b] : ends[b + 1]] for b in by_step.tolist()])
    return serial.astype(np.int64), np.arange(plan.problem.n + 1)


def replay(ratings: Ratings, factors: Factors, order, offsets) -> Factors:
    """One sweep, superstep by superstep, with numpy."""
    users, items, values = (a[order] for a in (ratings.users, ratings.items, ratings.values))
    p, q = factors.user_factors.copy(), factors.item_factors.copy()
    biases = [b.copy() for b in factors[2:] if b is not None]
    decay = np.float32(1 - RATE * REGULARIZATION)
    for begin, end in pairwise(offsets.tolist()):
        u, i = users[begin:end], items[begin:end]
        known = MEAN + (biases[0][u] + biases[1][i] if biases else 0)
        step = np.float32(RATE) * (values[begin:end] - known - np.einsum("ij,ij->i", p[u], q[i]))
        p[u], q[i] = decay * p[u] + step[:, None] * q[i], decay * q[i] + step[:, None] * p[u]
        if biases:
            biases[0][u], biases[1][i] = decay * biases[0][u] + step, decay * biases[1][i] + step
    return Factors(p, q, *biases)


def check_replay(
    session: Session,
    strategy: str,
    ratings: Ratings,
    rank: int = 5,
    storage="float32",
    biases=False,
    *,
    checked: bool = True,
    change: Callable[[Any], Any] | None = None,
    **options,
):
    """Sweep twice: every rating once, no conflicts, the factors of the replay; once more: the same bits."""
    plan = plan_on(session, strategy, problem_of(ratings, rank, storage, biases, checked=checked), **options)
    if change:
        plan = change(plan) or plan
    model, begin = plan.model, start(plan)
    order, offsets = sweep_order(plan)
    check_supersteps(ratings, order, offsets)
    assert (np.diff(offsets) > 0).all()
    expected, results = begin, []
    for _ in range(2):
        expected = replay(ratings, expected, order, offsets)
    for _ in range(2):
        model.set(begin)
        for _ in range(2):
            plan.sweep()
        plan.check()
        results.append(model.get())
        if checked:
            assert_each_once(plan, 2)
    tolerance = 5e-3 if storage == "float16" else 1e-5
    for found, again, wanted in zip(*results, expected, strict=True):
        if wanted is not None:
            np.testing.assert_array_equal(found, again)
            np.testing.assert_allclose(found, wanted, rtol=10 * tolerance, atol=tolerance)
    return plan


OFFLINE = [name for name, strategy in STRATEGIES.items() if strategy.kind == "offline"]
BLOCKS = ["block_grid", "block_diagonal"]
BY_RATING, BY_ITEM = ["matching_edge", "diagonal"], ["matching_node", "subgraph_matching"]
SUPERSTEPS = [*BY_RATING, *BY_ITEM]
LOCKING = ["edge_locked", "node_locked", "hybrid_locked"]
ONLINE = [*LOCKING, "hogwild"]
WALKS = ["node_locked", "hybrid_locked"]
# Runs of an item longer than a tile, users of one tile again in the next one.
LONG_RUNS = some_ratings(*np.divmod(np.arange(150 * 6), 6), n_users=160)


# ---- every strategy


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.long
def test_int64_offsets(session: Session, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What near 2**31 ratings are swept with."""
    monkeypatch.setattr(problem, "_INT32_RATINGS", 0)
    check_sweeps(session, strategy, ZOO["skewed"], 16, seed=3)


def test_too_many_ratings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "MAX_ITEMS", 512)
    as_problem(ZOO["512"])
    with pytest.raises(InputError, match="n_ratings = 513; allowed: 0 to 512"):
        as_problem(ZOO["513"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_launches_are_about_as_many_as_predicted(pocl: Session, strategy: str) -> None:
    wanted = problem_of(ZOO["skewed"])
    price = getattr(prices, strategy)(wanted, pocl.facts)
    with pocl.measure() as preparing:
        plan = STRATEGIES[strategy].plan(pocl, wanted)
    with pocl.measure() as sweeping:
        plan.sweep()
    for recorder, work in ((preparing, price.preparation), (sweeping, price.sweep)):
        launches = sum(count for count, _ in recorder.kernels().values())
        assert 1 / 4 < launches / work.launches < 4


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_run_trains(session: Session, strategy: str) -> None:
    """From new factors each time; under an offline strategy to the same bits."""
    ratings = ZOO["skewed"]
    wanted = dataclasses.replace(as_problem(ratings, rank=4, n_sweeps=30, biases=True), learning_rate=0.05)
    first, again = (ALGORITHM.solve(wanted, strategy=strategy, session=session, verify=True) for _ in range(2))
    assert rmse(ratings, first, ratings.values.mean()) < 0.95 * ratings.values.std()
    assert first.info.strategy == strategy
    if strategy in OFFLINE:
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, other)


# ---- the choice


def test_the_choice(session: Session) -> None:
    ratings = ZOO["513"]
    choice = ALGORITHM.choose(session, as_problem(ratings))
    assert choice.strategy == min(choice.seconds, key=choice.seconds.__getitem__)
    assert set(choice.predicted) <= set(STRATEGIES) - {"hogwild"}
    assert all(0 < seconds < math.inf for seconds in choice.seconds.values())
    forced = ALGORITHM.choose(session, as_problem(ratings, rank=128, storage="float16", biases=True), "hogwild")
    assert forced.strategy == "hogwild" and set(forced.predicted) == {"hogwild"}
    with pytest.raises(UnsupportedStrategyError, match="known: auto, edge_locked"):
        ALGORITHM.choose(session, as_problem(ratings), "nonsense")


def test_explain(pocl: Session) -> None:
    ratings = ZOO["513"]
    options = {"rank": 64, "n_sweeps": 3}
    choice = cg.explain("factorization", ratings, session=pocl, **options)
    weighed = ALGORITHM.choose(pocl, as_problem(ratings, **options)).predicted
    assert tuple(weighed) == choice.contenders and weighed.items() <= choice.predicted.items()
    assert choice.seconds != cg.explain("factorization", ratings.to_scipy(), session=pocl).seconds
    for estimate in choice.predicted.values():
        assert estimate.parts and min(estimate.parts.values()) >= 0
    with pytest.raises(InputError, match="ranks"):
        cg.explain("factorization", ratings, session=pocl, ranks=3)
    with pytest.raises(InputError, match="rank"):
        cg.explain("connected_components", cg.generators.path(9), session=pocl, rank=3)


# ---- blocks


@pytest.mark.parametrize("n_groups", [1, 3, 7, 40])
def test_grids_of_any_size(session: Session, n_groups: int) -> None:
    """Also with more groups than users."""
    for name in ("dense", "one", "empty", "cross"):
        plan = check_replay(session, "block_grid", ZOO[name], n_groups=n_groups, barrier="launch")
        assert plan.setting.values == {"n_groups": n_groups}
        plan = check_replay(session, "block_grid", ZOO[name], n_groups=n_groups)
        assert ("control" in plan.arrays) == supersteps.has_grid_barrier(session.facts)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 32)])
def test_blocks_of_any_shape(pocl: Session, shape: tuple[int, int]) -> None:
    for name in ("dense", "one", "empty", "cross"):
        defines = check_replay(pocl, "block_diagonal", ZOO[name], shape=shape).setting.defines
        assert (defines["N_ROWS"], defines["N_COLUMNS"]) == shape


def alone(plan: FactorizationPlan) -> FactorizationPlan:
    """One work-group of the persistent kernel does the blocks of all: it waits for nobody but itself."""
    *first, sweep = plan.recipe.steps
    steps = (*first, dataclasses.replace(sweep, groups=1))
    return FactorizationPlan(plan.session, plan.problem, dataclasses.replace(plan.recipe, steps=steps))


def test_persistent_grid(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supersteps, "has_grid_barrier", lambda _: True)
    for name in ("skewed", "cross", "empty"):
        plan = check_replay(session, "block_grid", ZOO[name], barrier="grid", n_groups=5, change=alone)
    at = plan.program("factorization/block_grid.cl").constant("GRID_STATUS")
    plan.arrays["control"].fill(2, at, at + 1)
    with pytest.raises(DeviceTimeoutError):
        plan.check()


def test_the_seed_deals_the_parts(pocl: Session) -> None:
    wanted = problem_of(ZOO["513"])
    first, again, other = (sweep_order(plan_on(pocl, "block_grid", wanted, seed=seed))[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("strategy", BLOCKS)
def test_long_sweeps_are_waited_for(pocl: Session, strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches take about a slice of the ratings, and not many slices are in flight."""
    monkeypatch.setattr(plans, "_CPU_SLICE", 100)
    ratings = random_ratings(2000)
    options = {"n_groups": 10} if strategy == "block_grid" else {}
    plan = plan_on(pocl, strategy, problem_of(ratings), **options)
    waits: list[object] = []
    monkeypatch.setattr(Commands, "wait", lambda _session, event: waits.append(event))
    plan.sweep()
    monkeypatch.undo()
    assert 5 <= len(waits) <= 20
    assert_each_once(plan)


@pytest.mark.parametrize(
    ("strategies", "options", "message"),
    [
        (["block_grid"], {"n_groups": 0}, "n_groups = 0; allowed: 1 to"),
        (["block_grid"], {"n_groups": 5000}, "4096"),
        (["block_grid"], {"n_groups": 2.5}, "integer"),
        (["block_grid"], {"lanes": 2}, "lanes = 2; allowed: 1 to 1"),
        (["block_grid"], {"lanes": 0}, "lanes = 0"),
        (["block_grid"], {"barrier": "group"}, "'launch', 'grid'"),
        *((["block_diagonal"], {"shape": s}, "shape = ") for s in [(0, 4), (10**6, 4), 7, (1, 2, 3), ("a", "b"), ()]),
        (SUPERSTEPS, {"barrier": "fence"}, "barrier = 'fence'"),
        ([*SUPERSTEPS, "block_grid"], {"barrier": "grid"}, "has no device-wide barrier"),
        *((BY_ITEM, {"work_group_size": n}, "work_group_size = ") for n in [0, -1, 2.5, "a", 10**6]),
        (WALKS, {"per": "group"}, "per = 'group'"),
        *((WALKS, {"locks": n}, "locks = ") for n in [0, 2.5, "a"]),
    ],
)
def test_options_are_checked(pocl: Session, strategies: list[str], options: dict[str, object], message: str) -> None:
    error = UnsupportedStrategyError if options == {"barrier": "grid"} else InputError
    for strategy in strategies:
        with pytest.raises(error, match=message):
            plan_on(pocl, strategy, problem_of(ZOO["one"]), **options)


def test_lanes_that_local_memory_holds(pocl: Session) -> None:
    facts = dataclasses.replace(pocl.facts, sub_group_size=64, local_mem_bytes=32768)
    layout = row_layout(128, facts)
    assert _checked_lanes(2, layout, facts) == 2
    with pytest.raises(InputError, match=r"lanes = 1; .* 32768 bytes of local memory .* \[2, 4, 8, 16, 32\]"):
        _checked_lanes(1, layout, facts)


@pytest.mark.parametrize(
    ("vectors", "lanes", "chain"), [(1, 1, 2), (4, 2, 2), (8, 2, 2), (16, 4, 2), (18, 2, 1), (32, 4, 1), (64, 8, 1)]
)
def test_rows_fit_the_registers(vectors: int, lanes: int, chain: int) -> None:
    assert _default_lanes(vectors, 32) == lanes
    assert _chain(vectors // lanes) == chain
    assert _default_lanes(vectors, 1) == 1


@pytest.mark.parametrize("n_parts", [1, 2, 5, 30])
def test_parts_are_balanced(n_parts: int) -> None:
    """No part has more than its share by more than the heaviest vertex of those that are not placed one by one."""
    rng = np.random.default_rng(0)
    for degrees in (rng.zipf(1.5, 5000) % 4000, np.full(999, 3), np.zeros(50, int), np.array([7]), np.zeros(0, int)):
        parts = balanced_parts(degrees.astype(np.int64), n_parts, rng)
        assert parts.dtype == np.int32 and parts.shape == degrees.shape
        loads = np.bincount(parts, degrees, n_parts)
        assert loads.size == n_parts
        light = np.sort(degrees)[::-1][8 * n_parts :].max(initial=0)
        assert loads.max() <= max(degrees.max(initial=0), math.ceil(degrees.sum() / n_parts) + light)


def test_grid_groups(session: Session) -> None:
    most = 8 * session.facts.compute_units
    sizes = []
    for ratings in (*(ZOO[name] for name in ("no vertices", "one", "513")), random_ratings(2500), _many()):
        groups = grid_groups(ratings.stats, session.facts)
        assert 1 <= groups <= max(1, min(most, *ratings.shape))
        sizes.append(groups)
    assert sizes == sorted(sizes) and sizes[-1] > sizes[0]


def _many() -> Ratings:
    return some_ratings(*np.divmod(np.random.default_rng(0).choice(10**7, 300_000, replace=False), 2500))


# ---- wide sub-groups


def check_width_of_blocks(session: Session) -> None:
    width = session.facts.sub_group_size
    supersteps.has_grid_barrier = lambda _: True
    persistent = {"barrier": "grid", "change": alone, "n_groups": 3}
    # Rank 128 on one lane: the products of a run are made one at a time. Rank 4: as many ratings in a tile as lanes, so
    # that the fields of a rating are full.
    model = {8: (128, "float16"), 16: (16, "float32", True), 32: (5,), 64: (4, "float32", True)}[width]
    options = {"checked": width < 64, **({"lanes": 1} if width == 8 else {})}
    for name, ratings in {**ZOO, "long": LONG_RUNS, "small cross": cross(70)}.items():
        if name in ("one", "empty", "one item", "one user", "cross", "small cross", "skewed", "long"):
            check_replay(session, "block_grid", ratings, *model, n_groups=3, barrier="launch", **options)
            check_replay(session, "block_grid", ratings, *model, **persistent, **options)
            check_replay(session, "block_diagonal", ratings, *model, shape=(16, 8), checked=width < 64)
    if width < 64:  # no row is so long that 64 lanes can share it
        check_replay(session, "block_grid", ZOO["dense"], 128, biases=True, lanes=width, n_groups=3)
    for lanes in (3, 2 * width):
        with pytest.raises(InputError, match="lanes = "):
            plan_on(session, "block_grid", problem_of(ZOO["one"], 128), lanes=lanes)


# ---- offline


def matchings_of(
    session: Session, ratings: Ratings, seed: int = 0, few_rows: int | None = None, work_group_size: int | None = None
):
    """Return the matching of each rating, by one work-group, or with launches until *few_rows* items are left."""
    plan = FactorizationPlan(session, problem_of(ratings, 1, checked=False), Recipe(()))
    given = upload_ratings(session, ratings)
    sides = (given["items"], ratings.n_items), (given["users"], ratings.n_users)
    if few_rows is None:
        colours, n_matchings = find_matchings(plan, *sides, seed=seed)
        assert n_matchings == (colours.get().max() + 1 if ratings.n_ratings else 0)
        return colours.get()
    search = matchings._Search(plan, *sides, seed)
    search.run_many(few_rows)
    search.run_few(work_group_size)
    return search.colours.get()


# ---- matchings


def sequential_matchings(rows, columns, n_rows: int, seed: int):
    """The loop at the head of cl/factorization/matchings.cl."""
    lists = [np.flatnonzero(rows == row).tolist() for row in range(n_rows)]
    drawn = random_words(seed, n_rows).tolist()
    cursor = [word * len(edges) >> 32 for word, edges in zip(drawn, lists, strict=True)]
    by_rank = np.argsort([len(edges) for edges in lists], kind="stable")[::-1].tolist()
    colours, t = np.full(rows.size, -1), 0
    while any(lists):
        taken = set()
        for row in by_rank:
            edges = lists[row]
            for tried in range(len(edges)):
                at = (cursor[row] + tried) % len(edges)
                if columns[edges[at]] not in taken:
                    taken.add(columns[edges[at]])
                    colours[edges[at]] = t
                    edges[at] = edges[-1]
                    edges.pop()
                    cursor[row] = at % max(1, len(edges))
                    break
        t += 1
    return colours


@pytest.mark.parametrize("name", ZOO)
def test_matchings_are_maximal(session: Session, name: str) -> None:
    ratings = ZOO[name]
    colours = matchings_of(session, ratings)
    of_user, of_item = (
        [set(colours[ends == v].tolist()) for v in range(n)]
        for ends, n in ((ratings.users, ratings.n_users), (ratings.items, ratings.n_items))
    )
    for ends, sets in ((ratings.users, of_user), (ratings.items, of_item)):
        assert sum(map(len, sets)) == ends.size, "two edges of one vertex in a matching"
    for user, item, colour in zip(ratings.users, ratings.items, colours.tolist(), strict=True):
        assert set(range(colour)) <= of_user[user] | of_item[item], "an edge that an earlier matching has room for"


@pytest.mark.parametrize("name", ["one user", "one item", "dense", "513", "skewed"])
@pytest.mark.parametrize("seed", [0, 2**63 + 5])
def test_matchings_are_those_of_the_sequential_loop(session: Session, name: str, seed: int, monkeypatch) -> None:
    ratings = ZOO[name]
    sides = [(ratings.items, ratings.users, ratings.n_items), (ratings.users, ratings.items, ratings.n_users)]
    if np.diff(ratings.user_offsets).max() > np.diff(ratings.item_offsets).max():
        sides.reverse()
    expected = sequential_matchings(*sides[0], seed)
    np.testing.assert_array_equal(matchings_of(session, ratings, seed), expected)
    for name, turns in (("_CPU_TURNS", 50), ("_GROUP_TURNS", 50), ("_TURNS", 3)):  # the group stops inside rounds
        monkeypatch.setattr(matchings, name, turns)
    for few_rows, size in ((0, None), (5, 64), (1000, 64)):
        np.testing.assert_array_equal(matchings_of(session, ratings, seed, few_rows, size), expected)


def test_seeds_change_the_matchings(pocl: Session) -> None:
    first, again, other = (matchings_of(pocl, ZOO["skewed"], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


# ---- sweeps


@pytest.mark.parametrize("strategy", OFFLINE)
@pytest.mark.parametrize("name", ZOO)
def test_sweeps_without_conflicts(session: Session, strategy, name: str) -> None:
    check_replay(session, strategy, ZOO[name], **({"shape": (16, 32)} if strategy == "block_diagonal" else {}))


@pytest.mark.parametrize("strategy", SUPERSTEPS)
def test_small_ranges(session: Session, strategy, monkeypatch) -> None:
    """Launches that end inside blocks and between small supersteps, and supersteps with a launch each."""
    for module, name, value in (
        (supersteps, "_CPU_TURNS", 100), (supersteps, "_TURNS", 20), (supersteps, "CPU_TAIL_RATINGS", 3),
        (supersteps, "_TAIL_TURNS", 0),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    plan = check_replay(session, strategy, ZOO["skewed"])
    assert plan.used[0].ranges.size > 3


@pytest.mark.parametrize(
    "model",
    [
        (1, "float32", True),
        (16,),
        (16, "float16", True),
        (20, "float32", True),
        (64, "float16"),
        (128, "float16", True),
    ],
    ids=lambda model: "-".join(map(str, model)),
)
@pytest.mark.parametrize("strategy", ["matching_edge", "subgraph_matching", *BLOCKS])
def test_models_offline(session: Session, strategy, model) -> None:
    check_replay(session, strategy, ZOO["512"], *model, checked=False)


@pytest.fixture
def one_group_grid(monkeypatch) -> None:
    """The persistent kernels as a single work-group, which waits for nobody: that much runs on any device."""
    monkeypatch.setattr(supersteps, "has_grid_barrier", lambda facts: True)
    monkeypatch.setattr(supersteps, "GROUPS_PER_UNIT", 0)


@pytest.mark.parametrize("strategy", BY_RATING)
@pytest.mark.usefixtures("one_group_grid")
def test_persistent_supersteps(session: Session, strategy, monkeypatch) -> None:
    plan = check_replay(session, strategy, ZOO["skewed"])
    assert plan.used[0].barrier == "grid"
    assert plan.used[0].segments.size > 1
    monkeypatch.setattr(supersteps, "_CPU_TURNS", 20)
    monkeypatch.setattr(supersteps, "_TURNS", 5)
    assert check_replay(session, strategy, ZOO["dense"], barrier="grid").used[0].ranges.size > 2


@pytest.mark.parametrize("strategy", BY_ITEM)
@pytest.mark.parametrize("barrier", ["group", "grid"])
@pytest.mark.usefixtures("one_group_grid")
def test_item_blocks(session: Session, strategy, barrier: str, monkeypatch) -> None:
    """Blocks of several items; under "grid" one group stands in for the others."""
    monkeypatch.setattr(supersteps, "GROUPS_PER_UNIT", 2)

    def alone(plan) -> None:
        plan.used[0].persistent.n_groups = 1

    size = max(8, session.facts.sub_group_size)
    plan = check_replay(session, strategy, ZOO["513"], barrier=barrier, work_group_size=size, change=alone)
    assert plan.used[0].offsets.size - 1 < ZOO["513"].n_ratings
    for name in ("_CPU_TURNS", "_TURNS"):
        monkeypatch.setattr(supersteps, name, 9)
    check_replay(session, strategy, ZOO["skewed"], barrier=barrier, work_group_size=size, change=alone)


def test_subgraph_matching_takes_fewer_steps(pocl: Session) -> None:
    """Blocks of rare items need not step through the matchings of the popular ones."""
    ratings = ZOO["skewed"]
    by_node, by_block = (
        sweep_order(plan_on(pocl, strategy, problem_of(ratings), work_group_size=16))[1].size for strategy in BY_ITEM
    )
    assert by_block < by_node


@pytest.mark.parametrize("strategy", SUPERSTEPS)
def test_a_plan_runs_again_after_a_time_out(pocl: Session, strategy) -> None:
    plan = plan_on(pocl, strategy, problem_of(ZOO["one"], 1))
    plan.arrays["status"].fill(2)
    with pytest.raises(DeviceTimeoutError):
        plan.check()
    plan.sweep()
    plan.check()
    assert_each_once(plan)


def check_width_of_supersteps(session: Session) -> None:
    is_slow = session.facts.sub_group_size == 64  # the compiler, with wide sub-groups
    for strategy in BY_RATING if is_slow else SUPERSTEPS:
        check_replay(session, strategy, ZOO["skewed"], 16 if strategy in BY_RATING else 128, checked=False)
    if not is_slow:
        with pytest.raises(InputError, match="work_group_size = 12; needed: a multiple of"):
            plan_on(session, "matching_node", problem_of(ZOO["one"], 1), work_group_size=12)
    expected = matchings_of(session, ZOO["skewed"])
    np.testing.assert_array_equal(matchings_of(session, ZOO["skewed"], few_rows=9), expected)


# ---- online


MODELS = [(1, "float32", False), (5, "float16", True), (16, "float32", True), (20, "float32", False),
          (64, "float16", False), (128, "float32", True)]  # fmt: skip


@pytest.mark.parametrize("strategy", ONLINE)
@pytest.mark.parametrize("name", ZOO)
def test_each_rating_once(session: Session, strategy, name: str) -> None:
    for shuffle in (True, False):
        check_sweeps(session, strategy, ZOO[name], 16, shuffle=shuffle)


@pytest.mark.parametrize("strategy", ONLINE)
@pytest.mark.parametrize(("rank", "storage", "biases"), MODELS)
def test_models(session: Session, strategy, rank: int, storage: str, biases: bool) -> None:
    check_sweeps(session, strategy, random_ratings(700), rank, storage, biases)


@pytest.mark.parametrize("strategy", ONLINE)
@pytest.mark.parametrize(("rank", "storage", "biases"), MODELS[1:4:2])
def test_order_that_does_not_matter(session: Session, strategy, rank: int, storage: str, biases: bool) -> None:
    """A permuted diagonal: the steps share nothing, so any order gives the sequential answer."""
    ratings = some_ratings(np.arange(300), np.random.default_rng(3).permutation(300))
    plan = plan_on(session, strategy, problem_of(ratings, rank, storage, biases, checked=False))
    expected = plan.model.get()
    for _ in range(2):
        plan.sweep()
        expected = sgd_sweep(
            ratings, expected, range(300), learning_rate=RATE, regularization=REGULARIZATION, mean=MEAN
        )
    for got, wanted in zip(plan.model.get(), expected, strict=True):
        if wanted is not None:
            np.testing.assert_allclose(got, wanted, atol=4e-6 if storage == "float32" else 4e-3)


@pytest.mark.parametrize("strategy", LOCKING)
def test_steps_on_one_item_follow_each_other(session: Session, strategy) -> None:
    """Biases count the steps: with a huge value and a tiny rate, each adds 1 to those of both vertices."""
    for ratings in (ZOO["one item"], ZOO["one user"], ZOO["cross"], ZOO["dense"]):
        huge = Ratings(ratings.users, ratings.items, np.full(ratings.n_ratings, 2.0**40), *ratings.shape)
        plan = plan_on(session, strategy, FactorizationProblem(huge, 4, biases=True, mean=0.0))
        plan.model.set(Factors(*(np.zeros((n, 4), np.float32) for n in huge.shape)))
        plan.model.set_hyper(2.0**-40, 0.0)
        plan.sweep()
        _, _, user_biases, item_biases = plan.model.get()
        np.testing.assert_array_equal(user_biases, np.bincount(huge.users, minlength=huge.n_users))
        np.testing.assert_array_equal(item_biases, np.bincount(huge.items, minlength=huge.n_items))


@cache
def planted() -> tuple[Ratings, Factors]:
    """Products of factors, with noise, and factors to start from."""
    rng = np.random.default_rng(5)
    n_users, n_items, rank = 1500, 1000, 8
    cells = rng.choice(n_users * n_items, 100_000, replace=False)
    users, items = cells // n_items, cells % n_items
    truth = [rng.normal(scale=rank**-0.25, size=(n, rank)) for n in (n_users, n_items)]
    values = np.einsum("ij,ij->i", truth[0][users], truth[1][items]) + 0.1 * rng.normal(size=users.size)
    ratings = Ratings.from_triples(users, items, values.astype(np.float32))
    return ratings, random_factors(ratings, rank)


@cache
def sequential_rmse() -> float:
    """Ten sequential sweeps in a random order; ratings in a row that share nothing are one step of numpy."""
    ratings, (p, q, *_) = planted()
    p, q = p.copy(), q.copy()
    order = np.random.default_rng(6).permutation(ratings.n_ratings)
    cuts, seen = [0], set()
    for k, pair in enumerate(zip(ratings.users[order].tolist(), (-1 - ratings.items[order]).tolist(), strict=True)):
        if not seen.isdisjoint(pair):
            cuts.append(k)
            seen.clear()
        seen.update(pair)
    for run in 10 * np.split(order, cuts[1:]):
        users, items = ratings.users[run], ratings.items[run]
        rows, columns = p[users], q[items]
        error = (ratings.values[run] - np.einsum("ij,ij->i", rows, columns))[:, None]
        p[users] += RATE * (error * columns - REGULARIZATION * rows)
        q[items] += RATE * (error * rows - REGULARIZATION * columns)
    return rmse(ratings, (p, q), 0.0)


@pytest.mark.parametrize("strategy", ONLINE)
def test_training(session: Session, strategy) -> None:
    """Ten sweeps over 10⁵ ratings come as near to them as ten sequential ones.

    But for Hogwild on GPUs, which have a sweep of so few ratings in flight at once: most steps are lost (on an H200
    the error went from 1.040 to 1.027).
    """
    ratings, start = planted()
    plan = plan_on(session, strategy, FactorizationProblem(ratings, start[0].shape[1], mean=0.0))
    plan.model.set(start)
    for _ in range(10):
        plan.sweep()
    before, after = rmse(ratings, start, 0.0), rmse(ratings, plan.model.get(), 0.0)
    if strategy == "hogwild" and not session.facts.is_cpu:
        assert after < before
    else:
        assert after == pytest.approx(sequential_rmse(), rel=0.06) and after < 0.7 * before


@pytest.mark.parametrize("strategy", ["node_locked", "hybrid_locked"])
@pytest.mark.parametrize("per", ["work_item", "sub_group"])
def test_options(session: Session, strategy, per: str) -> None:
    for locks in (None, 1, 3):
        check_sweeps(session, strategy, random_ratings(600), 12, per=per, locks=locks)


@pytest.mark.parametrize("strategy", ONLINE)
def test_slices(pocl: Session, strategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long sweeps are several launches."""
    monkeypatch.setattr(plans, "_CPU_SLICE", 100)
    check_sweeps(pocl, strategy, random_ratings(999), 8)


def test_order_is_drawn_from_the_seed(session: Session) -> None:
    ratings = random_ratings(500)
    orders = [plan_on(session, "edge_locked", problem_of(ratings), seed=seed) for seed in (1, 1, 2)]
    users = [plan.scope["users"].get() for plan in orders]
    np.testing.assert_array_equal(users[0], users[1])
    assert (users[0] != users[2]).any() and (users[0] != ratings.users).any()
    np.testing.assert_array_equal(np.sort(users[2]), ratings.users)


@pytest.mark.parametrize("strategy", LOCKING)
def test_lock_that_stays_is_a_timeout(pocl: Session, strategy) -> None:
    """A lock that nobody drops: the passes end with an error, and the plan can run again."""
    ratings = random_ratings(400)
    plan = plan_on(pocl, strategy, problem_of(ratings))
    plan.arrays["user_locks"].fill(1, 0, 1)
    with pytest.raises(DeviceTimeoutError, match="left"):
        plan.sweep()
    plan.arrays["user_locks"].fill(0)
    plan.model.take_checks()
    plan.sweep()
    assert_each_once(plan)


def check_width_of_locks(session: Session) -> None:
    model = dict(zip((8, 16, 32, 64), MODELS[1:5], strict=True))[session.facts.sub_group_size]
    for strategy in ONLINE:
        for name in ("512", "cross", "dense", "one"):
            check_sweeps(session, strategy, ZOO[name], *model)
    check_sweeps(session, "node_locked", ZOO["dense"], *model, per="work_item", locks=2)
    test_order_that_does_not_matter(session, "node_locked", *model)


@pytest.mark.parametrize(("width", "part"), [
    *((width, part) for width in (8, 64) for part in ("blocks", "supersteps")),
    *(pytest.param(width, part, marks=pytest.mark.slow) for width in (16, 32) for part in ("blocks", "supersteps")),
    *((width, "locks") for width in (8, 16, 32, 64)),
])  # fmt: skip
def test_sub_group_widths(width: int, part: str) -> None:
    run_at_width(width, f"import test_factorization; test_factorization.check_width_of_{part}(s)")
