"""Speculative colouring edge by edge while many vertices have no colour, then vertex by vertex."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.coloring.orders import ranks
from clgraph.algorithms.coloring.rounds import Rounds
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch

_FEW = 16  # one vertex in so many


class EdgeRounds(Rounds):
    """The first colours are found in rounds over all edges; ``cl/coloring/edge_rounds.cl`` tells how."""

    two_buffers = True

    def first_colors(self, hubs: DeviceArray | None) -> list[Any]:
        session, n, m = self.session, self.n, self.problem.graph.n_edges
        row_offsets, column_indices = self.rows[-3:-1]
        program = session.program("coloring/edge_rounds.cl", {"OFFSET_T": self.defines["OFFSET_T"]})
        limit = 32 * session.facts.compute_units
        n_entries = row_offsets.dtype.type(m)
        sources, forbidden, bases, self._all_ranks = (
            session.empty(size, kind) for size, kind in ((m, np.int32), *((n, np.uint32),) * 3)
        )
        self._n_open = session.empty(1, np.uint32)
        width = session.facts.sub_group_size

        def bind(kernel: str, n_items: int, *args: Any, max_groups: int | None = None) -> Launch:
            return program.bind(kernel, n_items, np.int32(n), *args, max_groups=max_groups)

        def over_edges(kernel: str, *args: Any) -> Launch:
            return program.bind(kernel, m, n_entries, sources, column_indices, *args, max_groups=limit)

        self._round = [
            over_edges("forbid_colors", self.colors, bases, forbidden),
            bind("pick_colors", n, self.colors, self.tentative, forbidden, bases),
            over_edges("drop_losers", self._all_ranks, self.tentative, self.colors),
        ]
        self._list_open = bind("list_open", n, self.colors, self._n_open, self.lists[0])
        return [
            bind("list_sources", n * width, row_offsets, sources, max_groups=limit),
            bind("open_vertices", n, self.tentative, forbidden, bases),
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
        self.state.set(np.array([n_open], np.uint32))
