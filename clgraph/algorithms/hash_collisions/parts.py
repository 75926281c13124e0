"""The parts of a table of hash collisions, one part per launch.

Each part has some of the hashes and widths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array, Phase, Recipe, Setting, Step
from clgraph.model.record import record

_Item = TypeVar("_Item")
_CPU_LOCAL_BYTES = 48 << 10  # On a CPU, a work-group uses at most this much local memory, in bytes.
MAX_HASHES, MAX_WIDTHS = 16, 12  # A launch handles at most 16 hash functions and 12 widths of colours.
# Greatest number of CSR entries that one work-group counts. The sums of a work-group then fit 32 bits.
_GROUP_ENTRIES = 1 << 30


@record
class Part:
    """The hashes and widths of hash collisions that one launch counts, and
    the steps that all ways of counting share.
    """

    problem: CollisionProblem
    facts: DeviceFacts
    hashes: tuple[str, ...]
    widths: tuple[int, ...]

    @property
    def local_words(self) -> int:
        """Number of words of local memory that kernels have left for the rows of the graph."""
        room = self.facts.local_mem_bytes
        room = min(room, _CPU_LOCAL_BYTES) if self.facts.is_cpu else room
        return room // 4 - 2 * len(self.hashes) * len(self.widths) - 64

    def tiles(self, kernel: str, step: int, n_groups: int | None, defines: Mapping[str, Any]) -> Phase:
        """Return the launch that counts collisions in all tiles of the graph.

        A tile has *step* CSR entries.

        A work-group processes one tile, or several consecutive tiles if *n_groups* is given.
        """
        n_tiles, m = self._n_tiles(step), self.problem.stats.n_edges
        each = 1 if n_groups is None else -(-n_tiles // max(n_groups, m // _GROUP_ENTRIES))
        groups = -(-n_tiles // each)
        return Phase(kernel, 0, values={"tiles_per_group": each}, groups=groups, defines=defines)

    def long_rows(self, limit: int) -> NDArray[np.int32]:
        """Return the numbers of the graph's rows that have more than *limit* entries."""
        if self.problem.stats.max_degree <= limit:
            return np.empty(0, np.int32)
        return np.flatnonzero(self.problem.graph.degrees > limit).astype(np.int32)

    def row_groups(self, n_rows: int) -> int:
        """Return the number of work-groups for *n_rows* long rows of the graph.

        A work-group takes one row at a time.
        """
        return min(n_rows, 8 * self.facts.compute_units)

    def recipe(
        self,
        *steps: Step,
        tabulate: str,
        table: Mapping[str, Array],
        step: int,
        long_rows: NDArray[np.int32],
        defines: Mapping[str, int | str],
    ) -> Recipe:
        """Return the recipe that fills *table* with colours, cuts the graph into
        tiles of *step* entries, and then runs *steps*.
        """
        bits, n, n_tiles = self.widths, self.problem.stats.n_vertices, self._n_tiles(step)
        first = Phase(tabulate, n + 1, defines={"TILE_STEP": step})
        return Recipe((first, *steps), lambda: Setting(
            arrays={
                "counters": Array(3 * len(self.hashes) * len(bits), np.uint32),
                "tile_rows": Array(n_tiles + 1, np.int32), **table,
            },
            values={"n": n, "n_tiles": n_tiles, "n_long": long_rows.size},
            inputs={"long_rows": lambda session: session.upload(long_rows)} if long_rows.size else {},
            defines={
                "N_HASHES": len(self.hashes), "N_WIDTHS": len(bits), "MAX_BITS": bits[-1],
                "HASH_LIST(X)": " ".join(f"X({k}, {name})" for k, name in enumerate(self.hashes)),
                "WIDTH_MASK": f"{sum(1 << b for b in bits)}u", **defines,
            },
        ))  # fmt: skip

    def _n_tiles(self, step: int) -> int:
        stats = self.problem.stats
        return (stats.n_edges + stats.n_vertices) // step + 1


def parts(problem: CollisionProblem, facts: DeviceFacts, most_widths: int) -> list[Part]:
    """Return the parts in which the table of collisions is counted, one per launch;
    none for a graph without entries.
    """
    if not problem.stats.n_edges:
        return []
    all_widths = _cut(problem.bit_widths, most_widths)
    return [Part(problem, facts, hashes, each) for hashes in _cut(problem.hashes, MAX_HASHES) for each in all_widths]


def longest_row(problem: CollisionProblem) -> int:
    """Return the length of the longest row, rounded up to 7, 15, 31, …, so
    that similar graphs share compiled programs.
    """
    return max(7, (1 << problem.stats.max_degree.bit_length()) - 1)


def _cut(items: tuple[_Item, ...], most: int) -> list[tuple[_Item, ...]]:
    """Split *items* into the fewest tuples of similar size that have at most *most* items each."""
    n, n_parts = len(items), -(-len(items) // most)
    return [items[k * n // n_parts : (k + 1) * n // n_parts] for k in range(n_parts)]
