"""Speculative colouring at distance 1: all vertices at once take the least colour that they see free."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.coloring.orders import suitable_order
from clgraph.algorithms.coloring.rounds import Rounds
from clgraph.algorithms.coloring.work import first_fit_suffices
from clgraph.primitives.fill import Iota
from clgraph.primitives.sort import Sort
from clgraph.runtime.arrays import DeviceArray


class Speculative(Rounds):
    """First colours are the least that vertices see free: hubs first, or in an order."""

    def default_order(self) -> str | None:
        """Return an order for few colours on CPUs, where few vertices are coloured at a time, so that it matters.

        None if colours are to be the same on every device.
        """
        graph, facts = self.problem.graph, self.session.facts
        if self.problem.deterministic or not facts.is_cpu or first_fit_suffices(self.problem.stats, facts):
            return None
        return suitable_order(graph)

    def first_colors(self, hubs: DeviceArray | None) -> list[Any]:
        if self.order is not None:
            return self._in_order()
        every = self.assign(self.lists[0], all_vertices=True)
        return [every] if hubs is None else [self.assign_hubs(hubs), every]

    def _in_order(self) -> list[Any]:
        vertices, order = self.lists
        keys, keys_in_order = (self.session.empty(self.n, np.uint32) for _ in range(2))
        iota, sort = Iota(self.session, vertices), Sort(self.session, keys, keys_in_order, vertices, order)
        self.checked.append(sort)
        keys_of = self.program.bind("order_keys", self.n, self.scope, keys=keys)
        return [iota.run, keys_of, sort.run, self.assign(order)]
