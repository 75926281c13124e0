"""Maximal independent sets by definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import check_array, entry_chunks, first


def check_independent_set(graph: Graph, members: NDArray[Any], included: NDArray[Any] | None = None) -> None:
    """Raise a :class:`VerificationError` unless *members* marks a maximal independent set of *graph*.

    Parameters
    ----------
    graph : Graph
        Each entry has a reverse entry. Self-loops are ignored.
    members : bool array, shape (n_vertices,)
    included : int array, optional
        Vertices that must be members.
    """
    check_array("members", members, graph.n_vertices, np.bool_)
    has_member = members.copy()
    for _, rows, columns in entry_chunks(graph):
        meets = members[columns] & (rows != columns)
        if (at := first(meets & members[rows])) is not None:
            raise VerificationError(f"entry ({rows[at]}, {columns[at]}) joins two members of the set")
        has_member[rows[meets]] = True
    if (v := first(~has_member)) is not None:
        raise VerificationError(f"vertex {v} is not in the set, and neither is any of its neighbours")
    if included is not None and (at := first(~members[included])) is not None:
        raise VerificationError(f"vertex {included[at]} must be in the set, but is not")
