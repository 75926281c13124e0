"""The strategies that count triangles, each a function that returns its recipe."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.triangles import host, prices
from clgraph.algorithms.triangles.plan import TrianglesPlan
from clgraph.algorithms.triangles.problem import TrianglesProblem
from clgraph.arguments import checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.engine.host import sequential, too_many_entries
from clgraph.engine.planned import planned
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Use
from clgraph.model.strategy import Strategy
from clgraph.primitives.scan import Scan

_ORIENT, _COUNT = "triangles/orient.cl", "triangles/count.cl"
_TILE = 2048
# A work-group of the kernels with tables has 8 sub-groups, whose tables take 32 KiB of local memory together.
_TEAMS, _MAX_GROUP = 8, 256
_GROUPS_PER_UNIT = 16
_ANY_LENGTH = 2**31 - 1


def tables(problem: TrianglesProblem, facts: DeviceFacts, *, short_row: int = 32) -> Recipe:
    """Return the recipe that looks up entries in hash tables of the rows with more than *short_row* forward edges."""
    return _recipe(problem, facts, checked_count("short_row", short_row, _ANY_LENGTH))


def search(problem: TrianglesProblem, facts: DeviceFacts) -> Recipe:
    """Return the recipe in which each forward edge searches the row of one end for the entries of the other's row."""
    return _recipe(problem, facts, _ANY_LENGTH)


def _recipe(problem: TrianglesProblem, facts: DeviceFacts, short_row: int) -> Recipe:
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    n_tiles, groups = max(1, -(-m // _TILE)), _GROUPS_PER_UNIT * facts.compute_units
    steps = [
        Phase(f"{_ORIENT}:start", max(n, 4)),
        Phase(f"{_ORIENT}:count_tiles", 0, groups=n_tiles),
        Use(lambda plan: Scan(plan.session, plan.arrays["tile_counts"], plan.arrays["tile_begins"])),
        Phase(f"{_ORIENT}:write_tiles", 0, groups=n_tiles),
        Phase(f"{_COUNT}:count_short", 0, groups=groups),
    ]
    if short_row < _ANY_LENGTH:
        steps.insert(4, Phase(f"{_ORIENT}:list_rows", n))
        steps += [Phase(f"{_COUNT}:{kernel}", 0, groups=groups) for kernel in ("count_medium", "count_long")]
    offset, size = problem.graph.offset_dtype, facts.group_size(min(_MAX_GROUP, _TEAMS * facts.sub_group_size))
    return Recipe(tuple(steps) if n else (), lambda: Setting(
        arrays={
            "degrees": Array(n, np.int32), "counts": Array(2 * n, np.uint32), "rows": Array(n, np.int32),
            "control": Array("CONTROL_WORDS", np.uint32), "kept": Array(max(m, 1), np.uint8),
            "tile_counts": Array(n_tiles, np.int32), "tile_begins": Array(n_tiles + 1, offset),
            "forward_offsets": Array(n + 1, offset), "forward_columns": Array(m // 2 + 1, np.int32),
        } if n else {},
        values={"n": n, "m": m, "n_tiles": n_tiles},
        defines={"TILE": _TILE, "SHORT_ROW": short_row},
        file_defines={_COUNT: {"WG_SIZE": size}, _ORIENT: {"WG_SIZE": facts.group_size(_MAX_GROUP)}},
    ))  # fmt: skip


STRATEGIES: dict[str, Strategy] = {
    "tables": planned("online", tables, TrianglesPlan, prices.tables),
    "search": planned("online", search, TrianglesPlan, prices.search),
    "host": sequential(host.solve, host.work, too_many_entries),
}


def contenders(_problem: TrianglesProblem, _facts: DeviceFacts) -> tuple[str, ...]:
    """The strategies that auto weighs, by name."""
    return "tables", "search", "host"
