"""Every strategy of connected components on every zoo graph and device, against the definition."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import run_at_width
from graphs import GRAPHS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components as scipy_components

import clgraph as cg
from clgraph.algorithms.connected_components import STRATEGIES, as_problem, connected_components, messages
from clgraph.algorithms.connected_components.edge_lists import EdgeComponents, numbered
from clgraph.data.graphs.graph import Graph
from clgraph.engine import plan as engine
from clgraph.reference.connected_components import check_components
from clgraph.reference.connected_components import connected_components as smallest_of_components
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.session import Session

OPTIONS = {
    "hook_compress": [{"hook_rounds": k} for k in (0, 1, 2)],
    "rem": [{"hook_rounds": k} for k in (0, 1)],
    "degree_classes": [{"hook_rounds": k} for k in (0, 1)],
    "afforest": [{"strides": ()}, {"strides": (1, 1)}, {"strides": (2,), "hook_steps": 3}, {"skip_giant": False}],
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
def test_components_of_every_small_graph_are_right(
    session: Session, name: str, strategy: str, options: dict[str, object]
) -> None:
    assert_right(GRAPHS[name](), session, strategy, **options)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_components_of_shapes_that_use_every_branch_are_right(session: Session, strategy: str) -> None:
    """Long rows, a giant to skip, no giant, long chains, a giant that is not in the first tree."""
    for graph in (
        cg.generators.rmat(13, 16), cg.generators.delaunay_points(5000), cg.generators.grid(70, 300),
        cg.generators.road_like(20000), cg.generators.star(20000).permuted(3), cg.generators.path(9999).permuted(1),
        cg.generators.uniform_random(20000, 9000), cg.generators.rmat(11, 8).expanded(5),
    ):  # fmt: skip
        assert_right(graph, session, strategy)


def test_the_oracle_ends_where_edges_are_parallel() -> None:
    """scipy's quicker search for strong components never ends on such a graph."""
    ends = np.random.default_rng(1).integers(0, 100, (2, 400))
    assert not smallest_of_components(Graph.from_edges(*ends, n=100)).any()


def test_graphs_of_networkx_and_matrices_have_components(pocl: Session) -> None:
    nx_graph = nx.Graph([("a", "b"), ("c", "d"), ("d", "e")])
    assert connected_components(nx_graph, session=pocl).labels.tolist() == [0, 0, 1, 1, 1]
    assert connected_components(nx.to_scipy_sparse_array(nx_graph), session=pocl).n_components == 2


@pytest.mark.parametrize("width", [8, pytest.param(16, marks=pytest.mark.slow), 32, 64])
def test_components_are_right_at_every_sub_group_width(width: int) -> None:
    script = (
        "import clgraph as cg; from clgraph.algorithms.connected_components import STRATEGIES;"
        "[cg.connected_components(g, strategy=k, session=s, verify=True) for k in STRATEGIES"
        " for g in (cg.generators.rmat(12, 16), cg.generators.star(5000), cg.generators.path(700),"
        " cg.generators.delaunay_points(900))]"
    )
    run_at_width(width, script, optimised=width < 64)


def test_interrupt_is_heard_between_launches(pocl: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run on a CPU waits after each launch, where Ctrl-C is heard; the session stays usable."""
    monkeypatch.setattr(engine, "PACED_SECONDS", 0.0)
    graph, waits = cg.generators.rmat(10, 8), []
    real = Commands.wait

    def interrupted(session: Session, event: object) -> None:
        waits.append(event)
        if len(waits) == 2:
            raise KeyboardInterrupt
        real(session, event)

    plan = STRATEGIES["rem"].plan(pocl, as_problem(graph))
    monkeypatch.setattr(Commands, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plan.run()
    monkeypatch.setattr(Commands, "wait", real)
    assert len(waits) == 2 and len(plan.recipe.steps) > 2
    assert_right(graph, pocl, "rem")


# ---- lists of edges


def components(n: int, edges: np.ndarray) -> tuple[int, np.ndarray]:
    matrix = sp.coo_array((np.ones(edges.shape[1], bool), tuple(edges)), shape=(n, n))
    return sp.csgraph.connected_components(matrix, directed=False)


@pytest.mark.parametrize(("n", "m"), [(1, 0), (2, 1), (50, 20), (3000, 2500), (3000, 20_000)])
@pytest.mark.parametrize("n_lists", [1, 4])
def test_lists_and_forests_give_the_components(session: Session, n: int, m: int, n_lists: int) -> None:
    edges = np.random.default_rng(n + m).integers(0, n, (2, m), dtype=np.int32)
    whole, parts = EdgeComponents(session, n), []
    for k in range(n_lists):
        one = edges[:, k::n_lists]
        whole.link(*one)
        part = EdgeComponents(session, n)
        part.link(*one)
        parts.append(part.parents())
        assert (parts[-1] <= np.arange(n)).all() and np.array_equal(parts[-1][parts[-1]], parts[-1])
    merged = EdgeComponents(session, n, parts[0])
    for parents in parts[1:]:
        merged.link_forest(parents)
    count, labels = components(n, edges)
    for found in (whole, merged):
        n_components, numbers = numbered(found.parents())
        assert n_components == count and np.array_equal(numbers, labels)


def test_a_path_in_the_worst_order_and_a_star_are_one_component(session: Session) -> None:
    ends = np.arange(5000, dtype=np.int32)
    path = EdgeComponents(session, 5000)
    path.link(ends[:0:-1], ends[-2::-1])
    assert not path.parents().any()
    star = EdgeComponents(session, 5000)
    star.link(np.full(4999, 4999, np.int32), ends[:-1])
    assert not star.parents().any()


def test_a_forest_of_fewer_vertices_is_joined(session: Session) -> None:
    small = np.array([0, 0, 2], np.int32)
    grown = EdgeComponents(session, 6, small)
    grown.link(np.int32([5]), np.int32([1]))
    assert grown.parents().tolist() == [0, 0, 2, 3, 4, 0]
    other = EdgeComponents(session, 6)
    other.link_forest(small)
    assert other.parents().tolist() == [0, 0, 2, 3, 4, 5]
    assert EdgeComponents(session, 0).parents().size == 0 and numbered(np.zeros(0, np.int32))[0] == 0


# ---- a forest as a message


LARGE = messages._SMALL + 5


def roots(n: int, edges: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the smallest vertex of each vertex's component in a graph of these edges."""
    return smallest_of_components(Graph.from_edges(*edges, n=n))


def sent(session: Session, theirs: NDArray[np.int32], mine: NDArray[np.int32] | None = None) -> tuple[Any, int]:
    """Return what *mine*, by default a forest without edges, becomes by the message, and how long that is."""
    n = theirs.size
    forest = EdgeComponents(session, n, mine)
    message, is_packed = messages.forest_message(session, n, EdgeComponents(session, n, theirs)._parent)
    messages.join_forest(session, n, message, forest._parent, is_packed=is_packed)
    return forest.parents(), message.nbytes


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_all_of_a_forest_comes_across(session: Session, data: st.DataObject) -> None:
    n = data.draw(st.sampled_from([1, 2, 31, 32, 33, 64, 100, 700]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**30)))

    def drawn() -> NDArray[np.int64]:
        near = data.draw(st.sampled_from([2, 40, n]))
        first = rng.integers(0, n, data.draw(st.integers(0, 2 * n)))
        return np.stack([first, np.minimum(n - 1, first + rng.integers(0, near, first.size))])

    edges = drawn(), drawn()
    theirs, mine = (roots(n, part) for part in edges)
    found, n_bytes = sent(session, theirs, mine)
    np.testing.assert_array_equal(found, roots(n, np.concatenate(edges, 1)))
    assert n_bytes <= 4 * n


def test_a_block_of_each_form_comes_across(session: Session) -> None:
    """Blocks of 1,024 vertices: no parents, one label, a few others, the most that pay, more, and the last block."""
    theirs, rng = np.arange(LARGE, dtype=np.int32), np.random.default_rng(0)
    theirs[1024 + rng.permutation(1024)[:700]] = 5
    theirs[2048 + 16 * np.arange(64)] = 6
    theirs[2048 + 16 * np.arange(50) + 3] = rng.integers(0, 5, 50)
    for block, n_others in ((3, 958), (4, 959), (5, 960), (6, 1024)):
        theirs[1024 * block + np.arange(n_others)] = rng.integers(0, 5, n_others)
    theirs[-3:] = 7, 9, 7
    np.testing.assert_array_equal(theirs[theirs], theirs)
    found, n_bytes = sent(session, theirs)
    np.testing.assert_array_equal(found, theirs)
    assert n_bytes < 4 * (LARGE // 1024 + 2 + 33 + 115 + 4 * 1024 + 65 + 3)


@pytest.mark.parametrize("n", [100, LARGE])
def test_one_label_takes_a_bit_a_vertex(session: Session, n: int) -> None:
    found, n_bytes = sent(session, np.zeros(n, np.int32))
    assert not found.any()
    assert n_bytes < 4 * n * (0.15 if n < LARGE else 0.034)


def test_labels_without_an_order_are_sent_as_they_are(session: Session) -> None:
    rng = np.random.default_rng(3)
    theirs = np.arange(LARGE, dtype=np.int32)
    theirs[40:] = rng.integers(0, 40, LARGE - 40)
    found, n_bytes = sent(session, theirs)
    np.testing.assert_array_equal(found, theirs)
    assert n_bytes == 4 * LARGE
