"""Frontiers on a device: lists of vertices and of pieces of long rows, and what drives levels through them."""
from __future__ import annotations

import numpy as np

from clgraph.data.graph import Graph
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.failure import check_status
from clgraph.runtime.program import Program
from clgraph.runtime.session import Session

PIECE = 128  # edges
_ALONE_ROWS = 4096  # that a CPU's work-item keeps to itself
_OTHER_BYTES = 128  # of local memory
_LINGER = 200  # turns; groups that come too late leave their share to the others


class Lists:
    """The lists of two turns.

    Attributes
    ----------
    light, heavy : DeviceArray
    scope : dict
        The lists and how many entries each turn may have, by the names of kernels' parameters.
    """

    def __init__(self, session: Session, graph: Graph) -> None:
        long_rows = graph.degrees[graph.degrees > PIECE].astype(np.int64)
        light, heavy = graph.n_vertices + 64, int((-(-long_rows // PIECE)).sum()) + 1
        self.light, self.heavy = session.empty(2 * light, np.int32), session.empty(4 * heavy, np.int32)
        self.scope = {"light": self.light, "heavy": self.heavy, "light_capacity": light, "heavy_capacity": heavy}


def new_state(session: Session, program: Program, words: str = "STATE_WORDS") -> DeviceArray:
    """Return the words by which turns of *program* tell each other, as many as its constant *words* says."""
    return session.empty(program.constant(words), np.uint32)


def check_grid(program: Program, state: DeviceArray, where: str) -> None:
    """Raise a :class:`DeviceTimeoutError` if work-groups did not meet."""
    check_status(state.item(program.constant("STATE_CONTROL") + program.constant("GRID_STATUS")), where)


def group_size(session: Session, per_group: int) -> int:
    """Work-items of a group of the kernels that run many levels; wide sub-groups leave larger ones few registers."""
    facts = session.facts
    most = 512 if facts.sub_group_size > 32 else per_group
    return facts.sub_group_size if facts.is_cpu else min(per_group, most, facts.max_work_group_size)


def group_count(session: Session, program: Program, per_unit: int = 1) -> int:
    """Work-groups of a kernel that runs many levels: those that run at once, or one alone."""
    facts = session.facts
    most = program.constant("MAX_MEMBERS")
    return min(per_unit * facts.compute_units, most) if facts.dialect.has_grid_barrier else 1


def queue_defines(
    session: Session, graph: Graph, group: int, kept: int, *, entry_bytes: int = 4
) -> dict[str, int | str]:
    """Return how a work-group of *group* work-items keeps its part of a frontier: at most *kept* rows on GPUs."""
    cpu, room = session.facts.is_cpu, session.facts.local_mem_bytes - _OTHER_BYTES
    rows = min(_ALONE_ROWS if cpu else 2 * group, room // (2 * entry_bytes))
    most = min(rows, kept) if session.facts.dialect.has_grid_barrier else rows - rows // 4
    return {
        "QUEUE_ROWS": rows, "KEPT_ROWS": most, "LINGER": _LINGER, "SKIP_LEAVES": int(not graph.directed),
        "PIECE": PIECE,
    }  # fmt: skip
