"""The run of a multilevel partition: coarsen, partition the coarsest level, and refine on the way back."""

from __future__ import annotations

import time
from typing import Any

from clgraph.algorithms.partition.population import POPULATION, first_level, refine_individuals
from clgraph.algorithms.partition.variants import (
    drop_light_edges,
    is_hasty,
    match_segments,
    sort_entries,
    sources_of,
    turn_of,
)
from clgraph.arguments import checked_count
from clgraph.runtime.failure import check_status
from clgraph.runtime.program import Launch

LOCK_FREE, TWO_HOP, HASHED, GROWING, REFINING = (
    f"partition/{name}.cl" for name in ("lock_free", "two_hop", "hashed", "greedy_growing", "label_propagation")
)
_ROUNDS = 5  # of matching
_LEAST_SHRINKING = 0.95
_TURNS_A_READ = 4  # iterations of refinement for which the host enqueues launches before it asks whether they end
_MOST_GROWN = 1 << 26  # words of all partitions of the coarsest level
_GROUPS_A_UNIT = 2
# How often levels are made anew within the parts, and the most vertices of the finest level of which that begins. With
# normal effort only CPUs do it, which refine in fewer turns; elsewhere more turns win more in that time.
_CYCLES = {"normal": (1, 1 << 16), "max": (16, 1 << 18)}


class Multilevel:
    """Drives the launches; ``run()`` leaves the parts in the plan's array ``work``.

    Parameters
    ----------
    plan : Plan
        Its recipe is that of :func:`clgraph.algorithms.partition.strategies.multilevel`.
    """

    def __init__(self, plan: Any) -> None:
        self.plan, self._session = plan, plan.session
        values = plan.setting.values
        self._coarsest, self._individuals = values["coarsest"], values["individuals"]
        self._drops = bool(values["drop_light_edges"])
        names = (LOCK_FREE, TWO_HOP, HASHED, GROWING, POPULATION, REFINING, *sources_of(plan.problem, self._drops))
        self._programs = {name: plan.program(name) for name in names}
        self._turn = turn_of(plan.problem)
        self._launches: dict[str, Launch] = {}
        constant = self._programs[REFINING].constant
        self._words, self._most_levels = constant("LEVEL_WORDS"), constant("MAX_LEVELS")
        self._word = {
            name: constant(name) for name in (
                "LEVEL_VERTICES", "LEVEL_ENTRIES", "LEVEL_END", "LEVEL_CUT", "LEVEL_TURNS", "REFINE_MODE",
                "MODE_DONE", "GRID_STATUS", "BEST", "TARGET",
            )
        }  # fmt: skip
        self.levels: list[dict[str, Any]] = []

    def launch(self, source: str, kernel: str, items: int, groups: int | None = None, **values: Any) -> None:
        launch = self._launches.get(kernel)
        if launch is None:
            program, plan = self._programs[source], self.plan
            defaults = dict.fromkeys(set(program.parameters(kernel)) - plan.scope.keys(), 0)
            launch = self._launches[kernel] = program.bind(kernel, 1, {**plan.scope, **defaults})
        launch.set(**values)
        group = self._programs[source].work_group_size
        facts = self._session.facts
        if groups is None:
            most = 4 * facts.compute_units if facts.is_cpu else 8 * facts.compute_units
            least = 2048 if facts.is_cpu else group
            groups = max(1, min(most, -(-items // least)))
        launch(groups)

    def run(self) -> None:
        """Make the partition."""
        self.levels, self._peak = [], 0
        n, m = self.plan.problem.graph.n_vertices, self.plan.problem.graph.n_edges
        self._seconds: dict[int, float] = {}  # of coarsening, by level, ...
        self._refined: dict[int, float] = {}  # ... and of refinement, where the host drives it
        sizes = [(n, m)]
        started = time.perf_counter()
        if n > self._coarsest:
            self._coarsen(sizes)
        coarsened = time.perf_counter()
        next_level = self._partition_coarsest(sizes)
        partitioned = time.perf_counter()
        cycles, first = self._cycles(sizes)
        self._uncoarsen(next_level, sizes, first)
        for cycle in range(1, cycles + 1):
            del sizes[first + 1 :]
            self._coarsen(sizes, cycle)
            self._uncoarsen(len(sizes) - 1, sizes, first if cycle < cycles else 0)
        ended = time.perf_counter()
        self.levels = self._found(sizes)
        self.seconds = {
            "coarsening": coarsened - started,
            "initial": partitioned - coarsened,
            "refinement": ended - partitioned,
        }

    def _cycles(self, sizes: list[tuple[int, int]]) -> tuple[int, int]:
        """Return how often levels are made anew, and the finest level that stays."""
        problem = self.plan.problem
        cycles, most = _CYCLES[problem.effort]
        if problem.effort == "normal" and not is_hasty(problem, self._session.facts):
            return 0, 0
        has_individuals = problem.refinement == "label_propagation" and first_level(problem.effort, sizes) is not None
        if not cycles or not has_individuals or len(sizes) == 1:
            return 0, 0
        return cycles, next(level for level, (n, _) in enumerate(sizes) if n <= most or level == len(sizes) - 2)

    def _found(self, sizes: list[tuple[int, int]]) -> list[dict[str, Any]]:
        """Return what became of each level."""
        words, found = self.plan.arrays["levels"].get().reshape(-1, self._words), []
        for level, (n, m) in enumerate(sizes):
            own: dict[str, Any] = {"vertices": n, "edges": m // 2}
            for name, of in (("coarsening_seconds", self._seconds), ("refinement_seconds", self._refined)):
                own |= {name: of[level]} if level in of else {}
            for name in ("cut", "turns"):
                value = int(words[level][self._word[f"LEVEL_{name.upper()}"]])
                own |= {name: value} if value else {}
            found.append(own)
        return found

    @property
    def details(self) -> dict[str, Any]:
        return {
            "levels": self.levels, "arena_bytes": 4 * self._peak,
            **{f"{name}_seconds": s for name, s in self.seconds.items()},
        }  # fmt: skip

    def _coarsen(self, sizes: list[tuple[int, int]], cycle: int = 0) -> None:
        """Make levels of the last one; in a later *cycle* only within the parts of BEST, which they have then, too."""
        problem, best, other = self.plan.problem, self._word["BEST"], self._word["TARGET"]
        most_weight = max(1, 3 * problem.total_weight // (2 * self._coarsest))
        within, at_hubs = best if cycle else -1, problem.matching == "two_hop"
        level = len(sizes) - 1
        end = int(self.plan.arrays["levels"].item(self._words * level + self._word["LEVEL_END"]))
        while sizes[-1][0] > self._coarsest and len(sizes) < self._most_levels - 1:
            started, level, (n, m) = time.perf_counter(), len(sizes) - 1, sizes[-1]
            seed = (problem.seed + 0x9E3779B9 * level + 0xC2B2AE35 * cycle) % 2**32
            self._match(level, n, at_hubs, seed=seed, most_weight=most_weight, within=within)
            # A level never needs more than the one before.
            self.reserve("arena", end + 3 * n + 1 + 2 * m, keeps=True)
            self._contract(level, n, m)
            words = self.plan.arrays["levels"].get(self._words * (level + 1), self._words * (level + 2))
            coarse = int(words[self._word["LEVEL_VERTICES"]]), int(words[self._word["LEVEL_ENTRIES"]])
            if coarse[0] > _LEAST_SHRINKING * n:
                if at_hubs:
                    break
                at_hubs = True
                continue
            sizes.append(coarse)
            if cycle:
                target = other if within == best else best
                self.launch(HASHED, "carry_parts", coarse[0], level=level, is_coarser=1, before=within, after=target)
                within = target
            self._seconds[level] = self._seconds.get(level, 0.0) + time.perf_counter() - started
            end = int(words[self._word["LEVEL_END"]])
            self._peak = max(self._peak, end)
        if within == other:
            level, n = len(sizes) - 1, sizes[-1][0]
            self.launch(HASHED, "carry_parts", n, level=level, is_coarser=0, before=other, after=best)

    def reserve(self, name: str, size: int, *, keeps: bool = False) -> None:
        """Make array *name* at least *size* long, with what it holds if it *keeps* that."""
        plan, old = self.plan, self.plan.arrays[name]
        if size <= old.size:
            return
        if keeps:
            size = max(size, old.size * 3 // 2)
        self._session.check_memory({name: old.dtype.itemsize * size})
        new = self._session.empty(size, old.dtype)
        if keeps:
            new.copy_from(old)
        plan.arrays[name] = plan.scope[name] = new
        for launch in self._launches.values():
            launch.replace(old, new)

    def _match(self, level: int, n: int, at_hubs: bool, *, within: int, **values: int) -> None:
        seed, most_weight = values["seed"], values["most_weight"]
        if self.plan.problem.matching == "segmented" and within < 0:
            match_segments(self, level, n, seed, most_weight)
        else:
            self.launch(LOCK_FREE, "start_matching", n, level=level)
            for _ in range(_ROUNDS):
                self.launch(LOCK_FREE, "choose_mates", n, level=level, within=within, **values)
                self.launch(LOCK_FREE, "match_mutual", n, level=level)
        if at_hubs:
            self.launch(TWO_HOP, "choose_hubs", n, level=level, seed=seed, within=within)
            self.launch(TWO_HOP, "match_at_hubs", n, level=level, most_weight=most_weight)
        if at_hubs and within < 0:
            self.launch(TWO_HOP, "match_lonely", n, level=level, most_weight=most_weight)

    def _contract(self, level: int, n: int, m: int) -> None:
        for kernel in ("count_leaders", "number_leaders"):
            self.launch(HASHED, kernel, n, level=level)
        if self.plan.problem.contraction == "sorted":
            sort_entries(self, level, n, m)
        else:
            self.launch(HASHED, "insert_entries", n, level=level)
        if self._drops:
            drop_light_edges(self, level, n, m)
        for kernel in ("count_chunks", "place_rows", "write_entries"):
            self.launch(HASHED, kernel, n, level=level)

    def _partition_coarsest(self, sizes: list[tuple[int, int]]) -> int:
        """Leave a partition; return the level to refine next."""
        level, n = len(sizes) - 1, sizes[-1][0]
        refinement = self.plan.problem.refinement
        constant, n_parts = self._programs[GROWING].constant, self.plan.problem.n_parts
        each = constant("VERTEX_WORDS") * (n + n % 2) + constant("PART_WORDS") * n_parts
        individuals = max(1, min(self._individuals, _MOST_GROWN // each))
        self.reserve("grown", individuals * each)
        self.launch(GROWING, "grow_parts", 0, individuals, level=level)
        last = first_level(self.plan.problem.effort, sizes)
        if refinement != "label_propagation" or last is None:
            self.launch(GROWING, "keep_best", 0, 1, level=level, n_groups=individuals)
            return level
        refine_individuals(self, last, sizes, individuals, each)
        return last - 1

    def _uncoarsen(self, level: int, sizes: list[tuple[int, int]], last: int = 0) -> None:
        """Refine levels from *level* to *last*; on a coarser one than *level*, if there is one, is the partition."""
        facts, coarsest = self._session.facts, len(sizes) - 1
        refinement = self.plan.problem.refinement
        if facts.dialect.has_grid_barrier and refinement == "label_propagation" and level >= 0:
            groups = _GROUPS_A_UNIT * facts.compute_units
            self.launch(REFINING, "open_grid", 0, 1)
            self.launch(
                REFINING, "refine_levels", 0, groups, level=level, last_level=last, has_coarser=int(level < coarsest)
            )
            level = last - 1
        for level in range(level, last - 1, -1):  # noqa: B020
            n = sizes[level][0]
            for kernel in ("project", "start_level"):
                self.launch(REFINING, kernel, n, level=level, has_coarser=int(level < coarsest))
            if refinement == "noop":
                self.launch(REFINING, "direct_turn", 0, 1, level=level)
            else:
                self._refine(level, n)

    def _refine(self, level: int, n: int) -> None:
        state, started = self.plan.arrays["state"], time.perf_counter()
        while state.item(self._word["REFINE_MODE"]) != self._word["MODE_DONE"]:
            for _ in range(_TURNS_A_READ):
                self.launch(REFINING, "direct_turn", 0, 1, level=level)
                for source, kernel in self._turn:
                    self.launch(source, kernel, n, level=level)
        self._refined[level] = self._refined.get(level, 0.0) + time.perf_counter() - started

    def check(self) -> None:
        """Raise if a wait on the device ran out."""
        check_status(int(self.plan.arrays["state"].item(self._word["GRID_STATUS"])), "refine_levels")


def checked_individuals(value: int) -> int:
    """Return how many partitions of the coarsest level are tried."""
    return checked_count("individuals", value, 1024)


def padded(n: int) -> int:
    """Return the length of arrays that stand behind each other in one buffer."""
    return -(-max(1, n) // 1024) * 1024
