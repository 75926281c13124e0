"""Greedy colouring of a graph in a given order, in parallel; ``cl/color/jones_plassmann.cl`` explains the algorithm."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.algorithms.color.vertex_orders import (
    SHORT_ROW,
    VertexOrder,
    listing_rows,
    most_need_few,
    order_constant,
    rank_steps,
    sorting,
    vertex_order,
)
from clgraph.data.graphs.stats import GraphStats
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Step
from clgraph.primitives.types import NOT_TUNED, Tuning, tuned_sizes
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE, _LARGE = "color/jones_plassmann.cl", "color/jones_plassmann_large.cl"
_SIZES = {"WG_SIZE": 256, "SMALL_DEGREE": 30, "WIDE_DEGREE": SHORT_ROW, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_SIZES_ALONE = {**_SIZES, "GROUPS_PER_UNIT": 1, "WIDE_DEGREE": 40}
_SIZES_LARGE = {"WG_SIZE": 256, "HUB_DEGREE": 1024, "GROUPS_PER_UNIT": 4, "LINGER": 100}
# Additional kernel sizes for each vertex order, on devices with a grid barrier, where work-groups can wait.
_BY_ORDER = {
    "marked": {"MARKED": 1, "MOST_OPEN": 24, "BATCH": 3},
    "largest_first": {"SORTED": 1, "MOST_OPEN": 16, "GROUPS_PER_UNIT": 2, "BATCH": 8},
    "interleaved": {"RETRIES": 8},
}
# Value of the definition RETRIES for kernels in which a work-item processes rows of up to WIDE_DEGREE entries.
_WIDE_RETRIES = 100
_PASSES = 4  # On devices without a grid barrier, a launch makes this number of passes over the queues.
_MAX_LAUNCHES = 1 << 20
_PREPARE_STEPS = 4  # Number of vertices per work-item in the kernel ``prepare``.


def jones_plassmann(
    problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED, *, ranks_given: bool = False
) -> Recipe:
    """Return the recipe of a greedy colouring of a graph at distance 1.

    The first kernel processes long rows, with a sub-group per row. The second processes short rows, with a work-item
    per row. With *ranks_given* the caller writes priorities to the array ``ranks`` before a run. These priorities
    replace the problem's order.
    """
    graph, stats, together, width = problem.graph, problem.stats, facts.dialect.has_grid_barrier, facts.sub_group_size
    n, longest, name = stats.n_vertices, stats.max_degree, problem.order or problem.suitable_order
    if not n:
        return Recipe((), lambda: Setting(arrays={"colors": Array(0, np.int32)}, details={"order": name}))
    # The kernels read the given ``ranks`` in this order of the vertices.
    name = "smallest_last" if ranks_given else name
    is_given, order = name == "smallest_last", vertex_order(graph, name, problem.seed)
    sizes, least = _small_sizes(facts, tuning, name, name == "largest_first" and most_need_few(graph), longest)
    n_groups = sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    large_sizes = tuned_sizes(facts, tuning, _LARGE, _SIZES_LARGE, {} if together else {"WG_SIZE": width})
    hub_degree, n_large_groups = large_sizes.pop("HUB_DEGREE"), large_sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    n_large = int(np.count_nonzero(graph.degrees >= least)) if longest >= least else 0
    n_hubs = int(np.count_nonzero(graph.degrees >= hub_degree)) if 0 < least <= longest >= hub_degree else 0
    is_ranked = is_given or n_large > 0 or (name == "largest_first" and "MARKED" not in sizes)
    arrays = {
        "colors": Array(n, np.int32),
        "ranks": Array(n if is_given else 1, np.uint32),
        "words": Array(2 * n if is_ranked else order.n_places, np.uint32),
        "controls": Array("CONTROL_WORDS", np.uint32, zeroed=True),
    }
    steps: list[Step] = [*rank_steps(graph, name, problem.seed)] if is_given and not ranks_given else []
    steps.append(Phase(f"{_SOURCE}:prepare", -(-n // _PREPARE_STEPS), values={"are_given": is_given}))
    if n_large:
        steps += [listing_rows(n, "listed", f">= {least}"), Phase(f"{_LARGE}:sort_keys", n_large)]
        steps.append(sorting("keys", "keys_in_order", "listed", "vertices"))
        if n_hubs:
            steps.append(Phase(f"{_LARGE}:list_hubs", n_hubs * large_sizes["WG_SIZE"]))
        items, status = n_large * width if together else 1, "controls[GRID_STATUS]"
        steps.append(Phase(f"{_LARGE}:color_large", items, max_groups=n_large_groups, status=status))
        arrays |= _large_arrays(stats, n_large, n_hubs)
    n_blocks = 0
    if stats.min_degree < least:
        step, more, n_blocks = _color_small(order, n, facts, sizes, n_groups)
        steps.append(step)
        arrays |= more
    return Recipe(tuple(steps), lambda: Setting(
        arrays=arrays, details={"order": name},
        values={"n": n, "n_large": n_large, "n_hubs": n_hubs, "order": order._asdict()},
        inputs={"blocks": lambda session: _upload_blocks(session, order, n, n_blocks)},
        file_defines={
            _SOURCE: {**sizes, "PREPARE_STEPS": _PREPARE_STEPS, "RANKED": int(is_ranked), "ORDER": order.number},
            _LARGE: large_sizes,
        },
    ))  # fmt: skip


def _large_arrays(stats: GraphStats, n_large: int, n_hubs: int) -> dict[str, Array]:
    """Return the arrays of a colouring for vertices with long rows, and for hubs, which have the longest rows."""
    return {
        "listed": Array(n_large, np.int32),
        "vertices": Array(n_large, np.int32),
        "keys": Array(n_large, np.uint32),
        "keys_in_order": Array(n_large, np.uint32),
        "before": Array(stats.n_edges, np.int32),
        "n_before": Array(n_hubs, np.uint32),
        "bitmaps": Array((stats.n_edges >> 5) + stats.n_vertices + 1, np.uint32),
    }


def _color_small(
    order: VertexOrder, n: int, facts: DeviceFacts, sizes: Mapping[str, int], n_groups: int
) -> tuple[Step, dict[str, Array], int]:
    """Make the step that colours vertices with short rows.

    Return the step, its arrays, and the number of blocks per turn. ``cl/color/orders.h`` explains turns and blocks.
    """
    together, width = facts.dialect.has_grid_barrier, facts.sub_group_size
    block, most_items = order_constant("PHASE_SIZE"), n_groups * sizes["WG_SIZE"]
    pieces = -(-order.n_blocks(n) * block // width)  # A sub-group processes one piece of a turn of vertices at a time.
    # The number of blocks is rounded up, because each piece is as wide as a sub-group.
    n_blocks = -(-pieces * width // block)
    # With this number of sub-groups, the numbers of pieces that two sub-groups get differ by at most one.
    n_items = -(-pieces // -(-pieces * width // most_items)) * width
    phase = Phase(
        f"{_SOURCE}:color_small",
        n_items,
        values={"round": 1} if together else {},
        max_groups=n_groups,
        status="controls[CONTROL_SMALL + GRID_STATUS]",
    )
    room = order.n_turns * pieces * width + (0 if together else most_items)
    arrays = {
        "queues": Array(4 * room, np.uint32),
        "lists": Array(room if sizes.get("SORTED") or sizes.get("MARKED") else 1, np.uint32),
        "sizes": Array(2 * most_items // width, np.uint32),
    }
    step = phase if together else Loop((phase,), "round", "controls[CONTROL_ALIVE]", _MAX_LAUNCHES)
    return step, arrays, n_blocks


def _small_sizes(facts: DeviceFacts, tuning: Tuning, name: str, few: bool, longest: int) -> tuple[dict[str, int], int]:
    """Return the kernel sizes for short rows, and the least number of entries of a long row (0: all rows are long).

    *few* means that the order is ``largest_first`` on a graph with :func:`most_need_few`. There the order only
    separates vertices with few neighbours from the other vertices.
    """
    if facts.dialect.has_grid_barrier:
        sizes = tuned_sizes(facts, tuning, _SOURCE, {**_SIZES, **_BY_ORDER.get("marked" if few else name, {})})
    else:
        alone = {"WG_SIZE": facts.sub_group_size}
        sizes = tuned_sizes(facts, tuning, _SOURCE, _SIZES_ALONE, alone) | {"PASSES": _PASSES}
    wide_degree = sizes.pop("WIDE_DEGREE")
    if few:  # Colouring long rows first would violate the order of the vertices, so no row counts as long.
        sizes["SMALL_DEGREE"] = max(longest, sizes["SMALL_DEGREE"])
    least = sizes["SMALL_DEGREE"] + 1
    # Colouring long rows first would violate this order of the vertices, too.
    if name != "largest_first" and longest >= least:
        least = 0
        if longest <= wide_degree:
            sizes |= {"WIDE": 1, "SMALL_DEGREE": wide_degree, "RETRIES": _WIDE_RETRIES}
            least = wide_degree + 1
    # In the natural order, vertices often wait for their predecessors in long chains. The kernel for long rows is the
    # fastest for chains, because it processes vertices exactly in their order. So it gets all rows.
    return sizes, 0 if name == "natural" else least


def _upload_blocks(session: Session, order: VertexOrder, n: int, n_blocks: int) -> DeviceArray:
    """Upload the numbers of all vertex blocks in the order of their visits, padded to *n_blocks* by empty ones."""
    blocks = np.full(n_blocks, order.n_blocks(n), np.uint32)
    if n_blocks:
        blocks[: order.n_blocks(n)] = np.argsort(order.arrivals(n))
    return session.upload(blocks)
