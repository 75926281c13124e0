"""A run of connected components on one device, and the numbers of what it found."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.primitives.scan import Scan
from clgraph.runtime.arrays import DeviceArray

_PHASES = "components/phases.cl"


class ComponentsPlan(Plan):
    """Finds the smallest vertex of every vertex's component."""

    @property
    def labels(self) -> DeviceArray:
        """After ``run()``, the smallest vertex of each vertex's component, int32, in the first ``n`` items."""
        return self.arrays["parent"]

    def number(self) -> tuple[DeviceArray, int]:
        """Number the components by their smallest vertex, after ``run()``.

        Returns
        -------
        labels : DeviceArray, int32
            Component numbers 0 … k−1 of the vertices.
        n_components : int
            k, read back.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        n, program = self.recipe.values["n"], self.program(_PHASES)
        labels, ranks = self.session.empty(n, np.int32), self.session.empty(n + 1, np.int32)
        if not n:
            return labels, 0
        program.bind("mark_roots", n, self.scope, is_root=labels)()
        scan = Scan(self.session, labels, ranks)
        scan.run()
        program.bind("number_components", n, self.scope, rank=ranks, labels=labels)()
        scan.check()
        return labels, int(ranks.item(n))

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Return how many components there are and the numbers of the vertices' components, after ``run()``."""
        labels, n_components = self.number()
        return n_components, labels.get()

    def n_components(self) -> int:
        """Count the components on the device, after ``run()``."""
        return self.number()[1]
