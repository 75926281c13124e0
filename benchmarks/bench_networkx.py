"""Time networkx's functions by this backend beside networkx's own: with the conversion, and with a kept one.

    benchmarks/bench_networkx.py --device pocl --json benchmarks/results/networkx-pocl.json
    benchmarks/bench_networkx.py --edges 1000 10000 --functions bfs_edges greedy_color
    benchmarks/bench_networkx.py --others rustworkx        # backends that are installed

Graphs are random, with four edges a vertex and integer weights. Rows of a function are ``networkx``, ``clgraph,
fresh`` (the call converts the graph) and ``clgraph, kept`` (networkx has kept the conversion). Each backend of
``--others`` that has the function gets rows ``fresh`` and ``kept``, too. Iterators are run to their ends. Answers are
compared with networkx's: ``verified`` tells whether they are equal. Searches from all nodes have graphs of at most
``--all-pairs`` edges. A row ``conversion`` has the time of ``convert_from_nx`` with weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import harness
import networkx as nx
import numpy as np

from clgraph.cli.main import guarded
from clgraph.runtime.session import Session

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
import networkx_entry

EDGES = (100, 1000, 10_000, 100_000, 1_000_000)
CALLS: dict[str, tuple[Any, ...]] = {  # arguments after the graph; None stands for its last node
    "connected_components": (), "number_connected_components": (), "is_connected": (), "is_forest": (),
    "is_bipartite": (), "node_connected_component": (0,), "minimum_spanning_edges": (), "minimum_spanning_tree": (),
    "bfs_edges": (0,), "bfs_tree": (0,), "bfs_layers": (0,), "descendants": (0,), "descendants_at_distance": (0, 3),
    "single_source_shortest_path_length": (0,), "single_source_shortest_path": (0,), "has_path": (0, None),
    "single_source_dijkstra": (0,), "single_source_dijkstra_path_length": (0,), "dijkstra_path_length": (0, None),
    "bidirectional_dijkstra": (0, None), "single_source_bellman_ford_path_length": (0,), "greedy_color": (),
    "degree_centrality": (), "isolates": (), "to_scipy_sparse_array": (), "eccentricity": (),
    "average_shortest_path_length": (), "all_pairs_shortest_path_length": (), "all_pairs_dijkstra_path_length": (),
}  # fmt: skip
ALL_PAIRS = {name for name in CALLS if name.startswith(("all_pairs", "average", "eccentricity"))}
COLUMNS: dict[str, harness.Column] = {
    "function": "function", "edges": "n_edges", "of": "strategy", "ms": harness.milliseconds("least_wall_seconds"),
    "times networkx": ("speedup", 1.0, ".2f"), "equal": "verified",
}  # fmt: skip


def random_graph(n_edges: int) -> nx.Graph:
    """Return a connected random graph with four edges a vertex."""
    n = max(4, n_edges // 4)
    graph = nx.gnm_random_graph(n, n_edges - n + 1, seed=1)
    graph.add_edges_from(nx.path_graph(n).edges)
    rng = np.random.default_rng(2)
    nx.set_edge_attributes(
        graph, dict(zip(graph.edges, rng.integers(1, 1000, graph.size()).tolist(), strict=True)), "weight"
    )
    return graph


def finished(result: Any) -> Any:
    return list(result) if isinstance(result, Iterator) else result


def are_equal(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, nx.Graph):
        return bool(nx.utils.graphs_equal(ours, theirs))
    if hasattr(theirs, "nnz"):
        return bool((ours != theirs).nnz == 0)
    return bool(ours == theirs)


def measure(args: argparse.Namespace, graph: nx.Graph, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a function on *graph*."""
    given = tuple(len(graph) - 1 if each is None else each for each in CALLS[name])
    function = getattr(nx, name)

    def timed(backend: str, before: Callable[[], Any]) -> tuple[Any, list[float]]:
        return harness.timed_calls(
            lambda _: finished(function(graph, *given, backend=backend)), args.repeats, args.budget, before
        )

    expected, seconds = timed("networkx", lambda: None)
    yield {"function": name, "strategy": "networkx", **harness.walls(seconds)}
    least = min(seconds)
    for backend in ("clgraph", *(each for each in args.others if each in function.backends)):
        function(graph, *given, backend=backend)  # kernels are built
        for call, before in (("fresh", graph.__networkx_cache__.clear), ("kept", lambda: None)):
            found, seconds = timed(backend, before)
            row = {"function": name, "strategy": f"{backend}, {call}", **harness.walls(seconds)}
            yield row | {"speedup": least / min(seconds), "verified": are_equal(found, expected)}


def conversion(args: argparse.Namespace, graph: nx.Graph) -> dict[str, Any]:
    """Return the row of the conversion with weights."""
    from clgraph.networkx_backend import convert_from_nx

    def convert(_: Any) -> Any:
        return convert_from_nx(graph, edge_attrs={"weight": 1})

    _, seconds = harness.timed_calls(convert, args.repeats, args.budget, graph.__networkx_cache__.clear)
    return {"function": "convert_from_nx", "strategy": "conversion", **harness.walls(seconds)}


def run(args: argparse.Namespace) -> int:
    networkx_entry.register()
    nx.config.warnings_to_ignore = {"cache"}
    nx.config.backends.clgraph.device = args.device
    session = Session(args.device)
    for n_edges in args.edges:
        graph = random_graph(n_edges)
        sizes = {"benchmark": "networkx", "n_vertices": len(graph), "n_edges": graph.size()}
        rows: list[dict[str, Any]] = []
        for name in args.functions:
            if name not in ALL_PAIRS or n_edges <= args.all_pairs:
                rows += measure(args, graph, name)
        rows.append(conversion(args, graph))
        named = [{**sizes, "graph": f"random-{n_edges}: {row['function']}", **row} for row in rows]
        harness.finish(args, session, named, COLUMNS)
    return 0


if __name__ == "__main__":
    parser = harness.parser(__doc__, graphs=False)
    parser.set_defaults(budget=2.0, repeats=3)
    parser.add_argument("--edges", nargs="+", type=int, default=list(EDGES), metavar="N")
    parser.add_argument("--functions", nargs="+", choices=CALLS, default=list(CALLS), metavar="NAME")
    parser.add_argument("--all-pairs", type=int, default=1000, metavar="EDGES", help="(default 1000)")
    parser.add_argument("--others", nargs="+", default=[], metavar="BACKEND", help="other backends to time")
    sys.exit(guarded(run, parser.parse_args()))
