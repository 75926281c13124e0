"""Show what the cost model would choose, without running anything."""
from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from scipy.sparse import issparse

from clgraph.arguments import check_choice, checked_flag
from clgraph.errors import InputError
from clgraph.graph import as_graph
from clgraph.model.strategy import Choice
from clgraph.names import unknown_name
from clgraph.ratings import as_ratings
from clgraph.runtime.session import SessionLike, as_session


class Algorithm(NamedTuple):
    """How an algorithm is explained.

    Attributes
    ----------
    module : str
        The ``choose_strategy(session, data, **options)`` of this module returns a :class:`Choice`.
    kind : str
        What the algorithm takes: a graph, or ratings.
    convert : callable
        It makes a graph, or ratings, of what the caller has.
    """

    module: str
    kind: str
    convert: Callable[[Any], Any]


ALGORITHMS = {
    "bfs": Algorithm("clgraph.algorithms.traversal.bfs", "graph", as_graph),
    "color": Algorithm("clgraph.algorithms.coloring.color", "graph", as_graph),
    "connected_components": Algorithm("clgraph.algorithms.components", "graph", as_graph),
    "factorization": Algorithm("clgraph.algorithms.factorization", "ratings", as_ratings),
    "hash_collisions": Algorithm("clgraph.algorithms.hash_collisions.api", "graph", as_graph),
    "minimum_spanning_forest": Algorithm("clgraph.algorithms.mst", "graph", as_graph),
    "sssp": Algorithm("clgraph.algorithms.traversal.sssp", "graph", as_graph),
}


def explain(algorithm: str, data: Any, *, session: SessionLike = None, **options: Any) -> Choice:
    """Return the candidates for *algorithm* on *data*, their predicted seconds, and why others are out.

    Parameters
    ----------
    algorithm : str
        A key of :data:`ALGORITHMS`.
    data : Graph, scipy sparse array or networkx graph; for "factorization" Ratings, scipy sparse array or tuple
        "color" with ``bipartite=True`` also takes a matrix that is not square, as :func:`color_columns` does.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        The device; ``None`` takes the best one.
    **options
        What the prediction depends on. "factorization" has ``rank`` (16), ``n_sweeps`` (20), ``storage`` and
        ``biases``; "hash_collisions" has ``distance``, ``hashes`` and ``bit_widths``; "color" has ``distance``,
        ``bipartite``, ``order`` and ``deterministic``.

    Raises
    ------
    InputError
        The algorithm or an option is unknown, or *data* is not what it takes.

    Examples
    --------
    >>> import clgraph as cg
    >>> choice = cg.explain("factorization", ([0, 0, 1], [0, 1, 1], [4.0, 2.0, 5.0]), rank=8)
    >>> choice.strategy == min(choice.seconds, key=choice.seconds.get)
    True
    """
    entry = find_algorithm(algorithm)
    choose_strategy = importlib.import_module(entry.module).choose_strategy
    known = [p.name for p in inspect.signature(choose_strategy).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputError(f"unknown options {', '.join(unknown)} of {algorithm}; known: {', '.join(known)}")
    if checked_flag("bipartite", options.get("bipartite", False)) and issparse(data):
        from clgraph.algorithms.coloring.columns import columns_graph

        data, _ = columns_graph(data)
    choice: Choice = choose_strategy(as_session(session), entry.convert(data), **options)
    return choice


def find_algorithm(name: str) -> Algorithm:
    """Return the entry of *name*, or raise an :class:`InputError`."""
    if isinstance(name, str) and name not in ALGORITHMS:
        raise InputError(unknown_name("algorithm", name, ALGORITHMS))
    check_choice("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]
