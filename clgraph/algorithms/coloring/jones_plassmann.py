"""Greedy colouring in a given order, in parallel; ``cl/coloring/jones_plassmann.cl`` tells how."""
from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from clgraph.algorithms.coloring import work
from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.tuning import NOT_TUNED, Tuning, tuned_sizes
from clgraph.algorithms.coloring.vertex_orders import (
    SHORT_ROW,
    VertexOrder,
    order_constant,
    rank_steps,
    vertex_order,
)
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.model.cost import Work
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Step, Use
from clgraph.primitives.compact import Compact
from clgraph.primitives.sort import Sort
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE, _LARGE = "coloring/jones_plassmann.cl", "coloring/jones_plassmann_large.cl"
_SIZES = {"WG_SIZE": 256, "SMALL_DEGREE": 30, "WIDE_DEGREE": SHORT_ROW, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_SIZES_ALONE = {**_SIZES, "GROUPS_PER_UNIT": 1, "WIDE_DEGREE": 40}
_SIZES_LARGE = {"WG_SIZE": 256, "HUB_DEGREE": 1024, "GROUPS_PER_UNIT": 4, "LINGER": 100}
_BY_ORDER = {  # where groups run together
    "marked": {"MARKED": 1, "MOST_OPEN": 24, "BATCH": 3},
    "largest_first": {"SORTED": 1, "MOST_OPEN": 16, "GROUPS_PER_UNIT": 2, "BATCH": 8},
    "interleaved": {"RETRIES": 8},
}
_WIDE_RETRIES = 100
_PASSES = 4  # of a launch, where groups may not wait for each other
_LAUNCHES = 4.0  # that the cost model counts there
_MOST_LAUNCHES = 1 << 20
_PREPARE_STEPS = 4  # vertices of a work-item


def jones_plassmann(problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED) -> Recipe:
    """Short rows are of a work-item each, longer ones of a sub-group each, which come first."""
    graph, stats, together = problem.graph, problem.stats, facts.dialect.has_grid_barrier
    n, longest, name = stats.n_vertices, stats.max_degree, problem.order or problem.suitable_order
    order = vertex_order(graph, name, problem.seed)
    sizes, least = _short_rows(facts, tuning, name, order, longest)
    n_groups = sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    n_large = int(np.count_nonzero(graph.degrees >= least)) if longest >= least else 0
    is_given = name == "smallest_last"
    is_ranked = is_given or n_large > 0 or (name == "largest_first" and "MARKED" not in sizes)
    large_sizes = tuned_sizes(tuning, _LARGE, _SIZES_LARGE, WG_SIZE=None if together else facts.sub_group_size)
    hub_degree, large_per_unit = large_sizes.pop("HUB_DEGREE"), large_sizes.pop("GROUPS_PER_UNIT")
    n_hubs = int(np.count_nonzero(graph.degrees >= hub_degree)) if 0 < least <= longest >= hub_degree else 0
    written = Work(streamed_bytes=12.0 * n)
    prepare = Phase(f"{_SOURCE}:prepare", -(-n // _PREPARE_STEPS), written, {"are_given": is_given})
    steps = [*(rank_steps(graph, name, problem.seed) if is_given else ()), prepare]
    arrays = {
        "colors": Array(n, np.int32), "ranks": Array(n if is_given else 1, np.uint32),
        "words": Array(2 * n if is_ranked else order.n_places, np.uint32),
        "controls": Array("CONTROL_WORDS", np.uint32, zeroed=True),
    }
    if n_large:
        most_groups = large_per_unit * facts.compute_units
        steps += _large(problem, facts, least, n_large, n_hubs, large_sizes["WG_SIZE"], most_groups)
        arrays |= {
            "listed": Array(n_large, np.int32), "vertices": Array(n_large, np.int32),
            "keys": Array(n_large, np.uint32), "keys_in_order": Array(n_large, np.uint32),
            "before": Array(stats.n_edges, np.int32), "n_before": Array(n_hubs, np.uint32),
            "bitmaps": Array((stats.n_edges >> 5) + n + 1, np.uint32),
        }
    n_blocks = 0  # as many as whole pieces need
    if n_large < n:
        group, width = sizes["WG_SIZE"], facts.sub_group_size
        phase = order_constant("PHASE_SIZE")
        pieces = -(-order.n_blocks(n) * phase // width)
        n_blocks = -(-pieces * width // phase)
        # As many groups as leave each sub-group as many pieces of a turn, or one less.
        items = -(-pieces // -(-pieces * width // (n_groups * group))) * width
        steps.append(_small(problem, facts, items, n_groups))
        room = order.n_turns * pieces * width + (0 if together else n_groups * group)
        lists_first = sizes.get("SORTED") or sizes.get("MARKED")
        arrays |= {
            "queues": Array(4 * room, np.uint32), "lists": Array(room if lists_first else 1, np.uint32),
            "sizes": Array(2 * n_groups * group // width, np.uint32),
        }
    return Recipe(
        steps=tuple(steps) if n else (), arrays=arrays, details={"order": name},
        values={"n": n, "n_large": n_large, "n_hubs": n_hubs, **order.values},
        inputs={"blocks": partial(_upload_blocks, order=order, n=n, n_blocks=n_blocks)},
        file_defines={
            _SOURCE: {**sizes, "PREPARE_STEPS": _PREPARE_STEPS, "RANKED": int(is_ranked), "ORDER": order.number},
            _LARGE: large_sizes,
        },
    )  # fmt: skip


def _short_rows(
    facts: DeviceFacts, tuning: Tuning, name: str, order: VertexOrder, longest: int
) -> tuple[dict[str, int], int]:
    """Return the sizes for short rows, and from how many entries on a row is not short."""
    few = order.tells_only_many
    if facts.dialect.has_grid_barrier:
        sizes = tuned_sizes(tuning, _SOURCE, {**_SIZES, **_BY_ORDER.get("marked" if few else name, {})})
    else:
        sizes = tuned_sizes(tuning, _SOURCE, _SIZES_ALONE, WG_SIZE=facts.sub_group_size) | {"PASSES": _PASSES}
    wide_degree = sizes.pop("WIDE_DEGREE")
    sizes["WG_SIZE"] = min(sizes["WG_SIZE"], facts.max_work_group_size)
    if few:  # those of more entries would be coloured before all others, which is not the order
        sizes["SMALL_DEGREE"] = max(longest, sizes["SMALL_DEGREE"])
    least = sizes["SMALL_DEGREE"] + 1
    if name != "largest_first" and longest >= least:  # nor is it here
        least = 0
        if longest <= wide_degree:
            sizes |= {"WIDE": 1, "SMALL_DEGREE": wide_degree, "RETRIES": _WIDE_RETRIES}
            least = wide_degree + 1
    # In the natural order neighbours wait for each other in long rows, which end soon only if taken in that very order.
    return sizes, 0 if name == "natural" else least


def _small(problem: ColoringProblem, facts: DeviceFacts, items: int, n_groups: int) -> Step:
    """Return the step for short rows: one launch, or launches until no vertex is open."""
    asked, kernel = work.small_rows(problem.stats, facts), f"{_SOURCE}:color_small"
    phase = partial(Phase, kernel, items, max_groups=n_groups, status="controls[CONTROL_SMALL + GRID_STATUS]")
    if facts.dialect.has_grid_barrier:
        return phase(asked, {"round": 1})
    a_round = phase(asked.times(1 / _LAUNCHES))
    return Loop((a_round,), "round", "controls[CONTROL_ALIVE]", _MOST_LAUNCHES, _LAUNCHES)


def _upload_blocks(session: Session, order: VertexOrder, n: int, n_blocks: int) -> DeviceArray:
    """Return the blocks in the order in which they come in a turn, and as many behind them as make *n_blocks*."""
    blocks = np.full(n_blocks, order.n_blocks(n), np.uint32)
    if n_blocks:
        blocks[: order.n_blocks(n)] = np.argsort(order.arrivals(n))
    return session.upload(blocks)


def _large(
    problem: ColoringProblem, facts: DeviceFacts, least: int, n_large: int, n_hubs: int, group: int, limit: int
) -> list[Step]:
    """Return the steps for vertices of at least *least* entries, of which the first *n_hubs* are listed beforehand."""
    n, together = problem.stats.n_vertices, facts.dialect.has_grid_barrier

    def choose(plan: Plan) -> Compact:
        rows = {"row_offsets": plan.scope["row_offsets"]}
        predicate = f"row_offsets[i + 1] - row_offsets[i] >= {least}"
        return Compact(plan.session, n, plan.arrays["listed"], predicate=predicate, arrays=rows)

    def sort(plan: Plan) -> Sort:
        return Sort(plan.session, *(plan.arrays[name] for name in ("keys", "keys_in_order", "listed", "vertices")))

    steps: list[Any] = [
        Use(choose, work.choose_rows(n, facts)),
        Phase(f"{_LARGE}:sort_keys", n_large),
        Use(sort, work.sort_pairs(n_large, facts)),
    ]
    if n_hubs:
        steps.append(Phase(f"{_LARGE}:list_hubs", n_hubs * group, work.hub_rows(problem.stats, facts)))
    steps.append(Phase(
        f"{_LARGE}:color_large", n_large * facts.sub_group_size if together else 1,
        work.large_rows(problem.stats, facts), max_groups=limit, status="controls[GRID_STATUS]",
    ))
    return steps
