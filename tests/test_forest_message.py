"""A forest as a message: whatever it looks like, the other device gets all of it, in no more than 4 bytes a vertex."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clgraph.algorithms.components import on_devices
from clgraph.algorithms.components.edge_lists import EdgeComponents
from clgraph.data.graph import Graph
from clgraph.reference.components import connected_components as smallest_of_components
from clgraph.runtime.session import Session

LARGE = on_devices._SMALL + 5


def roots(n: int, edges: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the smallest vertex of each vertex's component in a graph of these edges."""
    return smallest_of_components(Graph.from_edges(*edges, n=n))


def sent(session: Session, theirs: NDArray[np.int32], mine: NDArray[np.int32] | None = None) -> tuple[Any, int]:
    """Return what *mine*, by default a forest without edges, becomes by the message, and how long that is."""
    n = theirs.size
    forest = EdgeComponents(session, n, mine)
    message, is_packed = on_devices.forest_message(n, EdgeComponents(session, n, theirs)._parent)
    on_devices.join_forest(n, message, forest._parent, is_packed=is_packed)
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


def test_each_form_of_a_block(session: Session) -> None:
    """Blocks of 1024 without a parent, of one label, of some others, of as many as it pays, of more, and the last."""
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
