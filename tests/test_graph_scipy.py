"""Graphs from scipy's matrices and back: formats, zeros, asymmetry, arrays that lie."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import entries, with_arrays

from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.graph import Graph
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import GraphError, InputError


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
