"""Predicted work of each strategy of PageRank, from the sizes of the graph."""

from __future__ import annotations

import math

from clgraph.algorithms.pagerank.problem import PowerProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Part, Work

# On graphs that are not trees or rings, the change shrinks by about shrinking ** (1 / 0.6) in an iteration.
_MIXING = 0.6
# Seconds of one core of an EPYC (family 26) in the kernel pull_rows: R-MAT 18 with shares in the second-level cache.
_CORE_SECONDS_PER_ENTRY, _CORE_SECONDS_PER_VERTEX = 0.9e-9, 4e-9
_CORE_SECONDS_PER_LANE = 0.4e-9  # for each entry, in the kernel pull_lanes


def iterations(problem: PowerProblem) -> float:
    """Return about how many iterations the values take to converge."""
    count = _MIXING * math.log(min(1.0, problem.tol)) / math.log(problem.shrinking)
    return float(min(max(1.0, count), problem.max_iter))


def rows(problem: PowerProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``rows``: all cores add up rows, and the host reads a word after each iteration."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    seconds = (_CORE_SECONDS_PER_ENTRY * m + _CORE_SECONDS_PER_VERTEX * n) / facts.compute_units
    return [(Work(launches=1.0, read_backs=1.0, host_seconds=seconds), len(problem.pulls) * iterations(problem), 1.0)]


def row_blocks(problem: PowerProblem, _facts: DeviceFacts) -> list[Part]:
    """Return the work of ``row_blocks``, which streams rows and gathers the share of each entry.

    The host reads a word after eight iterations.
    """
    n, m, item = float(problem.graph.n_vertices), float(problem.graph.n_edges), problem.dtype.itemsize
    entry = 4.0 + (item if problem.is_weighted else 0.0)
    streamed = entry * m + (problem.graph.offset_dtype.itemsize + 5.0 * item) * n
    work = Work(launches=1.0, read_backs=1 / 8, streamed_bytes=streamed, gathers=(Gathers(m, item * n),))
    return [(work, len(problem.pulls) * iterations(problem), 1.0)]


def lanes(problem: PowerProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``lanes``, which gathers the shares of all lanes for each entry.

    A gather of a line of 64 bytes counts as two of 4 bytes.
    """
    n, m = float(problem.graph.n_vertices), float(problem.graph.n_edges)
    item, count = problem.n_lanes * problem.dtype.itemsize, iterations(problem)
    if facts.is_cpu:
        per_entry = _CORE_SECONDS_PER_ENTRY + _CORE_SECONDS_PER_LANE * problem.n_lanes
        seconds = (per_entry * m + _CORE_SECONDS_PER_VERTEX * problem.n_lanes * n) / facts.compute_units
        return [(Work(launches=1.0, read_backs=1.0, host_seconds=seconds), count, 1.0)]
    streamed = (4.0 + (problem.dtype.itemsize if problem.is_weighted else 0.0)) * m + 5.0 * item * n
    gathers = Gathers(m * max(1.0, item / 32), item * n)
    return [(Work(launches=1.0, read_backs=1 / 8, streamed_bytes=streamed, gathers=(gathers,)), count, 1.0)]
