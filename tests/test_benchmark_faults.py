"""Faults that are planted into results of benchmarks, which the checks refuse."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import bench_bfs
import bench_color
import bench_connected_components
import bench_factorization
import bench_hash_collisions
import bench_minimum_spanning_forest
import bench_primitives
import bench_rmse
import bench_splitting
import bench_sssp
import numpy as np
import pytest
from graph_benchmark import GraphBenchmark
from numpy.typing import NDArray
from planted_faults import changed, numbered, of_both, of_edges, planted, same

from clgraph import generators
from clgraph.algorithms import factorization
from clgraph.algorithms.factorization.training.evaluation import Errors
from clgraph.algorithms.factorization.training.learning_rates import make_schedule
from clgraph.data.graphs.graph import Graph
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import VerificationError
from clgraph.runtime.session import Session

CYCLE = 9
GRAPH = Graph.from_edges(
    [*range(CYCLE), 9, 10], [*range(1, CYCLE), 0, 10, 11], np.arange(11, 0, -1), n=13
)  # a cycle, of which entry 0 is the heaviest edge, a path of three vertices, and one alone; searches start at 6


class Case(NamedTuple):
    """Which two strategies of a benchmark are measured, how, and what of a plan tells its result."""

    benchmark: GraphBenchmark
    names: tuple[str, str]
    result: str
    measure: Callable[..., list[dict[str, Any]]]

    def table(self, name: str) -> Any:
        variants = self.benchmark.variants
        return variants if name in variants else self.benchmark.algorithm.strategies


def case(benchmark: GraphBenchmark, names: tuple[str, str], result: str, **settings: int) -> Case:
    def measured(session: Session) -> Any:
        return benchmark.measure(session, "cycle", GRAPH, strategies=names, repeats=1, check_limit=100, **settings)

    return Case(benchmark, names, result, measured)


def studied(session: Session) -> Any:
    return bench_splitting.measure(session, "sssp", "cycle", GRAPH, until=math.inf, repeats=1)


BENCHMARKS = {
    "connected_components": case(bench_connected_components.BENCHMARK, ("rem", "hook_compress"), "result"),
    "minimum_spanning_forest": case(
        bench_minimum_spanning_forest.BENCHMARK, ("segmented", "segmented, transactional"), "result"
    ),
    "bfs": case(bench_bfs.BENCHMARK, ("topology_driven", "frontier"), "result"),
    "sssp": case(bench_sssp.BENCHMARK, ("topology_driven", "delta_stepping"), "result"),
    "splitting": Case(bench_sssp.BENCHMARK, ("topology_driven", "node_splitting"), "result", studied),
    "color": case(bench_color.BENCHMARK, ("jones_plassmann", "speculative"), "result", distance=1),
    "color-2": case(bench_color.BENCHMARK, ("speculative", "hash_repair"), "result", distance=2),
    "hash_collisions": case(
        bench_hash_collisions.BENCHMARK, ("row_per_item", "row_per_sub_group"), "table", distance=1
    ),
}


def copied(at: int, source: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a fault: the item *at* one place is overwritten by another item."""
    return lambda found: changed(at, to=int(found[source]))(found)


FAULTS: dict[str, dict[str, tuple[Callable[[Any], Any], str]]] = {
    "connected_components": {
        "a vertex in another component": (numbered(changed(11, to=0), 3), "joins the labels"),
        "two components as one": (numbered(lambda found: np.array([0] * 12 + [1]), 2), "distinct labels"),
        "a lost union": (numbered(lambda found: np.array([0] * 9 + [1, 2, 2, 3]), 4), "joins the labels"),
        "numbers in another order": (numbered(lambda found: np.array([0] * 9 + [2, 2, 2, 1]), 3), "not numbered"),
        "a number left out": (numbered(changed(9, 10, 11, to=0), 3), "not numbered"),
    },
    "minimum_spanning_forest": {
        "a lost edge": (of_edges(lambda edges: edges[:-1]), "joins two trees"),
        "a swapped edge": (of_edges(changed(0, to=0)), "precedes it"),
        "an edge that closes a cycle": (of_edges(lambda edges: np.insert(edges, 0, 0)), "there is a cycle"),
        "an edge from its other end": (
            of_edges(lambda edges: np.append(edges[:-1], edges[-1] + 1)), "lesser of two ends"
        ),
    },
    "bfs": {
        "a wrong distance": (of_both(changed(2, by=1), np.copy), "not one less|leads from"),
        "a lost vertex": (of_both(changed(2, to=-1), changed(2, to=-9999)), "unreached vertex"),
        "a vertex that has no path": (of_both(changed(12, to=1), changed(12, to=6)), "no entry"),
        "a swapped predecessor": (of_both(np.copy, changed(4, to=7)), "no entry"),
    },
    "sssp": {
        "a lost step": (of_both(changed(2, by=1), same), "leads from distance"),
        "a step too far": (of_both(changed(2, by=-1), same), "no path of length|leads from distance"),
        "a lost vertex": (of_both(changed(2, to=-1), same), "unreached vertex"),
        "a vertex that has no path": (of_both(changed(12, to=7), same), "no path of length"),
    },
    "color": {
        "one conflict": (of_both(same, copied(0, source=1)), "joins two vertices"),
        "a vertex without a colour": (of_both(same, changed(12, to=-1)), "vertex 12 has colour -1"),
    },
    "color-2": {
        "one conflict of neighbours": (of_both(same, copied(9, source=10)), "both of colour"),
        "one conflict over a vertex": (of_both(same, copied(9, source=11)), "both of colour"),
        "a vertex without a colour": (of_both(same, changed(12, to=-1)), "vertex 12 has colour -1"),
    },
    "hash_collisions": {
        "a collision too many": (of_both(changed((1, 2), by=1), np.copy), "total of"),
        "a wrong maximum": (of_both(np.copy, changed((1, 2), by=1)), "maximum of"),
        "two swapped hashes": (of_both(lambda total: total[[1, 0, 2]], np.copy), "total of"),
    },
}  # fmt: skip


FAULTS["splitting"] = FAULTS["sssp"]
CASES = [(benchmark, fault) for benchmark, faults in FAULTS.items() for fault in faults]


@pytest.fixture
def few_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out of the studies what takes long to compile and is no part of what they check."""
    cases = ("topology_driven", {"atomic": False}), ("node_splitting", {"mda": 2, "atomic": True})
    monkeypatch.setattr(bench_splitting, "cases", lambda graph: iter(cases))
    monkeypatch.setattr(bench_hash_collisions, "N_HASHES", 3)
    monkeypatch.setattr(bench_hash_collisions, "split", lambda *args: {})


@pytest.mark.usefixtures("few_kernels")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_right_results_pass(pocl: Session, name: str) -> None:
    benchmark = BENCHMARKS[name]
    rows = benchmark.measure(pocl)
    assert len(rows) == 2 and all(row.get("verified", True) for row in rows)


@pytest.mark.usefixtures("few_kernels")
@pytest.mark.parametrize(("name", "fault"), CASES)
def test_a_planted_fault_is_refused(pocl: Session, monkeypatch: pytest.MonkeyPatch, name: str, fault: str) -> None:
    """One that all strategies share, by the definition; one that only the first or the second has, in any case."""
    benchmark, (spoil, message) = BENCHMARKS[name], FAULTS[name][fault]
    for names, expected in ((benchmark.names, message), (benchmark.names[:1], ":"), (benchmark.names[1:], ":")):
        with monkeypatch.context() as patch:
            for strategy in names:
                table = benchmark.table(strategy)
                patch.setitem(table, strategy, planted(table[strategy], benchmark.result, spoil))
            with pytest.raises(VerificationError, match=expected):
                benchmark.measure(pocl)


def test_primitives_that_write_a_wrong_item_or_nothing_are_refused(pocl: Session) -> None:
    for case in bench_primitives.cases(pocl, bench_primitives.Inputs(pocl), 1000):
        assert bench_primitives.measure(pocl, case, 1)["verified"]
        lazy = replace(case, plan=SimpleNamespace(run=lambda: None))
        with pytest.raises(VerificationError, match=f"{case.primitive} of 1000 {case.dtype}"):
            bench_primitives.measure(pocl, lazy, 1)
        for output in case.outputs:

            def run(case: bench_primitives.Case = case, output: Any = output) -> None:
                case.plan.run()
                output.set(2 * output.get(0, 1) + output.dtype.type(1))

            with pytest.raises(VerificationError):
                bench_primitives.measure(pocl, replace(case, plan=SimpleNamespace(run=run)), 1)


def swapped_items(ratings: Ratings) -> Ratings:
    """Swap the items of two ratings that are 4 rows apart, or 8, …: no vertex has more or fewer steps."""
    pairs = list(zip(ratings.users.tolist(), ratings.items.tolist(), strict=True))
    u, i = pairs[0]
    at = next(
        k for k, (v, j) in enumerate(pairs)
        if j != i and (j - i) % 4 == (v - u) % 4 == 0 and (u, j) not in pairs and (v, i) not in pairs
    )  # fmt: skip
    items = ratings.items.copy()
    items[[0, at]] = items[[at, 0]]
    return Ratings.from_triples(ratings.users, items, ratings.values, n_users=ratings.n_users, n_items=ratings.n_items)


@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize("biases", [True, False])
def test_two_swapped_rows_of_factors_are_refused(
    pocl: Session, monkeypatch: pytest.MonkeyPatch, storage, biases: bool
) -> None:
    """Swap rows of models with and without biases."""
    ratings = generators.planted_ratings(60, 40, 500, rank=2, noise=0.1)
    share = partial(bench_factorization.lost_share, pocl, ratings, "edge_locked", 16, storage)
    assert share() == 0.0
    right = factorization.STRATEGIES["edge_locked"]

    def plan(session: Session, given: factorization.FactorizationProblem) -> Any:
        swapped = replace(given, ratings=swapped_items(given.ratings))
        return right.plan(session, swapped if given.biases == biases else given)

    monkeypatch.setitem(factorization.STRATEGIES, "edge_locked", replace(right, plan=plan))
    with pytest.raises(VerificationError, match="rows of the other side"):
        share()


def test_a_wrong_error_of_factorisation_is_refused(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check refuses errors that the factors do not have, that are far above others or the noise, and NaN."""
    pairs = [generators.planted_ratings(60, 40, 500, rank=2, noise=0.1).split(0.1, seed=0)]
    inputs = "small", pairs, {"rank": 8, "biases": True}, make_schedule("constant", 0.01, 0.0), 0.05, 2
    row = bench_rmse._measure(pocl, "block_grid", inputs)
    bench_rmse.check([row, {**row, "rmse": 1.005 * row["rmse"]}, {**row, "graph": "planted", "rmse": 0.53}])
    for wrong in ({"rmse": 1.02 * row["rmse"]}, {"rmse": math.nan}, {"graph": "planted", "rmse": 0.56}):
        with pytest.raises(VerificationError, match="block_grid on"):
            bench_rmse.check([row, {**row, **wrong}])
    right = Errors.rmse
    monkeypatch.setattr(Errors, "rmse", lambda self: 1.001 * right(self))
    with pytest.raises(VerificationError, match="its factors give"):
        bench_rmse._measure(pocl, "block_grid", inputs)
