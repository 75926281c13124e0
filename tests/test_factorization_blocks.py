"""Blocks of ratings: grids and diagonals of any shape and seed, balanced parts, options."""

import dataclasses
import math

import numpy as np
import pytest
from factorization_checks import (
    BLOCKS,
    BY_ITEM,
    SUPERSTEPS,
    ZOO,
    assert_each_once,
    check_replay,
    cross,
    plan_on,
    problem_of,
    random_ratings,
    random_weights,
    some_ratings,
    sweep_order,
)

from clgraph.algorithms.factorization import plan as plans
from clgraph.algorithms.factorization.factors import row_layout
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.schedules import supersteps
from clgraph.algorithms.factorization.schedules.block_grid import (
    _chain,
    _checked_lanes,
    _default_lanes,
    balanced_parts,
    grid_groups,
)
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import DeviceTimeoutError, InputError, UnsupportedStrategyError
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.session import Session

WALKS = ["node_locked", "hybrid_locked"]


# Runs of an item longer than a tile, users of one tile again in the next one.
LONG_RUNS = some_ratings(*np.divmod(np.arange(150 * 6), 6), n_users=160)


@pytest.mark.parametrize("n_groups", [1, 3, 7, 40])
def test_grids_of_any_size_are_swept(session: Session, n_groups: int) -> None:
    """There may be more groups than users."""
    for name in ("dense", "one", "empty", "cross"):
        plan = check_replay(session, "block_grid", ZOO[name], n_groups=n_groups, barrier="launch")
        assert plan.setting.values == {"n_groups": n_groups}
        plan = check_replay(session, "block_grid", ZOO[name], n_groups=n_groups)
        assert ("control" in plan.arrays) == supersteps.has_grid_barrier(session.facts)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 32)])
def test_blocks_of_any_shape_are_swept(pocl: Session, shape: tuple[int, int]) -> None:
    for name in ("dense", "one", "empty", "cross"):
        defines = check_replay(pocl, "block_diagonal", ZOO[name], shape=shape).setting.defines
        assert (defines["N_ROWS"], defines["N_COLUMNS"]) == shape


def alone(plan: FactorizationPlan) -> FactorizationPlan:
    """Let one work-group of the persistent kernel do all blocks, so that it waits for itself alone."""
    *first, sweep = plan.recipe.steps
    steps = (*first, dataclasses.replace(sweep, groups=1))
    return FactorizationPlan(plan.session, plan.problem, dataclasses.replace(plan.recipe, steps=steps))


def test_a_persistent_grid_is_swept(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_wrong_options_are_refused(
    pocl: Session, strategies: list[str], options: dict[str, object], message: str
) -> None:
    error = UnsupportedStrategyError if options == {"barrier": "grid"} else InputError
    for strategy in strategies:
        with pytest.raises(error, match=message):
            plan_on(pocl, strategy, problem_of(ZOO["one"]), **options)


def test_lanes_are_as_many_as_local_memory_holds(pocl: Session) -> None:
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
    """No part exceeds its share by more than the heaviest vertex that is not placed alone."""
    rng = np.random.default_rng(0)
    for degrees in (rng.zipf(1.5, 5000) % 4000, np.full(999, 3), np.zeros(50, int), np.array([7]), np.zeros(0, int)):
        parts = balanced_parts(degrees.astype(np.int64), n_parts, rng)
        assert parts.dtype == np.int32 and parts.shape == degrees.shape
        loads = np.bincount(parts, degrees, n_parts)
        assert loads.size == n_parts
        light = np.sort(degrees)[::-1][8 * n_parts :].max(initial=0)
        assert loads.max() <= max(degrees.max(initial=0), math.ceil(degrees.sum() / n_parts) + light)


def test_groups_of_a_grid_grow_with_the_ratings(session: Session) -> None:
    most = 8 * session.facts.compute_units
    sizes = []
    for ratings in (*(ZOO[name] for name in ("no vertices", "one", "513")), random_ratings(2500), _many()):
        groups = grid_groups(ratings.stats, session.facts)
        assert 1 <= groups <= max(1, min(most, *ratings.shape))
        sizes.append(groups)
    assert sizes == sorted(sizes) and sizes[-1] > sizes[0]


def _many() -> Ratings:
    return some_ratings(*np.divmod(np.random.default_rng(0).choice(10**7, 300_000, replace=False), 2500))


def check_width(session: Session) -> None:
    width = session.facts.sub_group_size
    supersteps.has_grid_barrier = lambda _: True
    persistent = {"barrier": "grid", "change": alone, "n_groups": 3}
    # Rank 128 on one lane: the products of a run are made one at a time. Rank 4 on 64 lanes: a tile has 64 ratings, so
    # the bit fields of a rating reach their greatest values.
    model = {8: (128, "float16"), 16: (16, "float32", True), 32: (5,), 64: (4, "float32", True)}[width]
    options = {"checked": width < 64, **({"lanes": 1} if width == 8 else {})}
    for name, ratings in {**ZOO, "long": LONG_RUNS, "small cross": cross(70)}.items():
        if name in ("one", "empty", "one item", "one user", "cross", "small cross", "skewed", "long"):
            check_replay(session, "block_grid", ratings, *model, n_groups=3, barrier="launch", **options)
            check_replay(session, "block_grid", ratings, *model, **persistent, **options)
            check_replay(session, "block_diagonal", ratings, *model, shape=(16, 8), checked=width < 64)
    weights = random_weights(LONG_RUNS)
    check_replay(session, "block_grid", LONG_RUNS, *model, n_groups=3, barrier="launch", weights=weights, **options)
    if width < 64:  # no row is so long that 64 lanes can share it
        check_replay(session, "block_grid", ZOO["dense"], 128, biases=True, lanes=width, n_groups=3)
    for lanes in (3, 2 * width):
        with pytest.raises(InputError, match="lanes = "):
            plan_on(session, "block_grid", problem_of(ZOO["one"], 128), lanes=lanes)
