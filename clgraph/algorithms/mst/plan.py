"""A run of a minimum spanning forest on one device, and the edges that it found."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.primitives.sort import Sort

_ROWS = "mst/rows.cl"


class ForestPlan(Plan):
    """Finds the edges by which components are joined, on one undirected graph with sorted rows."""

    def result(self) -> NDArray[np.int64]:
        """Return the entries of the forest's edges in rising order, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        n, m, program = self.recipe.values["n"], self.recipe.values["m"], self.program(_ROWS)
        if not m:
            return np.zeros(0, np.int64)
        named, in_order = self.session.empty(n, np.uint32), self.session.empty(n, np.uint32)
        program.bind("name_edges", n, self.scope, edges=named)()
        Sort(self.session, named, in_order, end_bit=m.bit_length()).run_checked()
        edges = in_order.get()
        self.check()
        return edges[: np.searchsorted(edges, program.constant("NO_ENTRY"))].astype(np.int64)
