"""Supersteps of ratings: matchings as of the sequential loop, and sweeps without conflicts."""

import numpy as np
import pytest
from factorization_checks import (
    BLOCKS,
    BY_ITEM,
    BY_RATING,
    OFFLINE,
    SUPERSTEPS,
    ZOO,
    assert_each_once,
    check_replay,
    plan_on,
    problem_of,
    sweep_order,
)
from test_vocabulary import random_words

from clgraph.algorithms.factorization.factors import upload_ratings
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.algorithms.factorization.schedules import matchings, supersteps
from clgraph.algorithms.factorization.schedules.matchings import find_matchings
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import DeviceTimeoutError, InputError
from clgraph.model.recipe import Recipe
from clgraph.runtime.session import Session


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


@pytest.mark.parametrize("strategy", OFFLINE)
@pytest.mark.parametrize("name", ZOO)
def test_sweeps_have_no_conflicts(session: Session, strategy, name: str) -> None:
    check_replay(session, strategy, ZOO[name], **({"shape": (16, 32)} if strategy == "block_diagonal" else {}))


@pytest.mark.parametrize("strategy", SUPERSTEPS)
def test_small_ranges_are_swept(session: Session, strategy, monkeypatch) -> None:
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
def test_every_model_is_trained_offline(session: Session, strategy, model) -> None:
    check_replay(session, strategy, ZOO["512"], *model, checked=False)


@pytest.fixture
def one_group_grid(monkeypatch) -> None:
    """Run the persistent kernels as a single work-group. It waits for no other, so it runs on any device."""
    monkeypatch.setattr(supersteps, "has_grid_barrier", lambda facts: True)
    monkeypatch.setattr(supersteps, "GROUPS_PER_UNIT", 0)


@pytest.mark.parametrize("strategy", BY_RATING)
@pytest.mark.usefixtures("one_group_grid")
def test_persistent_supersteps_are_swept(session: Session, strategy, monkeypatch) -> None:
    plan = check_replay(session, strategy, ZOO["skewed"])
    assert plan.used[0].barrier == "grid"
    assert plan.used[0].segments.size > 1
    monkeypatch.setattr(supersteps, "_CPU_TURNS", 20)
    monkeypatch.setattr(supersteps, "_TURNS", 5)
    assert check_replay(session, strategy, ZOO["dense"], barrier="grid").used[0].ranges.size > 2


@pytest.mark.parametrize("strategy", BY_ITEM)
@pytest.mark.parametrize("barrier", ["group", "grid"])
@pytest.mark.usefixtures("one_group_grid")
def test_blocks_of_several_items_are_swept(session: Session, strategy, barrier: str, monkeypatch) -> None:
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


def check_width(session: Session) -> None:
    is_slow = session.facts.sub_group_size == 64  # the compiler, with wide sub-groups
    for strategy in BY_RATING if is_slow else SUPERSTEPS:
        check_replay(session, strategy, ZOO["skewed"], 16 if strategy in BY_RATING else 128, checked=False)
    if not is_slow:
        with pytest.raises(InputError, match="work_group_size = 12; needed: a multiple of"):
            plan_on(session, "matching_node", problem_of(ZOO["one"], 1), work_group_size=12)
    expected = matchings_of(session, ZOO["skewed"])
    np.testing.assert_array_equal(matchings_of(session, ZOO["skewed"], few_rows=9), expected)
