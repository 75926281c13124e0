"""The calls that ``bench_end_to_end.py`` times: ours, scipy's and networkx's, and how the answers are compared.

Nothing of clgraph is imported before it is called, since new processes are timed with this, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Calls:
    """One algorithm.

    Attributes
    ----------
    name : str
    ours : callable
        ``ours(graph, source, session)``
    scipy, networkx : callable or None
        ``scipy(matrix, source)`` and ``networkx(graph, source)``.
    check : callable
        ``check(graph, source, found, expected)`` compares our answer with scipy's, and returns its largest array.
    is_weighted : bool
    """

    name: str
    ours: Callable[[Any, int, Any], Any]
    scipy: Callable[[Any, int], Any] | None
    networkx: Callable[[Any, int], Any]
    check: Callable[[Any, int, Any, Any], NDArray[Any]]
    is_weighted: bool = False


def _agree(is_right: bool) -> None:
    from clgraph.errors import VerificationError

    if not is_right:
        raise VerificationError("the answer differs from scipy's")


def _components(graph: Any, session: Any) -> Any:
    import clgraph

    return clgraph.connected_components(graph, session=session)


def _scipy_components(matrix: Any) -> Any:
    from scipy.sparse.csgraph import connected_components

    return connected_components(matrix, directed=False)


def _check_components(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    _agree(found.n_components == expected[0] and np.array_equal(found.labels, expected[1]))
    labels: NDArray[Any] = found.labels
    return labels


def _networkx_components(graph: Any) -> Any:
    import networkx

    return list(networkx.connected_components(graph))


def _bfs(graph: Any, source: int, session: Any) -> Any:
    import clgraph

    return clgraph.bfs(graph, source, session=session)


def _scipy_bfs(matrix: Any, source: int) -> Any:
    from scipy.sparse.csgraph import breadth_first_order

    return breadth_first_order(matrix, source)


def distances(n: int, order: NDArray[Any], predecessors: NDArray[Any]) -> NDArray[Any]:
    """Return the distances that scipy's breadth-first order implies: parents come in the order of their children."""
    place = np.empty(n, np.int64)
    place[order] = np.arange(order.size)
    parents = place[predecessors[order[1:]]]
    found, end, depth = np.full(n, -1), 1, 0
    found[order[0]] = 0
    while end < order.size:
        start, end, depth = end, 1 + int(np.searchsorted(parents, end)), depth + 1
        found[order[start:end]] = depth
    return found


def _check_bfs(graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    _agree(np.array_equal(found.distances, distances(graph.n_vertices, *expected)))
    reached: NDArray[Any] = found.distances
    return reached


def _networkx_bfs(graph: Any, source: int) -> Any:
    import networkx

    return networkx.single_source_shortest_path_length(graph, source)


def _sssp(graph: Any, source: int, session: Any) -> Any:
    import clgraph

    return clgraph.sssp(graph, source, session=session, **_weight(graph))


def _scipy_sssp(matrix: Any, source: int) -> Any:
    from scipy.sparse.csgraph import dijkstra

    return dijkstra(matrix, indices=source)


def _check_sssp(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    lengths: NDArray[Any] = found.distances
    reached = np.isfinite(expected)
    known = np.isfinite(lengths) & (lengths >= 0)
    _agree(np.array_equal(known, reached) and np.array_equal(lengths[reached], expected[reached]))
    return lengths


def _networkx_sssp(graph: Any, source: int) -> Any:
    import networkx

    return networkx.single_source_dijkstra_path_length(graph, source)


def _forest(graph: Any, session: Any) -> Any:
    import clgraph

    return clgraph.minimum_spanning_forest(graph, session=session, **_weight(graph))


def _scipy_forest(matrix: Any) -> Any:
    from scipy.sparse.csgraph import minimum_spanning_tree

    return minimum_spanning_tree(matrix)


def _check_forest(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    edges: NDArray[Any] = found.edges
    _agree(edges.size == expected.nnz and float(found.weight) == float(expected.data.sum()))
    return edges


def _networkx_forest(graph: Any) -> Any:
    import networkx

    return networkx.minimum_spanning_tree(graph)


def _coloring(graph: Any, session: Any) -> Any:
    import clgraph

    return clgraph.color(graph, session=session)


def _check_coloring(graph: Any, _source: int, found: Any, _expected: Any) -> NDArray[Any]:
    from clgraph.errors import VerificationError

    colors: NDArray[Any] = found.colors
    rows, columns = graph.sources(), graph.column_indices
    if colors.min(initial=0) < 0 or ((colors[rows] == colors[columns]) & (rows != columns)).any():
        raise VerificationError("the colouring is not proper")
    return colors


def _networkx_coloring(graph: Any) -> Any:
    import networkx

    return networkx.greedy_color(graph)


def _weight(graph: Any) -> dict[str, Any]:
    """Return the option that names the weights of a networkx graph."""
    return {"weight": "weight"} if hasattr(graph, "adjacency") else {}


ALGORITHMS = {
    calls.name: calls
    for calls in (
        Calls(
            "connected_components", lambda graph, _, session: _components(graph, session),
            lambda matrix, _: _scipy_components(matrix), lambda graph, _: _networkx_components(graph),
            _check_components,
        ),
        Calls("bfs", _bfs, _scipy_bfs, _networkx_bfs, _check_bfs),
        Calls("sssp", _sssp, _scipy_sssp, _networkx_sssp, _check_sssp, is_weighted=True),
        Calls(
            "minimum_spanning_forest", lambda graph, _, session: _forest(graph, session),
            lambda matrix, _: _scipy_forest(matrix), lambda graph, _: _networkx_forest(graph), _check_forest,
            is_weighted=True,
        ),
        Calls(
            "color", lambda graph, _, session: _coloring(graph, session), None,
            lambda graph, _: _networkx_coloring(graph), _check_coloring,
        ),
    )
}  # fmt: skip
