"""The table of the networkx functions that the backend has, and of the calls that it accepts.

``_clgraph_nx.py`` repeats the names, because networkx reads that module when it is imported. A test compares both.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from clgraph.networkx_backend.calls import setting

Arguments = Mapping[str, Any]
Refusal = Callable[[Arguments], str | None]
_FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def _nothing(_arguments: Arguments) -> str | None:
    return None


def _callable_weight(arguments: Arguments) -> str | None:
    return "weight is a function" if callable(arguments.get("weight")) else None


def _undirected(arguments: Arguments) -> str | None:
    return "the graph is directed" if arguments["G"].is_directed() else None


def _threshold(arguments: Arguments) -> str | None:
    return "threshold is not the default" if arguments.get("threshold", 1e-07) != 1e-07 else None


def _whole(arguments: Arguments) -> str | None:
    if arguments.get("nodes") is not None:
        return "nodes are given"
    return "weights" if arguments.get("weight") is not None else _undirected(arguments)


def _simple(arguments: Arguments) -> str | None:
    return "the graph is a multigraph" if arguments["G"].is_multigraph() else _whole(arguments)


def _single(arguments: Arguments) -> str | None:
    return "the graph is a multigraph" if arguments["G"].is_multigraph() else None


def _search(arguments: Arguments) -> str | None:
    if arguments.get("sort_neighbors") is not None:
        return "sort_neighbors is a function"
    if arguments.get("reverse"):
        return _undirected(arguments)  # In directed graphs, networkx's order of predecessors is unknown to the backend.
    return None


def _spanning(arguments: Arguments) -> str | None:
    if arguments["algorithm"] != "kruskal":
        return f"algorithm = {arguments['algorithm']!r} may take other edges of equal weight"
    return _undirected(arguments)


def _greedy(arguments: Arguments) -> str | None:
    from networkx.algorithms import coloring

    if arguments["interchange"]:
        return "interchange"
    strategy = arguments["strategy"]
    if strategy not in ("largest_first", coloring.strategy_largest_first):
        return f"strategy = {strategy!r} is not largest_first"
    return _undirected(arguments)


def _generic(arguments: Arguments) -> str | None:
    source, target, weight = arguments["source"], arguments["target"], arguments["weight"]
    if arguments["method"] not in ("dijkstra", "bellman-ford"):
        return f"method = {arguments['method']!r}"
    if source is None and target is None:
        return "all pairs are asked for, each with each"
    return _undirected(arguments) if source is None else _callable_weight({"weight": weight})


def _generic_path(arguments: Arguments) -> str | None:
    both = arguments["source"] is not None and arguments["target"] is not None
    if arguments["weight"] is None and both:
        return "networkx searches from both ends, and may find another shortest path"
    if arguments["weight"] is not None and arguments["method"] != "dijkstra":
        return "paths by Bellman and Ford may be other shortest ones"
    return _generic(arguments)


def _distances(arguments: Arguments) -> str | None:
    for name in ("e", "sp"):
        if arguments.get(name) is not None:
            return f"{name} is given"
    return "usebounds" if arguments.get("usebounds") else _callable_weight(arguments)


def _average(arguments: Arguments) -> str | None:
    method, weight = arguments["method"], arguments["weight"]
    if method not in (None, "unweighted", "dijkstra", "bellman-ford"):
        return f"method = {method!r}"
    return _callable_weight({"weight": weight})


def _matrix(arguments: Arguments) -> str | None:
    if arguments["nodelist"] is not None:
        return "nodelist is given"
    return None if arguments["format"] in _FORMATS else f"format = {arguments['format']!r}"


@dataclass(frozen=True)
class Entry:
    """A row of the backend's table: a networkx function that the backend has.

    Attributes
    ----------
    name : str
        networkx's name of the function.
    module : str
        The module in this package that has the function.
    function : str
        The name of the function in that module.
    refusal : function
        It returns the reason why the backend refuses a call, or ``None``. It reads the arguments but no graph data.
    cost : str
        The cost of networkx's own function, which determines the least size of a graph for the backend: ``"linear"``
        in the graph's size; ``"sorted"``, by sorting or another way far slower than a conversion; ``"pairs"``, a
        search from every node; ``"early"``, if it usually ends early; ``"quick"``, if it takes less time than a
        conversion. ``"kernels"`` means that the backend is fast for large graphs only.
    """

    name: str
    module: str
    function: str
    refusal: Refusal
    cost: str = "linear"

    @cached_property
    def run(self) -> Callable[..., Any]:
        module = importlib.import_module(f"clgraph.networkx_backend.{self.module}")
        found: Callable[..., Any] = getattr(module, self.function)
        return found

    def arguments(self, args: Any, kwargs: Mapping[str, Any]) -> Arguments:
        """Return the arguments of a call of this networkx function by name, including defaults."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.run)

    def why_not(self, args: Any, kwargs: Mapping[str, Any]) -> str | None:
        """Return the reason why the backend refuses a call of this networkx
        function, or ``None`` if it accepts the call.
        """
        try:
            return self.refusal(self.arguments(args, kwargs))
        except TypeError as error:
            return str(error)

    def needed_nodes(self, arguments: Arguments, is_cached: bool) -> int:
        """Return the least number of nodes for which the backend is faster than networkx, as it is configured."""
        between_two = arguments.get("source") is not None and arguments.get("target") is not None
        cost = "early" if between_two and "method" in arguments else self.cost
        if cost == "quick":
            cost = "sorted" if is_cached else "early"
        return int(setting(_SIZES.get(cost) or ("min_nodes_cached" if is_cached else "min_nodes"), 0))


_SIZES = {
    "sorted": "min_nodes_cached",
    "pairs": "min_nodes_all_pairs",
    "early": "min_nodes_early_end",
    "kernels": "min_nodes",
}
"""The setting with the least size, by cost; ``"linear"`` depends on whether networkx has cached the conversion."""


_ROWS: list[tuple[str, Refusal, str, str]] = [
    (
        "components",
        _nothing,
        "linear",
        "connected_components number_connected_components is_connected node_connected_component "
        "weakly_connected_components=connected_components is_weakly_connected=is_connected "
        "number_weakly_connected_components=number_connected_components is_tree",
    ),
    (
        "strong_components",
        _nothing,
        "linear",
        "strongly_connected_components number_strongly_connected_components is_strongly_connected condensation",
    ),
    ("components", _nothing, "sorted", "is_forest"),
    ("components", _nothing, "early", "is_bipartite"),
    (
        "trees",
        _spanning,
        "sorted",
        "minimum_spanning_edges maximum_spanning_edges minimum_spanning_tree maximum_spanning_tree",
    ),
    (
        "searches",
        _search,
        "linear",
        "bfs_edges bfs_tree bfs_predecessors bfs_successors bfs_layers descendants ancestors",
    ),
    ("searches", _nothing, "early", "descendants_at_distance"),
    ("paths", _nothing, "linear", "single_source_shortest_path_length single_source_shortest_path"),
    ("paths", _nothing, "pairs", "all_pairs_shortest_path_length all_pairs_shortest_path"),
    ("paths", _nothing, "early", "has_path"),
    ("paths", _generic, "linear", "shortest_path_length"),
    ("paths", _generic_path, "linear", "shortest_path"),
    (
        "weighted_paths",
        _callable_weight,
        "linear",
        "single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length multi_source_dijkstra "
        "multi_source_dijkstra_path multi_source_dijkstra_path_length dijkstra_path dijkstra_path_length",
    ),
    (
        "weighted_paths",
        _callable_weight,
        "sorted",
        "single_source_bellman_ford_path_length bellman_ford_path_length",
    ),
    ("weighted_paths", _callable_weight, "early", "bidirectional_dijkstra"),
    (
        "weighted_paths",
        _callable_weight,
        "pairs",
        "all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_dijkstra_path_length all_pairs_bellman_ford_path_length",
    ),
    ("coloring", _greedy, "kernels", "greedy_color"),
    ("ranks", _nothing, "linear", "pagerank hits"),
    ("ranks", _single, "sorted", "eigenvector_centrality katz_centrality"),
    ("communities", _threshold, "sorted", "louvain_communities leiden_communities"),
    ("clusters", _whole, "sorted", "triangles"),
    ("clusters", _simple, "sorted", "clustering average_clustering transitivity"),
    ("cores", _simple, "sorted", "core_number k_core"),
    ("sets", _undirected, "sorted", "maximal_independent_set"),
    ("sets", _undirected, "linear", "maximal_matching"),
    (
        "measures",
        _nothing,
        "quick",
        "isolates number_of_isolates degree_centrality in_degree_centrality out_degree_centrality",
    ),
    ("measures", _distances, "pairs", "eccentricity diameter radius periphery"),
    ("measures", _average, "pairs", "average_shortest_path_length"),
    ("measures", _matrix, "sorted", "to_scipy_sparse_array"),
]


def _entries() -> dict[str, Entry]:
    found = {}
    for module, refusal, cost, names in _ROWS:
        for row in names.split():
            name, _, function = row.partition("=")
            found[name] = Entry(name, module, function or name, refusal, cost)
    return found


TABLE = _entries()
