"""Run a multilevel partition: coarsen, partition the coarsest level, and refine on the way back."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition import variants
from clgraph.algorithms.partition.balance import keep_limits, place
from clgraph.algorithms.partition.launches import Launches
from clgraph.engine.plan import Plan
from clgraph.runtime.driver.failure import check_status

LOCK_FREE, TWO_HOP, HASHED, GROWING, REFINING = (
    f"partition/{name}.cl" for name in ("lock_free", "two_hop", "hashed", "greedy_growing", "label_propagation")
)
_ROUNDS = 5  # rounds of matching
# number of vertices of a level divided by the number of the next finer level. Above this ratio, coarsening has almost
# stopped to shrink the graph.
_MAX_SHRINKING = 0.95
_TURNS_A_READ = 4  # turns of refinement that are enqueued before the host reads whether refinement has ended
_MAX_GROWN = 1 << 26  # greatest size, in words, of all candidate partitions of the coarsest level together
_GROUPS_A_UNIT = 2  # work-groups per compute unit in a launch that refines several levels
# The number of cycles for each effort, and the greatest number of vertices of the level where a cycle starts.
# A cycle coarsens the graph again, merging only vertices of the same part, and then refines the partition again.
# With normal effort only CPUs make cycles, because CPUs refine in fewer turns. Other devices gain more from more turns.
_CYCLES = {"fast": (0, 0), "normal": (1, 1 << 16), "max": (16, 1 << 18)}


class PartitionPlan(Plan):
    """A plan that divides the vertices of a graph."""

    def result(self) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the part of each vertex, the weight of the edges between parts, and the weight of each part.

        All parts keep their limits if possible, see :func:`keep_limits`.
        """
        parts, cut, weights = self.found()
        cut += keep_limits(self.problem, parts, weights)
        return parts, cut, weights

    def found(self) -> tuple[NDArray[np.int32], int, NDArray[np.int64]]:
        """Return the values of :meth:`result` before the host repairs the balance: parts may exceed their limits."""
        n, k = self.problem.graph.n_vertices, self.problem.n_parts
        if not self.arrays:  # One part, or no vertices: all vertices are in part 0.
            return np.zeros(n, np.int32), 0, np.array([self.problem.total_weight, *[0] * (k - 1)])
        constant = self.program(REFINING).constant
        first, at = constant("BEST") * self.setting.values["room"], constant("REFINE_BEST_CUT")
        sizes = constant("BEST_SIZES")
        parts, cut, weights = self.read(
            (self.arrays["work"], first, first + n),
            (self.arrays["state"], at, at + 1),
            (self.scope["parts_work"], sizes * k, (sizes + 1) * k),
        )
        whole = weights.astype(np.int64)
        place(self.problem, parts, whole)
        return parts, int(cut[0]), whole

    @property
    def levels(self) -> list[dict[str, Any]]:
        """For each level of the last run, its size, its times and its cut."""
        return [] if not self.used else self.used[0].levels


class Multilevel(Launches):
    """One run of a multilevel partition.

    The host launches its kernels.

    ``run()`` leaves the part of each vertex in the plan's array ``work``. ``sizes`` has the numbers of vertices and
    entries of each level, the finest level first.
    """

    def __init__(self, plan: Any) -> None:
        super().__init__(plan)
        values = plan.setting.values
        self._coarsest, self._individuals = values["coarsest"], values["individuals"]
        self._drops = bool(values["drop_light_edges"])
        own = LOCK_FREE, TWO_HOP, HASHED, GROWING, variants.POPULATION, REFINING
        for source in (*own, *variants.sources_of(plan.problem, self._drops)):
            plan.program(source)  # Compile the kernels now, so that no run waits for the compiler.
        self._turn = variants.turn_of(plan.problem)
        self._constant = plan.program(REFINING).constant
        self._words = self._constant("LEVEL_WORDS")
        self.levels: list[dict[str, Any]] = []

    def launch(self, source: str, kernel: str, items: int, groups: int | None = None, **values: Any) -> None:
        program, facts, launch = self.plan.program(source), self._session.facts, self.bound(source, kernel)
        launch.set(**values)
        if groups is None:
            most, least = (4, 2048) if facts.is_cpu else (8, program.work_group_size)
            groups = max(1, min(most * facts.compute_units, -(-items // least)))
        launch(groups)

    def run(self) -> None:
        """Partition the graph."""
        n, m = self.plan.problem.graph.n_vertices, self.plan.problem.graph.n_edges
        self.sizes = [(n, m)]
        self.levels, self._peak = [], 0
        self._coarsening: dict[int, float] = defaultdict(float)  # seconds of coarsening by level
        # seconds of refinement by level; filled only if the host launches each turn
        self._refinement: dict[int, float] = defaultdict(float)
        started = time.perf_counter()
        if n > self._coarsest:
            self._coarsen()
        coarsened = time.perf_counter()
        next_level = self._partition_coarsest()
        partitioned = time.perf_counter()
        cycles, first = self._cycles()
        self._uncoarsen(next_level, first)
        for cycle in range(1, cycles + 1):
            del self.sizes[first + 1 :]
            self._coarsen(cycle)
            self._uncoarsen(len(self.sizes) - 1, first if cycle < cycles else 0)
        ended = time.perf_counter()
        self.levels = self._found()
        self.seconds = {
            "coarsening": coarsened - started,
            "initial": partitioned - coarsened,
            "refinement": ended - partitioned,
        }

    def _cycles(self) -> tuple[int, int]:
        """Return the number of cycles that coarsen and refine again, and the level where each cycle starts."""
        problem, coarsest = self.plan.problem, len(self.sizes) - 1
        cycles, most = _CYCLES[problem.effort]
        is_wanted = problem.effort == "max" or variants.is_hasty(problem, self._session.facts)
        has_individuals = variants.first_level(problem, self.sizes) is not None
        if not (cycles and is_wanted and has_individuals and coarsest):
            return 0, 0
        return cycles, next(level for level, (n, _) in enumerate(self.sizes) if n <= most or level == coarsest - 1)

    def _found(self) -> list[dict[str, Any]]:
        """Return a dictionary for each level, with its size, its times and its cut."""
        words, found = self.plan.arrays["levels"].get().reshape(-1, self._words), []
        for level, (n, m) in enumerate(self.sizes):
            cut, turns = (int(words[level, self._constant(name)]) for name in ("LEVEL_CUT", "LEVEL_TURNS"))
            own = {
                "vertices": n,
                "edges": m // 2,
                "coarsening_seconds": self._coarsening.get(level),
                "refinement_seconds": self._refinement.get(level),
                "cut": cut or None,
                "turns": turns or None,
            }
            found.append({name: value for name, value in own.items() if value is not None})
        return found

    @property
    def details(self) -> dict[str, Any]:
        seconds = {f"{name}_seconds": seconds for name, seconds in self.seconds.items()}
        return {"levels": self.levels, "arena_bytes": 4 * self._peak, **seconds}

    def _coarsen(self, cycle: int = 0) -> None:
        """Add coarser levels.

        If *cycle* is not 0, only vertices of the same part of BEST are merged, and BEST is carried to the coarser
        levels.
        """
        problem, sizes, constant = self.plan.problem, self.sizes, self._constant
        best, other = constant("BEST"), constant("TARGET")
        most_weight = max(1, 3 * problem.total_weight // (2 * self._coarsest))
        within, at_hubs = best if cycle else -1, problem.matching == "two_hop"
        end = int(self.plan.arrays["levels"].item(self._words * (len(sizes) - 1) + constant("LEVEL_END")))
        while sizes[-1][0] > self._coarsest and len(sizes) < constant("MAX_LEVELS") - 1:
            started, level, (n, m) = time.perf_counter(), len(sizes) - 1, sizes[-1]
            seed = (problem.seed + 0x9E3779B9 * level + 0xC2B2AE35 * cycle) % 2**32
            self._match(level, n, at_hubs, seed, most_weight, within)
            # A level never needs more memory than the next finer level, so the room reserved here is enough.
            self.reserve("arena", end + 3 * n + 1 + 2 * m, keeps=True)
            self._contract(level, n, m)
            words = self.plan.arrays["levels"].get(self._words * (level + 1), self._words * (level + 2))
            coarse = int(words[constant("LEVEL_VERTICES")]), int(words[constant("LEVEL_ENTRIES")])
            if coarse[0] > _MAX_SHRINKING * n:
                if at_hubs:
                    break
                at_hubs = True
                continue
            sizes.append(coarse)
            if cycle:
                target = other if within == best else best
                self.launch(HASHED, "carry_parts", coarse[0], level=level, is_coarser=1, before=within, after=target)
                within = target
            self._coarsening[level] += time.perf_counter() - started
            end = int(words[constant("LEVEL_END")])
            self._peak = max(self._peak, end)
        if within == other:
            level, n = len(sizes) - 1, sizes[-1][0]
            self.launch(HASHED, "carry_parts", n, level=level, is_coarser=0, before=other, after=best)

    def _match(self, level: int, n: int, at_hubs: bool, seed: int, most_weight: int, within: int) -> None:
        values = {"level": level, "seed": seed, "within": within}
        if self.plan.problem.matching == "segmented" and within < 0:
            variants.match_segments(self, level, n, seed, most_weight)
        else:
            self.launch(LOCK_FREE, "start_matching", n, level=level)
            for _ in range(_ROUNDS):
                self.launch(LOCK_FREE, "choose_mates", n, most_weight=most_weight, **values)
                self.launch(LOCK_FREE, "match_mutual", n, level=level)
        if at_hubs:
            self.launch(TWO_HOP, "choose_hubs", n, **values)
            self.launch(TWO_HOP, "match_at_hubs", n, level=level, most_weight=most_weight)
        if at_hubs and within < 0:
            self.launch(TWO_HOP, "match_lonely", n, level=level, most_weight=most_weight)

    def _contract(self, level: int, n: int, m: int) -> None:
        for kernel in ("count_leaders", "number_leaders"):
            self.launch(HASHED, kernel, n, level=level)
        if self.plan.problem.contraction == "sorted":
            variants.sort_entries(self, level, n, m)
        else:
            self.launch(HASHED, "insert_entries", n, level=level)
        if self._drops:
            variants.drop_light_edges(self, level, n, m)
        for kernel in ("count_chunks", "place_rows", "write_entries"):
            self.launch(HASHED, kernel, n, level=level)

    def _partition_coarsest(self) -> int:
        """Partition the coarsest level.

        Return the number of the level to refine next.
        """
        level, n = len(self.sizes) - 1, self.sizes[-1][0]
        constant, n_parts = self.plan.program(GROWING).constant, self.plan.problem.n_parts
        each = constant("VERTEX_WORDS") * (n + n % 2) + constant("PART_WORDS") * n_parts
        individuals = max(1, min(self._individuals, _MAX_GROWN // each))
        self.reserve("grown", individuals * each)
        self.launch(GROWING, "grow_parts", 0, individuals, level=level)
        last = variants.first_level(self.plan.problem, self.sizes)
        if last is None:
            self.launch(GROWING, "keep_best", 0, 1, level=level, n_groups=individuals)
            return level
        variants.refine_individuals(self, last, individuals, each)
        return last - 1

    def _uncoarsen(self, level: int, last: int = 0) -> None:
        """Refine the levels from *level* down to *last*.

        Refinement starts from the partition of the next coarser level, if there is one.
        """
        facts, coarsest = self._session.facts, len(self.sizes) - 1
        refinement = self.plan.problem.refinement
        if facts.dialect.has_grid_barrier and refinement == "label_propagation" and level >= 0:
            groups, given = _GROUPS_A_UNIT * facts.compute_units, {"level": level, "has_coarser": int(level < coarsest)}
            self.launch(REFINING, "open_grid", 0, 1)
            self.launch(REFINING, "refine_levels", 0, groups, last_level=last, **given)
            return
        while level >= last:
            n = self.sizes[level][0]
            for kernel in ("project", "start_level"):
                self.launch(REFINING, kernel, n, level=level, has_coarser=int(level < coarsest))
            if refinement == "noop":
                self.launch(REFINING, "direct_turn", 0, 1, level=level)
            else:
                self._refine(level, n)
            level -= 1

    def _refine(self, level: int, n: int) -> None:
        state, started = self.plan.arrays["state"], time.perf_counter()
        while state.item(self._constant("REFINE_MODE")) != self._constant("MODE_DONE"):
            for _ in range(_TURNS_A_READ):
                self.launch(REFINING, "direct_turn", 0, 1, level=level)
                for source, kernel in self._turn:
                    self.launch(source, kernel, n, level=level)
        self._refinement[level] += time.perf_counter() - started

    def check(self) -> None:
        """Raise an error if work-groups waited too long for each other at a grid barrier in the last run."""
        check_status(int(self.plan.arrays["state"].item(self._constant("GRID_STATUS"))), "refine_levels")
