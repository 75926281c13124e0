"""The oracle of connected components against networkx, and wrong labels that its check finds."""

import networkx as nx
import numpy as np
import pytest
from graphs import GRAPHS

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.generators import path, two_cliques
from clgraph.reference import connected_components as components
from clgraph.reference import entries


@pytest.mark.parametrize("name", GRAPHS)
def test_oracle_agrees_with_networkx_and_passes_its_check(name: str) -> None:
    graph = GRAPHS[name]()
    labels = components.connected_components(graph)
    expected = np.full(graph.n_vertices, -1)
    find = nx.weakly_connected_components if graph.directed else nx.connected_components
    for members in find(graph.to_networkx()):
        expected[list(members)] = min(members)
    np.testing.assert_array_equal(labels, expected)
    assert labels.dtype == np.int32
    components.check_components(graph, labels)


def test_weights_do_not_matter() -> None:
    graph = Graph.from_edges([0, 1, 1], [1, 0, 2], [5, -5, 0], directed=True)
    assert components.connected_components(graph).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros(5, np.int32), r"int32 \(5,\); needed: int32 \(6,\)"),
        (np.zeros(6, np.int64), "labels are int64"),
        (np.array([0, 0, 0, 3, 3, -1], np.int32), "label -1 of vertex 5"),
        (np.array([0, 0, 0, 3, 3, 9], np.int32), "label 9 of vertex 5 is not a vertex from 0 to 5"),
        (np.array([1, 1, 1, 3, 3, 3], np.int32), "label 1 of vertex 0 is not a vertex from 0 to 0"),
        (np.array([0, 0, 1, 3, 3, 3], np.int32), "label 1 of vertex 2 is not its own representative"),
        (np.array([0, 0, 2, 3, 3, 3], np.int32), r"entry \(0, 2\) joins the labels 0 and 2"),
        (np.zeros(6, np.int32), "1 distinct labels, but 2 components"),
    ],
)
def test_check_finds_each_kind_of_wrong_label(labels: np.ndarray, message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        components.check_components(two_cliques(3), labels)


def test_check_sees_every_entry_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "_CHUNK", 7)
    graph = Graph.from_edges([*range(30), *[40] * 20], [*range(1, 31), *range(41, 61)], n=70)
    components.check_components(graph, components.connected_components(graph))
    for cut in range(1, 100, 9):
        chain = path(100)
        labels = np.where(np.arange(100) < cut, 0, cut).astype(np.int32)
        with pytest.raises(VerificationError, match=rf"entry \({cut - 1}, {cut}\)"):
            components.check_components(chain, labels)
