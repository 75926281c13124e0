"""The base class of DeviceGraph: the arrays of a graph on a device, their sizes, and their names in kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session


@dataclass(frozen=True, eq=False, repr=False)
class DeviceRows:
    """The arrays of a graph on a device.

    The subclass :class:`clgraph.DeviceGraph` documents the fields.
    """

    session: Session
    row_offsets: DeviceArray
    column_indices: DeviceArray
    edge_weights: DeviceArray | None = None
    vertex_weights: DeviceArray | None = None
    directed: bool = False
    has_sorted_rows: bool = False
    ids: NDArray[Any] | None = None

    @property
    def n_vertices(self) -> int:
        """Number of vertices of the graph."""
        return self.row_offsets.size - 1

    @property
    def n_edges(self) -> int:
        """Number of stored CSR entries.

        An undirected edge counts twice, a self-loop once.
        """
        return self.column_indices.size

    @property
    def nbytes(self) -> int:
        """Number of bytes that the graph takes on the device."""
        arrays = self.row_offsets, self.column_indices, self.edge_weights, self.vertex_weights
        return sum(array.nbytes for array in arrays if array is not None)

    @property
    def scope(self) -> dict[str, DeviceArray]:
        """The row offsets and the columns of the graph as kernel arguments, by the names of the kernel parameters."""
        return {"row_offsets": self.row_offsets, "column_indices": self.column_indices}

    def defines(self) -> dict[str, int | str]:
        """Return the preprocessor definitions that tell kernels the types of the graph's arrays."""
        return {"OFFSET_T": "long" if self.row_offsets.dtype.itemsize == 8 else "int"}
