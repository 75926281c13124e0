"""A work-item one hash of a row at a time: ``cl/hash_collisions/lanes.cl``."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions.plan import CollisionPlan, slices
from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.algorithms.hash_collisions.work import BITMAP_BITS, MOST_HASHES
from clgraph.arguments import checked_count
from clgraph.errors import InputError
from clgraph.primitives.segmented import SegmentedSort
from clgraph.primitives.types import tuned
from clgraph.runtime.session import Session

SOURCE = "hash_collisions/lanes.cl"
_SORTED = "hash_collisions/sorted.cl"
_BANKS = 32


class LanesPlan(CollisionPlan):
    """A work-item one hash of a row at a time; ``colors``: those of the vertices under the last part's hashes."""

    def __init__(
        self, session: Session, problem: CollisionProblem, *, side_by_side: bool, persistent: bool,
        tile: int | None = None, distinct: str | None = None, layout: str | None = None,
    ) -> None:
        super().__init__(session, problem)
        if not self.m:
            return
        for hashes in slices(len(problem.hashes), MOST_HASHES):
            self._plan_part(hashes, side_by_side, persistent, tile, distinct, layout)

    def _plan_part(
        self, hashes: slice, side_by_side: bool, persistent: bool, tile: int | None, distinct: str | None,
        layout: str | None,
    ) -> None:
        n_hashes, bits = hashes.stop - hashes.start, max(self.problem.bit_widths)
        stride = 1 << (n_hashes - 1).bit_length()
        lanes = stride if side_by_side else 1
        least = max(lanes, self.session.facts.sub_group_size)
        room = self.local_words(n_hashes * len(self.problem.bit_widths)) - least
        bitmap_words = max(1, 1 << max(0, bits - 5))
        if distinct is None:
            fits = bits <= BITMAP_BITS and (bitmap_words + 1) * max(least, 1 if self.is_cpu else 32) <= room
            distinct = "bitmap" if fits else "sort"
        elif distinct == "bitmap" and (bitmap_words + 1) * least > room:
            raise InputError(f"distinct='bitmap' of {bits} bits needs more local memory than there is; take 'sort'")
        method = "PAIRS" if self.problem.distance == 1 else {"bitmap": "BITMAP", "sort": "SORTED"}[distinct]
        sizes = tuned(self.session, SOURCE, {
            "WG_SIZE": least if self.is_cpu else max(least, 128), "LONG_ROW": 1023, "TILE_STEP": 4096,
            "GROUPS_PER_UNIT": 8, "EVALUATE": 0, "STAGES": 3,
        }, None)
        n_groups = sizes.pop("GROUPS_PER_UNIT") * self.units if persistent else None
        group = sizes.pop("WG_SIZE")
        fixed = (bitmap_words if method == "BITMAP" else bits + 1) + 1
        table: dict[str, int | str] = {"HASH_STRIDE": stride, "COLOR_T": "ushort" if bits <= 16 else "uint"}
        defines: dict[str, int | str] = {**sizes, **table, "METHOD": method, "HASH_LANES": lanes}
        step = int(defines.pop("TILE_STEP"))
        if method == "SORTED":
            group, step, sort_defines = _workspace(
                room, fixed, group, least, lanes, max(_BANKS - 1, self.longest), tile, layout or "padded", step
            )
            defines |= sort_defines
        else:
            step = step if tile is None else checked_count("tile", tile, room, least=2)
            while group > least and fixed * group > room:
                group //= 2
        part, values = self.add_part(hashes, slice(0, len(self.problem.bit_widths)))
        self.colors = self.session.empty(stride * self.n, np.uint16 if bits <= 16 else np.uint32)
        table["REVERSED"] = int(method == "SORTED")
        scope = self.tabulate("tabulate_colors", part, values | table, step, colors=self.colors)
        program = self.session.program(SOURCE, values | defines, work_group_size=group)
        self.launches.append(self.bind_tiles(program, "count_rows", n_groups, scope))
        rows = self.long_rows(int(defines["LONG_ROW"]))
        if not rows.size:
            return
        scope |= {"n_long": rows.size, "long_rows": self.session.upload(rows)}
        if method == "SORTED":
            self._sort_rows(values, rows, scope)
        else:
            self.launches.append(self.bind_rows(program, "count_split_rows", scope))

    def _sort_rows(self, values: dict[str, int | str], rows: NDArray[np.int32], scope: dict[str, Any]) -> None:
        """Count the rows that no work-item's workspace holds."""
        session, offsets = self.session, self.problem.graph.row_offsets
        ends = np.cumsum(self.problem.graph.degrees[rows] + 1, dtype=np.int64)
        starts = session.upload(np.concatenate([[0], ends]).astype(offsets.dtype))
        keys, in_order = session.empty(int(ends[-1]), np.uint32), session.empty(int(ends[-1]), np.uint32)
        sort = SegmentedSort(session, starts, keys, in_order, key_bits=int(values["MAX_BITS"]))
        self._sorts.append(sort)
        group = max(1, session.facts.sub_group_size) if self.is_cpu else 256
        program = session.program(_SORTED, values, work_group_size=group)
        for k in range(int(values["N_HASHES"])):
            self.launches += [
                self.bind_rows(program, "write_keys", scope, k=k, starts=starts, keys=keys),
                sort.run,
                self.bind_rows(program, "count_sorted", scope, k=k, starts=starts, keys=in_order),
            ]


def _workspace(
    room: int, fixed: int, group: int, least: int, lanes: int, longest: int, tile: int | None, layout: str, step: int
) -> tuple[int, int, dict[str, int | str]]:
    """Return work-group size, tile step and definitions by which work-items sort rows in local memory."""
    if layout == "compact":
        while group > least and fixed * group > room // 4:
            group //= 2
        words = _tile_words(tile, room - fixed * group) // lanes
        long_row = max(0, min(longest, words // 2 - 1))
        step = max(1, words - long_row - 1)
        workspace = max(words, step + long_row + 1) * lanes
        return group, step, {"LAYOUT": "COMPACT", "LONG_ROW": long_row, "WORKSPACE": workspace}
    wanted = _BANKS * -(-(longest + 1) // _BANKS) + 1
    while group > least and (fixed + wanted) * group > room:
        group //= 2
    words = _tile_words(tile, room - fixed * group)
    most = words // group
    stride = min(wanted, max(1, _BANKS * ((most - 1) // _BANKS) + 1))
    step = step if tile is None else words
    return group, step, {"LAYOUT": "PADDED", "LONG_ROW": stride - 1, "STRIDE": stride, "WORKSPACE": stride * group}


def _tile_words(tile: int | None, most: int) -> int:
    return most if tile is None else checked_count("tile", tile, most, least=2)
