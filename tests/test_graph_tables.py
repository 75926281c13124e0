"""Graphs of tables, tensors, dense arrays, lists, dictionaries and igraph's graphs, and what errors advise."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from wrappers import WRAPPERS, ArrayTensor

import clgraph as cg
from clgraph.data.graphs.conversion import as_graph
from clgraph.errors import GraphError, InputError

ROADS = {"from": ["Ulm", "Bern", "Ulm"], "to": ["Bern", "Rome", "Köln"], "km": [300.5, 900.0, 450.0]}
NAMES = ["Bern", "Köln", "Rome", "Ulm"]


def tables() -> Iterator[Any]:
    """Yield a maker of tables for each package, and for each type of text that it has."""
    yield pytest.param(dict, id="dict")

    def of(package: str, make: Callable[[Any, dict[str, Any]], Any], name: str) -> Any:
        return pytest.param(lambda columns: make(pytest.importorskip(package), columns), id=name)

    yield of("pandas", lambda pd, columns: pd.DataFrame(columns), "pandas")
    yield of("pandas", lambda pd, columns: pd.DataFrame(columns).astype({"from": object, "to": object}), "objects")
    yield of("pandas", lambda pd, c: pd.DataFrame(c).astype({"from": "category", "to": "category"}), "categories")
    yield of("polars", lambda pl, columns: pl.DataFrame(columns), "polars")
    yield of("pyarrow", lambda pa, columns: pa.table(columns), "pyarrow")
    yield of("pyarrow", lambda pa, c: pa.table({k: _chunked(pa, values) for k, values in c.items()}), "chunks")


def _chunked(pa: Any, values: list[Any]) -> Any:
    array = pa.array(values)
    return pa.chunked_array([array[:2], array[2:]])


def edges(graph: cg.Graph) -> set[tuple[Any, Any, Any]]:
    """Return the edges by ids, each undirected one with its lesser id first."""
    ids = range(graph.n_vertices) if graph.ids is None else graph.ids.tolist()
    rows, columns, weights = graph.edge_list()
    values = [None] * rows.size if weights is None else weights.tolist()
    pairs = ((ids[u], ids[v]) for u, v in zip(rows.tolist(), columns.tolist(), strict=True))
    return {(*(pair if graph.directed else sorted(pair)), w) for pair, w in zip(pairs, values, strict=True)}


@pytest.mark.parametrize("make", tables())
def test_a_table_with_text_ids_becomes_a_graph(make: Callable[[Any], Any]) -> None:
    graph = cg.Graph.from_pandas(make(ROADS), "from", "to", weight="km")
    assert graph.ids is not None and graph.ids.tolist() == NAMES
    assert edges(graph) == {("Bern", "Ulm", 300.5), ("Bern", "Rome", 900.0), ("Köln", "Ulm", 450.0)}
    listed = cg.Graph.from_pandas(make(ROADS), "from", "to", directed=True, ids=["Ulm", "Oslo", *NAMES[:3]])
    assert listed.n_vertices == 5 and listed.degrees.tolist() == [2, 0, 1, 0, 0] and listed.edge_weights is None
    with pytest.raises(
        InputError, match=r"weight = 'miles': there is no such column; the table has 'from', 'to', 'km'"
    ):
        cg.Graph.from_pandas(make(ROADS), "from", "to", weight="miles")


@pytest.mark.parametrize("make", tables())
def test_missing_ids_of_a_table_are_named_by_their_row(make: Callable[[Any], Any]) -> None:
    with pytest.raises(GraphError, match=r"(the target in row 1|dst\[1\] = None) is missing"):
        cg.Graph.from_pandas(make({**ROADS, "to": ["Bern", None, "Rome"]}), "from", "to")


@pytest.mark.parametrize("make", tables())
def test_integer_ids_of_a_table_are_kept_unless_they_are_the_vertex_numbers(make: Callable[[Any], Any]) -> None:
    if "category" in str(getattr(make({"from": [1, 2, 3], "to": [1, 2, 3]}), "dtypes", "")):
        pytest.skip("numbers as categories are named by their values, too")
    graph = cg.Graph.from_pandas(make({"from": [7, -3, 7], "to": [-3, 9, 9]}), "from", "to")
    assert graph.ids is not None and graph.ids.tolist() == [-3, 7, 9] and graph.n_edges == 6
    assert (
        cg.Graph.from_pandas(make({"from": [0, 1, 1], "to": [1, 2, 2]}), "from", "to", duplicates="first").ids is None
    )
    assert cg.Graph.from_pandas(make({"from": [0, 1, 1], "to": [5, 5, 2]}), "from", "to", ids=None).n_vertices == 6


def test_ids_of_mixed_types_keep_the_order_of_appearance() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"source": [("a", 1), 5], "target": [5, "x"]})
    assert cg.Graph.from_pandas(frame).ids.tolist() == [("a", 1), 5, "x"]


def test_a_frame_with_two_columns_of_a_name_is_refused() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2, 3]], columns=["source", "source", "target"])
    with pytest.raises(InputError, match="source = 'source': 2 columns have this name"):
        cg.Graph.from_pandas(frame)


def test_pairs_become_a_graph() -> None:
    array = np.array([[0, 1], [1, 2]])
    assert edges(cg.Graph.from_edge_array(array, [2, 3])) == {(0, 1, 2), (1, 2, 3)}
    assert edges(cg.Graph.from_edge_array(ArrayTensor(array), n=4, directed=True)) == {(0, 1, None), (1, 2, None)}
    assert edges(cg.Graph.from_edge_array([("b", "a", 1.5), ("b", "c", 2)], ids="auto")) == {
        ("a", "b", 1.5),
        ("b", "c", 2),
    }
    assert cg.Graph.from_edge_array([], n=3).n_vertices == 3


@pytest.mark.parametrize("wrap", [np.asarray, list, *WRAPPERS])
def test_an_edge_index_is_undirected_if_it_is_symmetric(wrap: Any) -> None:
    both = wrap(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]))
    graph = cg.Graph.from_edge_index(both, wrap(np.array([4, 4, 5, 5])), n=4)
    assert not graph.directed and edges(graph) == {(0, 1, 4), (1, 2, 5)} and graph.n_vertices == 4
    assert cg.Graph.from_edge_index(both, directed=True).directed
    assert cg.Graph.from_edge_index([[0, 1], [1, 2]]).directed
    lesser = cg.Graph.from_edge_index([[0, 1, 1], [1, 0, 2]], [5, 3, 1], directed=False)
    assert edges(lesser) == {(0, 1, 3), (1, 2, 1)}


def test_dense_arrays_have_edges_where_numbers_are() -> None:
    matrix = np.array([[0, 2.5, np.inf], [2.5, 0, np.nan], [np.inf, np.nan, 0]])
    graph = cg.Graph.from_dense(matrix, ids=["a", "b", "c"])
    assert edges(graph) == {("a", "b", 2.5)} and graph.n_vertices == 3
    assert cg.Graph.from_dense(np.eye(3, k=1, dtype=bool)).directed
    assert edges(cg.Graph.from_dense(np.eye(3, k=1, dtype=int), asymmetry="symmetrize")) == {(0, 1, 1), (1, 2, 1)}


def test_dictionaries_of_neighbours_become_graphs() -> None:
    assert edges(cg.Graph.from_dict({"a": ["b"], "b": ["a"], "c": []})) == {("a", "b", None)}
    assert edges(cg.Graph.from_dict({0: {2: 1.5}, 1: {0: 2}}, directed=False)) == {(0, 2, 1.5), (0, 1, 2)}
    plain = nx.gnm_random_graph(20, 40, seed=1)
    assert edges(cg.Graph.from_dict(nx.to_dict_of_lists(plain))) == edges(cg.Graph.from_networkx(plain))
    assert cg.Graph.from_dict({0: [1], 1: [0]}).ids is None


def test_graphs_of_igraph_keep_names_directions_and_weights() -> None:
    igraph = pytest.importorskip("igraph")
    named = igraph.Graph.TupleList([("a", "b", 2), ("b", "c", 3), ("b", "c", 4)], weights=True)
    assert edges(cg.Graph.from_igraph(named, weight="weight")) == {("a", "b", 2), ("b", "c", 3), ("b", "c", 4)}
    ring = igraph.Graph.Ring(4, directed=True)
    assert edges(cg.Graph.from_igraph(ring)) == {(0, 1, None), (1, 2, None), (2, 3, None), (3, 0, None)}
    with pytest.raises(InputError, match="edges have the attributes weight"):
        cg.Graph.from_igraph(named, weight="cost")


# ---- graphs as other packages have them: each call below is a line of docs/tables.md


def test_the_matrix_of_neighbours_of_scanpy_is_a_graph() -> None:
    random = sp.random_array((30, 30), density=0.2, rng=np.random.default_rng(0), dtype=np.float32, format="csr")
    adata = SimpleNamespace(obsp={"connectivities": sp.csr_matrix(random.maximum(random.T))})
    graph = cg.Graph.from_scipy(adata.obsp["connectivities"])
    assert not graph.directed and graph.edge_weights is not None and graph.edge_weights.dtype == np.float32
    assert cg.connected_components(adata.obsp["connectivities"], session="pocl").n_components == 1


def test_street_networks_of_osmnx_and_momepy_are_networkx_graphs() -> None:
    streets = nx.MultiDiGraph(crs="epsg:4326")
    streets.add_nodes_from(
        [(1001, {"x": 8.5, "y": 47.3}), (1002, {"x": 8.6, "y": 47.3}), (1003, {"x": 8.7, "y": 47.4})]
    )
    streets.add_edges_from(
        [(1001, 1002, 0, {"length": 80.5}), (1001, 1002, 1, {"length": 70.0}), (1002, 1003, 0, {"length": 9.5})]
    )
    paths = cg.sssp(streets, 1001, weight="length", predecessors=True, session="pocl")
    assert paths.distances.tolist() == [0, 70, 79.5] and paths.path_to(1003) == [1001, 1002, 1003]
    primal = nx.MultiGraph()  # momepy's nodes are coordinates
    primal.add_edge((8.5, 47.3), (8.6, 47.3), mm_len=3.5)
    assert cg.sssp(primal, (8.5, 47.3), weight="mm_len", session="pocl").distances.tolist() == [0, 3.5]


def test_the_edges_of_a_trimesh_are_pairs() -> None:
    mesh = SimpleNamespace(
        edges_unique=np.array([[0, 1], [1, 2], [0, 2]]), edges_unique_length=np.array([1.0, 1.0, 1.5])
    )
    graph = cg.Graph.from_edge_array(mesh.edges_unique, mesh.edges_unique_length)
    assert edges(graph) == {(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.5)}


def test_the_region_graph_of_scikit_image_is_a_networkx_graph() -> None:
    class RAG(nx.Graph):
        """A subclass with labels as nodes, as skimage.graph.RAG is."""

    rag = RAG()
    rag.add_edge(3, 1, weight=0.25)
    rag.add_edge(1, 9, weight=0.5)
    assert cg.minimum_spanning_forest(rag, session="pocl").weight == 0.75
    assert edges(cg.Graph.from_networkx(rag, weight="weight")) == {(1, 3, 0.25), (1, 9, 0.5)}


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        (np.ones((3, 3)), "Graph.from_dense(matrix) makes one"),
        (np.ones((5, 2), int), "Graph.from_edge_array(pairs) makes one"),
        (np.ones((2, 5), int), "Graph.from_edge_index(pairs) makes one"),
        ([(0, 1)], "Graph.from_edge_array(edges) makes one of pairs"),
        ({0: [1]}, "Graph.from_dict(adjacency) makes one"),
        ("roads.csv", "clgraph.read(path) reads one"),
        (
            SimpleNamespace(edge_index=[[0], [1]], num_nodes=2),
            "Graph.from_edge_index(data.edge_index, n=data.num_nodes)",
        ),
        (SimpleNamespace(obsp={}), "pass its matrix, obsp['connectivities']"),
        (SimpleNamespace(edges_unique=[]), "Graph.from_edge_array(mesh.edges_unique, mesh.edges_unique_length)"),
        (SimpleNamespace(get_edgelist=list), "Graph.from_igraph(graph"),
        (7, "accepted: clgraph.Graph"),
    ],
)
def test_the_error_says_which_call_makes_a_graph(source: Any, advice: str) -> None:
    with pytest.raises(InputError) as error:
        as_graph(source)
    assert "is not a graph; " in str(error.value) and advice in str(error.value)


def test_a_frame_is_told_to_name_its_columns() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"DataFrame is not a graph; Graph\.from_pandas\(table, 'source', 'target'"):
        cg.bfs(pd.DataFrame(ROADS), 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cg.Graph.from_pandas([1, 2]), r"table = \[1, 2\]; allowed: a pandas, polars or pyarrow table"),
        (lambda: cg.Graph.from_edge_array([(0, 1), (1, 2, 3)]), r"allowed: an array of shape \(m, 2\)"),
        (lambda: cg.Graph.from_edge_array([(0, 1, 2)], [3]), "the edges have weights, and weight= is given"),
        (lambda: cg.Graph.from_edge_array(np.ones((2, 5), int)), r"from_edge_index takes \(2, m\)"),
        (lambda: cg.Graph.from_edge_array([("a", "b")]), "needed: integers, or any ids with ids='auto'"),
        (lambda: cg.Graph.from_edge_index(np.ones((5, 2), int)), r"from_edge_array takes \(m, 2\)"),
        (lambda: cg.Graph.from_dense(np.ones((2, 3))), "it must be square"),
        (lambda: cg.Graph.from_dense(np.eye(2), ids=["a"]), "ids has 1 items; needed: one per vertex, 2"),
        (lambda: cg.Graph.from_dict({"a": "bc"}), "allowed: a dict from each vertex"),
        (lambda: cg.Graph.from_dict(sp.coo_array((2**31, 2**31))), "allowed: a dict from each vertex"),
        (lambda: cg.Graph.from_edge_array(sp.coo_array((2**31, 2**31))), r"allowed: an array of shape \(m, 2\)"),
        (lambda: cg.Graph.from_dict({"a": {"b": {}}}), "dictionaries of attributes, as networkx.to_dict_of_dicts"),
        (lambda: cg.Graph.from_igraph(nx.path_graph(2)), r"allowed: an igraph\.Graph"),
    ],
)
def test_wrong_data_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
