"""Every strategy of matrix factorisation: training, predicted launches, the choice among them, sub-group widths."""

import dataclasses
import math

import numpy as np
import pytest
from conftest import run_at_width
from factorization_checks import OFFLINE, ZOO, check_sweeps, problem_of

import clgraph as cg
from clgraph.algorithms.factorization import ALGORITHM, STRATEGIES, as_problem, prices, problem
from clgraph.algorithms.factorization.problem import offset_type
from clgraph.errors import InputError, UnsupportedStrategyError
from clgraph.reference.factorization import rmse
from clgraph.runtime.session import Session


def test_positions_are_as_wide_as_the_ratings_need() -> None:
    assert [offset_type(n) for n in (1, 2**30, 2**31)] == [np.int32, np.int32, np.int64]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.long
def test_int64_offsets_give_the_same_factors(session: Session, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps of about 2**31 ratings have offsets of 64 bits."""
    monkeypatch.setattr(problem, "_INT32_RATINGS", 0)
    check_sweeps(session, strategy, ZOO["skewed"], 16, seed=3)


def test_too_many_ratings_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Each run starts from new factors; an offline strategy repeats all bits."""
    ratings = ZOO["skewed"]
    wanted = dataclasses.replace(as_problem(ratings, rank=4, n_sweeps=30, biases=True), learning_rate=0.05)
    first, again = (ALGORITHM.solve(wanted, strategy=strategy, session=session, verify=True) for _ in range(2))
    assert rmse(ratings, first, ratings.values.mean()) < 0.95 * ratings.values.std()
    assert first.info.strategy == strategy
    if strategy in OFFLINE:
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, other)


def test_auto_is_the_fastest_and_never_hogwild(session: Session) -> None:
    ratings = ZOO["513"]
    choice = ALGORITHM.choose(session, as_problem(ratings))
    assert choice.strategy == min(choice.seconds, key=choice.seconds.__getitem__)
    assert set(choice.predicted) <= set(STRATEGIES) - {"hogwild"}
    assert all(0 < seconds < math.inf for seconds in choice.seconds.values())
    forced = ALGORITHM.choose(session, as_problem(ratings, rank=128, storage="float16", biases=True), "hogwild")
    assert forced.strategy == "hogwild" and set(forced.predicted) == {"hogwild"}
    with pytest.raises(UnsupportedStrategyError, match="known: auto, edge_locked"):
        ALGORITHM.choose(session, as_problem(ratings), "nonsense")


def test_explain_prices_every_contender(pocl: Session) -> None:
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


@pytest.mark.parametrize(("width", "part"), [
    *((width, part) for width in (8, 64) for part in ("blocks", "supersteps")),
    *(pytest.param(width, part, marks=pytest.mark.slow) for width in (16, 32) for part in ("blocks", "supersteps")),
    *((width, "locks") for width in (8, 16, 32, 64)),
])  # fmt: skip
def test_factorisation_is_right_at_every_sub_group_width(width: int, part: str) -> None:
    run_at_width(width, f"import test_factorization_{part} as t; t.check_width(s)")
