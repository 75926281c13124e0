"""A graph without its edges, as unpickled results have it."""

from __future__ import annotations

from typing import Any, NoReturn

from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import MissingEdgesError


class Vertices(Graph):
    """The graph of an unpickled result.

    Its vertices and their ids are known, but its edges are not.

    Attributes
    ----------
    n_vertices : int
    ids : array, shape (n_vertices,), or None
        The ids of the vertices; ``None`` if their numbers are the ids.
    """

    def __init__(self, n_vertices: int, ids: NDArray[Any] | None) -> None:
        self.__dict__.update(_n_vertices=n_vertices, ids=ids)

    @property
    def n_vertices(self) -> int:
        n_vertices: int = self.__dict__["_n_vertices"]
        return n_vertices

    def __reduce__(self) -> Any:
        return Vertices, (self.n_vertices, self.ids)

    def __repr__(self) -> str:
        return f"Graph(n_vertices={self.n_vertices}, without its edges)"

    def _missing(self) -> NoReturn:
        raise MissingEdgesError(
            "a pickled result has no edges of its graph; keep the graph beside it, and call the algorithm or pass the "
            "graph where edges are needed"
        )

    row_offsets = column_indices = edge_weights = property(_missing)
    directed = n_edges = weight_dtype = property(_missing)
