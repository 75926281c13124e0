"""A run that counts triangles on one device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan


class Counted(NamedTuple):
    """The number of triangles, and for each vertex the number of triangles and of different neighbours."""

    n_triangles: int
    counts: NDArray[np.int64]
    degrees: NDArray[np.int32]


class TrianglesPlan(Plan):
    """A plan that counts triangles.

    Sums of 64 bits are pairs of words on the device (``cl/data/rows.h``).
    """

    def result(self) -> Counted:
        """Return the counts, after ``run()``."""
        if not self.arrays:  # The graph has no vertices.
            return Counted(0, np.zeros(0, np.int64), np.zeros(0, np.int32))
        arrays: list[NDArray[Any]] = self.read(
            *((self.arrays[name], 0, self.arrays[name].size) for name in ("counts", "degrees", "control"))
        )
        counts, degrees, control = arrays
        total = self.program("triangles/orient.cl").constant("TOTAL")
        return Counted(int(control[total : total + 2].view(np.int64)[0]), counts.view(np.int64), degrees)
