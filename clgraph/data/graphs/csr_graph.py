"""The CSRGraph protocol: the part of a graph's interface that functions need to read the graph's arrays."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class CSRGraph(Protocol):
    """An object with the arrays of a :class:`clgraph.Graph` and the properties computed from them."""

    @property
    def row_offsets(self) -> NDArray[Any]: ...
    @property
    def column_indices(self) -> NDArray[np.int32]: ...
    @property
    def edge_weights(self) -> NDArray[Any] | None: ...
    @property
    def directed(self) -> bool: ...
    @property
    def has_sorted_rows(self) -> bool: ...
    @property
    def ids(self) -> NDArray[Any] | None: ...
    @property
    def n_vertices(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    @property
    def degrees(self) -> NDArray[Any]: ...

    def sources(self) -> NDArray[np.int32]:
        """Return the row number of every stored CSR entry of the graph."""

    def edge_list(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]:
        """Return the sources, targets and weights of the graph's edges.

        An undirected edge is listed once.
        """
