"""Sequential oracle and check of the definition for connected components."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, entry_chunks, first


def connected_components(graph: Graph) -> NDArray[np.int32]:
    """Return the smallest vertex of the component of each vertex, int32, shape (n_vertices,).

    Computed by scipy; components of a directed graph are the weak ones.
    """
    n = graph.n_vertices
    if n == 0:
        return np.zeros(0, np.int32)
    matrix = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges, bool))
    _, labels = scipy_components(matrix, directed=False)  # by strong ones scipy never ends if edges are parallel
    smallest = np.full(n, n, np.int32)
    np.minimum.at(smallest, labels, np.arange(n, dtype=np.int32))
    result: NDArray[np.int32] = smallest[labels]
    return result


def check_components(graph: Graph, labels: NDArray[Any]) -> None:
    """Raise unless *labels* numbers each vertex by the smallest vertex of its component.

    Checks the definition: equal labels across every entry, each label its own representative and
    not above any of its members, and as many labels as the oracle finds components.

    Raises
    ------
    VerificationError
        Naming the vertex or the entry that fails.
    """
    n = graph.n_vertices
    check_array("labels", labels, n, np.int32)
    vertices = np.arange(n, dtype=np.int32)
    if (v := first((labels < 0) | (labels > vertices))) is not None:
        raise VerificationError(f"label {labels[v]} of vertex {v} is not a vertex from 0 to {v}")
    if (v := first(labels[labels] != labels)) is not None:
        raise VerificationError(
            f"label {labels[v]} of vertex {v} is not its own representative: it has label {labels[labels[v]]}"
        )
    for _, rows, columns in entry_chunks(graph):
        if (at := first(labels[rows] != labels[columns])) is not None:
            u, v = rows[at], columns[at]
            raise VerificationError(f"entry ({u}, {v}) joins the labels {labels[u]} and {labels[v]}")
    n_labels = np.count_nonzero(labels == vertices)
    n_components = np.count_nonzero(connected_components(graph) == vertices)
    if n_labels != n_components:
        raise VerificationError(f"{n_labels} distinct labels, but {n_components} components")
