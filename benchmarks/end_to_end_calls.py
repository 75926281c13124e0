"""The calls that ``bench_end_to_end.py`` times: ours, scipy's and networkx's, and how the answers are compared.

networkx is imported by what calls it only, since new processes are timed with this.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

import clgraph
from clgraph.errors import VerificationError
from clgraph.reference.bfs import depths
from clgraph.reference.color import check_coloring


@dataclass(frozen=True)
class Calls:
    """One algorithm.

    Attributes
    ----------
    name : str
        That of the function of clgraph.
    check : callable
        ``check(graph, source, found, expected)`` compares our answer with scipy's, and returns its largest array.
    scipy : callable or None
        ``scipy(matrix, source)``.
    networkx : str
        The name of its function.
    is_weighted, has_source : bool
    """

    name: str
    check: Callable[[Any, int, Any, Any], NDArray[Any]]
    scipy: Callable[[Any, int], Any] | None
    networkx_name: str
    is_weighted: bool = False
    has_source: bool = False

    def ours(self, graph: Any, source: int, session: Any) -> Any:
        """Return the answer of clgraph, which is told the weights of a networkx graph by their name."""
        weight = {"weight": "weight"} if self.is_weighted and hasattr(graph, "adjacency") else {}
        return getattr(clgraph, self.name)(graph, *[source] * self.has_source, session=session, **weight)

    def networkx(self, graph: Any, source: int) -> Any:
        """Return the answer of networkx; components come one by one."""
        import networkx

        found = getattr(networkx, self.networkx_name)(graph, *[source] * self.has_source)
        return list(found) if self.name == "connected_components" else found


def _agree(is_right: bool) -> None:
    if not is_right:
        raise VerificationError("the answer differs from scipy's")


def _check_components(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    _agree(found.n_components == expected[0] and np.array_equal(found.labels, expected[1]))
    labels: NDArray[Any] = found.labels
    return labels


def _check_bfs(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    _agree(np.array_equal(found.distances, depths(*expected)))
    reached: NDArray[Any] = found.distances
    return reached


def _check_sssp(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    lengths: NDArray[Any] = found.distances
    reached = np.isfinite(expected)
    known = np.isfinite(lengths) & (lengths >= 0)
    _agree(np.array_equal(known, reached) and np.array_equal(lengths[reached], expected[reached]))
    return lengths


def _check_forest(_graph: Any, _source: int, found: Any, expected: Any) -> NDArray[Any]:
    edges: NDArray[Any] = found.edges
    _agree(edges.size == expected.nnz and float(found.weight) == float(expected.data.sum()))
    return edges


def _check_coloring(graph: Any, _source: int, found: Any, _expected: Any) -> NDArray[Any]:
    colors: NDArray[Any] = found.colors
    check_coloring(graph, colors)
    return colors


def _scipy_components(matrix: Any, _source: int) -> Any:
    return csgraph.connected_components(matrix, directed=False)


def _scipy_lengths(matrix: Any, source: int) -> Any:
    return csgraph.dijkstra(matrix, indices=source)


def _scipy_forest(matrix: Any, _source: int) -> Any:
    return csgraph.minimum_spanning_tree(matrix)


_WITH_SOURCE: dict[str, Any] = {"has_source": True}
_WEIGHTED: dict[str, Any] = {"is_weighted": True}
ALGORITHMS = {
    calls.name: calls
    for calls in (
        Calls("connected_components", _check_components, _scipy_components, "connected_components"),
        Calls("bfs", _check_bfs, csgraph.breadth_first_order, "single_source_shortest_path_length", **_WITH_SOURCE),
        Calls("sssp", _check_sssp, _scipy_lengths, "single_source_dijkstra_path_length", **_WEIGHTED, **_WITH_SOURCE),
        Calls("minimum_spanning_forest", _check_forest, _scipy_forest, "minimum_spanning_tree", **_WEIGHTED),
        Calls("color", _check_coloring, None, "greedy_color"),
    )
}
