"""Every strategy of connected components on every zoo graph and device, against the definition."""

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


def test_other_inputs(pocl: Session) -> None:
    nx_graph = nx.Graph([("a", "b"), ("c", "d"), ("d", "e")])
    assert connected_components(nx_graph, session=pocl).labels.tolist() == [0, 0, 1, 1, 1]
    assert connected_components(nx.to_scipy_sparse_array(nx_graph), session=pocl).n_components == 2


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
