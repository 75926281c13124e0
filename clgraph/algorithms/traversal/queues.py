"""Sizes of the device arrays that hold the frontier of a search.

They are lists of vertices, lists of pieces of long rows, and queues of work-groups.
"""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.traversal.problem import SearchProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array

_PIECE = 128  # A row of more edges than this is cut into pieces of this number of edges.
_ALONE_ROWS = 4096  # The queue of one work-item of a CPU holds at most this number of rows.
# Bytes of local memory for everything except queues and buffered items, and per buffered item.
_OTHER_BYTES, _ITEM_BYTES = 320, 4
# The first work-group checks 200 times whether other work-groups have started.
# A work-group that starts later leaves at once, and the other work-groups do its share of the work.
_LINGER = 200

_FEW_UNITS = 4  # At most this number of CPU cores have a queue each.


def queue_members(facts: DeviceFacts) -> int:
    """Return the number of work-groups of a search that have queues of their own.

    It is the number of compute units, rounded up to a power of two, on a CPU with at most 4 units, and 1 elsewhere.
    """
    return 1 << (facts.compute_units - 1).bit_length() if has_few_units(facts) else 1


def has_few_units(facts: DeviceFacts) -> bool:
    """Return whether the device is a CPU of at most 4 cores.

    Each core then has its own queue of vertices, which it shares.
    """
    return facts.is_cpu and facts.compute_units <= _FEW_UNITS


def capacities(problem: SearchProblem) -> dict[str, int]:
    """Return the capacities of the vertex lists of one search turn, by the names of the kernels' parameters."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    # All pieces of a cut row are full except the last piece, so a row has less than 2 · length / _PIECE pieces.
    pieces = 0 if has_short_rows(problem) else 2 * m // _PIECE
    return {"light_capacity": n + 64, "heavy_capacity": pieces + 1}


def lists(problem: SearchProblem, prefix: str = "", n_turns: int = 2) -> dict[str, Array]:
    """Return the device arrays for the vertex lists of *n_turns* search turns.

    Each turn has a light list of vertices, and a heavy list of pieces of long rows. A piece takes two ints.
    """
    sizes = capacities(problem)
    return {
        f"{prefix}light": Array(n_turns * sizes["light_capacity"], np.int32),
        f"{prefix}heavy": Array(2 * n_turns * sizes["heavy_capacity"], np.int32),
    }


def has_short_rows(problem: SearchProblem) -> bool:
    """Return whether all rows of the graph are so short that no row is cut into pieces."""
    return problem.stats.max_degree <= _PIECE


def group_size(facts: DeviceFacts, per_group: int) -> int:
    """Return the work-group size of kernels that run many levels of a search in one launch.

    It is at most 512 on devices with sub-groups of more than 32 lanes, because of their registers.
    """
    most = 512 if facts.sub_group_size > 32 else per_group
    return facts.group_size(min(per_group, most, facts.max_work_group_size))


def group_count(facts: DeviceFacts, per_unit: int = 1) -> int:
    """Return the number of work-groups of kernels that run many levels of a search in one launch.

    On devices with a grid barrier, it is the number of work-groups that can run at the same time. On other devices it
    is 1.
    """
    return per_unit * facts.compute_units if facts.dialect.has_grid_barrier else 1


def queue_defines(
    problem: SearchProblem, facts: DeviceFacts, group: int, kept: int, *, entry_bytes: int = 4, held: int = 0
) -> dict[str, int | str]:
    """Return the kernel definitions of queues in local memory, for work-groups of *group* work-items.

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
