import contextlib
import pickle
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from graphs import DIRECTED, GRAPHS, UNDIRECTED, with_arrays
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from wrappers import WRAPPERS, Element, Tensor

from clgraph import bfs, connected_components, minimum_spanning_forest, sssp
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import check_rising, offset_dtype, owned
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.pairs import _ordered, csr_from_keys, distinct, pack, sorted_csr
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import ClgraphError, GraphError, GraphWarning, InputError
from clgraph.generators import path, random_weights


def entries(graph: Graph) -> list[tuple[Any, ...]]:
    """All stored entries, sorted: (row, column) or (row, column, weight)."""
    columns = [graph.sources(), graph.column_indices]
    if graph.edge_weights is not None:
        columns.append(graph.edge_weights)
    return sorted(zip(*(c.tolist() for c in columns), strict=True))


def check(graph: Graph) -> None:
    """Run the public constructor's checks on what a trusted builder made."""
    again = Graph(graph.row_offsets, graph.column_indices, graph.edge_weights, directed=graph.directed, ids=graph.ids)
    assert again.has_sorted_rows == graph.has_sorted_rows
    for name in ("row_offsets", "column_indices", "edge_weights"):
        array = getattr(graph, name)
        assert array is None or not array.flags.writeable


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
    check(graph)
    check(graph.permuted(1))
    check(graph.expanded(3))
    assert graph.directed == (name in DIRECTED)
    assert entries(Graph.from_networkx(graph.to_networkx())) == entries(graph)


@given(edge_lists())
def test_from_edges_keeps_every_edge_in_both_directions(edges: dict[str, Any]) -> None:
    graph = Graph.from_edges(**edges)
    check(graph)
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
    check(graph)
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
def test_ids_of_other_packages_arrays(kind: Any) -> None:
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
    if isinstance(kind, str):  # of text
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
        (lambda: as_graph(np.eye(3)), "numpy.ndarray is not a graph; accepted"),
        (lambda: as_graph("graph.txt"), "not a graph"),
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
def test_ends_of_any_integer_type(dtype: str) -> None:
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
def test_ends_that_are_no_vertices(ends: Any, message: str) -> None:
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
def test_sums_of_parallel_weights(dtype: str, weights: list[Any], expected: Any) -> None:
    k = len(weights)  # of the repeated edge, (0, 2)
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


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_scipy_formats_are_copied(form: str) -> None:
    dense = np.array([[0, 2, 0], [2, 0, 3], [0, 3, 0]], np.int32)
    for matrix in (sp.csr_array(dense).asformat(form), sp.csr_matrix(dense).asformat(form)):
        graph = as_graph(matrix)
        for name in ("data", "indices", "indptr", "offsets", "row", "col"):
            if hasattr(matrix, name):
                getattr(matrix, name)[...] = 0
        assert not graph.directed and entries(graph) == [(0, 1, 2), (1, 0, 2), (1, 2, 3), (2, 1, 3)]


@pytest.mark.parametrize("dtype", [np.float32, np.int64, bool])
@pytest.mark.parametrize("blocksize", [(1, 1), (2, 3), (3, 2), (6, 6)])
def test_zeros_in_the_blocks_of_a_bsr_matrix_are_no_entries(blocksize: Any, dtype: Any) -> None:
    dense = np.eye(6, dtype=dtype)
    dense[0, 4] = dense[5, 2] = dense[5, 0] = 1
    expected = entries(Graph.from_scipy(sp.csr_array(dense)))
    for kind in (sp.bsr_array, sp.bsr_matrix):
        matrix = kind(dense, blocksize=blocksize)
        assert entries(Graph.from_scipy(matrix)) == expected
        assert matrix.data.size == 36 or blocksize != (6, 6), "the caller's matrix is left alone"
    rectangle = sp.bsr_array(dense if 3 % blocksize[1] else dense[:, :3], blocksize=blocksize)
    ratings = Ratings.from_scipy(rectangle.astype(np.float32))
    assert ratings.n_ratings == np.count_nonzero(rectangle.toarray()) and ratings.shape == rectangle.shape


def test_explicit_zeros_of_a_scipy_matrix_are_entries() -> None:
    for form in ("csr", "csc", "coo", "lil", "dok"):
        zero = sp.coo_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3)).asformat(form)
        assert entries(Graph.from_scipy(zero)) == [(0, 1, 0), (1, 2, 1)], form


def test_scipy_asymmetry_is_found_refused_or_mended() -> None:
    matrix = sp.csr_array(np.array([[0, 5, 0], [2, 0, 3], [0, 0, 0]]))
    assert Graph.from_scipy(matrix).directed
    for more in ({}, {"directed": False}):
        mended = Graph.from_scipy(matrix, asymmetry="symmetrize", **more)
        assert not mended.directed and entries(mended) == [(0, 1, 2), (1, 0, 2), (1, 2, 3), (2, 1, 3)]
    for more in ({"directed": False}, {"asymmetry": "error"}, {"directed": False, "asymmetry": "error"}):
        with pytest.raises(GraphError, match="not symmetric"):
            Graph.from_scipy(matrix, **more)
    for asymmetry in ("error", "symmetrize"):
        with pytest.raises(InputError, match=f"asymmetry = '{asymmetry}' with directed=True"):
            Graph.from_scipy(matrix, directed=True, asymmetry=asymmetry)


def lying(form: str, **arrays: Any) -> Any:
    """Return a scipy array of *form* whose arrays were replaced behind scipy's back."""
    matrix = sp.csr_array(np.array([[0, 2, 0, 0], [2, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 1]]))
    return with_arrays(matrix.asformat(form), **arrays)


@pytest.mark.parametrize(
    ("form", "arrays", "message"),
    [
        ("csr", {"indices": [1, 0, 2, 5, 3]}, r"csr.*column_indices\[3\] = 5 is not a vertex; allowed: 0 to 3"),
        ("csr", {"indices": [1, 0, -(2**30), 1, 3]}, r"column_indices\[2\] = -1073741824"),
        ("csr", {"indptr": [0, 1, 9, 4, 5]}, r"row_offsets\[3\] = 4 is below"),
        ("csr", {"indptr": [0, 1, 3, 4, 99]}, "from 0 to 99"),
        ("csr", {"indptr": [0, 1, 3, 4, -(2**30)]}, "from 0 to -1073741824"),
        ("csr", {"indptr": [0, 1, 3]}, "indptr has 3 elements; needed: 5"),
        ("csr", {"data": [1, 2]}, "not a valid csr matrix"),
        ("csr", {"indices": [1.0, 0, 2, 1, 3]}, "indices holds float64 values"),
        ("csc", {"indices": [1, 0, -(2**30), 1, 3]}, r"csc.*column_indices\[2\] = -1073741824"),
        ("csc", {"indptr": [0, 1, 2**30, 4, 5]}, "row_offsets"),
        ("coo", {"coords": (np.array([0, -(2**30)]), np.array([1, 0])), "data": [1, 1]}, r"row\[1\] = -107"),
        ("coo", {"coords": (np.array([0, 1]), np.array([1, 4])), "data": [1, 1]}, r"col\[1\] = 4"),
        ("coo", {"data": [1, 1]}, "not a valid coo matrix"),
        ("bsr", {"indices": [2**40, 0, 1, 0, 1, 1]}, r"bsr.*indices\[0\] = 1099511627776"),
        ("bsr", {"indptr": [0, 9, 1]}, "bsr"),
        ("bsr", {"indptr": np.array([0, 2**63, 2**64 - 1], np.uint64)}, "bsr.*at most"),
        ("bsr", {"indptr": [0, 2**62, 2]}, "bsr"),
        ("csr", {"indptr": np.arange(5, dtype=np.uint64) * 2**62}, r"csr.*indptr\[3\]"),
        ("dia", {"offsets": [0, 1]}, "not a valid dia matrix"),
        ("csr", {"data": np.ones(5, ">f4")}, "a matrix of >f4 entries"),
        ("csc", {"data": np.array([b"ab"] * 5)}, r"a matrix of \|S2 entries"),
        ("coo", {"data": np.ones(5, "M8[s]")}, "a matrix of datetime64"),
        ("csr", {"data": np.ones(5, np.float16)}, "a matrix of float16 entries"),
    ],
)
def test_the_arrays_of_a_scipy_matrix_are_checked(form: str, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        as_graph(lying(form, **arrays))


def test_a_matrix_wider_than_a_graph_is_refused() -> None:
    with pytest.raises(GraphError, match="1099511627776 rows"):
        as_graph(sp.coo_array((2**40, 2**40)))


def test_diagonals_outside_of_a_scipy_matrix_are_nothing() -> None:
    matrix = lying("dia", offsets=[-(2**31), 0, 2**31 - 1])
    assert entries(as_graph(matrix)) == [(3, 3, 1)]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_flags_of_a_scipy_matrix_are_not_believed(form: str) -> None:
    matrix = sp.coo_array(([1, 2, 4, 1], ([0, 0, 0, 1], [2, 1, 2, 0])), shape=(3, 3)).asformat(form)
    if form == "csr":
        matrix = sp.csr_array(([1, 2, 4, 1], [2, 1, 2, 0], [0, 3, 4, 4]), shape=(3, 3))
    elif form == "csc":
        matrix = sp.csc_array(([1, 2, 4, 1], [1, 0, 0, 0], [0, 1, 2, 4]), shape=(3, 3))
        matrix.indices, matrix.data = np.array([1, 0, 0, 0]), np.array([1, 2, 1, 4])
    matrix.has_canonical_format = True
    graph = as_graph(matrix)
    assert graph.has_sorted_rows and entries(graph) == [(0, 1, 2), (0, 2, 5), (1, 0, 1)]
    assert matrix.data.size == 4, "the caller's matrix is left alone"


def test_networkx_nodes_and_weights() -> None:
    source = nx.Graph()
    source.add_edge("b", "a", weight=2.5)
    source.add_edge("b", ("t", 1))
    graph = as_graph(source, weight="weight")
    assert graph.ids is not None and graph.ids.tolist() == ["b", "a", ("t", 1)]
    assert entries(graph) == [(0, 1, 2.5), (0, 2, 1.0), (1, 0, 2.5), (2, 0, 1.0)]
    assert nx.utils.graphs_equal(as_graph(source).to_networkx(), nx.Graph(source.edges()))
    assert as_graph(nx.path_graph(4)).ids is None


def weighted(kind: type[nx.Graph]) -> nx.Graph:
    """Return a graph of *kind* in which attributes are missing, an edge is a loop and, if it can be, one parallel."""
    source = kind([("c", "a", {"w": 2.5}), ("a", "b"), ("b", "b", {"w": 4.0}), (3, "a", {"w": 1.5, "x": 9})])
    if source.is_multigraph():
        source.add_edge("c", "a", key="second", w=0.5)
        source.add_edge("b", "b", w=8.0)
    if source.is_directed():
        source.add_edge("a", "c", w=7.0)
    return source


VIEWS = {
    "itself": lambda source: source,
    "frozen": lambda source: nx.freeze(source.copy()),
    "subgraph": lambda source: source.subgraph(["b", "a", "c"]),
    "few nodes": lambda source: source.subgraph(["b"]),
    "edge_subgraph": lambda source: source.edge_subgraph(list(source.edges)[:2]),
    "filtered": lambda source: nx.subgraph_view(source, filter_edge=lambda u, v, *key: "b" not in (u, v)),
    "reversed": lambda source: source.reverse(copy=False) if source.is_directed() else source,
    "undirected": lambda source: source.to_undirected(as_view=True),
    "directed": lambda source: source.to_directed(as_view=True),
    "empty": lambda source: source.subgraph([]),
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("view", VIEWS)
def test_networkx_graphs_and_views_give_their_edges(kind: type[nx.Graph], view: str) -> None:
    source = VIEWS[view](weighted(kind))
    number = {node: i for i, node in enumerate(source)}
    for name in (None, "w", "y"):
        expected = []
        for u, v, w in source.edges(data=name, default=1) if name else ((*edge[:2], 1) for edge in source.edges):
            pairs = {(number[u], number[v])} | (set() if source.is_directed() else {(number[v], number[u])})
            expected += [(*pair, w) if name else pair for pair in pairs]
        with pytest.warns(GraphWarning) if name == "y" and expected else contextlib.nullcontext():
            graph = Graph.from_networkx(source, name)
        check(graph)
        assert entries(graph) == sorted(expected) and graph.directed == source.is_directed()
        assert list(source) == ([] if graph.ids is None else graph.ids.tolist())


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_a_function_as_weight_of_a_networkx_graph_is_networkxs(kind: type[nx.Graph]) -> None:
    source = weighted(kind)

    def total(u: Any, v: Any, attributes: Any) -> float | None:
        parallel = attributes.values() if source.is_multigraph() else [attributes]
        weight = sum(given.get("w", 3.0) for given in parallel)
        return None if weight == 3.0 else weight  # hides the edge from a to b

    def uphill(u: Any, v: Any, attributes: Any) -> float:
        return 2.0 if str(u) < str(v) else 5.0

    for function in (total, uphill):
        for start in source:
            expected = nx.single_source_dijkstra_path_length(source, start, weight=function)
            found = sssp(source, start, weight=function, session="pocl").distances
            assert dict(zip(source, found.tolist(), strict=True)) == {v: expected.get(v, np.inf) for v in source}
    assert Graph.from_networkx(source, total).directed == source.is_directed()
    assert Graph.from_networkx(source, uphill).directed, "an edge weighs more in one direction"
    check(Graph.from_networkx(source, total))
    by_name = nx.Graph(source)
    assert minimum_spanning_forest(by_name, weight=lambda u, v, given: given.get("w", 1), session="pocl").weight == (
        minimum_spanning_forest(by_name, weight="w", session="pocl").weight
    )


def test_a_function_as_weight_that_raises_or_has_no_edges_to_ask() -> None:
    source = nx.Graph([("a", "b", {"km": 1.0}), ("b", "c")])
    with pytest.raises(InputError, match=r"edge \('b', 'c'\): weight = .* raised KeyError: 'km'"):
        sssp(source, "a", weight=lambda u, v, given: given["km"])
    for other in (path(3), path(3).to_scipy()):
        with pytest.raises(InputError, match="a function is for networkx graphs"):
            sssp(other, 0, weight=lambda *_: 1)
        with pytest.raises(InputError, match="a function is for networkx graphs"):
            minimum_spanning_forest(other, weight=lambda *_: 1)


@pytest.mark.parametrize("value", [None, "far", Fraction(1, 2), 2**64, 1j, [1], np.nan, object()])
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiDiGraph])
def test_an_edge_whose_weight_is_no_number_is_named(kind: type[nx.Graph], value: Any) -> None:
    source = kind([("a", "b", {"w": 3.0}), ("b", "c", {"w": value}), ("c", "a", {"w": 2.0})])
    with pytest.raises(GraphError, match=r"edge \('b', 'c'\) has weight "):
        Graph.from_networkx(source, "w")
    if value is not None:
        with pytest.raises(GraphError, match=r"edge \('b', 'c'\) has weight "):
            Graph.from_networkx(source, lambda u, v, _: value if {u, v} == {"b", "c"} else 1.0)


def test_a_networkx_attribute_that_has_no_hash_is_refused() -> None:
    with pytest.raises(InputError, match=r"weight = .*an edge attribute"):
        Graph.from_networkx(nx.Graph([(0, 1)]), ["w"])  # type: ignore[arg-type]


@pytest.mark.filterwarnings("error")
def test_an_attribute_that_no_edge_has_is_told() -> None:
    source = nx.Graph([(0, 1, {"km": 4.0}), (1, 2, {"toll": 1})])
    with pytest.warns(GraphWarning, match="no edge has the attribute 'weight'.*: 'km', 'toll'"):
        assert sssp(source, 0, session="pocl").distances.tolist() == [0, 1, 2]
    with pytest.warns(GraphWarning, match="no edge has the attribute 'kn'.*: 'km', 'toll'"):
        sssp(source, 0, weight="kn", session="pocl")
    with pytest.warns(GraphWarning, match="no edge has the attribute 'km'.*: none"):
        sssp(nx.path_graph(3), 0, weight="km", session="pocl")
    assert sssp(source, 0, weight="km", session="pocl").distances.tolist() == [0, 4, 5], "some edges have it"
    sssp(nx.path_graph(3), 0, session="pocl")
    sssp(nx.empty_graph(3), 0, weight="km", session="pocl")
    connected_components(source, session="pocl")


def test_a_networkx_graph_without_dictionaries_of_attributes_is_refused() -> None:
    class Complement(nx.Graph):
        def adjacency(self) -> Any:
            return iter([(v, set(self) - {v}) for v in self])

    for weight in (None, "weight", lambda *_: 1):
        with pytest.raises(InputError, match="dictionary of attributes"):
            Graph.from_networkx(Complement([(0, 1), (1, 2)]), weight)


@pytest.mark.parametrize("names", [[0, 1, 2], ["a", "b", "c"]])
@pytest.mark.parametrize("end", [7, -1])
def test_a_neighbour_that_is_no_node_of_a_networkx_graph_is_refused(names: list[Any], end: int) -> None:
    source = nx.path_graph(names)
    source._adj[names[0]][end] = {}
    with pytest.raises(InputError, match="neighbour"):
        Graph.from_networkx(source)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ids", [None, ["z", ("y", 1), 5, "x"]])
@pytest.mark.parametrize("weight", [None, [3, 1, 2, 5, 4]])
def test_to_networkx_is_as_if_edges_were_added_one_by_one(directed: bool, ids: Any, weight: Any) -> None:
    graph = Graph.from_edges([2, 0, 3, 1, 0], [1, 2, 0, 1, 1], weight, directed=directed)
    graph = Graph(graph.row_offsets, graph.column_indices, graph.edge_weights, directed, ids)
    names = range(4) if ids is None else ids
    expected = (nx.DiGraph if directed else nx.Graph)()
    expected.add_nodes_from(names)
    for u, v, *w in zip(*(part.tolist() for part in graph.edge_list() if part is not None), strict=True):
        expected.add_edge(names[u], names[v], **({"weight": w[0]} if w else {}))
    made = graph.to_networkx()
    assert nx.utils.graphs_equal(made, expected) and type(made) is type(expected)
    assert [list(row) for _, row in made.adjacency()] == [list(row) for _, row in expected.adjacency()]
    u, v = names[0], names[2]
    made.edges[u, v]["seen"] = True
    assert (made.pred if directed else made.adj)[v][u]["seen"], "both directions have the same attributes"
    made.remove_edge(u, v)
    assert not made.has_edge(u, v) and made.number_of_edges() == expected.number_of_edges() - 1


@pytest.mark.parametrize("directed", [False, True])
def test_parallel_edges_and_equal_labels_go_to_networkx(directed: bool) -> None:
    parallel = Graph.from_edges([0, 0, 1, 2], [1, 1, 2, 2], [3, 4, 5, 6], directed=directed)
    made = parallel.to_networkx()
    assert made.is_multigraph() and sorted(made.edges(data="weight")) == [(0, 1, 3), (0, 1, 4), (1, 2, 5), (2, 2, 6)]
    twins = Graph.from_edges([0, 2], [1, 3], [3, 5], directed=directed)
    twins = Graph(twins.row_offsets, twins.column_indices, twins.edge_weights, directed, ["a", "b", "b", "c"])
    assert sorted(twins.to_networkx().edges(data="weight")) == [("a", "b", 3), ("b", "c", 5)]


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


def test_symmetry_of_a_directed_graph() -> None:
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


# ---- pairs become rows by buckets, as by one stable sort


M = 200_000  # pairs: several buckets and chunks


@pytest.mark.parametrize("n", [1, 3, 1000, 2**17 + 1])
@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("unique", [False, True])
def test_rows_are_sorted_and_parallel_entries_stay_in_order(n: int, mirror: bool, unique: bool) -> None:
    rng = np.random.default_rng(n)
    rows, columns = rng.integers(n, size=(2, M), dtype=np.int32)
    rows[: M // 2] //= 2  # buckets of unequal sizes
    weights = np.arange(M, dtype=np.int32)
    offsets, found, values = sorted_csr(
        n, [(rows[:50], columns[:50], weights[:50]), (rows[50:], columns[50:], weights[50:] * 1.0)],
        mirror=mirror, unique=unique,
    )  # fmt: skip
    if mirror:
        proper = rows != columns
        rows, columns, weights = (
            np.concatenate([rows, columns[proper]]), np.concatenate([columns, rows[proper]]),
            np.concatenate([weights, weights[proper]]),
        )  # fmt: skip
    order = np.lexsort((weights, columns, rows))
    keys = pack(rows, columns)[order]
    if unique:
        keys, first = np.unique(keys, return_index=True)
        order = order[first]
    assert values.dtype == np.float64 and np.array_equal(values, weights[order])
    assert np.array_equal(found, columns[order])
    assert np.array_equal(np.repeat(np.arange(n), np.diff(offsets)), rows[order])


@pytest.mark.parametrize("n", [3, 2**17 + 1])
@pytest.mark.parametrize("unique", [False, True])
def test_keys_become_rows(n: int, unique: bool) -> None:
    rows, columns = np.random.default_rng(n).integers(n, size=(2, 3 * M), dtype=np.int32)
    keys = pack(rows, columns)
    expected = np.unique(keys) if unique else np.sort(keys)
    offsets, found = csr_from_keys(n, keys, unique=unique)
    assert np.array_equal(pack(np.repeat(np.arange(n), np.diff(offsets)), found), expected)


@pytest.mark.parametrize("key_bits", [4, 62])
def test_places_of_keys_that_fill_their_words(key_bits: int) -> None:
    keys = np.random.default_rng(0).integers(16, size=100)
    expected = np.argsort(keys, kind="stable")
    in_order, places = _ordered(keys.copy(), key_bits)
    assert np.array_equal(places, expected) and np.array_equal(in_order, keys[expected])


@pytest.mark.parametrize("values", [[], [3], [5, 3, 5, 5, 0, 3]])
def test_distinct_values_are_in_order(values: list[int]) -> None:
    assert distinct(np.array(values, np.int32)).tolist() == sorted(set(values))
