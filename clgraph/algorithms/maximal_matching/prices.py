"""Predicted work of the strategy of maximal matchings, from graph statistics."""

from __future__ import annotations

from clgraph.algorithms.maximal_matching.problem import MatchingProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Part, Work

_ROUNDS, _PASSES, _VERTEX_BYTES = 10.0, 1.7, 60.0
# Seconds of one core of an EPYC (family 26) for an entry and for a vertex.
_SECONDS_PER_ENTRY, _SECONDS_PER_VERTEX = 2.5e-8, 3e-8


def locally_dominant(problem: MatchingProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``locally_dominant``: rows are read 1.7 times, in ten rounds."""
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    driven = Work(launches=2.0 + _ROUNDS, read_backs=2.0)
    if facts.is_cpu:
        seconds = (_SECONDS_PER_ENTRY * m + _SECONDS_PER_VERTEX * n) / facts.compute_units
        return [(driven, 1.0, 1.0), (Work(host_seconds=seconds), 1.0, 1.0)]
    dtype = problem.weight_dtype
    entry_bytes = 4.0 + (0.0 if dtype is None else dtype.itemsize)
    work = Work(
        streamed_bytes=_VERTEX_BYTES * n + entry_bytes * _PASSES * m,
        gathers=(Gathers(0.5 * m + 2.0 * n, 4.0 * n),),
    )
    return [(driven, 1.0, 1.0), (work, 1.0, 1.0)]
