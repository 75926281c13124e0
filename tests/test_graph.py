"""Graphs of edges and of CSR arrays: checks, duplicates, labels, weights, permutations."""

import contextlib
import pickle
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import DIRECTED, GRAPHS, UNDIRECTED, check_arrays, entries
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from wrappers import WRAPPERS, Element, Tensor

from clgraph import bfs, connected_components
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import check_rising, offset_dtype, owned
from clgraph.data.graphs.graph import Graph
from clgraph.errors import ClgraphError, GraphError, InputError
from clgraph.generators import path, random_weights


@st.composite
def edge_lists(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 12))
    m = draw(st.integers(0, 40))
    vertex = hnp.arrays(np.int64, m, elements=st.integers(0, n - 1))
    weight = draw(st.sampled_from(["none", "int", "float"]))
    weights = {
        "none": None,
        "int": draw(hnp.arrays(np.int32, m, elements=st.integers(-9, 9))),
        "float": draw(hnp.arrays(np.float64, m, elements=st.floats(-1e3, 1e3))),
    }[weight]
    return {"src": draw(vertex), "dst": draw(vertex), "weight": weights, "n": n, "directed": draw(st.booleans())}


@pytest.mark.parametrize("name", GRAPHS)
def test_zoo_is_valid_and_survives_conversions(name: str) -> None:
    graph = GRAPHS[name]()
    check_arrays(graph)
    check_arrays(graph.permuted(1))
    check_arrays(graph.expanded(3))
    assert graph.directed == (name in DIRECTED)
    assert entries(Graph.from_networkx(graph.to_networkx())) == entries(graph)


@given(edge_lists())
def test_from_edges_keeps_every_edge_in_both_directions(edges: dict[str, Any]) -> None:
    graph = Graph.from_edges(**edges)
    check_arrays(graph)
    weights = [()] * edges["src"].size if edges["weight"] is None else [(w,) for w in edges["weight"].tolist()]
    expected = []
    for u, v, w in zip(edges["src"].tolist(), edges["dst"].tolist(), weights, strict=True):
        expected.append((u, v, *w))
        if not edges["directed"] and u != v:
            expected.append((v, u, *w))
    assert entries(graph) == sorted(expected)
    assert graph.n_vertices == edges["n"] and graph.has_sorted_rows


@given(edge_lists(), st.sampled_from(["min", "max", "sum", "first"]))
def test_duplicates_are_merged_the_same_in_both_directions(edges: dict[str, Any], how: Any) -> None:
    graph = Graph.from_edges(**edges, duplicates=how)
    check_arrays(graph)
    merge = {"min": min, "max": max, "sum": sum, "first": lambda values: values[0]}[how]
    groups: dict[tuple[int, int], list[Any]] = {}
    weights = [1] * edges["src"].size if edges["weight"] is None else edges["weight"].tolist()
    for u, v, w in zip(edges["src"].tolist(), edges["dst"].tolist(), weights, strict=True):
        groups.setdefault((u, v) if edges["directed"] else (min(u, v), max(u, v)), []).append(w)
    src, dst, merged = graph.edge_list()
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == sorted(groups)
    if merged is not None:
        expected = [merge(groups[pair]) for pair in sorted(groups)]
        np.testing.assert_allclose(merged, expected, rtol=1e-12, atol=1e-9)


@given(edge_lists())
def test_scipy_and_networkx_give_the_same_graph_back(edges: dict[str, Any]) -> None:
    graph = Graph.from_edges(**edges, duplicates="first")
    again = Graph.from_scipy(graph.to_scipy(), directed=graph.directed)
    assert entries(again) == entries(graph)
    again = Graph.from_networkx(graph.to_networkx(), weight=None if edges["weight"] is None else "weight")
    assert entries(again) == entries(graph)
    assert again.directed == graph.directed


@pytest.mark.parametrize(
    ("duplicates", "self_loops", "message"),
    [
        ("error", "keep", r"edge \(1, 2\) is listed more than once"),
        ("keep", "error", "edge 2 is a self-loop at vertex 4"),
    ],
)
@pytest.mark.parametrize("weight", [None, [1, 2, 3]])
def test_edges_can_be_refused(duplicates: Any, self_loops: Any, message: str, weight: Any) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.from_edges([1, 2, 4], [2, 1, 4], weight, duplicates=duplicates, self_loops=self_loops)


def test_self_loops_can_be_dropped() -> None:
    graph = Graph.from_edges([0, 1], [0, 2], [7, 8], self_loops="drop")
    assert entries(graph) == [(1, 2, 8), (2, 1, 8)]


@pytest.mark.parametrize(
    ("ends", "ids", "expected"),
    [
        (([30, 10], [10, 20]), "auto", [10, 20, 30]),
        ((["b", "a"], ["a", "c"]), "auto", ["a", "b", "c"]),
        (([(1, 2), "x"], ["x", 3]), "auto", [(1, 2), "x", 3]),
        (([2**63 - 1, 5], [5, 7]), "auto", [5, 7, 2**63 - 1]),
        (([-1, 2**63], [2**63 + 1, 5]), "auto", [-1, 2**63, 2**63 + 1, 5]),
        ((["a", "a\0"], ["b", "b"]), "auto", ["a", "a\0", "b"]),
        ((np.array(["b", "a"], object), ["a", "c"]), "auto", ["a", "b", "c"]),
        ((range(3, 5), deque([4, 7])), "auto", [3, 4, 7]),
        (([30, 10], [10, 20]), [30, 20, 10], [30, 20, 10]),
        ((["b"], ["a"]), ["z", "a", "b"], ["z", "a", "b"]),
    ],
)
def test_ids_stay_with_the_graph(ends: Any, ids: Any, expected: list[Any]) -> None:
    graph = Graph.from_edges(*ends, ids=ids, directed=True)
    assert graph.ids is not None and graph.ids.tolist() == expected
    found = [(expected[u], expected[v]) for u, v in entries(graph)]
    assert sorted(found, key=repr) == sorted(zip(*ends, strict=True), key=repr)


@pytest.mark.parametrize("kind", [*WRAPPERS, "pyarrow", "chunked", "dictionary", "pandas", "categories"])
def test_ids_may_be_arrays_of_other_packages(kind: Any) -> None:
    pa, pd = (pytest.importorskip(name) for name in ("pyarrow", "pandas")) if isinstance(kind, str) else (None, None)
    make = {
        "pyarrow": lambda ids: pa.array(ids), "chunked": lambda ids: pa.chunked_array([ids[:2], ids[2:]]),
        "dictionary": lambda ids: pa.array(ids).dictionary_encode(), "pandas": lambda ids: pd.array(ids),
        "categories": lambda ids: pd.Categorical(ids),
    }.get(kind, kind)  # fmt: skip
    graph = Graph.from_edges(make([3, 8, 9, 40]), make([8, 9, 3, 41]), ids="auto")
    assert graph.ids.tolist() == [3, 8, 9, 40, 41] and graph.n_edges == 8
    assert connected_components(graph, session="pocl").n_components == 2
    assert bfs(graph, make([40]), session="pocl").distances.tolist() == [-1, -1, -1, 0, 1]
    again = Graph.from_edges([3, 8], [8, 9], make([1.5, 2.5]), ids=make([3, 8, 9]))
    assert again.ids.tolist() == [3, 8, 9] and again.edge_weights.tolist() == [1.5, 1.5, 2.5, 2.5]
    if isinstance(kind, str):  # ids of text
        words = Graph.from_edges(make(["a", "b", "c", "x"]), make(["b", "c", "a", "y"]), ids="auto")
        assert words.ids.tolist() == ["a", "b", "c", "x", "y"]
        assert bfs(words, "a", session="pocl").distances.tolist() == [0, 1, 1, -1, -1]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({1, 2}, r"src = \{1, 2\}; allowed: a one-dimensional array or list"),
        (Tensor([1, 2]), "allowed: a one-dimensional array or list"),
        ([Element(1), Element(2)], r"src\[0\] = .*pass the ids as one array"),
        ([1, Element(2)], r"src\[1\] = "),
        (np.array([[1, 2]]), r"src has shape \(1, 2\)"),
    ],
)
def test_what_holds_ids_but_is_no_array_or_list_is_refused(ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Graph.from_edges(ids, [3, 4], ids="auto")


def _missing_ids() -> Iterator[tuple[Any, str]]:
    yield ["p", None, None], "None"
    yield np.array([1, np.nan, np.nan]), "nan"
    yield np.array(["p", float("nan"), 3], object), "nan"
    yield np.array(["2020", "NaT", "NaT"], "M8[D]"), "None|NaT"
    yield [np.datetime64(2020, "D"), np.datetime64("NaT"), 1], "NaT"
    yield [Decimal(1), Decimal("NaN"), 1], "NaN"
    with contextlib.suppress(ImportError):
        import pandas as pd

        yield pd.Series(["p", np.nan, np.nan]), "nan"
        yield pd.array(["p", None, None], dtype="string"), "<NA>"
        yield pd.array([1, None, None], dtype="Int64"), "<NA>|nan"
        yield pd.to_datetime(["2020", None, None]), "None|NaT"
        yield [pd.Timestamp(2020, 1, 1), pd.NaT, 1], "NaT"


@pytest.mark.parametrize(("ids", "value"), list(_missing_ids()))
def test_a_missing_id_is_refused_with_its_row(ids: Any, value: str) -> None:
    for ends, name in (((ids, [1, 2, 3]), "src"), (([1, 2, 3], ids), "dst")):
        for known in ("auto", ids):
            with pytest.raises(GraphError, match=rf"{name}\[1\] = .*({value}|-\d+).* is missing"):
                Graph.from_edges(*ends, ids=known)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_offsets": [], "column_indices": []}, "row_offsets has 0 elements"),
        ({"row_offsets": [1, 2], "column_indices": [0, 0]}, "from 1 to 2.*start at 0 and end at n_edges = 2"),
        ({"row_offsets": [0, 1], "column_indices": [0, 0]}, "end at n_edges = 2"),
        ({"row_offsets": [0, 2, 1], "column_indices": [0]}, r"row_offsets\[2\] = 1 is below row_offsets\[1\] = 2"),
        ({"row_offsets": [0, 1], "column_indices": [5]}, r"column_indices\[0\] = 5.*allowed: 0 to 0"),
        ({"row_offsets": [0, 1], "column_indices": [-1]}, r"column_indices\[0\] = -1"),
        ({"row_offsets": [0, 1], "column_indices": [2**40]}, r"column_indices\[0\] = 1099511627776"),
        ({"row_offsets": [0], "column_indices": []}, None),
        ({"row_offsets": [[0, 1]], "column_indices": [0]}, r"row_offsets has shape \(1, 2\)"),
        ({"row_offsets": [0, 1], "column_indices": [0.5]}, "column_indices holds float64 values"),
        ({"row_offsets": [0, 1], "column_indices": [0], "edge_weights": [np.nan]}, "weight 0 is NaN"),
        ({"row_offsets": [0, 2], "column_indices": [0, 0], "edge_weights": [1, [2]]}, r"weights = \[1, \[2\]\]; "),
        ({"row_offsets": [0, 1], "column_indices": [0], "edge_weights": [1, 2]}, r"shape \(2,\).*\(1,\)"),
        ({"row_offsets": [0, 1], "column_indices": [0], "edge_weights": [1j]}, "complex128"),
        ({"row_offsets": [0, 1], "column_indices": [0], "edge_weights": np.array([2**64 - 1], np.uint64)}, "above"),
        ({"row_offsets": [0, 1], "column_indices": [0], "ids": ["a", "b"]}, r"ids has shape \(2,\)"),
        ({"row_offsets": [0, 1, 1], "column_indices": [1]}, r"entry \(0, 1\) lacks a matching reverse entry \(1, 0\)"),
        ({"row_offsets": [0, 0, 1], "column_indices": [0]}, r"entry \(1, 0\)"),
        ({"row_offsets": [0, 2, 3], "column_indices": [1, 1, 0]}, r"entry \(0, 1\)"),
        ({"row_offsets": [0, 1, 2], "column_indices": [1, 0], "edge_weights": [1, 2]}, r"entry \(0, 1\)"),
    ],
)
def test_invalid_arrays_are_refused(arguments: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert Graph(**arguments).n_vertices == 0
        return
    with pytest.raises(GraphError, match=message):
        Graph(**arguments)


def test_graphs_have_as_many_vertices_as_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clgraph.data.graphs.csr.MAX_VERTICES", 5)
    assert Graph([0] * 6, []).n_vertices == 5
    with pytest.raises(GraphError, match=r"row_offsets has 7 elements; needed: .*, with 0 to 5 vertices"):
        Graph([0] * 7, [])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("?", np.int32), ("i1", np.int32), ("u1", np.int32), ("i2", np.int32), ("u2", np.int32), ("i4", np.int32),
        ("u4", np.int64), ("i8", np.int64), ("u8", np.int64), ("f2", np.float32), ("f4", np.float32),
        ("f8", np.float64),
    ],
)  # fmt: skip
def test_weights_of_any_type_lose_nothing(given: str, kept: type) -> None:
    """The largest weight of each type stays as it is, in the narrowest type that holds all of them."""
    dtype = np.dtype(given)
    most = {"f": lambda: np.finfo(dtype).max, "b": lambda: True}.get(dtype.kind, lambda: np.iinfo(dtype).max)()
    most = min(most, 2**63 - 1) if dtype.kind in "iu" else most
    weights = Graph.from_edges([0, 1], [1, 2], np.array([most, 1], dtype), directed=True).edge_weights
    assert weights is not None and weights.dtype == kept and weights.tolist() == [int(most), 1]
    assert Graph.from_edges([], [], np.zeros(0, dtype)).weight_dtype == kept


def test_parallel_edges_may_have_their_weights_in_any_order() -> None:
    Graph([0, 2, 4], [1, 1, 0, 0], [3, 4, 4, 3])
    with pytest.raises(GraphError, match="same weight"):
        Graph([0, 2, 4], [1, 1, 0, 0], [3, 4, 4, 4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Graph.from_edges([0, 9], [1, 1], n=5), r"src\[1\] = 9 is not a vertex; allowed: 0 to 4"),
        (lambda: Graph.from_edges([0], [-2]), r"dst\[0\] = -2"),
        (lambda: Graph.from_edges([0], [1, 2]), "src has 1 elements and dst 2"),
        (lambda: Graph.from_edges([0], [2**31]), r"dst\[0\] = 2147483648 is not a vertex; allowed: 0 to 2147483646"),
        (lambda: Graph.from_edges([0.0], [1.0]), "float64"),
        (lambda: Graph.from_edges(["a"], ["b"], ids=["a"]), "id 'b' is not in ids"),
        (lambda: Graph.from_edges(["a"], ["a"], ids=["a", "a"]), "distinct"),
        (lambda: Graph.from_edges([0], [0], duplicates="mean"), "duplicates = 'mean'; allowed: 'keep', 'min'"),  # type: ignore[arg-type]
        (lambda: Graph.from_scipy(sp.csr_array(np.ones((2, 3)))), "square"),
        (lambda: Graph.from_scipy(sp.csr_array(np.triu(np.ones((3, 3)))), directed=False), "not symmetric"),
        (lambda: as_graph(np.eye(3)), r"numpy.ndarray is not a graph; Graph.from_dense\(matrix\)"),
        (lambda: as_graph("graph.txt"), r"not a graph; clgraph.read\(path\)"),
        (lambda: path(10).expanded(2**30), "k = 1073741824; allowed: 0 to 214748364"),
    ],
)
def test_invalid_input_is_refused(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_arrays_of_other_types_are_converted() -> None:
    graph = Graph(
        np.array([0, 1, 2], ">i8"), np.array([1, 9, 0, 9], "u2")[::2], np.array([5, 5], ">f2"), ids=["x", "y"]
    )
    assert (graph.row_offsets.dtype, graph.column_indices.dtype) == (np.int32, np.int32)
    assert graph.edge_weights is not None and graph.edge_weights.dtype == np.float32
    assert graph.column_indices.flags.c_contiguous and graph.column_indices.dtype.isnative
    assert entries(graph) == [(0, 1, 5.0), (1, 0, 5.0)]


@pytest.mark.parametrize("wrap", [np.asarray, memoryview, list])
def test_what_the_caller_changes_later_is_not_the_graphs(wrap: Any) -> None:
    offsets, columns = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
    weights, ids = np.array([5.0, 5.0]), np.array([8, 9])
    arrays = wrap(offsets), wrap(columns), wrap(weights), wrap(ids)
    graph = Graph(arrays[0], arrays[1], arrays[2], ids=arrays[3])
    listed = Graph.from_edges(np.array([8]), np.array([9]), ids=arrays[3])
    for array in (offsets, columns, weights, ids):
        array[:] = 10**9
    assert entries(graph) == [(0, 1, 5.0), (1, 0, 5.0)]
    for same in (graph.ids, listed.ids):
        assert same is not None and same.tolist() == [8, 9]
    assert columns.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        graph.column_indices[0] = 0
    with pytest.raises(AttributeError):
        graph.directed = True  # type: ignore[misc]


def test_no_array_is_copied_twice_or_against_the_callers_wish() -> None:
    offsets, columns = np.array([0, 1, 2], np.int32), np.array([1, 0], np.int32)
    graph = Graph(offsets, columns, copy=False)
    assert np.shares_memory(graph.column_indices, columns) and columns.flags.writeable
    converted = columns.astype(np.int32)
    assert owned(converted, columns.astype(np.int64)) is converted and owned(converted, [1, 0]) is converted
    assert owned(converted, converted) is not converted


INTEGERS = ["i1", "u1", "<i2", ">u2", "<u4", ">i4", "<i8", ">u8", "O"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ends_may_have_any_integer_type(dtype: str) -> None:
    ends = np.array([[0, 9], [1, 9], [2, 9]], dtype)[:, 0]
    ends.flags.writeable = False
    expected = entries(Graph.from_edges([0, 1], [1, 2]))
    for source, target in ((ends[:2], ends[1:]), (np.ma.MaskedArray(ends[:2]), list(ends[1:]))):
        assert entries(Graph.from_edges(source, target)) == expected
        weights = ends[:2] if dtype != "O" else [0, 1]
        assert entries(Graph.from_edges(source, target, n=np.uint8(3), weight=weights)) == [
            (0, 1, 0), (1, 0, 0), (1, 2, 1), (2, 1, 1)
        ]  # fmt: skip
    assert entries(Graph.from_edges(ends[:2], ends[1:], ids=[2, 1, 0])) == expected


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (np.array([0, 2**64 - 1], np.uint64), r"src\[1\] = 18446744073709551615; allowed: at most 9223372036854775807"),
        (np.array([0, 2**63], object), r"src\[1\] = 9223372036854775808; allowed: -\d+ to"),
        (np.array([0, None], object), r"src\[1\] = None; allowed: integers"),
        (np.array([0, 2**32 - 1], np.uint32), r"src\[1\] = 4294967295 is not a vertex"),
        (np.array([0.0, 1.0]), "src holds float64 values such as .*0.0.*; needed: integers"),
        (np.array([False, True]), "src holds bool values"),
        (np.ma.MaskedArray([0, 1], [False, True]), r"src\[1\] is masked"),
        (np.array(3), r"src has shape \(\)"),
        (range(10**12), "src needs 40,000,000,000,000 bytes"),
    ],
)
def test_ends_that_are_no_vertices_are_named(ends: Any, message: str) -> None:
    with pytest.raises(ClgraphError, match=message):
        Graph.from_edges(ends, [0, 1])


@pytest.mark.parametrize(
    ("dtype", "weights", "expected"),
    [
        ("f4", [np.inf, -np.inf], None), ("f4", [3e38, 3e38], None), ("f4", [np.inf, 1], np.inf),
        ("f4", [1.5, 2], 3.5), ("i8", [2**62, 2**62], None), ("i8", [-(2**62), -(2**62)], -(2**63)),
        ("i8", [-(2**63), -1], None), ("i8", [2**63 - 1, -5], 2**63 - 6), ("i4", [2**31 - 1, 2**31 - 1], 2**32 - 2),
        ("f4", [1, 2**24, 1], 2**24 + 2),  # rounded once: float32 has no 2**24 + 1
    ],
)  # fmt: skip
def test_sums_of_parallel_weights_are_exact_or_refused(dtype: str, weights: list[Any], expected: Any) -> None:
    k = len(weights)  # entries of the repeated edge (0, 2)
    rows, columns, data = [0] * (k + 1) + [1], [1] + [2] * (k + 1), np.array([7, *weights, 7], dtype)
    made = {
        "edges": lambda: Graph.from_edges(rows, columns, data, duplicates="sum", directed=True),
        "coo": lambda: Graph.from_scipy(sp.coo_array((data, (rows, columns)), shape=(3, 3))),
        "csr": lambda: Graph.from_scipy(sp.csr_array((data, columns, [0, k + 1, k + 2, k + 2]), shape=(3, 3))),
    }
    for make in made.values():
        if expected is None:
            with pytest.raises(GraphError, match=r"edge \(0, 2\).* have no sum in (float32|int64)"):
                make()
        else:
            assert entries(make()) == [(0, 1, 7), (0, 2, expected), (1, 2, 7)]


def test_offsets_widen_when_an_index_would_not_fit() -> None:
    assert offset_dtype(2**31 - 2**16 - 1) is np.int32
    assert offset_dtype(2**31 - 2**16) is np.int64


@pytest.mark.parametrize("name", UNDIRECTED)
def test_permuted_is_isomorphic_and_expanded_repeats(name: str) -> None:
    graph = random_weights(UNDIRECTED[name](), seed=3)
    moved = graph.permuted(9)
    assert sorted(moved.degrees) == sorted(graph.degrees)
    order = np.random.default_rng(9).permutation(graph.n_vertices)
    expected = [(int(order[u]), int(order[v]), w) for u, v, w in entries(graph)]
    assert entries(moved) == sorted(expected)
    n = graph.n_vertices
    copies = [(u + k * n, v + k * n, w) for k in range(3) for u, v, w in entries(graph)]
    assert entries(graph.expanded(3)) == sorted(copies)
    assert graph.expanded(0).n_vertices == 0


@pytest.mark.parametrize(
    ("ids", "is_rising"),
    [([3, 5, 9], True), ([3, 3, 9], False), ([9, 5, 3], False), (["a", "b", "c"], False), ([0.5, 1.5, 2.5], False)],
)
def test_no_dictionary_is_made_of_rising_ids(ids: list[Any], is_rising: bool) -> None:
    graph = Graph([0, 1, 3, 4], [1, 0, 2, 1], ids=ids)
    assert graph.has_rising_ids == is_rising and not Graph([0], []).has_rising_ids
    assert bfs(graph, ids[2], session="pocl").distances.tolist() == [2, 1, 0]
    assert ("vertex_numbers" in vars(graph)) != is_rising


def test_permuted_carries_labels() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"], ids="auto").permuted(0)
    assert graph.ids is not None
    assert {frozenset((graph.ids[u], graph.ids[v])) for u, v in entries(graph)} == {
        frozenset("ab"),
        frozenset("bc"),
    }


def test_pickle_keeps_arrays_read_only() -> None:
    graph = Graph.from_edges([0], [1], [2.0])
    again = pickle.loads(pickle.dumps(graph))
    assert entries(again) == entries(graph) and not again.column_indices.flags.writeable


def test_symmetry_of_a_directed_graph_is_found() -> None:
    assert Graph.from_edges([0, 1], [1, 0], directed=True).is_symmetric()
    assert not Graph.from_edges([0, 1], [1, 0], [1, 2], directed=True).is_symmetric()
    assert repr(path(3)) == "Graph(n_vertices=3, n_edges=4, undirected, unweighted)"


@settings(max_examples=50)
@given(edge_lists())
def test_asymmetry_names_an_entry_that_lacks_its_reverse(edges: dict[str, Any]) -> None:
    graph = Graph.from_edges(**(edges | {"directed": True}))
    matrix = graph.to_scipy().astype(float).toarray()
    count = Graph._trusted(graph.row_offsets, graph.column_indices, directed=True).to_scipy().astype(int).toarray()
    if graph.is_symmetric():
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-9)
        np.testing.assert_array_equal(count, count.T)
    else:
        with pytest.raises(GraphError, match=r"entry \(\d+, \d+\)") as error:
            Graph(graph.row_offsets, graph.column_indices, graph.edge_weights)
        u, v = map(int, str(error.value).split("(")[1].split(")")[0].split(","))
        assert count[u, v] > 0
        if edges["weight"] is None:
            assert count[u, v] != count[v, u]


def test_offsets_that_fall_are_named() -> None:
    matrix = sp.csr_array(np.eye(4))
    matrix.indptr[:] = [0, 1, 3, 2, 4]
    with pytest.raises(GraphError, match=r"row_offsets\[3\] = 2 is below row_offsets\[2\] = 3"):
        Graph.from_scipy(matrix)
    with pytest.raises(GraphError, match=r"indptr\[3\] = 2 is below indptr\[2\] = 3"):
        check_rising(matrix.indptr, name="indptr")
