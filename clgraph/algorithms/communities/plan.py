"""A run that finds communities on one device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan


class CommunitiesPlan(Plan):
    """A plan that finds communities; a step of class ``Multilevel`` does all the work."""

    def result(self) -> tuple[NDArray[np.int32], float, list[dict[str, Any]], list[NDArray[np.int32]]]:
        """Return the labels, their quality, a dictionary for each level, and the groups that each level merged."""
        if not self.used:  # no vertices
            return np.zeros(0, np.int32), 0.0, [], []
        run = self.used[0]
        labels = self.arrays["final_labels"].get()
        return labels, run.quality, run.levels, [groups.get() for groups in run.merged]
