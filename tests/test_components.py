"""Every strategy of connected components on every zoo graph and device, against the definition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from conftest import run_at_width
from graphs import GRAPHS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components as scipy_components

import clgraph as cg
from clgraph.algorithms.components import STRATEGIES, as_problem, connected_components
from clgraph.data.graph import Graph
from clgraph.engine import plan as engine
from clgraph.errors import InputError, UnsupportedStrategyError, VerificationError
from clgraph.reference.components import check_components
from clgraph.reference.components import connected_components as smallest_of_components
from clgraph.runtime.session import Session

OPTIONS = {
    "hook_compress": [{"hook_rounds": k} for k in (0, 1, 2)],
    "rem": [{"hook_rounds": k} for k in (0, 1)],
    "degree_classes": [{"hook_rounds": k} for k in (0, 1)],
    "afforest": [{"strides": ()}, {"strides": (1, 1)}, {"strides": (2,), "hook_steps": 3}],
    "host": [],
}
CASES = [(name, {}) for name in STRATEGIES] + [(name, o) for name in STRATEGIES for o in OPTIONS[name]]
WITH_KERNELS = [case for case in CASES if STRATEGIES[case[0]].kind != "sequential"]


def assert_right(graph: Graph, session: Session, strategy: str, **options: object) -> None:
    plan = STRATEGIES[strategy].plan(session, as_problem(graph), **options)
    for _ in range(2):  # a plan may run again
        plan.run()
        found, numbers = plan.result()
        smallest = np.unique(numbers, return_index=True)[1].astype(np.int32)
        check_components(graph, smallest[numbers])
    n_components, labels = connected_components(graph, strategy=strategy, session=session, **options)
    expected = scipy_components(graph.to_scipy(), directed=graph.directed, connection="weak")
    assert n_components == expected[0] == found
    assert np.array_equal(labels, expected[1]) and labels.dtype == np.int32


@pytest.mark.parametrize(("strategy", "options"), CASES, ids=lambda value: str(value))
@pytest.mark.parametrize("name", GRAPHS)
def test_zoo(session: Session, name: str, strategy: str, options: dict[str, object]) -> None:
    assert_right(GRAPHS[name](), session, strategy, **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shapes_that_use_every_branch(session: Session, strategy: str) -> None:
    """Long rows, a giant to skip, no giant, long chains, a giant that is not in the first tree."""
    for graph in (
        cg.generators.rmat(13, 16), cg.generators.delaunay_points(5000), cg.generators.grid(70, 300),
        cg.generators.road_like(20000), cg.generators.star(20000).permuted(3), cg.generators.path(9999).permuted(1),
        cg.generators.uniform_random(20000, 9000), cg.generators.rmat(11, 8).expanded(5),
    ):  # fmt: skip
        assert_right(graph, session, strategy)


@given(
    n=st.integers(1, 80), edges=st.lists(st.tuples(st.integers(0, 79), st.integers(0, 79)), max_size=160),
    directed=st.booleans(), strategy=st.sampled_from(sorted(STRATEGIES)),
)  # fmt: skip
@settings(max_examples=60)
def test_random_graphs(n: int, edges: list[tuple[int, int]], directed: bool, strategy: str, pocl: Session) -> None:
    pairs = np.array([(u % n, v % n) for u, v in edges], np.int64).reshape(-1, 2)
    graph = Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n, directed=directed)
    assert_right(graph, pocl, strategy)


def test_the_oracle_ends_where_edges_are_parallel() -> None:
    """By strong components scipy's search, which is quicker, goes round for ever on such a graph."""
    ends = np.random.default_rng(1).integers(0, 100, (2, 400))
    assert not smallest_of_components(Graph.from_edges(*ends, n=100)).any()


def test_unsorted_rows(session: Session) -> None:
    graph = cg.generators.rmat(10, 8)
    order = np.concatenate([
        np.random.default_rng(v).permutation(np.arange(a, b))
        for v, (a, b) in enumerate(zip(graph.row_offsets, graph.row_offsets[1:], strict=False))
    ])  # fmt: skip
    shuffled = Graph(graph.row_offsets, graph.column_indices[order])
    assert not shuffled.has_sorted_rows
    for strategy in STRATEGIES:
        assert_right(shuffled, session, strategy)


def test_int64_offsets(session: Session) -> None:
    """What graphs from 2**31 entries on use."""
    graph = cg.generators.rmat(9, 8)
    wide = Graph._trusted(graph.row_offsets, graph.column_indices, sorted_rows=True)
    wide.__dict__["row_offsets"] = graph.row_offsets.astype(np.int64)
    for strategy in STRATEGIES:
        assert_right(wide, session, strategy)


def test_other_inputs(pocl: Session) -> None:
    nx_graph = nx.Graph([("a", "b"), ("c", "d"), ("d", "e")])
    assert connected_components(nx_graph, session=pocl).labels.tolist() == [0, 0, 1, 1, 1]
    assert connected_components(nx.to_scipy_sparse_array(nx_graph), session=pocl).n_components == 2


def test_info(pocl: Session) -> None:
    info = connected_components(cg.generators.path(1000), strategy="rem", session=pocl).info
    assert info.strategy == "rem" and info.kind == "online" and set(info.predicted_seconds) == {"rem"}
    seconds = info.seconds
    assert 0 < seconds.kernel <= seconds.total and seconds.host >= 0
    assert sum(s for _, s in info.kernels.values()) == pytest.approx(seconds.kernel)


def test_auto_is_the_fastest_prediction(pocl: Session) -> None:
    choice = cg.explain("connected_components", cg.generators.rmat(10), session=pocl)
    assert choice.requested == "auto" and choice.strategy == min(choice.contenders, key=choice.seconds.__getitem__)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"strategy": "bogus"}, UnsupportedStrategyError),
        ({"strategy": "rem", "hook_rounds": 2}, InputError),
        ({"strategy": "afforest", "strides": (0,)}, InputError),
        ({"strategy": "rem", "strides": (4,)}, InputError),
        ({"strategy": "afforest", "hook_steps": 1.5}, InputError),
        ({"hook_rounds": 1}, InputError),
    ],
)
def test_bad_arguments(pocl: Session, arguments: dict[str, object], error: type[Exception]) -> None:
    graph = cg.generators.path(10)
    with pytest.raises(error):
        connected_components(graph, session=pocl, **arguments)
    assert connected_components(graph, session=pocl).n_components == 1


def test_bad_graph(pocl: Session) -> None:
    with pytest.raises(InputError):
        connected_components([1, 2, 3], session=pocl)


def test_verify_finds_a_wrong_answer(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = cg.generators.path(100)
    assert connected_components(graph, strategy="rem", session=pocl, verify=True).n_components == 1
    monkeypatch.setattr("clgraph.engine.plan.Plan.run", lambda plan: plan.labels.fill(0))
    with pytest.raises(VerificationError):
        connected_components(graph.expanded(2), strategy="rem", session=pocl, verify=True)


@pytest.mark.parametrize("width", [8, pytest.param(16, marks=pytest.mark.slow), 32, 64])
def test_sub_group_widths(width: int) -> None:
    n_graphs = 4 if width < 64 else 1  # others need more programs, which take long to compile
    script = (
        "import clgraph as cg; from clgraph.algorithms.components import STRATEGIES;"
        "[cg.connected_components(g, strategy=k, session=s, verify=True) for k in STRATEGIES"
        " for g in (cg.generators.rmat(12, 16), cg.generators.star(5000), cg.generators.path(700),"
        f" cg.generators.delaunay_points(900))[:{n_graphs}]]"
    )
    run_at_width(width, script)


def test_interrupt_is_heard_between_launches(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run on a CPU waits after each launch, where Ctrl-C is heard; the session stays usable."""
    monkeypatch.setattr(engine, "PACED_SECONDS", 0.0)
    graph, waits = cg.generators.rmat(10, 8), []
    real = Session.wait

    def interrupted(session: Session, event: object) -> None:
        waits.append(event)
        if len(waits) == 2:
            raise KeyboardInterrupt
        real(session, event)

    plan = STRATEGIES["rem"].plan(pocl, as_problem(graph))
    monkeypatch.setattr(Session, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plan.run()
    monkeypatch.setattr(Session, "wait", real)
    assert len(waits) == 2 and len(plan.recipe.steps) > 2
    assert_right(graph, pocl, "rem")
