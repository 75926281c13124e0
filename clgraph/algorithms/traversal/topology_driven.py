"""Rounds in which a work-item relaxes the edges of one vertex: the baseline of studies of load imbalance."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clgraph.algorithms.traversal.rounds import SOURCE, FixedPoint
from clgraph.runtime.program import Launch


class TopologyDriven(FixedPoint):
    """Shortest paths by rounds over all vertices."""

    def _bind_round(self, defines: dict[str, int | str], scope: dict[str, Any]) -> Sequence[Launch]:
        program = self.session.program(SOURCE, defines)
        work = self._counters(-(-self.n // program.work_group_size))
        return [program.bind("relax_vertices", self.n, scope, work=work)]
