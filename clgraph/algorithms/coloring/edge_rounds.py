"""Speculative colouring edge by edge while many vertices have no colour, then vertex by vertex."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.coloring.orders import ranks
from clgraph.algorithms.coloring.rounds import Rounds
from clgraph.runtime.arrays import DeviceArray

_FEW = 16  # one vertex in so many


class EdgeRounds(Rounds):
    """The first colours are found in rounds over all edges; ``cl/coloring/edge_rounds.cl`` tells how."""

    two_buffers = True

    def first_colors(self, hubs: DeviceArray | None) -> list[Any]:
        session, n, m = self.session, self.n, self.problem.graph.n_edges
        program = session.program("coloring/edge_rounds.cl", {"OFFSET_T": self.defines["OFFSET_T"]})
        limit = 32 * session.facts.compute_units
        sources, forbidden, bases, self._all_ranks = (
            session.empty(size, kind) for size, kind in ((m, np.int32), *((n, np.uint32),) * 3)
        )
        self._n_open = session.empty(1, np.uint32)
        scope = {
            **self.scope, "m": m, "sources": sources, "forbidden": forbidden, "bases": bases, "ranks": self._all_ranks,
            "picked": self.tentative,
        }  # fmt: skip
        self._round = [
            program.bind("forbid_colors", m, scope, max_groups=limit),
            program.bind("pick_colors", n, scope),
            program.bind("drop_losers", m, scope, max_groups=limit),
        ]
        self._list_open = program.bind("list_open", n, scope, size=self._n_open, list=self.lists[0])
        return [
            program.bind("list_sources", n * session.facts.sub_group_size, scope, max_groups=limit),
            program.bind("open_vertices", n, scope),
            self._rank, self._run_rounds,
        ]

    def first_check(self, hubs: DeviceArray | None) -> list[Any]:
        return []  # edges have checked

    def _rank(self) -> None:
        order = self.problem.order or "largest_first"
        ranks(self.session, self.problem.graph, order, self.problem.seed, self._all_ranks)

    def _run_rounds(self) -> None:
        n_open, turns = self.n, 0
        while n_open > self.n // _FEW:
            for launch in self._round:
                launch()
            self._n_open.fill(0)
            self._list_open()
            n_open, turns = self._n_open.item(), turns + 1
        self.details["edge_rounds"] = turns
        self.state.set(np.array([n_open], np.uint32), offset=self.sizes_at)
