"""Predecessors on shortest paths, from the distances; cl/traversal/predecessors.cl."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.distances import Distances
from clgraph.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_SOURCE = "traversal/predecessors.cl"
_ROUND, _STATE_WORDS = 4, 5  # words of the state; those before are the sizes of lists
_SHORT = 1024  # lists that one work-group follows faster than a launch for each round would
_ROUNDS_ALONE = 4096
_AT_ONCE = 8  # rounds enqueued between two looks at the sizes


class Predecessors:
    """The least predecessor of every vertex.

    Attributes
    ----------
    found : DeviceArray
        After ``run()``, int32; -9999 for sources and unreached vertices.
    """

    def __init__(
        self, session: Session, graph: Graph, held: Distances, distances: DeviceArray, sources: NDArray[np.int32]
    ) -> None:
        count, n = graph.n_vertices, np.int32(graph.n_vertices)
        self.found, rounds = session.empty(count, np.int32), session.empty(count, np.int32)
        self._state, given = session.empty(_STATE_WORDS, np.uint32), session.upload(sources)
        on_device = device_graph(session, graph)
        edges = on_device.row_offsets, on_device.column_indices, held.weights, distances, self.found, rounds
        defines = {**on_device.defines(), **held.defines}
        program = session.program(_SOURCE, defines, work_group_size=max(64, session.facts.sub_group_size))
        self._find = [
            program.bind("start", max(count, _STATE_WORDS), n, self.found, rounds, self._state),
            program.bind("find", count, n, *edges),
            program.bind("mark_sources", given.size, np.int32(given.size), given, rounds),
        ]
        self._finish = program.bind("finish", count, n, self.found)
        self._flat = held.has_flat_edges()
        if self._flat:
            lists = session.empty(2 * count, np.int32)
            numbers = np.int32(0), np.int32(0), np.uint32(_SHORT)
            self._find.append(program.bind("follow_all", count, n, *edges, lists, self._state))
            self._follow = program.bind(
                "follow_lists", count, n, *numbers, *edges, lists, self._state,
                max_groups=16 * session.facts.compute_units,
            )

    def run(self) -> None:
        for launch in self._find:
            launch()
        while self._flat:
            state = self._state.get()
            number = int(state[_ROUND])
            size = state[(number - 1) & 3]
            if not size:
                break
            if size <= _SHORT:
                self._rounds(number, number + _ROUNDS_ALONE - 1, n_groups=1)
            else:
                for k in range(number, number + _AT_ONCE):
                    self._rounds(k, k)
        self._finish()

    def _rounds(self, first: int, last: int, n_groups: int | None = None) -> None:
        self._follow.set_scalar(1, np.int32(first))
        self._follow.set_scalar(2, np.int32(last))
        self._follow(n_groups)
