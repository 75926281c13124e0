"""The problem of a breadth-first search: a graph, the source vertices, and the greatest depth."""

from __future__ import annotations

from typing import Any

from clgraph.algorithms.traversal.problem import LARGEST_DEGREE, MAX_DEPTH, SearchProblem, source_numbers
from clgraph.arguments import checked_count
from clgraph.data.graphs.wrapped import wrap_graph


def as_problem(graph: Any, *, source: Any = LARGEST_DEGREE, max_depth: int | None = None) -> SearchProblem:
    """Check the arguments of :func:`bfs` and return them as a search problem.

    Depths are capped at 2**31 - 2.
    """
    graph = wrap_graph(graph, merged=False, along_rows=True)
    sources = source_numbers(graph, source)
    if max_depth is not None:
        max_depth = min(checked_count("max_depth", max_depth, 2**64, least=0), MAX_DEPTH)
    return SearchProblem(graph, sources, max_depth, weighted=False, predecessors=True)
