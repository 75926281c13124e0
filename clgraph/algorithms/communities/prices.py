"""Predicted work of finding communities, from graph statistics."""

from __future__ import annotations

from clgraph.algorithms.communities.problem import CommunitiesProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Work

PASSES = 30.0  # looks at each entry of the graph, over all rounds and levels
LEVELS, LEVEL_ROUNDS, ROUND_LAUNCHES = 6.0, 16.0, 5.0


def half_rounds(problem: CommunitiesProblem, facts: DeviceFacts) -> Work:
    """Return the work of all iterations. Each look at an entry gathers a label and adds to a table."""
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    rounds = problem.iterations * LEVELS * LEVEL_ROUNDS
    return Work(
        launches=rounds * ROUND_LAUNCHES,
        read_backs=rounds,
        streamed_bytes=PASSES * (16.0 * m + 20.0 * n),
        gathers=(Gathers(PASSES * m, 4.0 * n), Gathers(PASSES * m, 2.0**14 if facts.is_cpu else 12.0 * m)),
    )
