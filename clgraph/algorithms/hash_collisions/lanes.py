"""Count hash collisions with work-items that process one hash of one row at a time
(``cl/hash_collisions/lanes.cl``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions.parts import Part, longest_row
from clgraph.arguments import checked_count
from clgraph.engine.plan import Plan
from clgraph.errors import InputError
from clgraph.model.recipe import Array, Phase, Recipe, Step, Use
from clgraph.primitives.segmented import SegmentedSort
from clgraph.primitives.types import Tuning, tuned_sizes

SOURCE = "hash_collisions/lanes.cl"
_SORTED = "hash_collisions/sorted.cl"
_BANKS = 32  # Number of banks of local memory that the kernels assume.
# For colours of more than 12 bits, sorting the colours of a row is faster than marking them in a bitmap.
BITMAP_BITS = 12


def lanes(
    part: Part,
    *,
    side_by_side: bool,
    persistent: bool,
    tile: int | None,
    distinct: str | None,
    layout: str | None,
    tuning: Tuning,
) -> Recipe:
    """Return the recipe that counts hash collisions with work-items for one hash and one row each.

    With *side_by_side*, the lanes of a sub-group count the hashes of one row.
    """
    problem, facts, bits = part.problem, part.facts, max(part.widths)
    n_hashes = len(part.hashes)
    stride = 1 << (n_hashes - 1).bit_length()
    hash_lanes = stride if side_by_side else 1
    least = max(hash_lanes, facts.sub_group_size)
    room = part.local_words - least
    bitmap_words = max(1, 1 << max(0, bits - 5))
    if distinct is None:
        fits = bits <= BITMAP_BITS and (bitmap_words + 1) * max(least, 1 if facts.is_cpu else 32) <= room
        distinct = "bitmap" if fits else "sort"
    elif distinct == "bitmap" and (bitmap_words + 1) * least > room:
        raise InputError(f"distinct='bitmap' of {bits} bits needs more local memory than there is; take 'sort'")
    method = "PAIRS" if problem.distance == 1 else {"bitmap": "BITMAP", "sort": "SORTED"}[distinct]
    group = least if facts.is_cpu else max(least, 128)
    defaults = {"WG_SIZE": group, "LONG_ROW": 1023, "TILE_STEP": 4096, "GROUPS_PER_UNIT": 8}
    tuned = tuned_sizes(facts, tuning, SOURCE, defaults)
    n_groups = tuned["GROUPS_PER_UNIT"] * facts.compute_units if persistent else None
    group, step, long_row = tuned["WG_SIZE"], tuned["TILE_STEP"], tuned["LONG_ROW"]
    own_words = (bitmap_words if method == "BITMAP" else bits + 1) + 1
    layout_defines: dict[str, int | str] = {}
    if method == "SORTED":
        longest = max(_BANKS - 1, longest_row(problem))
        group, step, long_row, layout_defines = _workspace(
            room, own_words, group, least, hash_lanes, longest, tile, layout or "padded", step
        )
    else:
        step = step if tile is None else checked_count("tile", tile, room, least=2)
        while group > least and own_words * group > room:
            group //= 2
    counting = {"WG_SIZE": group, "METHOD": method, "HASH_LANES": hash_lanes, "LONG_ROW": long_row, **layout_defines}
    steps: list[Step] = [part.tiles(f"{SOURCE}:count_rows", step, n_groups, counting)]
    long_rows = part.long_rows(long_row)
    if long_rows.size:
        groups = part.row_groups(long_rows.size)
        if method == "SORTED":
            steps.append(Use(lambda plan: _SortedRows(plan, long_rows, groups)))
        else:
            steps.append(Phase(f"{SOURCE}:count_split_rows", 0, groups=groups, defines=counting))
    color, dtype = ("ushort", np.uint16) if bits <= 16 else ("uint", np.uint32)
    return part.recipe(
        *steps,
        tabulate="hash_collisions/tabulate_colors.cl:tabulate_colors",
        table={"colors": Array(stride * problem.stats.n_vertices, dtype)},
        step=step,
        long_rows=long_rows,
        defines={"HASH_STRIDE": stride, "COLOR_T": color, "REVERSED": int(method == "SORTED")},
    )


class _SortedRows:
    """A step that counts the hash collisions of rows that are too long for a work-item's local memory.

    It sorts the colours of these rows in global memory.
    """

    def __init__(self, plan: Plan, rows: NDArray[np.int32], groups: int) -> None:
        session, graph = plan.session, plan.problem.graph
        ends = np.cumsum(graph.degrees[rows] + 1, dtype=np.int64)
        starts = session.upload(np.concatenate([[0], ends]).astype(graph.offset_dtype))
        keys, in_order = session.empty(int(ends[-1]), np.uint32), session.empty(int(ends[-1]), np.uint32)
        size = max(1, session.facts.sub_group_size) if session.facts.is_cpu else 256
        program = plan.program(_SORTED, {"WG_SIZE": size})
        self._sort = SegmentedSort(session, starts, keys, in_order, key_bits=program.constant("MAX_BITS"))
        self._launches: list[Callable[[], object]] = []
        for k in range(program.constant("N_HASHES")):
            scope = {**plan.scope, "k": k, "starts": starts}
            self._launches += [
                program.bind("write_keys", groups * size, scope, keys=keys),
                self._sort.run,
                program.bind("count_sorted", groups * size, scope, keys=in_order),
            ]

    def run(self) -> None:
        for launch in self._launches:
            launch()

    def check(self) -> None:
        self._sort.check()


def _workspace(
    room: int,
    own_words: int,
    group: int,
    least: int,
    hash_lanes: int,
    longest: int,
    tile: int | None,
    layout: str,
    step: int,
) -> tuple[int, int, int, dict[str, int | str]]:
    """Return how kernels sort colours in local memory:
    work-group size, tile step, longest row, and kernel definitions.
    """
    if layout == "compact":
        while group > least and own_words * group > room // 4:
            group //= 2
        words = _tile_words(tile, room - own_words * group) // hash_lanes
        long_row = max(0, min(longest, words // 2 - 1))
        step = max(1, words - long_row - 1)
        workspace = max(words, step + long_row + 1) * hash_lanes
        return group, step, long_row, {"LAYOUT": "COMPACT", "WORKSPACE": workspace}
    wanted = _BANKS * -(-(longest + 1) // _BANKS) + 1
    while group > least and (own_words + wanted) * group > room:
        group //= 2
    words = _tile_words(tile, room - own_words * group)
    most = words // group
    stride = min(wanted, max(1, _BANKS * ((most - 1) // _BANKS) + 1))
    step = step if tile is None else words
    return group, step, stride - 1, {"LAYOUT": "PADDED", "STRIDE": stride, "WORKSPACE": stride * group}


def _tile_words(tile: int | None, most: int) -> int:
    return most if tile is None else checked_count("tile", tile, most, least=2)
