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
        The function of clgraph.
    answer : str
        The array of our result that the caller wants.
    agrees : callable
        ``agrees(found, expected)`` tells whether our result is scipy's.
    scipy : callable or None
        ``scipy(matrix, source)``.
    networkx_name : str
        The function of networkx.
    is_weighted, has_source : bool
    """

    name: str
    answer: str
    agrees: Callable[[Any, Any], bool]
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

    def check(self, graph: Any, found: Any, expected: Any) -> NDArray[Any]:
        """Compare our result with scipy's, a colouring with the edges of *graph*; return the array of the answer."""
        array: NDArray[Any] = getattr(found, self.answer)
        if self.scipy is None:
            check_coloring(graph, array)
        elif not self.agrees(found, expected):
            raise VerificationError("the answer differs from scipy's")
        return array


def _lengths_agree(found: Any, expected: Any) -> bool:
    lengths, reached = found.distances, np.isfinite(expected)
    known = np.isfinite(lengths) & (lengths >= 0)
    return np.array_equal(known, reached) and np.array_equal(lengths[reached], expected[reached])


ALGORITHMS = {
    calls.name: calls
    for calls in (
        Calls(
            "connected_components", "labels",
            lambda found, expected: found.n_components == expected[0] and np.array_equal(found.labels, expected[1]),
            lambda matrix, source: csgraph.connected_components(matrix, directed=False), "connected_components",
        ),
        Calls(
            "bfs", "distances", lambda found, expected: np.array_equal(found.distances, expected),
            lambda matrix, source: depths(*csgraph.breadth_first_order(matrix, source)),
            "single_source_shortest_path_length", has_source=True,
        ),
        Calls(
            "sssp", "distances", _lengths_agree, lambda matrix, source: csgraph.dijkstra(matrix, indices=source),
            "single_source_dijkstra_path_length", is_weighted=True, has_source=True,
        ),
        Calls(
            "minimum_spanning_forest", "edges",
            lambda found, expected: found.edges.size == expected.nnz and found.weight == float(expected.data.sum()),
            lambda matrix, source: csgraph.minimum_spanning_tree(matrix), "minimum_spanning_tree", is_weighted=True,
        ),
        Calls("color", "colors", lambda found, expected: True, None, "greedy_color"),
    )
}  # fmt: skip
