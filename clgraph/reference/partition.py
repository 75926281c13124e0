"""A check of graph partitions against the definition, and measures of their quality."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_count
from clgraph.data.graphs.conversion import as_graph
from clgraph.data.graphs.csr import MAX_VERTICES, as_integers, check_range
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.pairs import distinct
from clgraph.errors import GraphError, InputError, VerificationError
from clgraph.host_memory import check_host_memory
from clgraph.reference.entries import check_array, first


def check_partition(
    graph: Graph,
    parts: NDArray[Any],
    n_parts: int,
    edge_cut: int,
    *,
    vertex_weights: NDArray[Any] | None = None,
    part_weights: NDArray[Any] | None = None,
    most_weight: int | None = None,
) -> None:
    """Raise an error unless *parts* is a partition of the graph's vertices with the claimed weights.

    Parameters
    ----------
    graph : Graph
        An undirected graph, or a directed one with the reverse of each entry.
    parts : int32 array, shape (n_vertices,)
    n_parts : int
    edge_cut : int
        The claimed total weight of the edges between parts.
    vertex_weights : int array, optional
    part_weights : int array, optional
        The claimed weights of the parts.
    most_weight : int, optional
        The largest weight that a part may have.

    Raises
    ------
    VerificationError
        A condition fails; the message says what differs.
    """
    check_array("parts", parts, graph.n_vertices, np.int32)
    if (v := first((parts < 0) | (parts >= n_parts))) is not None:
        raise VerificationError(f"vertex {v} is in part {parts[v]}; parts are 0 to {n_parts - 1}")
    found = partition_quality(graph, parts, n_parts, vertex_weights=vertex_weights)
    if found["edge_cut"] != edge_cut:
        raise VerificationError(f"edges between parts weigh {found['edge_cut']}, not {edge_cut}")
    if part_weights is not None and (p := first(found["part_weights"] != part_weights)) is not None:
        raise VerificationError(f"part {p} weighs {found['part_weights'][p]}, not {part_weights[p]}")
    if most_weight is not None and (heaviest := found["part_weights"].max(initial=0)) > most_weight:
        raise VerificationError(f"a part weighs {heaviest}; allowed: {most_weight}")


def partition_quality(
    graph: Any,
    parts: NDArray[Any],
    n_parts: int,
    *,
    vertex_weights: NDArray[Any] | None = None,
    weight: Weight = "weight",
) -> dict[str, Any]:
    """Return measures of the quality of a graph partition, computed from the definition.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array, networkx graph or TriangleMesh
    parts : int array, shape (n_vertices,)
        The part of each vertex, from 0 on.
    n_parts : int
    vertex_weights : int array, optional
        The weight of each vertex; by default 1.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. ``None`` ignores the weights of any graph.

    Returns
    -------
    dict
        ``edge_cut``, the total weight of the edges between parts; ``part_weights``, int64; ``imbalance``, by which
        fraction the heaviest part is heavier than the mean; ``n_border``, the number of vertices with a neighbour in
        another part; ``communication``, the number of other parts in which a vertex has neighbours, summed over all
        vertices.

    Raises
    ------
    GraphError
        *parts* or *vertex_weights* are not integers, do not have one value per vertex, or a part is not in
        ``[0, n_parts)``.
    InputError
        *n_parts* is not a positive integer, or the weights of edges are no integers.
    """
    graph, n_parts = as_graph(graph, weight=weight), checked_count("n_parts", n_parts, MAX_VERTICES)
    check_host_memory(f"the weights of {n_parts} parts", 8 * n_parts)
    parts = _one_per_vertex("parts", parts, graph)
    check_range("parts", parts, n_parts)
    if vertex_weights is not None:
        vertex_weights = _one_per_vertex("vertex_weights", vertex_weights, graph)
    sources, columns = graph.sources(), graph.column_indices
    between = parts[sources] != parts[columns]
    entries = None if weight is None else graph.edge_weights
    if entries is not None and entries.dtype.kind not in "iub":
        raise InputError(f"edge_weights are {entries.dtype}; needed: integers, or ignore them: weight=None")
    doubled = int(between.sum() if entries is None else entries[between].sum(dtype=np.int64))
    weights = np.zeros(n_parts, np.int64)
    np.add.at(weights, parts, 1 if vertex_weights is None else vertex_weights)
    pairs = distinct(sources[between].astype(np.int64) * n_parts + parts[columns[between]])
    mean = weights.sum() / n_parts
    return {
        "edge_cut": doubled // 2,
        "part_weights": weights,
        "imbalance": float(weights.max(initial=0) / mean - 1) if mean else 0.0,
        "n_border": int(distinct(sources[between]).size),
        "communication": int(pairs.size),
    }


def _one_per_vertex(name: str, values: Any, graph: Graph) -> NDArray[np.integer[Any]]:
    found: NDArray[np.integer[Any]] = as_integers(name, values)
    if found.size != graph.n_vertices:
        raise GraphError(f"{name} has {found.size} elements; needed: one per vertex, {graph.n_vertices}")
    return found
