"""Ratings that are hard to factorise, and checks of one plan against steps one after the other."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from oracles import check_supersteps

from clgraph.algorithms.factorization import STRATEGIES, FactorizationProblem
from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.plan import FactorizationPlan
from clgraph.data.ratings.ratings import Ratings
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
    """One item with ratings of all users, and one user with ratings of all items."""
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


def random_weights(ratings: Ratings) -> NDArray[np.float32]:
    """Draw a weight for each rating. A quarter of the weights are 0."""
    rng = np.random.default_rng(6)
    return (rng.uniform(0.2, 2, ratings.n_ratings) * (rng.random(ratings.n_ratings) > 0.25)).astype(np.float32)


def problem_of(
    ratings: Ratings, rank: int = 5, storage="float32", biases=False, *, checked: bool = True, weights=None
) -> FactorizationProblem:
    return FactorizationProblem(ratings, rank, 1, storage, biases, MEAN, checked=checked, weights=weights)


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
    session: Session, strategy: str, ratings: Ratings, rank: int, storage="float32", biases=False, *, weights=None,
    **options,
):  # fmt: skip
    """Make two sweeps: each rating once in each of them, and no conflict if the strategy locks."""
    plan = plan_on(session, strategy, problem_of(ratings, rank, storage, biases, weights=weights), **options)
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


def replay(ratings: Ratings, factors: Factors, order, offsets, weights=None) -> Factors:
    """One sweep, superstep by superstep, with numpy."""
    users, items, values = (a[order] for a in (ratings.users, ratings.items, ratings.values))
    rates = np.full(order.size, RATE, np.float32) if weights is None else np.float32(RATE) * weights[order]
    p, q = factors.user_factors.copy(), factors.item_factors.copy()
    biases = [b.copy() for b in factors[2:] if b is not None]
    decay = np.float32(1 - RATE * REGULARIZATION)
    for begin, end in pairwise(offsets.tolist()):
        u, i = users[begin:end], items[begin:end]
        known = MEAN + (biases[0][u] + biases[1][i] if biases else 0)
        step = rates[begin:end] * (values[begin:end] - known - np.einsum("ij,ij->i", p[u], q[i]))
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
    weights: NDArray[np.float32] | None = None,
    change: Callable[[Any], Any] | None = None,
    **options,
):
    """Sweep twice: every rating once, no conflicts, the factors of the replay; once more: the same bits."""
    problem = problem_of(ratings, rank, storage, biases, checked=checked, weights=weights)
    plan = plan_on(session, strategy, problem, **options)
    if change:
        plan = change(plan) or plan
    model, begin = plan.model, start(plan)
    order, offsets = sweep_order(plan)
    check_supersteps(ratings, order, offsets)
    assert (np.diff(offsets) > 0).all()
    expected, results = begin, []
    for _ in range(2):
        expected = replay(ratings, expected, order, offsets, weights)
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
