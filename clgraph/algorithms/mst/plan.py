"""A run of a minimum spanning forest on one device, and the edges that it found."""
from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.primitives.sort import Sort
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch

_ROWS = "mst/rows.cl"


class ForestPlan(Plan):
    """Finds the edges by which components are joined, on one undirected graph with sorted rows."""

    @cached_property
    def _in_order(self) -> tuple[Launch, Sort, DeviceArray]:
        """What names the edges and sorts the names, and the array that has them then."""
        n, m, session = self.recipe.values["n"], self.recipe.values["m"], self.session
        named, in_order = session.empty(n, np.uint32), session.empty(n, np.uint32)
        name = self.program(_ROWS).bind("name_edges", n, self.scope, edges=named)
        return name, Sort(session, named, in_order, end_bit=m.bit_length()), in_order

    def result(self) -> NDArray[np.int64]:
        """Return the entries of the forest's edges in rising order, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        if not self.recipe.values["m"]:
            return np.zeros(0, np.int64)
        name, sort, in_order = self._in_order
        name()
        sort.run()
        edges, *status = self.read((in_order, 0, in_order.size), *sort.statuses())
        sort.check(status)
        return edges[: np.searchsorted(edges, self.program(_ROWS).constant("NO_ENTRY"))].astype(np.int64)
