"""Distance 1, a work-item a row, by bit planes: ``cl/hash_collisions/planes.cl``."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clgraph.algorithms.hash_collisions.plan import CollisionPlan, slices
from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.algorithms.hash_collisions.work import MOST_HASHES, MOST_WIDTHS
from clgraph.arguments import checked_count
from clgraph.primitives.types import tuned
from clgraph.runtime.session import Session

SOURCE = "hash_collisions/planes.cl"
_ALIGNMENT = 3  # words before a tile's first entry
_VECTOR, _RECORD = 4, 8  # words, as in cl/hash_collisions/planes.h


class PlanesPlan(CollisionPlan):
    """Distance 1, a work-item a row, by bit planes: ``planes``, those of the last part."""

    def __init__(self, session: Session, problem: CollisionProblem, *, persistent: bool, tile: int | None) -> None:
        super().__init__(session, problem)
        if not self.m:
            return
        cpu = {
            "WG_SIZE": session.facts.sub_group_size, "FLUSH_LOG": 8, "TILE": 8192, "GROUPS_PER_UNIT": 4,
            "LOCAL_SUMS": 0, "SIDE_BY_SIDE": 0,
        }  # fmt: skip
        stats, long_row = problem.graph.stats, 255
        sizes = tuned(session, SOURCE, {
            "WG_SIZE": 64, "BATCH": 8 if stats.mean_degree >= 12 else 4, "FLUSH_LOG": 3, "LONG_ROW": long_row,
            "TILE": 4096, "GROUPS_PER_UNIT": 48, "LOCAL_SUMS": 1, "STAGES": 3,
            # The words of far neighbours come from DRAM, but for those of the few that have the long rows.
            "SIDE_BY_SIDE": int(stats.far_neighbor_share >= 0.5 and stats.max_degree <= long_row),
            **(cpu if self.is_cpu else {}),
        }, None)
        n_groups = sizes.pop("GROUPS_PER_UNIT") * self.units if persistent else None
        for hashes in slices(len(problem.hashes), MOST_HASHES):
            for widths in slices(len(problem.bit_widths), MOST_WIDTHS):
                self._plan_part(hashes, widths, dict(sizes), tile, n_groups)

    def _plan_part(
        self, hashes: slice, widths: slice, sizes: dict[str, int], tile: int | None, n_groups: int | None
    ) -> None:
        bits = self.problem.bit_widths[widths]
        words, layers = -(-len(bits) // 2), max(b - a for a, b in zip((0, *bits), bits, strict=False))
        n_counters = (hashes.stop - hashes.start) * len(bits)
        room = self.local_words(n_counters)
        if sizes["LOCAL_SUMS"]:
            room -= (sizes["LONG_ROW"].bit_length() + sizes["FLUSH_LOG"]) * words * sizes["WG_SIZE"]
        if tile is not None:
            tile = checked_count("tile", tile, room, least=_ALIGNMENT + 2)
        size = min(sizes["TILE"], room) if tile is None else tile
        longest = max(63, self.longest) if self.is_cpu else self.longest  # its registers are not what limits
        long_row = max(1, min(sizes["LONG_ROW"], longest, (size - _ALIGNMENT) // 2))
        step = size - _ALIGNMENT - long_row
        if tile is None and sizes["WG_SIZE"] > 1:  # as many rows as work-items, or a multiple
            row = self.m / self.n + 1
            step = min(step, max(1, int((max(1, step // int(row * sizes["WG_SIZE"])) * sizes["WG_SIZE"] - 1) * row)))
        slices = max(long_row.bit_length(), sizes["BATCH"].bit_length() - 1)
        part, values = self.add_part(hashes, widths)
        table_words = words * layers
        side_by_side = sizes.pop("SIDE_BY_SIDE") and table_words > _VECTOR
        values |= {"LAYERS": layers, "PLANE_LIST(X)": _plane_list(bits, words, layers), "SIDE_BY_SIDE": side_by_side}
        stored = -(-table_words // _RECORD) * _RECORD if side_by_side else table_words + (table_words % _VECTOR == 3)
        self.planes = self.session.empty(stored * self.n, np.uint32)
        scope = self.tabulate("tabulate_planes", part, values, step, planes=self.planes)
        group = sizes.pop("WG_SIZE")
        values |= {**sizes, "TILE": step + long_row + _ALIGNMENT, "LONG_ROW": long_row, "SLICES": slices}
        program = self.session.program(SOURCE, values, work_group_size=group)
        self.launches.append(self.bind_tiles(program, "count_tiles", n_groups, scope))
        rows = self.long_rows(long_row)
        if rows.size:
            scope |= {"n_long": rows.size, "long_rows": self.session.upload(rows)}
            self.launches.append(self.bind_rows(program, "count_long_rows", scope))


def _plane_list(bits: Sequence[int], words: int, layers: int) -> str:
    """Return which bits of the colours the halves of each word hold: PLANE_LIST of cl/hash_collisions/planes.h."""
    planes = [[-1] * layers for _ in range(2 * words)]
    for j, (below, width) in enumerate(zip((0, *bits), bits, strict=False)):
        planes[j][: width - below] = range(below, width)
    return " ".join(
        f"X({i * layers + layer}, {planes[i][layer]}, {planes[i + words][layer]})"
        for i in range(words) for layer in range(layers)
    )
