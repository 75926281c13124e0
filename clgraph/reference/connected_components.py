"""A sequential reference implementation of connected components, and a check of labels against the definition."""

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
    """Return, for each vertex of the graph, the smallest vertex of its connected component, int32.

    scipy computes the result. In a directed graph, the components are the weakly connected ones.
    """
    n = graph.n_vertices
    if n == 0:
        return np.zeros(0, np.int32)
    matrix = as_csr_array(graph.row_offsets, graph.column_indices, np.ones(graph.n_edges, bool))
    # Weak components are found, because scipy's search for strong components does not end with parallel edges.
    _, labels = scipy_components(matrix, directed=False)
    smallest = np.full(n, n, np.int32)
    np.minimum.at(smallest, labels, np.arange(n, dtype=np.int32))
    result: NDArray[np.int32] = smallest[labels]
    return result


def check_components(graph: Graph, labels: NDArray[Any]) -> None:
    """Raise an error unless the label of each vertex is the smallest vertex of its component.

    This checks the definition: both ends of every entry have the same label, each label is a vertex with itself as its
    label and is not greater than any vertex so labelled, and the number of labels equals the oracle's number of
    components.

    Raises
    ------
    VerificationError
        A condition fails; the message names the vertex or the entry.
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
