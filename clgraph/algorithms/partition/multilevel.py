"""The run of a multilevel partition: coarsen, partition the coarsest level, and refine on the way back."""
from __future__ import annotations

import time
from typing import Any

from clgraph.arguments import checked_count
from clgraph.errors import DeviceError
from clgraph.runtime.failure import check_status
from clgraph.runtime.program import Launch

LOCK_FREE, TWO_HOP, HASHED, GROWING, REFINING = (
    f"partition/{name}.cl" for name in ("lock_free", "two_hop", "hashed", "greedy_growing", "label_propagation")
)
_ROUNDS = 5  # of matching
_LEAST_SHRINKING = 0.95
_TURNS_A_READ = 4  # iterations of refinement for which the host enqueues launches before it asks whether they end
_SMALL = 1 << 12  # vertices of a level that one work-group refines, with all coarser ones


class Multilevel:
    """Drives the launches; ``run()`` leaves the parts in the plan's array ``work``.

    Parameters
    ----------
    plan : Plan
        Its recipe is that of :func:`clgraph.algorithms.partition.strategies.multilevel`.
    """

    def __init__(self, plan: Any) -> None:
        self._plan, self._session = plan, plan.session
        values = plan.recipe.values
        self._coarsest, self._individuals = values["coarsest"], values["individuals"]
        self._programs = {name: plan.program(name) for name in (LOCK_FREE, TWO_HOP, HASHED, GROWING, REFINING)}
        self._launches: dict[str, Launch] = {}
        constant = self._programs[REFINING].constant
        self._words, self._most_levels = constant("LEVEL_WORDS"), constant("MAX_LEVELS")
        self._word = {
            name: constant(name) for name in (
                "LEVEL_VERTICES", "LEVEL_ENTRIES", "LEVEL_END", "REFINE_MODE", "MODE_DONE", "REFINE_BEST_CUT",
                "REFINE_TURN", "GRID_STATUS",
            )
        }  # fmt: skip
        self._most_coarsest = self._programs[GROWING].constant("VERTEX_MASK")
        self.levels: list[dict[str, Any]] = []

    def _launch(self, source: str, kernel: str, items: int, groups: int | None = None, **values: Any) -> None:
        launch = self._launches.get(kernel)
        if launch is None:
            program, plan = self._programs[source], self._plan
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
        n, m = self._plan.problem.graph.n_vertices, self._plan.problem.graph.n_edges
        sizes = [(n, m)]
        started = time.perf_counter()
        if n > self._coarsest:
            self._coarsen(sizes)
        self.levels = [{"vertices": n, "edges": m // 2} for n, m in sizes]
        coarsened = time.perf_counter()
        self._partition_coarsest(len(sizes) - 1, sizes[-1][0])
        partitioned = time.perf_counter()
        self._uncoarsen(sizes)
        ended = time.perf_counter()
        self.seconds = {
            "coarsening": coarsened - started, "initial": partitioned - coarsened, "refinement": ended - partitioned,
        }

    @property
    def details(self) -> dict[str, Any]:
        return {"levels": self.levels, **{f"{name}_seconds": s for name, s in self.seconds.items()}}

    def _coarsen(self, sizes: list[tuple[int, int]]) -> None:
        most_weight = max(1, 3 * self._plan.problem.total_weight // (2 * self._coarsest))
        end, at_hubs = sizes[0][0], self._plan.problem.matching == "two_hop"
        while sizes[-1][0] > self._coarsest and len(sizes) < self._most_levels - 1:
            level, (n, m) = len(sizes) - 1, sizes[-1]
            seed = (self._plan.problem.seed + 0x9E3779B9 * level) % 2**32
            self._match(level, n, seed, most_weight, at_hubs)
            self._reserve(end + 3 * n + 1 + 2 * m)
            self._contract(level, n)
            words = self._plan.arrays["levels"].get(self._words * (level + 1), self._words * (level + 2))
            coarse = int(words[self._word["LEVEL_VERTICES"]]), int(words[self._word["LEVEL_ENTRIES"]])
            if coarse[0] > _LEAST_SHRINKING * n:
                if at_hubs:
                    return
                at_hubs = True
                continue
            sizes.append(coarse)
            end = int(words[self._word["LEVEL_END"]])

    def _reserve(self, size: int) -> None:
        """Make the arena at least *size* long; a level never needs more than the one before."""
        plan, old = self._plan, self._plan.arrays["arena"]
        self._peak = max(self._peak, size)
        if size <= old.size:
            return
        size = max(size, old.size * 3 // 2)
        self._session.check_memory({"arena": 4 * size})
        new = self._session.empty(size, old.dtype)
        new.copy_from(old)
        plan.arrays["arena"] = plan.scope["arena"] = new
        for launch in self._launches.values():
            launch.replace(old, new)

    def _match(self, level: int, n: int, seed: int, most_weight: int, at_hubs: bool) -> None:
        self._launch(LOCK_FREE, "start_matching", n, level=level)
        for _ in range(_ROUNDS):
            self._launch(LOCK_FREE, "choose_mates", n, level=level, seed=seed, most_weight=most_weight)
            self._launch(LOCK_FREE, "match_mutual", n, level=level)
        if at_hubs:
            self._launch(TWO_HOP, "choose_hubs", n, level=level, seed=seed)
            self._launch(TWO_HOP, "match_at_hubs", n, level=level, most_weight=most_weight)
            self._launch(TWO_HOP, "match_lonely", n, level=level, most_weight=most_weight)

    def _contract(self, level: int, n: int) -> None:
        for kernel in (
            "count_leaders", "number_leaders", "insert_entries", "count_chunks", "place_rows", "write_entries",
        ):  # fmt: skip
            self._launch(HASHED, kernel, n, level=level)

    def _partition_coarsest(self, level: int, n: int) -> None:
        if n > min(self._most_coarsest, self._plan.recipe.values["most_coarsest"]):
            raise DeviceError(f"the coarsest level has {n} vertices")
        self._launch(GROWING, "grow_parts", 0, self._individuals, level=level)
        self._launch(GROWING, "keep_best", 0, 1, level=level, n_groups=self._individuals)

    def _uncoarsen(self, sizes: list[tuple[int, int]]) -> None:
        state, level = self._plan.arrays["state"], len(sizes) - 1
        only_projects = self._plan.problem.refinement == "noop"
        small = [k for k, (n, _) in enumerate(sizes) if n <= _SMALL]
        if small and not only_projects:
            last = min(small)
            self._launch(REFINING, "refine_levels", 0, 1, level=level, last_level=last, has_coarser=0)
            level = last - 1
        while level >= 0:
            n = sizes[level][0]
            for kernel in ("project", "start_level"):
                self._launch(REFINING, kernel, n, level=level, has_coarser=int(level < len(sizes) - 1))
            if only_projects:
                self._launch(REFINING, "direct_turn", 0, 1, level=level)
            while not only_projects:
                for _ in range(_TURNS_A_READ):
                    self._launch(REFINING, "direct_turn", 0, 1, level=level)
                    self._launch(REFINING, "ask_border", n, level=level)
                    self._launch(REFINING, "confirm_candidates", n, level=level)
                    self._launch(REFINING, "apply_moves", n, level=level)
                words = state.get()
                if words[self._word["REFINE_MODE"]] == self._word["MODE_DONE"]:
                    cut, turns = (int(words[self._word[name]]) for name in ("REFINE_BEST_CUT", "REFINE_TURN"))
                    self.levels[level] |= {"cut": cut, "turns": turns}
                    break
            level -= 1

    def check(self) -> None:
        """Raise if a wait on the device ran out."""
        check_status(int(self._plan.arrays["state"].item(self._word["GRID_STATUS"])), "refine_levels")


def checked_individuals(value: int) -> int:
    """Return how many partitions of the coarsest level are tried."""
    return checked_count("individuals", value, 1024)


def padded(n: int) -> int:
    """Return the length of arrays that stand behind each other in one buffer."""
    return -(-max(1, n) // 1024) * 1024
