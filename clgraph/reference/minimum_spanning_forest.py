"""A sequential reference implementation of minimum spanning forests, and a check of forests against the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from clgraph.data.graphs.csr import as_csr_array
from clgraph.data.graphs.graph import Graph
from clgraph.errors import VerificationError
from clgraph.reference.entries import first


def kruskal(graph: Graph, *, maximum: bool = False) -> NDArray[np.int64]:
    """Return the CSR positions of the minimum spanning forest's edges, ascending, each in the row of its lesser end.

    scipy computes the forest. The forest is unique, because scipy gets the edges' distinct ranks instead of the edges'
    weights.

    Parameters
    ----------
    graph : Graph
        An undirected graph with sorted rows.
    maximum : bool
        Whether to order the edges by descending weight. In both cases, edges of equal weight are in the order of
        their entries.
    """
    return _least_forest(graph.n_vertices, *_candidates(graph, maximum))


def check_mst(graph: Graph, edges: NDArray[Any], *, maximum: bool = False, n_cuts: int = 8) -> None:
    """Raise an error unless *edges* are the entries of the minimum spanning forest of *graph*.

    This checks the definition: *edges* are ascending entries in the rows of their lesser ends, have no cycle, and
    connect the two ends of every entry. For *n_cuts* random edges of the forest, it checks that each is the lightest
    entry across the cut that it alone crosses. Then it compares weights and entries with :func:`kruskal`.

    Parameters
    ----------
    graph : Graph
        An undirected graph with sorted rows.
    edges : array
        Positions in ``graph.column_indices``.
    maximum : bool
        Whether the forest must have the greatest weight instead of the least.
    n_cuts : int
        How many cuts to check.

    Raises
    ------
    VerificationError
        A condition fails; the message names the edge or the entry.
    """
    n, columns, weights = graph.n_vertices, graph.column_indices, graph.edge_weights
    if edges.ndim != 1 or edges.dtype != np.int64:
        raise VerificationError(f"edges are {edges.dtype} {edges.shape}; needed: int64, one dimension")
    if (at := first((edges < 0) | (edges >= graph.n_edges))) is not None:
        raise VerificationError(f"edge {edges[at]} is not an entry from 0 to {graph.n_edges - 1}")
    if (at := first(edges[1:] <= edges[:-1])) is not None:
        raise VerificationError(f"edge {edges[at]} comes before edge {edges[at + 1]}; edges must ascend")
    rows = np.searchsorted(graph.row_offsets, edges, "right") - 1
    if (at := first(rows >= columns[edges])) is not None:
        raise VerificationError(f"edge {_name(graph, edges[at])} is not in the row of the lesser of two ends")
    n_trees, labels = _components(n, rows, columns[edges])
    if edges.size != n - n_trees:
        raise VerificationError(f"{edges.size} edges join {n} vertices to {n_trees} trees: there is a cycle")
    positions, sources, targets, ranks = _candidates(graph, maximum)
    if (at := first(labels[sources] != labels[targets])) is not None:
        raise VerificationError(f"entry {_name(graph, positions[at])} joins two trees of the forest")
    for at in np.random.default_rng(0).choice(edges.size, min(n_cuts, edges.size), replace=False):
        _, sides = _components(n, np.delete(rows, at), np.delete(columns[edges], at))
        crossing = np.flatnonzero(sides[sources] != sides[targets])
        least = positions[crossing[ranks[crossing].argmin()]]
        if least != edges[at]:
            raise VerificationError(
                f"entry {_name(graph, least)} crosses the cut of edge {_name(graph, edges[at])} and precedes it"
            )
    expected = _least_forest(n, positions, sources, targets, ranks)
    if weights is not None:
        found, wanted = np.sort(weights[edges]), np.sort(weights[expected])
        if (at := first(found != wanted)) is not None:
            raise VerificationError(
                f"weight {at} of the forest in ascending order is {found[at]}; Kruskal's algorithm finds {wanted[at]}"
            )
    if (at := first(edges != expected)) is not None:
        raise VerificationError(
            f"edge {at} is {_name(graph, edges[at])}; Kruskal's algorithm finds {_name(graph, expected[at])}"
        )


def _candidates(graph: Graph, maximum: bool) -> tuple[NDArray[Any], ...]:
    """Return the position, both ends and the weight's rank of each CSR entry in the row of its lesser end.

    Entries are ranked by weight, and entries of equal weight by position.
    """
    assert not graph.directed and graph.has_sorted_rows
    rows, columns, weights = graph.sources(), graph.column_indices, graph.edge_weights
    positions = np.flatnonzero(rows < columns)
    ranks = np.arange(positions.size)
    if weights is not None:
        keys = weights[positions]
        # For descending weights, reversed keys are sorted and the result is reversed. Equal weights keep their order.
        order = positions.size - 1 - keys[::-1].argsort(kind="stable")[::-1] if maximum else keys.argsort(kind="stable")
        ranks[order] = np.arange(positions.size)
    return positions, rows[positions], columns[positions], ranks


def _least_forest(
    n: int, positions: NDArray[Any], sources: NDArray[Any], targets: NDArray[Any], ranks: NDArray[Any]
) -> NDArray[np.int64]:
    if not positions.size:
        return positions
    differs = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1])  # Positions at which the runs of parallel edges start.
    weights = np.minimum.reduceat(ranks, starts) + 1.0  # Weights start at 1, because scipy takes a zero for no edge.
    offsets = np.searchsorted(sources[starts], np.arange(n + 1))
    tree = minimum_spanning_tree(as_csr_array(offsets, targets[starts], weights), overwrite=True)
    chosen = np.zeros(positions.size, bool)
    chosen[tree.data.astype(np.int64) - 1] = True
    result: NDArray[np.int64] = positions[chosen[ranks]]
    return result


def _components(n: int, sources: NDArray[Any], targets: NDArray[Any]) -> tuple[int, NDArray[np.int32]]:
    if n == 0:
        return 0, np.zeros(0, np.int32)
    matrix = coo_array((np.ones(sources.size, bool), (sources, targets)), shape=(n, n))
    n_components, labels = connected_components(matrix, directed=False)
    return n_components, labels


def _name(graph: Graph, position: int) -> str:
    u, v = int(np.searchsorted(graph.row_offsets, position, "right")) - 1, int(graph.column_indices[position])
    weight = "" if graph.edge_weights is None else f" of weight {graph.edge_weights[position]}"
    return f"{position} ({u}, {v}){weight}"
