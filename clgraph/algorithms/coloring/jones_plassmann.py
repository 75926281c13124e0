"""Greedy colouring in a given order, in parallel; ``cl/coloring/jones_plassmann.cl`` tells how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from clgraph.algorithms.coloring.problem import ColoringProblem
from clgraph.algorithms.coloring.tuning import NOT_TUNED, Tuning, tuned_sizes
from clgraph.algorithms.coloring.vertex_orders import (
    SHORT_ROW,
    VertexOrder,
    most_need_few,
    order_constant,
    rank_steps,
    vertex_order,
)
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Array, Loop, Phase, Recipe, Setting, Step, Use
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
_MOST_LAUNCHES = 1 << 20
_PREPARE_STEPS = 4  # vertices of a work-item


def jones_plassmann(
    problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning = NOT_TUNED, ranks: tuple[Step, ...] | None = None
) -> Recipe:
    """Short rows are of a work-item each, longer ones of a sub-group each, which come first.

    The steps *ranks*, if given, write other priorities than those of the order to the array ``ranks``.
    """
    graph, stats, together = problem.graph, problem.stats, facts.dialect.has_grid_barrier
    n, longest, name = stats.n_vertices, stats.max_degree, problem.order or problem.suitable_order
    name = name if ranks is None else "smallest_last"  # of which kernels know that its priorities are given
    sizes, least = _short_rows(facts, tuning, name, name == "largest_first" and most_need_few(graph), longest)
    n_groups = sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    is_given, has_large = name == "smallest_last", longest >= least
    large_sizes = tuned_sizes(tuning, _LARGE, _SIZES_LARGE, WG_SIZE=None if together else facts.sub_group_size)
    hub_degree, large_per_unit = large_sizes.pop("HUB_DEGREE"), large_sizes.pop("GROUPS_PER_UNIT")
    has_hubs, n_items = 0 < least <= longest >= hub_degree, n_groups * sizes["WG_SIZE"]
    counts = _Counts(problem, facts, name, least, hub_degree, n_items)
    prepare = Phase(f"{_SOURCE}:prepare", -(-n // _PREPARE_STEPS), values={"are_given": is_given})
    if ranks is None:
        ranks = rank_steps(graph, name, problem.seed) if is_given else ()
    steps = [*ranks, prepare]
    if has_large:
        most_groups = large_per_unit * facts.compute_units
        steps += _large(problem, facts, counts, has_hubs, large_sizes["WG_SIZE"], most_groups)
    if has_short := stats.min_degree < least:
        steps.append(_small(problem, facts, counts, n_groups))

    def setting() -> Setting:
        order, n_large = counts.order, counts.n_large if has_large else 0
        n_hubs = counts.n_hubs if has_hubs else 0
        is_ranked = is_given or has_large or (name == "largest_first" and "MARKED" not in sizes)
        arrays = {
            "colors": Array(n, np.int32),
            "ranks": Array(n if is_given else 1, np.uint32),
            "words": Array(2 * n if is_ranked else order.n_places, np.uint32),
            "controls": Array("CONTROL_WORDS", np.uint32, zeroed=True),
        }
        if has_large:
            arrays |= {
                "listed": Array(n_large, np.int32),
                "vertices": Array(n_large, np.int32),
                "keys": Array(n_large, np.uint32),
                "keys_in_order": Array(n_large, np.uint32),
                "before": Array(stats.n_edges, np.int32),
                "n_before": Array(n_hubs, np.uint32),
                "bitmaps": Array((stats.n_edges >> 5) + n + 1, np.uint32),
            }
        if has_short:
            room = order.n_turns * counts.pieces * facts.sub_group_size + (0 if together else n_items)
            lists_first = sizes.get("SORTED") or sizes.get("MARKED")
            arrays |= {
                "queues": Array(4 * room, np.uint32),
                "lists": Array(room if lists_first else 1, np.uint32),
                "sizes": Array(2 * n_items // facts.sub_group_size, np.uint32),
            }
        return Setting(
            arrays=arrays, details={"order": name},
            values={"n": n, "n_large": n_large, "n_hubs": n_hubs, **order.values},
            inputs={"blocks": partial(_upload_blocks, order=order, n=n, n_blocks=counts.n_blocks if has_short else 0)},
            file_defines={
                _SOURCE: {**sizes, "PREPARE_STEPS": _PREPARE_STEPS, "RANKED": int(is_ranked), "ORDER": order.number},
                _LARGE: large_sizes,
            },
        )  # fmt: skip

    return Recipe(tuple(steps) if n else (), setting)


@dataclass
class _Counts:
    """What a plan has to know of the order and of the degrees, found when it asks."""

    problem: ColoringProblem
    facts: DeviceFacts
    name: str
    least: int
    hub_degree: int
    most_items: int

    @cached_property
    def order(self) -> VertexOrder:
        return vertex_order(self.problem.graph, self.name, self.problem.seed)

    @cached_property
    def n_large(self) -> int:
        return int(np.count_nonzero(self.problem.graph.degrees >= self.least))

    @cached_property
    def n_hubs(self) -> int:
        return int(np.count_nonzero(self.problem.graph.degrees >= self.hub_degree))

    @property
    def pieces(self) -> int:
        """Parts of a turn, each of which a sub-group takes at a time."""
        n = self.problem.stats.n_vertices
        return -(-self.order.n_blocks(n) * order_constant("PHASE_SIZE") // self.facts.sub_group_size)

    @property
    def n_blocks(self) -> int:
        """As many blocks as whole pieces need."""
        return -(-self.pieces * self.facts.sub_group_size // order_constant("PHASE_SIZE"))

    @property
    def n_items(self) -> int:
        """As many work-items as leave each sub-group as many pieces of a turn, or one less."""
        pieces, width = self.pieces, self.facts.sub_group_size
        return -(-pieces // -(-pieces * width // self.most_items)) * width


def _short_rows(facts: DeviceFacts, tuning: Tuning, name: str, few: bool, longest: int) -> tuple[dict[str, int], int]:
    """Return the sizes for short rows, and from how many entries on a row is not short.

    *few* tells that the order is ``largest_first`` where that tells only vertices of few neighbours from others.
    """
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


def _small(problem: ColoringProblem, facts: DeviceFacts, counts: _Counts, n_groups: int) -> Step:
    """Return the step for short rows: one launch, or launches until no vertex is open."""
    together = facts.dialect.has_grid_barrier
    phase = Phase(
        f"{_SOURCE}:color_small",
        lambda: counts.n_items,
        values={"round": 1} if together else {},
        max_groups=n_groups,
        status="controls[CONTROL_SMALL + GRID_STATUS]",
    )
    return phase if together else Loop((phase,), "round", "controls[CONTROL_ALIVE]", _MOST_LAUNCHES)


def _upload_blocks(session: Session, order: VertexOrder, n: int, n_blocks: int) -> DeviceArray:
    """Return the blocks in the order in which they come in a turn, and as many behind them as make *n_blocks*."""
    blocks = np.full(n_blocks, order.n_blocks(n), np.uint32)
    if n_blocks:
        blocks[: order.n_blocks(n)] = np.argsort(order.arrivals(n))
    return session.upload(blocks)


def _large(
    problem: ColoringProblem, facts: DeviceFacts, counts: _Counts, has_hubs: bool, group: int, limit: int
) -> list[Step]:
    """Return the steps for long rows, of which those of hubs are listed beforehand."""
    n, least, together = problem.stats.n_vertices, counts.least, facts.dialect.has_grid_barrier

    def choose(plan: Plan) -> Compact:
        rows = {"row_offsets": plan.scope["row_offsets"]}
        predicate = f"row_offsets[i + 1] - row_offsets[i] >= {least}"
        return Compact(plan.session, n, plan.arrays["listed"], predicate=predicate, arrays=rows)

    def sort(plan: Plan) -> Sort:
        return Sort(plan.session, *(plan.arrays[name] for name in ("keys", "keys_in_order", "listed", "vertices")))

    steps: list[Any] = [
        Use(choose),
        Phase(f"{_LARGE}:sort_keys", lambda: counts.n_large),
        Use(sort),
    ]
    if has_hubs:
        steps.append(Phase(f"{_LARGE}:list_hubs", lambda: counts.n_hubs * group))
    steps.append(
        Phase(
            f"{_LARGE}:color_large",
            (lambda: counts.n_large * facts.sub_group_size) if together else 1,
            max_groups=limit,
            status="controls[GRID_STATUS]",
        )
    )
    return steps
