"""Many partitions of the coarse levels at once, of which the best goes on."""

from __future__ import annotations

from typing import Any

POPULATION = "partition/population.cl"
_SHORT = 8  # entries of a row; longer ones are the work of sub-groups, of which a group has few
# Vertices and entries of the levels that individuals have.
_SMALL = {"normal": (1 << 12, 1 << 15), "max": (1 << 13, 1 << 17)}
_GENERATIONS = {"normal": 0, "max": 10}
_MOST_WORDS = 1 << 27  # of an array of all individuals


def first_level(effort: str, sizes: list[tuple[int, int]]) -> int | None:
    """Return the finest level on which individuals are refined, if there is one."""
    most_vertices, most_entries = _SMALL[effort]
    fits = (n <= most_vertices and m <= min(most_entries, _SHORT * n) for n, m in sizes)
    return next((level for level, is_small in enumerate(fits) if is_small), None)


def refine_individuals(run: Any, last: int, sizes: list[tuple[int, int]], individuals: int, grown_each: int) -> None:
    """Refine individuals from the coarsest level to *last*, cross them there, and leave the best as the partition.

    Parameters
    ----------
    run : Multilevel
        ``grown`` has the partitions of the coarsest level, *grown_each* words each.
    last : int
    sizes : list of (int, int)
        Vertices and entries of each level.
    individuals, grown_each : int
    """
    problem, constant = run.plan.problem, run.plan.program(POPULATION).constant
    n_parts, room = problem.n_parts, -(-max(1, sizes[last][0]) // 1024) * 1024
    generations = _GENERATIONS[problem.effort]
    each = constant("VERTEX_ARRAYS") * room + constant("INDIVIDUAL_PART_WORDS") * n_parts + constant("REFINE_WORDS")
    shared = (n_parts + 1) * n_parts if generations else 1
    individuals = max(1, min(individuals, _MOST_WORDS // max(each, shared)))
    run.reserve("population", individuals * each)
    run.reserve("parents", individuals * (room + n_parts))
    run.reserve("shared_all", individuals * shared)

    def launch(kernel: str, groups: int = individuals, **values: int) -> None:
        run.launch(POPULATION, kernel, 0, groups, room_each=room, **values)

    launch("refine_individuals", level=len(sizes) - 1, last_level=last, grown_each=grown_each)
    launch("keep_children", level=last, is_first=1)
    for generation in range(generations if individuals > 1 else 0):
        seed = (problem.seed + 0x85EBCA6B * (generation + 1)) % 2**32
        launch("cross_individuals", level=last, last_level=last, seed=seed)
        launch("keep_children", level=last, is_first=0)
    launch("keep_best_individual", 1, level=last, n_groups=individuals)
