"""The problem of shortest paths: a weighted graph, the source vertices, and a limit of the distance."""

from __future__ import annotations

import sys
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from clgraph.algorithms.traversal.problem import GREATEST, LARGEST_DEGREE, SearchProblem, source_numbers
from clgraph.arguments import checked_flag, checked_number, refusing, shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.data.graphs.wrapped import wrap_graph
from clgraph.engine.problem import vertex_ids
from clgraph.errors import GraphError, InputError
from clgraph.runtime.graphs.weight_range import weight_range
from clgraph.runtime.session import Session


class PathsProblem(SearchProblem):
    """A search for shortest paths from source vertices in a graph with nonnegative edge weights."""

    def admitted(self) -> Self:
        if self.weight_range[0] < 0:
            raise _negative_weight(self.graph)
        return self

    def measured(self, session: Session | None) -> Self:
        if session is not None:
            weight_range(session, self.graph)
        return self.admitted()

    def admitted_if_checked(self) -> Self:
        return super().admitted_if_checked() if self.graph.is_small else self


def as_problem(
    graph: Any,
    *,
    source: Any = LARGEST_DEGREE,
    limit: float | None = None,
    predecessors: bool = False,
    weight: Weight = "weight",
    dtype: DTypeLike | None = None,
) -> PathsProblem:
    """Check the arguments of :func:`sssp` and return the shortest-path problem.

    A limit above the greatest possible distance becomes ``None``.
    """
    predecessors = checked_flag("predecessors", predecessors)
    graph = wrap_graph(graph, weight=weight, weighted=True, along_rows=True)
    sources = source_numbers(graph, source)
    is_float = graph.weight_dtype is not None and graph.weight_dtype.kind == "f"
    limit = _checked_limit(limit, sys.float_info.max if is_float else GREATEST)
    wide = _is_wide(dtype, graph.weight_dtype)
    problem = PathsProblem(graph, sources, limit, weighted=True, predecessors=predecessors, wide=wide)
    return problem.admitted_if_checked()


def _is_wide(dtype: DTypeLike | None, weights: np.dtype[Any] | None) -> bool:
    """Check the argument *dtype*, and return whether it asks for float64 distances although the weights are float32."""
    if weights is None or weights.kind != "f":
        allowed = ["int64"]
    else:
        allowed = ["float64", "float32"] if weights == np.float32 else ["float64"]
    text = f"{' or '.join(allowed)} by {'edges that weigh 1' if weights is None else f'weights of {weights}'}"
    with refusing("dtype", dtype, text):
        name = allowed[0] if dtype is None else np.dtype(dtype).name
    if name not in allowed:
        raise InputError(f"dtype = {shown(dtype)}; allowed: {text}")
    return weights == np.float32 and name == "float64"


def _negative_weight(graph: Graph) -> GraphError:
    """Return an error that names the first edge of the graph that has a negative weight."""
    weights = graph.edge_weights
    assert weights is not None
    at = int(np.argmax(weights < 0))
    u = int(np.searchsorted(graph.row_offsets, at, "right")) - 1
    source, target = vertex_ids(graph, [u, int(graph.column_indices[at])])
    return GraphError(
        f"edge ({source!r}, {target!r}) has weight {weights[at]}; shortest paths need weights of at least 0"
    )


def _checked_limit(limit: Any, greatest: float) -> Any:
    """Return the distance *limit* as a Python number without rounding;
    ``None`` if it is above any possible distance.
    """
    if isinstance(limit, np.generic):
        limit = limit.item()
    is_number = isinstance(limit, Real)
    if limit is None or (is_number and limit > greatest):
        return None
    checked_number("limit", limit)
    # abs() turns -0.0 into 0.0. Kernels compare distances by their bits as unsigned integers, which are large for -0.0.
    return abs(limit)
