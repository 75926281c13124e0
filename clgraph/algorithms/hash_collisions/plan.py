"""The plan that counts hash collisions on one device."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.engine.plan import Plan


class CollisionPlan(Plan):
    """A plan that counts the hash collisions in one graph.

    Each part of the plan counts some of the hash functions.
    """

    def table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """After ``run()``, return for each hash function and width the total and the greatest number of collisions.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device timed out.
        """
        shape = len(self.problem.hashes), len(self.problem.bit_widths)
        total, maximum = np.zeros((2, *shape), np.int64)
        hashes = widths = 0
        for part in self.used:
            n_hashes, n_widths = (int(part.setting.defines[name]) for name in ("N_HASHES", "N_WIDTHS"))
            block = np.s_[hashes : hashes + n_hashes, widths : widths + n_widths]
            low, high, most = part.arrays["counters"].get().astype(np.int64).reshape(3, n_hashes, n_widths)
            total[block], maximum[block] = low + (high << 32), most
            widths = (widths + n_widths) % shape[1]
            hashes += 0 if widths else n_hashes
        self.check()
        return total, maximum
