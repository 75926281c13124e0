"""Jacobians and Hessians recovered from products with the columns of a seed matrix, and star colourings."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import UNDIRECTED
from hypothesis import given
from hypothesis import strategies as st

import clgraph as cg
from clgraph.algorithms.color.star import conflict_graph
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError, MissingEdgesError, VerificationError
from clgraph.reference.color import check_star_coloring
from clgraph.runtime.session import Session


def with_arrow(n: int, half_width: int) -> sp.csr_array:
    """Return a symmetric band matrix whose first row and column are full, with random values."""
    width = 2 * half_width + 1
    pattern = sp.diags_array([np.ones(n)] * width, offsets=range(-half_width, half_width + 1), shape=(n, n)).tolil()
    pattern[0, :] = 1
    pattern[:, 0] = 1
    return with_values(pattern.tocsr())


def with_values(pattern: Any) -> sp.csr_array:
    upper = sp.triu(pattern).tocsr()
    upper.data = np.random.default_rng(5).random(upper.nnz) + 0.5
    return sp.csr_array(upper + sp.triu(upper, 1).T)


def has_path_in_two_colors(graph: Graph, colors: np.ndarray) -> bool:
    """Enumerate the paths a - b - c - d of distinct vertices."""
    near = [
        set(graph.column_indices[a:b].tolist()) for a, b in zip(graph.row_offsets, graph.row_offsets[1:], strict=False)
    ]
    return any(
        colors[a] == colors[c] and colors[b] == colors[d] and a != c and b != d and a != d
        for b in range(graph.n_vertices) for c in near[b] - {b} for a, d in product(near[b] - {b}, near[c] - {c})
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(30, 50), (50, 30), (40, 40), (0, 4), (4, 0)])
def test_a_jacobian_is_recovered_from_its_products(pocl: Session, shape: tuple[int, int]) -> None:
    for dtype in (np.float32, complex):
        jacobian = sp.random_array(shape, density=0.08, rng=np.random.default_rng(2), format="csr").astype(dtype)
        coloring = cg.color_columns(jacobian, session=pocl, verify=True)
        found = coloring.recover(jacobian @ coloring.seed_matrix(dtype))
        assert found.dtype == dtype and found.shape == shape and (found != jacobian).nnz == 0
    wrong = [np.zeros((shape[0], coloring.n_colors + 1)), np.zeros(3)]
    for products in [*wrong, np.zeros((max(shape) + 1, coloring.n_colors))]:
        with pytest.raises(InputError, match="products of shape"):
            coloring.recover(products)
    with pytest.raises(InputError, match="products = "):
        coloring.recover([np.zeros(3), np.zeros(4)])


def test_a_full_row_and_column_cost_one_color(pocl: Session) -> None:
    hessian = with_arrow(3000, 7)
    for options in ({}, {"order": "smallest_last"}, {"deterministic": True}, {"strategy": "speculative"}):
        coloring = cg.color_columns(hessian, symmetric=True, session=pocl, verify=True, **options)
        assert 16 <= coloring.n_colors <= 26 and coloring.symmetric
    coloring = cg.color_columns(hessian, symmetric=True, session=pocl, verify=True)
    assert coloring.n_colors == 16
    found = coloring.recover(hessian @ coloring.seed_matrix())
    np.testing.assert_allclose(found.toarray(), hessian.toarray(), rtol=1e-12)
    assert cg.color_columns(hessian, session=pocl).n_colors == 3000


@pytest.mark.parametrize("prefer", ["colors", "both", "time"])
def test_star_colorings_fulfil_the_definition(pocl: Session, prefer: str) -> None:
    for name, make in UNDIRECTED.items():
        graph = make()
        coloring = cg.color_columns(graph, symmetric=True, prefer=prefer, session=pocl, verify=True)
        if graph.n_edges < 2000:
            assert not has_path_in_two_colors(graph, coloring.colors), name
        hessian = with_values(graph.to_scipy().astype(bool))
        found = coloring.recover(hessian @ coloring.seed_matrix()) if graph.n_vertices else hessian
        np.testing.assert_allclose(found.toarray(), hessian.toarray(), rtol=1e-12)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20), st.lists(st.integers(0, 3), min_size=9))
def test_the_check_finds_every_path_in_two_colors(edges: list[tuple[int, int]], colors: list[int]) -> None:
    ends = np.array(edges, int).reshape(-1, 2)
    graph = Graph.from_edges(ends[:, 0], ends[:, 1], n=9, duplicates="first", self_loops="drop")
    numbers = np.unique(np.array(colors[:9]), return_inverse=True)[1].astype(np.int32)
    is_proper = all(numbers[u] != numbers[v] for u, v in edges if u != v)
    try:
        check_star_coloring(graph, numbers)
    except VerificationError:
        assert not is_proper or has_path_in_two_colors(graph, numbers)
    else:
        assert is_proper and not has_path_in_two_colors(graph, numbers)


def test_conflicts_leave_out_the_leaves_of_a_star() -> None:
    conflicts = conflict_graph(cg.generators.star(50))
    assert conflicts.n_edges == 98  # the edges of the star alone
    assert conflict_graph(Graph.from_edges([], [], n=3)).n_edges == 0


def test_wrong_hessians_and_unpickled_results_are_refused(pocl: Session) -> None:
    with pytest.raises(InputError, match="no reverse"):
        cg.color_columns(sp.csr_array(np.triu(np.ones((3, 3)))), symmetric=True, session=pocl)
    with pytest.raises(InputError, match="symmetric"):
        cg.color_columns(sp.csr_array(np.eye(3)), symmetric=2, session=pocl)
    coloring = cg.color_columns(sp.csr_array(np.eye(3)), symmetric=True, session=pocl)
    with pytest.raises(MissingEdgesError):
        pickle.loads(pickle.dumps(coloring)).recover(np.ones((3, 1)))
