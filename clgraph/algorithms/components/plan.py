"""A run of connected components on one device, and the numbers of what it found."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan
from clgraph.primitives.scan import Scan
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch

_PHASES = "components/phases.cl"


class _Numbering(NamedTuple):
    """Marks the roots, counts those before each vertex, and looks the count of its root up for every vertex."""

    mark: Launch
    scan: Scan
    look_up: Launch
    labels: DeviceArray


class ComponentsPlan(Plan):
    """Finds the smallest vertex of every vertex's component."""

    @property
    def labels(self) -> DeviceArray:
        """After ``run()``, the smallest vertex of each vertex's component, int32, in the first ``n`` items."""
        return self.arrays["parent"]

    @cached_property
    def _numbering(self) -> _Numbering:
        n, program = self.setting.values["n"], self.program(_PHASES)
        labels, ranks = self.session.empty(n + 1, np.int32), self.session.empty(n + 1, np.int32)
        return _Numbering(
            program.bind("mark_roots", n, self.scope, is_root=labels), Scan(self.session, labels, ranks),
            program.bind("number_components", n, self.scope, rank=ranks, labels=labels), labels,
        )  # fmt: skip

    def result(self) -> tuple[int, NDArray[np.int32]]:
        """Number the components by their smallest vertex, after ``run()``.

        Returns
        -------
        n_components : int
            k.
        labels : int32 array
            Component numbers 0 … k−1 of the vertices.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        n = self.setting.values["n"]
        if not n:
            return 0, np.zeros(0, np.int32)
        mark, scan, look_up, labels = self._numbering
        mark()
        scan.run()
        look_up()
        numbers, *status = self.session.read((labels, 0, n + 1), *scan.statuses())
        scan.check(status)
        return int(numbers[n]), numbers[:n]
