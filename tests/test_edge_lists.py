"""Components of lists of edges: the same as of rows, in any order of lists, and of forests that are merged."""

import numpy as np
import pytest
import scipy.sparse as sp

from clgraph.algorithms.components.edge_lists import EdgeComponents, numbered
from clgraph.runtime.session import Session


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


def test_a_path_in_the_worst_order_and_a_star(session: Session) -> None:
    ends = np.arange(5000, dtype=np.int32)
    path = EdgeComponents(session, 5000)
    path.link(ends[:0:-1], ends[-2::-1])
    assert not path.parents().any()
    star = EdgeComponents(session, 5000)
    star.link(np.full(4999, 4999, np.int32), ends[:-1])
    assert not star.parents().any()


def test_a_forest_of_fewer_vertices(session: Session) -> None:
    small = np.array([0, 0, 2], np.int32)
    grown = EdgeComponents(session, 6, small)
    grown.link(np.int32([5]), np.int32([1]))
    assert grown.parents().tolist() == [0, 0, 2, 3, 4, 0]
    other = EdgeComponents(session, 6)
    other.link_forest(small)
    assert other.parents().tolist() == [0, 0, 2, 3, 4, 5]
    assert EdgeComponents(session, 0).parents().size == 0 and numbered(np.zeros(0, np.int32))[0] == 0
