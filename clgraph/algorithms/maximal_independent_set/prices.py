"""Predicted work of the strategy of maximal independent sets, from graph statistics."""

from __future__ import annotations

from clgraph.algorithms.maximal_independent_set.problem import IndependentSetProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Part, Work

_ROUNDS, _ENTRY_LOOKS, _VERTEX_BYTES = 8.0, 0.35, 60.0
# Seconds of one core of an EPYC (family 26) for an entry and for a vertex.
_SECONDS_PER_ENTRY, _SECONDS_PER_VERTEX = 2.5e-9, 2.5e-8


def local_maxima(problem: IndependentSetProblem, facts: DeviceFacts) -> list[Part]:
    """Return the work of ``local_maxima``: a third of the entries is looked at or marked."""
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    driven = Work(launches=2.0 + _ROUNDS, read_backs=2.0)
    if facts.is_cpu:
        seconds = (_SECONDS_PER_ENTRY * m + _SECONDS_PER_VERTEX * n) / facts.compute_units
        return [(driven, 1.0, 1.0), (Work(host_seconds=seconds), 1.0, 1.0)]
    looks = _ENTRY_LOOKS * m
    work = Work(streamed_bytes=_VERTEX_BYTES * n + 8.0 * looks, gathers=(Gathers(looks + n, 4.0 * n),))
    return [(driven, 1.0, 1.0), (work, 1.0, 1.0)]
