"""Communities by definition: labels, connectedness, and the exact quality in integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.integer_graph import integer_graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array


def check_communities(
    graph: Graph, labels: NDArray[Any], quality: float, *, objective: str = "modularity", resolution: float = 1.0
) -> None:
    """Raise a :class:`VerificationError` unless *labels* are connected communities of this *quality*.

    Labels must be int32 numbers 0 … k - 1, each of which occurs, in the order of the first vertices. Each community
    must be connected by entries between its members, in either direction.
    """
    n = graph.n_vertices
    check_array("labels", labels, n, np.int32)
    found, first = np.unique(labels, return_index=True)
    if n and (found[0] != 0 or found[-1] != found.size - 1):
        raise VerificationError(f"labels run from {found[0]} to {found[-1]}, but there are {found.size}")
    if (np.diff(first) < 0).any():
        raise VerificationError("labels are not numbered in the order of the first vertices")
    integers = integer_graph(graph, objective, resolution)
    rows, columns = integers.sources(), integers.column_indices
    n_parts, parts = connected_parts(rows, columns, labels)
    if n_parts != found.size:
        apart = next(c for c in found if np.unique(parts[labels == c]).size > 1)
        raise VerificationError(f"community {apart} is not connected")
    if quality != (exact := integers.quality(*integers.measured(labels))):
        raise VerificationError(f"the quality is {quality!r}; by definition it is {exact!r}")


def connected_parts(rows: NDArray[Any], columns: NDArray[Any], labels: NDArray[Any]) -> tuple[int, NDArray[np.int32]]:
    """Return the number of connected parts of all communities together, and the part of each vertex.

    Entries lead from *rows* to *columns*, and connect vertices of equal *labels* in either direction.
    """
    inside = labels[rows] == labels[columns]
    entries = (np.ones(int(inside.sum()), bool), (rows[inside], columns[inside]))
    found: tuple[int, NDArray[np.int32]] = connected_components(
        csr_array(entries, shape=(labels.size, labels.size)), directed=False
    )
    return found
