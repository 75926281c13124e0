"""Multilevel partitioning by a few work-items of a CPU: clusters, recursive bisection, searches of pairs of parts."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.balance import place
from clgraph.algorithms.partition.core import Core, core_of
from clgraph.algorithms.partition.launches import Launches
from clgraph.algorithms.partition.multilevel import PartitionPlan

CLUSTERS, PAIRS = "partition/clusters.cl", "partition/pairwise_fm.cl"
N_COUNTERS = 8192  # a launch takes two
MAX_WORKERS = 16  # Each worker has tables and heaps of its own, for all vertices.
_PASSES = 2  # passes over all vertices in which they join clusters
_ITEMS_A_WORKER = 2048  # vertices. For fewer vertices it takes longer to wait for another worker.
# A cluster weighs at most 64 mean vertices of its level, and at most 1.5 mean vertices of the coarsest level.
_GROWTH, _HEAVIEST = 64.0, 1.5
# number of vertices of a level divided by the number of the next finer level. Above it, coarsening ends.
_MAX_SHRINKING = 0.95
_SMALL = 1 << 12, 1 << 15  # greatest numbers of vertices and entries of levels on which a worker refines alone
_NO_CORE = Core(2**31 - 1, -1, 0, 0.0)


class Effort(NamedTuple):
    """How long a run searches.

    *individuals* partitions of the coarsest level are tried. *cycles* times the levels below one of at most *cycled*
    vertices are made again within the parts. A level is refined in up to *rounds* over all pairs of parts, and a search
    ends after *patience* moves that brought nothing. If *compares*, a core is a part only if another partition of the
    coarsest level has a larger cut, else also if it has half of all edges.
    """

    individuals: int
    cycles: int
    cycled: int
    rounds: int
    patience: int
    compares: bool = True


EFFORTS = {
    "fast": Effort(6, 1, 1 << 14, 1, 100, compares=False),
    "normal": Effort(12, 1, 1 << 17, 3, 300),
    "max": Effort(32, 16, 1 << 18, 4, 1000),
}


class PairwisePlan(PartitionPlan):
    """The plan of a run of :class:`PairwiseFM`."""

    def found(self) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        n, arrays = self.problem.graph.n_vertices, self.arrays
        if not arrays:
            return super().found()
        parts, cut, weights = self.read(
            (arrays["arena"], n, 2 * n), (arrays["cut"], 0, 1), (arrays["part_weights"], 0, self.problem.n_parts)
        )
        whole = weights.astype(np.int64)
        place(self.problem, parts, whole)
        return parts, int(cut[0]), whole


class PairwiseFM(Launches):
    """One run. The host launches a kernel for each step of a level; work-items are workers, one for each core."""

    def __init__(self, plan: Any) -> None:
        super().__init__(plan)
        values, problem = plan.setting.values, plan.problem
        self._workers: int = values["workers"]
        self._coarsest, self._individuals = values["coarsest"], values["individuals"]
        self._effort, self._core = EFFORTS[problem.effort], core_of(problem)
        self._constant = plan.program(CLUSTERS).constant
        plan.program(PAIRS)  # Compile the kernels now, so that no run waits for the compiler.
        self._turn = self._table_room = 0
        self.levels: list[dict[str, Any]] = []
        self.seconds: dict[str, float] = {}

    def launch(self, source: str, kernel: str, items: int | None = None, **values: Any) -> None:
        """Launch *kernel* with a work-item for each worker, or with fewer for few *items*."""
        launch = self.bound(source, kernel)
        if launch.takes("counters"):
            if self._turn > N_COUNTERS - 2:
                self.plan.arrays["counters"].fill(0)
                self._turn = 0
            values["turn"] = self._turn
            self._turn += 2
        launch.set(**values)
        launch(self._workers if items is None else self._workers_for(items))

    def _workers_for(self, items: int) -> int:
        return min(self._workers, 1 + items // _ITEMS_A_WORKER)

    def run(self) -> None:
        """Partition the graph."""
        n, m = self.plan.problem.graph.n_vertices, self.plan.problem.graph.n_edges
        self._turn, self.sizes, self._ends = 0, [(n, m)], [2 * n]
        self._table_room = 0  # Each run clears the tables, because a search in a table without free slots never ends.
        self._took: dict[tuple[str, int], float] = defaultdict(float)
        started = time.perf_counter()
        may_compare = self._effort.compares or self._core is None or 4 * self._core.edges_outside > m
        self._coarsen(None if may_compare else self._core)
        coarsened = time.perf_counter()
        finest, cut = self._divide()
        if may_compare and self._core is not None and cut > self._core.edges_outside:
            self._shorten(0)
            self._coarsen(self._core)
            finest, cut = self._divide()
        divided = time.perf_counter()
        self._uncoarsen(finest)
        self.plan.arrays["cut"].item(0)
        ended = time.perf_counter()
        self.seconds = {
            "coarsening": coarsened - started, "initial": divided - coarsened, "refinement": ended - divided
        }  # fmt: skip
        self.levels = [
            {"vertices": n, "edges": m // 2, "coarsening_seconds": self._took["coarsening", level]}
            for level, (n, m) in enumerate(self.sizes)
        ]

    @property
    def details(self) -> dict[str, Any]:
        seconds = {f"{name}_seconds": seconds for name, seconds in self.seconds.items()}
        return {"levels": self.levels, "arena_bytes": 4 * self.plan.arrays["arena"].size, **seconds}

    def _shorten(self, level: int) -> None:
        """Forget the levels that are coarser than *level*."""
        del self.sizes[level + 1 :], self._ends[level + 1 :]

    def _coarsen(self, core: Core | None = None, cycle: int = 0) -> None:
        """Add coarser levels. In a *cycle* only vertices of the same part are merged."""
        while self.sizes[-1][0] > self._coarsest and len(self.sizes) < self._constant("MAX_LEVELS"):
            started, level = time.perf_counter(), len(self.sizes) - 1
            n_coarse = self._cluster(level, core or _NO_CORE, cycle)
            if n_coarse > _MAX_SHRINKING * self.sizes[-1][0]:
                return
            self._contract(level, n_coarse, cycle)
            self._took["coarsening", level] += time.perf_counter() - started
            core = None

    def _cluster(self, level: int, core: Core, cycle: int) -> int:
        """Make the clusters of *level*.

        Return their number.
        """
        problem, (n, m) = self.plan.problem, self.sizes[level]
        mean = problem.total_weight / n
        most = int(max(1, problem.heaviest, min(_GROWTH * mean, _HEAVIEST * problem.total_weight / self._coarsest)))
        seed = (problem.seed + 0x9E3779B9 * (level + 1) + 0xC2B2AE35 * cycle) % 2**32
        room = self._tables_for(min(n, m) if level else min(n, problem.stats.max_degree))
        given = {"level_number": level, "core_degree": core.degree}
        self.launch(CLUSTERS, "start_clusters", n, core_root=core.root, core_weight=core.weight, **given)
        for number in range(_PASSES):
            self.launch(
                CLUSTERS, "join_clusters", n, most=most, hops=int(number == _PASSES - 1), seed=(seed + number) % 2**32,
                within=int(cycle > 0), room=room, **given,
            )  # fmt: skip
        for kernel in ("list_members", "count_clusters", "number_clusters"):
            self.launch(CLUSTERS, kernel, n, level_number=level)
        return int(self.plan.arrays["counts"].get(0, self._workers_for(n)).sum())

    def _contract(self, level: int, n_coarse: int, cycle: int) -> None:
        words, place = np.zeros(self._constant("LEVEL_WORDS"), np.int64), self._ends[-1]
        words[self._constant("LEVEL_VERTICES")] = n_coarse
        for name, each in (("ROWS", 2), ("VERTEX_WEIGHTS", 1), ("MAP", 1), ("PARTS", 1), ("ENTRIES", 0)):
            words[self._constant(f"LEVEL_{name}")] = place
            place += each * n_coarse
        (n, m), spare = self.sizes[-1], self._constant("RESERVED")
        self.reserve("arena", place + 2 * (m + m // 16 + spare * self._workers), keeps=True)
        self.plan.arrays["levels"].set(words, offset=(level + 1) * words.size)
        self.launch(CLUSTERS, "map_vertices", n, level_number=level, within=int(cycle > 0))
        self.launch(CLUSTERS, "contract", n_coarse, level_number=level, room=self._tables_for(min(n_coarse, m)))
        entries = int(self.plan.arrays["counters"].item(self._turn - 1))
        self.sizes.append((n_coarse, entries))
        self._ends.append(place + 2 * entries)

    def _tables_for(self, n_keys: int) -> int:
        """Reserve a hash table for *n_keys* keys for each worker.

        Return its number of slots.
        """
        room = 1 << max(5, (2 * n_keys - 1).bit_length())
        if self.reserve("tables", self._workers * 3 * room):
            self._table_room = 0
        if room > self._table_room:  # Slots that were sums of smaller tables are keys now.
            self.plan.arrays["tables"].fill(self._constant("NO_VERTEX"))
            self._table_room = room
        return self._table_room

    def _divide(self) -> tuple[int, int]:
        """Divide the coarsest level.

        Return the number of the finest level that is refined with it, and its cut.
        """
        coarsest, k = len(self.sizes) - 1, self.plan.problem.n_parts
        small = (n <= _SMALL[0] and m <= _SMALL[1] for n, m in self.sizes)
        finest = min(coarsest, next((level for level, is_small in enumerate(small) if is_small), coarsest))
        room, constant = self.sizes[finest][0], self.plan.program(PAIRS).constant
        self.reserve("own", self._workers * (constant(f"OWN_WORDS * {room} + SIDE_WORDS") + 3 * k + k * k))
        given = {"finest": finest, "room": room}
        self.launch(
            PAIRS, "make_individuals", coarsest=coarsest, individuals=self._individuals, rounds=3, patience=50,
            seed=self.plan.problem.seed, **given,
        )  # fmt: skip
        self.launch(PAIRS, "keep_best", 1, **given)
        return finest, self.plan.arrays["cut"].item(0)

    def _uncoarsen(self, finest: int) -> None:
        """Refine all levels that are finer than *finest*, and some of them again with other coarser levels."""
        sizes, last = self.sizes, len(self.sizes) - 1
        first = min(
            finest, next((level for level, (n, _) in enumerate(sizes) if level > 0 and n <= self._effort.cycled), last)
        )
        cycles = self._effort.cycles if last > 0 else 0
        for level in range(finest - 1, first - 1 if cycles else -1, -1):
            self._refine(level)
        for cycle in range(1, cycles + 1):
            self._shorten(first)
            self._coarsen(cycle=cycle)
            coarsest = len(self.sizes) - 1
            for level in range(coarsest, first - 1, -1):
                self._refine(level, has_coarser=level < coarsest)
        for level in range(first - 1 if cycles else -1, -1, -1):
            self._refine(level)

    def _refine(self, level: int, has_coarser: bool = True) -> None:
        n = self.sizes[level][0]
        if has_coarser:
            self.launch(PAIRS, "mark_border", n, level_number=level + 1)
            self.launch(PAIRS, "project", n, level_number=level)
        for number in range(self._effort.rounds):
            self.launch(PAIRS, "start_round", 1, is_first=int(number == 0))
            self.launch(PAIRS, "list_border", n, level_number=level, is_marked=int(has_coarser and number == 0))
            self.launch(
                PAIRS, "refine_pairs", n, level_number=level, room=self.sizes[0][0], patience=self._effort.patience
            )  # fmt: skip
