"""Time the functions of clgraph.csgraph beside scipy's, on graphs of 10^2 to 10^6 edges.

    benchmarks/bench_csgraph.py --device pocl --json results.json
    benchmarks/bench_csgraph.py --graphs road --edges 1000 100000 --calls dijkstra

The input is a scipy CSR array of float64. Ours is called as a user of scipy calls it, without ``session=``; the first
call, which loads a driver and builds kernels, is not timed. Ours and scipy's function are timed in turns, so that both
run on the same load of the machine. Each answer is compared with scipy's: distances, labels and sizes must be equal,
and predecessors must lead back along shortest paths. A row is written only after that. Besides the fields of
``harness.py`` it holds ``call``, ``ran`` (the strategy, or ``scipy`` if scipy's own function has answered) and
``scipy_seconds``, the least time of scipy's function. ``faster`` is this time over ours.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import harness
import numpy as np
import scipy.sparse.csgraph as scipys
from scipy.sparse import triu

from clgraph import csgraph, generators
from clgraph.cli.main import guarded
from clgraph.cli.terminal import busy
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.errors import VerificationError
from clgraph.runtime.session import Session

GRAPHS: dict[str, Callable[[int], Graph]] = {
    "road": lambda m: generators.road_like(max(4, round(m / 1.2))),
    "rmat": lambda m: generators.rmat(max(3, round(math.log2(m / 8))), 8),
}
EDGES = (100, 1000, 10_000, 100_000, 1_000_000)
N_SOURCES = 8
COLUMNS: dict[str, harness.Column] = {
    "graph": "graph",
    "ran": "ran",
    "ms": harness.milliseconds("least_wall_seconds"),
    "scipy ms": harness.milliseconds("scipy_seconds"),
    "faster": ("faster", 1.0, ".2f"),
}


class Call(NamedTuple):
    """A call of one function: its name, its arguments for a matrix, and whether the matrix is an upper triangle."""

    function: str
    arguments: Callable[[Any], dict[str, Any]]
    upper: bool = False


def _sources(matrix: Any) -> Any:
    """Return the vertices of most entries, so that a search has something to do."""
    return np.argsort(-np.diff(matrix.indptr), kind="stable")[:N_SOURCES]


def _from_one(**options: Any) -> Callable[[Any], dict[str, Any]]:
    return lambda matrix: {"indices": int(_sources(matrix)[0]), **options}


CALLS = {
    "connected_components": Call("connected_components", lambda matrix: {"directed": False}),
    "dijkstra": Call("dijkstra", _from_one()),
    "dijkstra, predecessors": Call("dijkstra", _from_one(return_predecessors=True)),
    "dijkstra, undirected": Call("dijkstra", _from_one(directed=False)),
    "dijkstra, unweighted": Call("dijkstra", _from_one(unweighted=True)),
    "dijkstra, 8 sources": Call("dijkstra", lambda matrix: {"indices": _sources(matrix)}),
    "dijkstra, min_only": Call("dijkstra", lambda matrix: {"indices": _sources(matrix), "min_only": True}),
    "minimum_spanning_tree": Call("minimum_spanning_tree", lambda matrix: {}),
    "minimum_spanning_tree, upper triangle": Call("minimum_spanning_tree", lambda matrix: {}, upper=True),
}


def check(function: str, matrix: Any, found: Any, expected: Any) -> None:
    """Raise a :class:`VerificationError` unless our answer agrees with scipy's."""
    if function == "minimum_spanning_tree":
        same = np.array_equal(np.sort(found.data), np.sort(expected.data))
    elif function == "connected_components":
        same = found[0] == expected[0] and np.array_equal(found[1], expected[1])
    elif isinstance(found, tuple):
        same = np.array_equal(found[0], expected[0]) and lead_back(matrix, *found)
    else:
        same = np.array_equal(found, expected)
    if not same:
        raise VerificationError("the answer differs from scipy's")


def lead_back(matrix: Any, lengths: Any, before: Any) -> bool:
    """Return whether each reached vertex but the source has a predecessor on a shortest path."""
    reached = np.flatnonzero(np.isfinite(lengths) & (lengths > 0))
    rows = before[reached]
    if (rows < 0).any() or (before[np.isinf(lengths)] >= 0).any():
        return False
    weights = np.asarray(matrix[rows, reached]).reshape(-1)
    return bool((lengths[rows] + weights == lengths[reached]).all())


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Yield a list to which each run of an algorithm of clgraph adds its strategy."""
    strategies, solve = list[str](), Algorithm.solve

    def recording(algorithm: Algorithm, *arguments: Any, **options: Any) -> Any:
        result = solve(algorithm, *arguments, **options)
        strategies.append(result.info.strategy)
        return result

    Algorithm.solve = recording  # type: ignore[method-assign]
    try:
        yield strategies
    finally:
        Algorithm.solve = solve  # type: ignore[method-assign]


def measure(args: argparse.Namespace, name: str, matrix: Any) -> dict[str, Any]:
    """Return the row of one call on one matrix."""
    call = CALLS[name]
    matrix = triu(matrix).tocsr() if call.upper else matrix
    options = call.arguments(matrix)
    ours, scipy = (partial(getattr(module, call.function), matrix, **options) for module in (csgraph, scipys))
    with recorded() as strategies:
        check(call.function, matrix, ours(), scipy())
    timed: tuple[list[float], list[float]] = [], []
    while not timed[0] or (len(timed[0]) < args.repeats and sum(map(sum, timed)) < args.budget):
        for function, seconds in zip((ours, scipy), timed, strict=True):
            seconds += harness.timed_calls(function, 1)[1]
    ran = strategies[-1] if strategies else "scipy"
    about = {"strategy": "csgraph", "input": "scipy", "algorithm": name, "call": name, "ran": ran, "verified": True}
    return {**about, **harness.walls(timed[0]), "scipy_seconds": min(timed[1])}


def run(args: argparse.Namespace) -> int:
    if args.device:
        os.environ["CLGRAPH_DEVICE"] = args.device  # The functions are called without session=.
    session = Session(args.device)
    for kind in args.graphs or GRAPHS:
        for n_edges in args.edges:
            graph = generators.random_weights(GRAPHS[kind](n_edges), low=1, high=1025)
            matrix, rows = graph.to_scipy().astype(np.float64), []
            for name in args.calls or CALLS:
                with busy(f"timing {name} of {kind} {n_edges}"), harness.naming(f"{name} of {kind} {n_edges}"):
                    row = measure(args, name, matrix)
                row["faster"] = row["scipy_seconds"] / row["least_wall_seconds"]
                rows += harness.described([row], "csgraph", f"{kind} {n_edges}: {name}", graph)
            harness.finish(args, session, rows, COLUMNS)
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__, graphs=False)
    parser.add_argument("--graphs", nargs="+", choices=GRAPHS, metavar="KIND", help=f"of {', '.join(GRAPHS)}")
    parser.add_argument("--edges", nargs="+", type=int, default=EDGES, metavar="M", help="sizes (10^2 … 10^6)")
    parser.add_argument("--calls", nargs="+", choices=CALLS, metavar="NAME", help="by default all")
    sys.exit(guarded(run, parser.parse_args()))
