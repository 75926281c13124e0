"""Show what the cost model would choose, without running anything."""
from __future__ import annotations

import importlib
from typing import Any

from clgraph.errors import InputError
from clgraph.graph import as_graph
from clgraph.model.strategy import Choice, choose
from clgraph.runtime.session import Session, as_session

ALGORITHMS = {"components": "clgraph.algorithms.components"}


def explain(algorithm: str, graph: Any, *, session: Session | str | None = None) -> Choice:
    """Return the candidates for *algorithm* on *graph*, their predicted seconds, and why others are out.

    Parameters
    ----------
    algorithm : str
        A key of :data:`ALGORITHMS`.
    graph : Graph, scipy sparse array or networkx graph
    session : Session, str or None
        The device; ``None`` takes the best one.

    Raises
    ------
    InputError
        The algorithm is unknown, or *graph* is no graph.
    """
    if algorithm not in ALGORITHMS:
        raise InputError(f"unknown algorithm {algorithm!r}; known: {', '.join(ALGORITHMS)}")
    on, data = as_session(session), as_graph(graph)
    strategies = importlib.import_module(ALGORITHMS[algorithm]).STRATEGIES
    return choose(strategies, "auto", lambda: data.stats, on.facts, on.profile.rates)
