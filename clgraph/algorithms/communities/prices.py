"""Predicted work of finding communities, from graph statistics."""

from __future__ import annotations

from clgraph.algorithms.communities.levels import max_climbed
from clgraph.algorithms.communities.problem import CommunitiesProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.cost import Gathers, Work

ITERATIONS = 4.0  # A search takes 2 to 6, whatever the limit.
PASSES = 25.0  # looks at each entry of the graph in an iteration, over all rounds and levels
LEVELS, ROUNDS, PHASES = 8.0, 8.0, 4.0  # An iteration has 8 levels, a level 8 rounds, and a round 4 phases.


def half_rounds(problem: CommunitiesProblem, facts: DeviceFacts) -> Work:
    """Return the work of all iterations. Each look at an entry gathers a label and adds to a table."""
    n, m = float(problem.stats.n_vertices), float(problem.stats.n_edges)
    iterations = min(float(problem.iterations), ITERATIONS)
    passes, rounds = iterations * PASSES, iterations * LEVELS * ROUNDS
    climbs = max(n, m) <= max_climbed(facts)  # in one launch an iteration
    return Work(
        launches=iterations if climbs else rounds * PHASES,
        read_backs=iterations if climbs else rounds,
        grid_barriers=rounds * PHASES if climbs and not facts.is_cpu else 0.0,
        streamed_bytes=passes * (16.0 * m + 20.0 * n),
        gathers=(Gathers(passes * m, 4.0 * n), Gathers(passes * m, 2.0**14 if facts.is_cpu else 12.0 * m)),
    )
