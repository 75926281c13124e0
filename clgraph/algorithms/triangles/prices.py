"""Predicted work of each strategy that counts triangles, from graph statistics."""

from __future__ import annotations

import math

from clgraph.algorithms.triangles.problem import TrianglesProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Part, Work

# Seconds of one core of an EPYC (family 26) in the kernel count_marked.
_CORE_SECONDS_PER_PATH, _CORE_SECONDS_PER_VERTEX = 3e-9, 1e-8
# The same of the kernel count_merged, for the square of each degree and for each vertex.
_MERGE_SECONDS_PER_ENTRY, _MERGE_SECONDS_PER_VERTEX = 1e-9, 5e-9


def forward_paths(problem: TrianglesProblem) -> float:
    """Return about how many paths of two forward edges the oriented graph has.

    A forward edge leads to a row of half of the degree in regular graphs. In graphs with hubs it leads to a shorter
    one, since few of their edges lead forward: R-MAT of 2^10 to 2^18 vertices have 0.5 d^0.82 entries in these rows,
    where d is the mean degree of the ends of edges. A row has at most √m entries.
    """
    stats = problem.stats
    of_ends = stats.degree_second_moment / max(1.0, stats.mean_degree)
    return 0.5 * stats.n_edges * min(0.5 * math.pow(of_ends, 0.82), math.sqrt(stats.n_edges))


def _oriented(problem: TrianglesProblem) -> Work:
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    return Work(launches=9.0, read_backs=1.0, streamed_bytes=30.0 * n + 14.0 * m, gathers=(Gathers(m, 4.0 * n),))


def tables(problem: TrianglesProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``tables``: each path's last entry is read in order and looked up in local memory."""
    n, m, paths = float(problem.graph.n_vertices), float(problem.graph.n_edges), forward_paths(problem)
    count = Work(streamed_bytes=4.0 * paths, gathers=(Gathers(2.0 * paths, 2.0**14), Gathers(0.5 * m, 4.0 * n)))
    return [(_oriented(problem), 1.0, 1.0), (count, 1.0, 1.0)]


def marks(problem: TrianglesProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``marks``: all cores look up the mark of each path's last entry."""
    paths, n = forward_paths(problem), float(problem.graph.n_vertices)
    seconds = (_CORE_SECONDS_PER_PATH * paths + _CORE_SECONDS_PER_VERTEX * n) / facts.compute_units
    return [(_oriented(problem), 1.0, 1.0), (Work(host_seconds=seconds), 1.0, 1.0)]


def merge(problem: TrianglesProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``merge``: for each edge, all cores read the lower parts of both rows."""
    stats, n = problem.stats, float(problem.graph.n_vertices)
    seconds = _MERGE_SECONDS_PER_ENTRY * n * stats.degree_second_moment + _MERGE_SECONDS_PER_VERTEX * n
    return [(Work(launches=2.0, read_backs=1.0, host_seconds=seconds / facts.compute_units), 1.0, 1.0)]
