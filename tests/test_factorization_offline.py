"""Offline strategies of factorisation: matchings, and sweeps in supersteps without conflicts."""
from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from conftest import ROOT, session_on

from clgraph.algorithms.factorization import item_block, matchings, supersteps
from clgraph.algorithms.factorization.diagonal import Diagonal
from clgraph.algorithms.factorization.factors import DeviceModel, DeviceRatings, Factors
from clgraph.algorithms.factorization.matching_edge import MatchingEdge
from clgraph.algorithms.factorization.matching_node import MatchingNode
from clgraph.algorithms.factorization.matchings import find_matchings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.subgraph_matching import SubgraphMatching
from clgraph.errors import DeviceTimeoutError, InputError, UnsupportedStrategyError
from clgraph.ratings import Ratings
from clgraph.runtime.session import Session

BY_RATING, BY_ITEM = (MatchingEdge, Diagonal), (MatchingNode, SubgraphMatching)
STRATEGIES = (*BY_RATING, *BY_ITEM)
RATE, REGULARIZATION = 0.05, 0.1


def some_ratings(users, items, n_users: int | None = None, n_items: int | None = None) -> Ratings:
    values = np.random.default_rng(8).normal(1, 1, len(users)).astype(np.float32)
    return Ratings.from_triples(users, items, values, n_users=n_users, n_items=n_items)


def random_ratings(n: int, n_users: int, n_items: int, skew: float = 1.0, seed: int = 1) -> Ratings:
    """Draw *n* distinct pairs; with a larger *skew* fewer vertices have most of them."""
    rng = np.random.default_rng(seed)
    weights = np.outer(*(np.arange(1, m + 1) ** -skew for m in (n_users, n_items))).ravel()
    pairs = rng.choice(weights.size, n, replace=False, p=weights / weights.sum())
    return some_ratings(pairs // n_items, pairs % n_items, n_users, n_items)


ZOO = {
    "no vertices": some_ratings([], [], 0, 0),
    "empty": some_ratings([], [], 3, 4),
    "one": some_ratings([1], [2], 3, 4),
    "one user": some_ratings(np.zeros(511, int), np.arange(511)),
    "one item": some_ratings(np.arange(513), np.zeros(513, int), n_items=2),
    "diagonal": some_ratings(np.arange(512), np.arange(512)),
    "dense": some_ratings(*np.divmod(np.arange(20 * 30), 30)),
    "511": random_ratings(511, 100, 40),
    "512": random_ratings(512, 40, 100, 0.0),
    "513": random_ratings(513, 300, 300),
    "skewed": random_ratings(1500, 60, 900),
}


def random_factors(ratings: Ratings, rank: int, *, biases: bool = False) -> Factors:
    rng = np.random.default_rng(5)
    sizes = ratings.n_users, ratings.n_items
    rows = (rng.normal(0, 0.3, (n, rank)).astype(np.float32) for n in sizes)
    return Factors(*rows, *((rng.normal(0, 0.3, n).astype(np.float32) for n in sizes) if biases else ()))


def replay(ratings: Ratings, factors: Factors, order, offsets, mean: float) -> Factors:
    """One sweep, superstep by superstep, with numpy."""
    users, items, values = (a[order] for a in (ratings.users, ratings.items, ratings.values))
    p, q = factors.user_factors.copy(), factors.item_factors.copy()
    has_biases = factors.user_biases is not None
    biases = [b.copy() for b in factors[2:] if b is not None]
    decay = np.float32(1 - RATE * REGULARIZATION)
    for begin, end in pairwise(offsets.tolist()):
        u, i = users[begin:end], items[begin:end]
        known = mean + (biases[0][u] + biases[1][i] if has_biases else 0)
        step = np.float32(RATE) * (values[begin:end] - known - np.einsum("ij,ij->i", p[u], q[i]))
        p[u], q[i] = decay * p[u] + step[:, None] * q[i], decay * q[i] + step[:, None] * p[u]
        if has_biases:
            biases[0][u], biases[1][i] = decay * biases[0][u] + step, decay * biases[1][i] + step
    return Factors(p, q, *(biases if has_biases else ()))


def assert_conflict_free(ratings: Ratings, order, offsets) -> None:
    assert np.array_equal(np.sort(order), np.arange(ratings.n_ratings))
    assert offsets[0] == 0 and offsets[-1] == ratings.n_ratings and (np.diff(offsets) > 0).all()
    step = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    for ends in (ratings.users, ratings.items):
        assert np.unique(np.stack((step, ends[order])), axis=1).shape[1] == ratings.n_ratings


def check(
    session: Session, strategy, ratings: Ratings, rank: int = 5, *, change=None, model=None, tolerance=1e-5, **options
):
    """Sweep twice: every rating once, no conflicts, the factors of the replay; once more: the same bits."""
    model = {"checked": True, "mean": 0.5, **(model or {})}
    on_device = DeviceModel(session, ratings.n_users, ratings.n_items, rank, **model)
    on_device.set_hyper(RATE, REGULARIZATION)
    plan = strategy(session, ratings, on_device, **options)
    if change:
        change(plan)
    order, offsets = plan.supersteps()
    assert_conflict_free(ratings, order, offsets)
    start = random_factors(ratings, rank, biases=on_device.biases)
    expected, results = start, []
    for _ in range(2):
        expected = replay(ratings, expected, order, offsets, model["mean"])
    for _ in range(2):
        on_device.set(start)
        for _ in range(2):
            plan.run()
        results.append(on_device.get())
        plan.check()
        if model["checked"]:
            counts, conflicts = on_device.take_checks()
            assert conflicts == 0
            assert counts.sum() == 2 * ratings.n_ratings
            assert (counts[ratings.users, ratings.items] == 2).all()
    for found, again, wanted in zip(*results, expected, strict=True):
        if wanted is not None:
            np.testing.assert_array_equal(found, again)
            np.testing.assert_allclose(found, wanted, rtol=10 * tolerance, atol=tolerance)
    return plan


def matchings_of(
    session: Session, ratings: Ratings, seed: int = 0, few_rows: int | None = None, work_group_size: int | None = None
):
    """Return the matching of each rating, by one work-group, or with launches until *few_rows* items are left."""
    plan = FactorizationPlan(session, ratings, DeviceModel(session, ratings.n_users, ratings.n_items, 1))
    given = DeviceRatings.upload(session, ratings)
    sides = (given.items, ratings.n_items), (given.users, ratings.n_users)
    if few_rows is None:
        found = find_matchings(plan, *sides, seed=seed)
        assert found.n_matchings == (found.colours.get().max() + 1 if ratings.n_ratings else 0)
        return found.colours.get()
    search = matchings._Search(plan, *sides, seed)
    search.run_many(few_rows)
    search.run_few(work_group_size)
    return search.colours.get()


# ---- matchings

def squares32(key: int, counter: int) -> int:
    """cl/common/random.h: random_uint."""
    mask = 2**64 - 1
    y = x = counter * key & mask
    z = (y + key) & mask
    for add in (y, z, y):
        x = (x * x + add) & mask
        x = (x >> 32 | x << 32) & mask
    return (x * x + z & mask) >> 32


def random_key(seed: int) -> int:
    x = (seed + 0x9E3779B97F4A7C15) % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = (x ^ x >> 33) * factor % 2**64
    return (x ^ x >> 33) | 1


def sequential_matchings(rows, columns, n_rows: int, seed: int):
    """The loop at the head of cl/factorization/matchings.cl."""
    lists = [np.flatnonzero(rows == row).tolist() for row in range(n_rows)]
    cursor = [squares32(random_key(seed), row) * len(edges) >> 32 for row, edges in enumerate(lists)]
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
    of_user, of_item = ([set(colours[ends == v].tolist()) for v in range(n)] for ends, n in (
        (ratings.users, ratings.n_users), (ratings.items, ratings.n_items)))
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
    monkeypatch.setattr(matchings, "_CPU_TURNS", 50)  # the group stops inside rounds and goes on
    monkeypatch.setattr(matchings, "_TURNS", 3)
    for few_rows, size in ((0, None), (5, 64), (1000, 64)):
        np.testing.assert_array_equal(matchings_of(session, ratings, seed, few_rows, size), expected)


def test_seeds_change_the_matchings(pocl: Session) -> None:
    first, again, other = (matchings_of(pocl, ZOO["skewed"], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


# ---- sweeps

@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", ZOO)
def test_sweeps_without_conflicts(session: Session, strategy, name: str) -> None:
    check(session, strategy, ZOO[name])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_small_ranges(session: Session, strategy, monkeypatch) -> None:
    """Launches that end inside blocks and between small supersteps, and supersteps with a launch each."""
    monkeypatch.setattr(supersteps, "_CPU_TURNS", 100)
    monkeypatch.setattr(supersteps, "_CPU_TAIL", 3)
    plan = check(session, strategy, ZOO["skewed"])
    assert plan._ranges.size > 3


MODELS = {
    "1": (1, {}), "16": (16, {}), "20 float16": (20, {"storage": "float16"}), "5 biases": (5, {"biases": True}),
    "128 float16 biases": (128, {"storage": "float16", "biases": True}),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("strategy", [MatchingEdge, SubgraphMatching])
def test_models(session: Session, strategy, name: str) -> None:
    rank, options = MODELS[name]
    tolerance = 5e-3 if "storage" in options else 1e-5
    check(session, strategy, ZOO["512"], rank, model={"checked": False, **options}, tolerance=tolerance)


@pytest.fixture
def one_group_grid(monkeypatch) -> None:
    """The persistent kernels as a single work-group, which waits for nobody: that much runs on any device."""
    monkeypatch.setattr(supersteps, "has_grid_barrier", lambda session: True)
    monkeypatch.setattr(supersteps, "GROUPS_PER_UNIT", 0)


@pytest.mark.parametrize("strategy", BY_RATING)
@pytest.mark.usefixtures("one_group_grid")
def test_persistent_supersteps(session: Session, strategy, monkeypatch) -> None:
    plan = check(session, strategy, ZOO["skewed"])
    assert plan.barrier == "grid"
    assert plan._segments.size > 1
    monkeypatch.setattr(supersteps, "_CPU_TURNS", 20)
    assert check(session, strategy, ZOO["dense"], barrier="grid")._ranges.size > 2


@pytest.mark.parametrize("strategy", BY_ITEM)
@pytest.mark.parametrize("barrier", ["group", "grid"])
@pytest.mark.usefixtures("one_group_grid")
def test_item_blocks(session: Session, strategy, barrier: str, monkeypatch) -> None:
    """Blocks of several items; under "grid" one group stands in for the others."""
    monkeypatch.setattr(item_block, "GROUPS_PER_UNIT", 2)

    def alone(plan) -> None:
        plan._persistent.n_groups = 1

    plan = check(session, strategy, ZOO["513"], barrier=barrier, work_group_size=8, change=alone)
    assert plan._offsets.size - 1 < ZOO["513"].n_ratings
    monkeypatch.setattr(supersteps, "_CPU_TURNS", 9)
    check(session, strategy, ZOO["skewed"], barrier=barrier, work_group_size=8, change=alone)


def test_subgraph_matching_takes_fewer_steps(pocl: Session) -> None:
    """Blocks of rare items need not step through the matchings of the popular ones."""
    ratings = ZOO["skewed"]
    model = DeviceModel(pocl, ratings.n_users, ratings.n_items, 5)
    by_node, by_block = (s(pocl, ratings, model, work_group_size=16).supersteps()[1].size for s in BY_ITEM)
    assert by_block < by_node


def test_options_are_checked(pocl: Session) -> None:
    model = DeviceModel(pocl, 3, 4, 1)
    for strategy in STRATEGIES:
        with pytest.raises(InputError, match="barrier='fence'"):
            strategy(pocl, ZOO["one"], model, barrier="fence")
        with pytest.raises(UnsupportedStrategyError, match="has no device-wide barrier"):
            strategy(pocl, ZOO["one"], model, barrier="grid")


def test_time_out_is_raised(pocl: Session) -> None:
    plan = MatchingEdge(pocl, ZOO["one"], DeviceModel(pocl, 3, 4, 1))
    plan._status.fill(2)
    with pytest.raises(DeviceTimeoutError):
        plan.check()


def check_width(width: int) -> None:
    """What test_sub_group_widths runs in a child."""
    session = session_on("intel")
    assert session.facts.sub_group_size == width
    for strategy in STRATEGIES if width < 64 else BY_RATING:  # the compiler is slow for wide sub-groups
        check(session, strategy, ZOO["skewed"], 16 if strategy in BY_RATING else 128, model={"checked": False})
    expected = matchings_of(session, ZOO["skewed"])
    np.testing.assert_array_equal(matchings_of(session, ZOO["skewed"], few_rows=9), expected)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_sub_group_widths(width: int) -> None:
    """Intel's runtime can be told the width; in a child, since programs are built for one."""
    session_on("intel")
    script = f"import conftest, test_factorization_offline as test; test.check_width({width})"
    environment = {**os.environ, "CLGRAPH_INTEL_SUB_GROUP": str(width), "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
