"""Predecessors on shortest paths, from the distances; cl/traversal/predecessors.cl."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.traversal.distances import Distances
from clgraph.data.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.session import Session

_SOURCE = "traversal/predecessors.cl"
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
        n, on_device = graph.n_vertices, device_graph(session, graph)
        defines = {**on_device.defines(), **held.defines}
        self._program = program = session.program(
            _SOURCE, defines, work_group_size=max(64, session.facts.sub_group_size)
        )
        self.found = session.empty(n, np.int32)
        self._state = session.empty(program.constant("FOLLOW_STATE_WORDS"), np.uint32)
        scope = {
            "n": n, **on_device.scope, "edge_weights": held.weights, "distances": distances, "predecessors": self.found,
            "rounds": session.empty(n, np.int32), "state": self._state,
        }  # fmt: skip
        self._find = [
            program.bind("start", max(n, self._state.size), scope),
            program.bind("find", n, scope),
            program.bind("mark_sources", sources.size, scope, n_sources=sources.size, sources=session.upload(sources)),
        ]
        self._finish = program.bind("finish", n, scope)
        self._flat = held.has_flat_edges()
        if self._flat:
            scope["lists"] = session.empty(2 * n, np.int32)
            self._find.append(program.bind("follow_all", n, scope))
            self._follow = program.bind(
                "follow_lists", n, scope, round=0, last=0, most=_SHORT, max_groups=16 * session.facts.compute_units
            )

    def run(self) -> None:
        for launch in self._find:
            launch()
        while self._flat:
            state = self._state.get()
            number = int(state[self._program.constant("STATE_ROUND")])
            size = state[self._program.constant("STATE_LISTED") + ((number - 1) & 3)]
            if not size:
                break
            if size <= _SHORT:
                self._rounds(number, number + _ROUNDS_ALONE - 1, n_groups=1)
            else:
                for k in range(number, number + _AT_ONCE):
                    self._rounds(k, k)
        self._finish()

    def _rounds(self, first: int, last: int, n_groups: int | None = None) -> None:
        self._follow.set(round=first, last=last)
        self._follow(n_groups)
