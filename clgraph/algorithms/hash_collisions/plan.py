"""What the plans of hash collisions share."""
from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions.problem import CollisionProblem
from clgraph.primitives.segmented import SegmentedSort
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session

_CPU_LOCAL_BYTES = 48 << 10
_GROUP_ENTRIES = 1 << 30  # a work-group's sums must fit 32 bits


class Part(NamedTuple):
    """Hashes and widths that are counted together, and where."""

    hashes: slice
    widths: slice
    counters: DeviceArray


class CollisionPlan:
    """A compiled and allocated run on one graph; ``run()`` may be called again.

    Attributes
    ----------
    launches : list of callable
        What ``run()`` calls, one after the other.
    """

    def __init__(self, session: Session, problem: CollisionProblem) -> None:
        graph = problem.graph
        self.session, self.problem, self.n, self.m = session, problem, graph.n_vertices, graph.n_edges
        self.is_cpu, self.units = session.facts.is_cpu, session.facts.compute_units
        on_device = device_graph(session, graph)
        self.graph_scope = {**on_device.scope, "n": self.n}
        self.offset_defines = on_device.defines()
        # 7, 15, 31, …: graphs of similar rows share programs.
        self.longest = max(7, (1 << int(graph.degrees.max(initial=0)).bit_length()) - 1)
        self.launches: list[Any] = []
        self._parts: list[Part] = []
        self._sorts: list[SegmentedSort] = []

    def run(self) -> None:
        """Enqueue everything; nothing is read back."""
        for launch in self.launches:
            launch()

    def table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return totals and maxima, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        shape = len(self.problem.hashes), len(self.problem.bit_widths)
        total, maximum = np.zeros((2, *shape), np.int64)
        for part in self._parts:
            block = total[part.hashes, part.widths]
            low, high, most = part.counters.get().astype(np.int64).reshape(3, *block.shape)
            total[part.hashes, part.widths] = low + (high << 32)
            maximum[part.hashes, part.widths] = most
        for sort in self._sorts:
            sort.check()
        return total, maximum

    def local_words(self, n_counters: int) -> int:
        """Words of local memory that tiles may take."""
        room = self.session.facts.local_mem_bytes
        room = min(room, _CPU_LOCAL_BYTES) if self.is_cpu else room
        return room // 4 - 2 * n_counters - 64

    def add_part(self, hashes: slice, widths: slice) -> tuple[Part, dict[str, int | str]]:
        """Allocate the counters of a part; return it and what all its programs are told."""
        names, bits = self.problem.hashes[hashes], self.problem.bit_widths[widths]
        part = Part(hashes, widths, self.session.empty(3 * len(names) * len(bits), np.uint32))
        self._parts.append(part)
        return part, {
            **self.offset_defines, "N_HASHES": len(names), "N_WIDTHS": len(bits), "MAX_BITS": bits[-1],
            "HASH_LIST(X)": " ".join(f"X({k}, {name})" for k, name in enumerate(names)),
            "WIDTH_MASK": f"{sum(1 << b for b in bits)}u",
        }

    def tabulate(
        self, kernel: str, part: Part, values: dict[str, int | str], step: int, **table: DeviceArray
    ) -> dict[str, Any]:
        """Plan the kernel that fills *table* and cuts rows into tiles of *step*; return what a part's kernels share."""
        n_tiles = (self.m + self.n) // step + 1
        tile_rows = self.session.empty(n_tiles + 1, np.int32)
        scope = {
            **self.graph_scope, **table, "n_tiles": n_tiles, "tile_rows": tile_rows, "counters": part.counters
        }  # fmt: skip
        program = self.session.program(f"hash_collisions/{kernel}.cl", {**values, "TILE_STEP": step})
        self.launches.append(program.bind(kernel, self.n + 1, scope))
        return scope

    def bind_tiles(self, program: Program, kernel: str, n_groups: int | None, scope: dict[str, Any]) -> Launch:
        """Bind a kernel over all tiles: one a group, or consecutive ones for *n_groups*."""
        n_tiles = scope["n_tiles"]
        each = 1 if n_groups is None else -(-n_tiles // max(n_groups, self.m // _GROUP_ENTRIES))
        return program.bind(kernel, -(-n_tiles // each) * program.work_group_size, scope, tiles_per_group=each)

    def long_rows(self, limit: int) -> NDArray[np.int32]:
        """Return the rows of more than *limit* entries."""
        return np.flatnonzero(self.problem.graph.degrees > limit).astype(np.int32)

    def bind_rows(self, program: Program, kernel: str, scope: dict[str, Any], **arguments: Any) -> Launch:
        """Bind a kernel of which a group takes one of the long rows at a time."""
        return program.bind(
            kernel, min(scope["n_long"], 8 * self.units) * program.work_group_size, scope, **arguments
        )


def slices(n: int, most: int) -> list[slice]:
    """Cut 0 … n − 1 into the fewest parts of at most *most*, of similar size."""
    ends = np.linspace(0, n, -(-n // most) + 1).round().astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]
