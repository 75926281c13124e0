"""Frontiers on a device: lists of vertices and of pieces of long rows, and queues of work-groups."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array

_PIECE = 128  # edges of a piece; longer rows are cut
_ALONE_ROWS = 4096  # rows in the queue of a CPU's work-item, at most
_OTHER_BYTES, _ITEM_BYTES = 320, 4  # local memory: of everything but held items, and of one item
_LINGER = 200  # turns. A work-group that comes later leaves its share to the others.

_FEW_UNITS = 4


def queue_members(facts: DeviceFacts) -> int:
    """Return the work-groups that search together, a queue each: few units rounded up to a power of two, else 1."""
    return 1 << (facts.compute_units - 1).bit_length() if has_few_units(facts) else 1


def has_few_units(facts: DeviceFacts) -> bool:
    """Return whether this is a CPU on which work-groups with queues of their own share all work."""
    return facts.is_cpu and facts.compute_units <= _FEW_UNITS


def capacities(problem: SearchProblem) -> dict[str, int]:
    """Return the capacities of the lists of one turn, under the names of the kernels' parameters."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    pieces = 0 if has_short_rows(problem) else 2 * m // _PIECE  # only the last piece of a row is not full
    return {"light_capacity": n + 64, "heavy_capacity": pieces + 1}


def lists(problem: SearchProblem, prefix: str = "", n_turns: int = 2) -> dict[str, Array]:
    """Return the lists of *n_turns* turns: vertices, and pieces of long rows as pairs."""
    sizes = capacities(problem)
    return {
        f"{prefix}light": Array(n_turns * sizes["light_capacity"], np.int32),
        f"{prefix}heavy": Array(2 * n_turns * sizes["heavy_capacity"], np.int32),
    }


def has_short_rows(problem: SearchProblem) -> bool:
    """Return whether no row is cut into pieces."""
    return problem.stats.max_degree <= _PIECE


def group_size(facts: DeviceFacts, per_group: int) -> int:
    """Return the work-group size of kernels that run many levels: at most 512 with wide sub-groups, for registers."""
    most = 512 if facts.sub_group_size > 32 else per_group
    return facts.group_size(min(per_group, most, facts.max_work_group_size))


def group_count(facts: DeviceFacts, per_unit: int = 1) -> int:
    """Return the number of work-groups that run many levels together: all that can be resident at once, or one."""
    return per_unit * facts.compute_units if facts.dialect.has_grid_barrier else 1


def queue_defines(
    problem: SearchProblem, facts: DeviceFacts, group: int, kept: int, *, entry_bytes: int = 4, held: int = 0
) -> dict[str, int | str]:
    """Return the definitions of queues for work-groups of *group* work-items; on GPUs each keeps at most *kept* rows.

    Each sub-group holds *held* items back from each of two lists.
    """
    room = facts.local_mem_bytes - _OTHER_BYTES - 2 * _ITEM_BYTES * (held + 1) * group // facts.sub_group_size
    rows = min(_ALONE_ROWS if facts.is_cpu else 2 * group, room // (2 * entry_bytes))
    most = min(rows, kept) if facts.dialect.has_grid_barrier else rows - rows // 4
    return {
        "QUEUE_ROWS": rows, "KEPT_ROWS": most, "LINGER": _LINGER,
        "SKIP_LEAVES": int(problem.graph.is_known_symmetric), "PIECE": _PIECE, "HELD": held,
    }  # fmt: skip
