"""METIS on one core of the host, through pymetis, which is optional."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.balance import keep_limits
from clgraph.algorithms.partition.problem import PartitionProblem


@cache
def has_metis() -> bool:
    """Return whether pymetis is installed."""
    return find_spec("pymetis") is not None


def by_metis(problem: PartitionProblem) -> tuple[NDArray[np.int32], int]:
    """Return the part of each vertex and the weight of the edges between parts, as METIS finds them.

    METIS takes edges of weight 1 at least, so with edges of weight 0 the returned weight is too large.
    """
    import pymetis  # type: ignore[import-not-found,unused-ignore]

    graph, shares = problem.graph, None
    parts_used = np.arange(problem.n_parts, dtype=np.int32)
    if problem.target_weights is not None:
        parts_used = np.flatnonzero(problem.target_weights.astype(np.float32) > 0).astype(np.int32)  # METIS rejects 0.
        used = problem.target_weights[parts_used]
        shares = (used / used.sum()).tolist()
    rows: dict[str, Any] = {"xadj": graph.row_offsets, "adjncy": graph.column_indices}
    if hasattr(pymetis, "CSRAdjacency"):  # pymetis has had it since 2025, when xadj and adjncy were deprecated
        rows = {"adjacency": pymetis.CSRAdjacency(graph.row_offsets, graph.column_indices)}
    cut, parts = pymetis.part_graph(
        parts_used.size,
        **rows,
        vweights=problem.vertex_weights,
        eweights=None if graph.edge_weights is None else np.maximum(graph.edge_weights, 1),
        tpwgts=shares,
        options=pymetis.Options(seed=problem.seed % 2**31, ufactor=max(1, round(1000 * problem.imbalance))),
    )
    return parts_used[np.asarray(parts, np.int64)], int(cut)


def solve(problem: PartitionProblem) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
    """Return the part of each vertex, the weight of the edges between parts, and the weight of each part."""
    graph, k = problem.graph, problem.n_parts
    if graph.n_vertices <= k or not graph.n_edges:
        parts = np.arange(graph.n_vertices, dtype=np.int32) % k
    else:
        parts = by_metis(problem)[0]
    weights = np.bincount(parts, problem.vertex_weights, k).astype(np.int64)
    is_between = parts[graph.sources()] != parts[graph.column_indices]
    edges = is_between if graph.edge_weights is None else graph.edge_weights[is_between].astype(np.int64)
    cut = int(edges.sum()) // 2
    return parts, cut + keep_limits(problem, parts, weights), weights


def unfit(problem: PartitionProblem) -> str | None:
    """Return why METIS cannot solve the problem, or ``None``."""
    return None if has_metis() else "it needs the package pymetis"
