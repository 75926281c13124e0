"""The strategies that count triangles, each a function that returns its recipe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from clgraph.algorithms.triangles import host, prices
from clgraph.algorithms.triangles.plan import TrianglesPlan
from clgraph.algorithms.triangles.problem import TrianglesProblem
from clgraph.arguments import checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential, too_many_entries
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step, Use
from clgraph.model.strategy import Strategy
from clgraph.primitives.scan import Scan

_ORIENT, _COUNT, _MARKS, _MERGE = (f"triangles/{name}.cl" for name in ("orient", "count", "marks", "merge"))
_TILE = 2048
# A work-group of the kernels with tables has 8 sub-groups, whose tables take 32 KiB of local memory together.
_TEAMS, _MAX_GROUP = 8, 256
_GROUPS_PER_UNIT = 16
_MAX_MARKS = 2**28  # The marks of all work-items of a CPU take at most 1 GiB, if there is more than one work-item.


def tables(problem: TrianglesProblem, facts: DeviceFacts, *, short_row: int = 32) -> Recipe:
    """Return the recipe that looks up entries in hash tables of the rows with more than *short_row* forward edges."""
    n, groups = problem.graph.n_vertices, _GROUPS_PER_UNIT * facts.compute_units
    size = facts.group_size(min(_MAX_GROUP, _TEAMS * facts.sub_group_size))
    counting = (
        Phase(f"{_ORIENT}:list_rows", n),
        *(Phase(f"{_COUNT}:count_{rows}", 0, groups=groups) for rows in ("short", "medium", "long")),
    )
    defines = {"SHORT_ROW": checked_count("short_row", short_row, 2**31 - 1)}
    return _recipe(problem, facts, counting, {"rows": Array(n, np.int32)}, {}, {_COUNT: {"WG_SIZE": size}}, defines)


def marks(problem: TrianglesProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which a work-item of a CPU marks the entries of a row in an array of all vertices."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    workers = max(1, min(facts.compute_units, _MAX_MARKS // max(1, n)))
    n_hits = math.isqrt(m) + 2  # A forward row has at most √m entries, and places are numbered from 1.
    arrays = {
        "marks": Array(workers * n, np.uint32, zeroed=True),
        "hits": Array(workers * n_hits, np.uint32, zeroed=True),
    }
    counting = (Phase(f"{_MARKS}:count_marked", 0, groups=workers),)
    return _recipe(problem, facts, counting, arrays, {"n_hits": n_hits}, {_MARKS: {"WG_SIZE": 1}})


def merge(problem: TrianglesProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which work-items of a CPU merge the rows of neighbours, without orientation."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    steps = Phase(f"{_ORIENT}:start", max(n, 5)), Phase(f"{_MERGE}:count_merged", 0, groups=facts.compute_units)
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "degrees": Array(n, np.int32), "counts": Array(2 * n, np.uint32),
            "control": Array("CONTROL_WORDS", np.uint32),
        } if n else {},
        values={"n": n, "m": m},
        file_defines={_ORIENT: {"WG_SIZE": facts.group_size(_MAX_GROUP)}, _MERGE: {"WG_SIZE": 1}},
    ))  # fmt: skip


def _recipe(
    problem: TrianglesProblem,
    facts: DeviceFacts,
    counting: tuple[Phase, ...],
    arrays: Mapping[str, Array],
    values: Mapping[str, int],
    file_defines: Mapping[str, Mapping[str, int]],
    defines: Mapping[str, int] = MappingProxyType({}),
) -> Recipe:
    """Return the recipe that orients the graph, and then counts the triangles by the launches *counting*."""
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    n_tiles, offset = max(1, -(-m // _TILE)), problem.graph.offset_dtype
    steps: tuple[Step, ...] = (
        Phase(f"{_ORIENT}:start", max(n, 5)),
        Phase(f"{_ORIENT}:count_tiles", 0, groups=n_tiles),
        Use(lambda plan: Scan(plan.session, plan.arrays["tile_counts"], plan.arrays["tile_begins"])),
        Phase(f"{_ORIENT}:write_tiles", 0, groups=n_tiles),
        *counting,
    )
    return Recipe(steps if n else (), lambda: Setting(
        arrays={
            "degrees": Array(n, np.int32), "counts": Array(2 * n, np.uint32),
            "control": Array("CONTROL_WORDS", np.uint32), "kept": Array(max(m, 1), np.uint8),
            "tile_counts": Array(n_tiles, np.int32), "tile_begins": Array(n_tiles + 1, offset),
            "forward_offsets": Array(n + 1, offset), "forward_columns": Array(m // 2 + 1, np.int32), **arrays,
        } if n else {},
        values={"n": n, "m": m, "n_tiles": n_tiles, **values},
        defines={"TILE": _TILE, **defines},
        file_defines={_ORIENT: {"WG_SIZE": facts.group_size(_MAX_GROUP)}, **file_defines},
    ))  # fmt: skip


def _on_cpus(facts: DeviceFacts) -> str | None:
    return None if facts.is_cpu else "a work-item takes whole rows by itself, which suits CPUs only"


STRATEGIES: dict[str, Strategy] = {
    "tables": planned("online", tables, TrianglesPlan, prices.tables),
    "marks": planned("online", marks, TrianglesPlan, prices.marks, unsupported=_on_cpus),
    "merge": planned("online", merge, TrianglesPlan, prices.merge, unsupported=_on_cpus),
    "host": sequential(host.solve, host.work, too_many_entries),
}


def contenders(_problem: TrianglesProblem, facts: DeviceFacts) -> tuple[str, ...]:
    """The strategies that auto weighs, by name."""
    return ("marks", "merge", "host") if facts.is_cpu else ("tables", "host")
