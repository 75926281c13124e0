"""Answers as tables and networkx graphs, in which vertices have the user's ids."""

import pickle
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import clgraph as cg
from clgraph.errors import InputError, MissingExtraError

PATH = [("b", "a", 3), ("a", "d", 4), ("x", "y", 5)]  # two components


def named() -> cg.Graph:
    return cg.Graph.from_edge_array(PATH, ids="auto")


@pytest.fixture(params=["graph", "networkx"])
def graph(request: pytest.FixtureRequest) -> Any:
    return named() if request.param == "graph" else nx.Graph([(u, v, {"weight": w}) for u, v, w in PATH])


def rows(columns: dict[str, Any]) -> set[tuple[Any, ...]]:
    return {*zip(*(column.tolist() for column in columns.values()), strict=True)}


def test_numbers_of_vertices_come_with_ids(graph: Any) -> None:
    components = cg.connected_components(graph, session="pocl").to_dict()
    assert list(components) == ["vertex", "component"]
    found = dict(rows(components))
    assert found["a"] == found["b"] == found["d"] != found["x"] == found["y"]
    coloring = cg.color(graph, session="pocl")
    columns = coloring.to_dict()
    assert sorted(columns["vertex"]) == [*"abdxy"] and columns["color"] is coloring.colors
    drawn = cg.partition(graph, 2, session="pocl").to_networkx()
    parts = nx.get_node_attributes(drawn, "part")
    found = cg.communities(graph, session="pocl")
    assert list(found.to_dict()) == ["vertex", "community"]
    assert {*nx.get_node_attributes(found.to_networkx(), "community")} == {*"abdxy"}
    assert dict(rows(found.to_dict()))["x"] == dict(rows(found.to_dict()))["y"]
    assert parts.keys() == {*"abdxy"} and {*parts.values()} == {0, 1} and drawn.has_edge("d", "a")


def test_vertices_without_ids_have_their_numbers() -> None:
    columns = cg.connected_components(cg.generators.path(3), session="pocl").to_dict()
    assert rows(columns) == {(0, 0), (1, 0), (2, 0)}
    tall = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    assert rows(cg.color_columns(sp.csr_array(tall), session="pocl").to_dict()) in ({(0, 0), (1, 1)}, {(0, 1), (1, 0)})


def test_searches_name_predecessors_and_sources(graph: Any) -> None:
    paths = cg.sssp(graph, ["b", "x"], predecessors=True, session="pocl")
    assert rows(paths.to_dict()) == {
        ("b", 0, None, "b"), ("a", 3, "b", "b"), ("d", 7, "a", "b"), ("x", 0, None, "x"), ("y", 5, "x", "x"),
    }  # fmt: skip
    tree = cg.bfs(graph, "b", session="pocl").to_networkx()
    assert {*tree.edges} == {("b", "a"), ("a", "d")} and tree.nodes["d"] == {"distance": 2} and "x" not in tree
    without = cg.sssp(graph, "b", session="pocl")
    assert list(without.to_dict()) == ["vertex", "distance"]
    with pytest.raises(InputError, match="a tree needs predecessors"):
        without.to_networkx()


def test_forests_name_the_ends_of_their_edges(graph: Any) -> None:
    forest = cg.minimum_spanning_forest(graph, session="pocl")
    assert {(frozenset(row[:2]), row[2]) for row in rows(forest.to_dict())} == {(frozenset(e[:2]), e[2]) for e in PATH}


def test_unpickled_results_keep_their_ids() -> None:
    for result in (
        cg.bfs(named(), "b", session="pocl"),
        cg.connected_components(named(), session="pocl"),
    ):
        again = pickle.loads(pickle.dumps(result))
        assert rows(again.to_dict()) == rows(result.to_dict())


def test_frames_have_missing_values_where_there_is_no_vertex(graph: Any) -> None:
    pytest.importorskip("pandas")
    frame = cg.sssp(graph, "b", predecessors=True, session="pocl").to_pandas().set_index("vertex")
    assert frame.loc["d", "distance"] == 7 and frame.loc["d", "predecessor"] == "a"
    assert frame["predecessor"].isna().sum() == 3 and frame["source"].isna().sum() == 2
    numbers = cg.bfs(cg.generators.path(3), 1, session="pocl").to_pandas()
    assert str(numbers["predecessor"].dtype) == "Int64" and numbers["predecessor"].sum() == 2


def test_polars_takes_the_columns_as_they_are(graph: Any) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(cg.bfs(graph, "b", session="pocl").to_dict())
    assert frame.filter(polars.col("vertex") == "d")["predecessor"].to_list() == ["a"]


def test_a_frame_names_the_package_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="needs pandas: pip install pandas"):
        cg.bfs(named(), "b").to_pandas()
