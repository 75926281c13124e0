"""What the recipes of hash collisions share: parts that each count some hashes and widths of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import numpy as np

from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.data.graph import Graph
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step
from clgraph.model.record import record
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

Tuning = Mapping[str, Mapping[str, int]]
_Item = TypeVar("_Item")
_CPU_LOCAL_BYTES = 48 << 10
MAX_HASHES, MAX_WIDTHS = 16, 12  # counted by one launch
_GROUP_ENTRIES = 1 << 30  # a work-group's sums must fit 32 bits


@record
class Part:
    """Hashes and widths that are counted together, and what of the run is the same for every way to count."""

    problem: CollisionProblem
    facts: DeviceFacts
    hashes: tuple[str, ...]
    widths: tuple[int, ...]

    @property
    def local_words(self) -> int:
        """Words of local memory that rows may take."""
        room = self.facts.local_mem_bytes
        room = min(room, _CPU_LOCAL_BYTES) if self.facts.is_cpu else room
        return room // 4 - 2 * len(self.hashes) * len(self.widths) - 64

    def tiles(self, kernel: str, step: int, n_groups: int | None, defines: Mapping[str, Any]) -> Phase:
        """Return the launch over all tiles of *step*, one a group, or consecutive ones for each of *n_groups*."""
        n_tiles, m = self._n_tiles(step), self.problem.stats.n_edges
        each = 1 if n_groups is None else -(-n_tiles // max(n_groups, m // _GROUP_ENTRIES))
        groups = -(-n_tiles // each)
        return Phase(kernel, 0, values={"tiles_per_group": each}, groups=groups, defines=defines)

    def most_long_rows(self, limit: int) -> int:
        """How many rows may have more than *limit* entries; 0 only if none has."""
        stats = self.problem.stats
        return sum(stats.degree_vertex_counts[(limit + 1).bit_length() :]) if stats.max_degree > limit else 0

    def row_groups(self, n_rows: int) -> int:
        """Work-groups that take so many long rows, one at a time."""
        return min(n_rows, 8 * self.facts.compute_units)

    def recipe(
        self,
        *steps: Step,
        tabulate: str,
        table: Callable[[], Mapping[str, Array]],
        step: int,
        long_row: int,
        defines: Callable[[], Mapping[str, int | str]],
    ) -> Recipe:
        """Return the recipe that fills *table*, cuts rows into tiles of *step*, and takes the *steps* that count."""
        graph, bits, n, n_tiles = self.problem.graph, self.widths, self.problem.stats.n_vertices, self._n_tiles(step)
        first = Phase(tabulate, n + 1, defines={"TILE_STEP": step})
        return Recipe((first, *steps), lambda: Setting(
            arrays={
                "counters": Array(3 * len(self.hashes) * len(bits), np.uint32),
                "tile_rows": Array(n_tiles + 1, np.int32), **table(),
            },
            values={"n": n, "n_tiles": n_tiles},
            inputs={
                "n_long": lambda _session: int(np.count_nonzero(graph.degrees > long_row)),
                "long_rows": partial(_upload_long_rows, graph=graph, limit=long_row),
            } if self.most_long_rows(long_row) else {},
            defines={
                "N_HASHES": len(self.hashes), "N_WIDTHS": len(bits), "MAX_BITS": bits[-1],
                "HASH_LIST(X)": " ".join(f"X({k}, {name})" for k, name in enumerate(self.hashes)),
                "WIDTH_MASK": f"{sum(1 << b for b in bits)}u", **defines(),
            },
        ))  # fmt: skip

    def _n_tiles(self, step: int) -> int:
        stats = self.problem.stats
        return (stats.n_edges + stats.n_vertices) // step + 1


def parts(problem: CollisionProblem, facts: DeviceFacts, most_hashes: int, most_widths: int) -> list[Part]:
    """Cut the table of *problem* into parts of at most so many hashes and widths; a graph without entries has none."""
    if not problem.stats.n_edges:
        return []
    all_widths = _cut(problem.bit_widths, most_widths)
    return [Part(problem, facts, hashes, each) for hashes in _cut(problem.hashes, most_hashes) for each in all_widths]


def longest_row(problem: CollisionProblem) -> int:
    """Entries of the longest row, rounded up to 7, 15, 31, …, so that graphs of similar rows share programs."""
    return max(7, (1 << problem.stats.max_degree.bit_length()) - 1)


def sizes(facts: DeviceFacts, tuning: Tuning, source: str, defaults: Mapping[str, int]) -> dict[str, int]:
    """Return the tunables of kernel file *source* by which the host computes."""
    found = {**defaults, **tuning.get(source, {})}
    found["WG_SIZE"] = min(found["WG_SIZE"], facts.max_work_group_size)
    return found


def _cut(items: tuple[_Item, ...], most: int) -> list[tuple[_Item, ...]]:
    """Cut *items* into the fewest parts of at most *most*, of similar size."""
    n, n_parts = len(items), -(-len(items) // most)
    if n_parts == 1:
        return [items]
    return [items[k * n // n_parts : (k + 1) * n // n_parts] for k in range(n_parts)]


def _upload_long_rows(session: Session, graph: Graph, limit: int) -> DeviceArray:
    return session.upload(np.flatnonzero(graph.degrees > limit).astype(np.int32))
