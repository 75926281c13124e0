"""Sizes of frontiers on a device: lists of vertices, lists of pieces of long rows, and queues of work-groups."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array

_PIECE = 128  # edges per piece of a row. Longer rows are cut.
_ALONE_ROWS = 4096  # greatest number of rows in the queue of a CPU's work-item
_OTHER_BYTES, _ITEM_BYTES = 320, 4  # local memory for other things than queues and held items, and per held item
_LINGER = 200  # turns of waiting for work-groups to start. A later one leaves its share to the others.

_FEW_UNITS = 4  # greatest number of CPU cores that have a queue each


def queue_members(facts: DeviceFacts) -> int:
    """Return the number of work-groups with a queue each: up to 4 compute units, rounded to a power of two, else 1."""
    return 1 << (facts.compute_units - 1).bit_length() if has_few_units(facts) else 1


def has_few_units(facts: DeviceFacts) -> bool:
    """Return whether this is a CPU with so few cores that each gets a queue of its own and they share all work."""
    return facts.is_cpu and facts.compute_units <= _FEW_UNITS


def capacities(problem: SearchProblem) -> dict[str, int]:
    """Return the capacities of one turn's lists, by the names of the kernels' parameters."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    pieces = 0 if has_short_rows(problem) else 2 * m // _PIECE  # Only the last piece of a cut row may be short.
    return {"light_capacity": n + 64, "heavy_capacity": pieces + 1}


def lists(problem: SearchProblem, prefix: str = "", n_turns: int = 2) -> dict[str, Array]:
    """Return the arrays for the lists of *n_turns* turns: light ones of vertices, heavy ones of pieces, 2 ints each."""
    sizes = capacities(problem)
    return {
        f"{prefix}light": Array(n_turns * sizes["light_capacity"], np.int32),
        f"{prefix}heavy": Array(2 * n_turns * sizes["heavy_capacity"], np.int32),
    }


def has_short_rows(problem: SearchProblem) -> bool:
    """Return whether no row is cut into pieces."""
    return problem.stats.max_degree <= _PIECE


def group_size(facts: DeviceFacts, per_group: int) -> int:
    """Return the work-group size of kernels that run many levels.

    It is at most 512 on devices with sub-groups of more than 32 lanes, because of their registers.
    """
    most = 512 if facts.sub_group_size > 32 else per_group
    return facts.group_size(min(per_group, most, facts.max_work_group_size))


def group_count(facts: DeviceFacts, per_unit: int = 1) -> int:
    """Return the number of work-groups that run many levels together: all that are resident at once, or one.

    More than one is possible only on devices with a grid barrier.
    """
    return per_unit * facts.compute_units if facts.dialect.has_grid_barrier else 1


def queue_defines(
    problem: SearchProblem, facts: DeviceFacts, group: int, kept: int, *, entry_bytes: int = 4, held: int = 0
) -> dict[str, int | str]:
    """Return the kernels' definitions of queues in local memory for work-groups of *group* work-items.

    With a grid barrier, a work-group that has more than *kept* rows lists the excess for other work-groups. Each
    sub-group buffers *held* items of each of two lists before it appends them.
    """
    room = facts.local_mem_bytes - _OTHER_BYTES - 2 * _ITEM_BYTES * (held + 1) * group // facts.sub_group_size
    rows = min(_ALONE_ROWS if facts.is_cpu else 2 * group, room // (2 * entry_bytes))
    most = min(rows, kept) if facts.dialect.has_grid_barrier else rows - rows // 4
    return {
        "QUEUE_ROWS": rows, "KEPT_ROWS": most, "LINGER": _LINGER,
        "SKIP_LEAVES": int(problem.graph.is_known_symmetric), "PIECE": _PIECE, "HELD": held,
    }  # fmt: skip
