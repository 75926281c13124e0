"""Show what the cost model would choose, without running anything."""
from __future__ import annotations

import inspect
from typing import Any

from clgraph.algorithms.table import find_algorithm
from clgraph.errors import InputError
from clgraph.model.strategy import Choice
from clgraph.runtime.session import SessionLike


def explain(algorithm: str, data: Any, *, session: SessionLike = None, **options: Any) -> Choice:
    """Return the candidates for *algorithm* on *data*, their predicted seconds, and why others are out.

    Parameters
    ----------
    algorithm : str
        A key of :data:`clgraph.algorithms.table.MODULES`.
    data : Graph, DeviceGraph, scipy sparse array or networkx graph
        "factorization" takes Ratings, a scipy sparse array or a tuple.
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
    known = [p.name for p in inspect.signature(entry.problem).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputError(f"unknown options {', '.join(unknown)} of {algorithm}; known: {', '.join(known)}")
    problem = entry.problem(data, **options)
    return entry.choose(entry.session(problem, session), problem)
