"""Frontiers on a device: lists of vertices and of pieces of long rows, and what drives levels through them."""
from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

PIECE = 128  # edges; cl/traversal/queues.h
# Words of cl/traversal/levels.h.
STATE_SIZES, SIZES, STATE_WORDS, MAX_MEMBERS = 160, 32, 288, 1000
GRID_STATUS = 4
_ALONE_ROWS = 4096  # that a CPU's work-item keeps to itself
_OTHER_BYTES = 128  # of local memory
_LINGER = 200  # turns; groups that come too late leave their share to the others


class Lists:
    """The lists of two turns, and the state words.

    Attributes
    ----------
    arguments : tuple
        Capacities of the two lists, as kernels take them.
    light, heavy, state : DeviceArray
    """

    def __init__(self, session: Session, graph: Graph, state_words: int = STATE_WORDS) -> None:
        long_rows = graph.degrees[graph.degrees > PIECE].astype(np.int64)
        light, heavy = graph.n_vertices + 64, int((-(-long_rows // PIECE)).sum()) + 1
        self.arguments = np.uint32(light), np.uint32(heavy)
        self.light, self.heavy = session.empty(2 * light, np.int32), session.empty(4 * heavy, np.int32)
        self.state = session.empty(state_words, np.uint32)

    @property
    def arrays(self) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
        return self.light, self.heavy, self.state


def sizes_of(state: Any, turn: int) -> tuple[int, int, int, int]:
    """Return vertices, pieces, edges and found vertices of a turn, from the state words."""
    first = STATE_SIZES + SIZES * (turn & 3)
    light, heavy, edges, found = (int(word) for word in state[first : first + 4])
    return light, heavy, edges, found


def group_size(session: Session, per_group: int) -> int:
    """Work-items of a group of the kernels that run many levels; wide sub-groups leave larger ones few registers."""
    facts = session.facts
    most = 512 if facts.sub_group_size > 32 else per_group
    return facts.sub_group_size if facts.is_cpu else min(per_group, most, facts.max_work_group_size)


def group_count(session: Session, per_unit: int = 1) -> int:
    """Work-groups of a kernel that runs many levels: those that run at once, or one alone."""
    facts = session.facts
    return min(per_unit * facts.compute_units, MAX_MEMBERS) if facts.dialect.has_grid_barrier else 1


def queue_defines(
    session: Session, graph: Graph, group: int, kept: int, *, entry_bytes: int = 4
) -> dict[str, int | str]:
    """Return how a work-group of *group* work-items keeps its part of a frontier: at most *kept* rows on GPUs."""
    cpu, room = session.facts.is_cpu, session.facts.local_mem_bytes - _OTHER_BYTES
    rows = min(_ALONE_ROWS if cpu else 2 * group, room // (2 * entry_bytes))
    most = min(rows, kept) if session.facts.dialect.has_grid_barrier else rows - rows // 4
    return {
        "QUEUE_ROWS": rows, "KEPT_ROWS": most, "LINGER": _LINGER, "SKIP_LEAVES": int(not graph.directed),
    }  # fmt: skip
