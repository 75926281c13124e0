"""Variants of matching, contraction and refinement in a multilevel partition: launches, arrays and definitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array
from clgraph.primitives.sort import Sort

BUFFERED, PERMUTATIONS, SEGMENTED, SORTED, LIGHT_EDGES, POPULATION, _REFINING = (
    f"partition/{name}.cl"
    for name in (
        "buffered", "permutations", "segmented", "sorted", "light_edges", "population", "label_propagation",
    )
)  # fmt: skip
_REQUESTS = (BUFFERED, "count_requests"), (BUFFERED, "place_requests")
_ACCEPTING = {
    "label_propagation": ((_REFINING, "confirm_candidates"),),
    "buffered": (*_REQUESTS, (BUFFERED, "accept_requests")),
    "permutations": (*_REQUESTS, (PERMUTATIONS, "permute_requests")),
    "noop": (),
}
_ANY_GAIN = -(2**30)
_MAX_ROUNDS = 256  # greatest number of rounds of matching. Some twenty rounds are expected.
_ROUNDS_A_READ = 4  # rounds of matching that are enqueued before the host reads whether unmatched vertices are left
_DENSER = 2  # greatest mean degree of a coarse level after light edges are dropped, in mean degrees of the graph
# An "individual" is one of several candidate partitions, which a single work-group refines. On levels with more entries
# per row than this, that is slow, because a sub-group processes a row and a work-group has few sub-groups.
_SHORT = 8
# For each effort, the greatest numbers of vertices and entries of a level on which individuals are refined.
_SMALL = {"fast": (1 << 12, 1 << 15), "normal": (1 << 12, 1 << 15), "max": (1 << 13, 1 << 17)}
_GENERATIONS = {"fast": 0, "normal": 0, "max": 10}
_MAX_WORDS = 1 << 27  # greatest size, in words, of an array that holds data of all individuals


def padded(n: int) -> int:
    """Return *n* rounded up to a multiple of 1024, because arrays that share a buffer begin at such multiples."""
    return -(-max(1, n) // 1024) * 1024


def turn_of(problem: PartitionProblem) -> tuple[tuple[str, str], ...]:
    """Return the kernels of one turn of refinement as (file, kernel) pairs.

    The kernel ``direct_turn``, which begins every turn, is not included.
    """
    return (_REFINING, "ask_border"), *_ACCEPTING[problem.refinement], (_REFINING, "apply_moves")


def sources_of(problem: PartitionProblem, drops: bool) -> tuple[str, ...]:
    """Return the kernel files of the variants that *problem* selects."""
    matching = (SEGMENTED,) * (problem.matching == "segmented")
    contraction = (SORTED,) * (problem.contraction == "sorted") + (LIGHT_EDGES,) * drops
    return tuple({source: None for source, _ in turn_of(problem)}) + matching + contraction


def arrays_of(problem: PartitionProblem, drops: bool) -> dict[str, Array]:
    """Return the additional arrays for the variants that *problem* selects."""
    found: dict[str, Array] = {}
    n, m = problem.graph.n_vertices, problem.graph.n_edges
    if problem.matching == "segmented":
        found |= {
            "claims": Array(n, np.uint64), "offers": Array(2 * n, np.uint64), "open_lists": Array(2 * n, np.int32),
            "open_lengths": Array(2, np.uint32),
        }  # fmt: skip
    if problem.contraction == "sorted":
        found |= dict.fromkeys(("packed", "packed_sorted"), Array(m, np.uint64))
        found |= dict.fromkeys(("entry_weights", "entry_weights_sorted"), Array(m, np.int32))
    if drops:
        found["class_counts"] = Array(32, np.uint32)
    if problem.refinement in ("buffered", "permutations"):
        found["requests"] = Array(n, np.int32)
        found["request_words"] = Array(3 * problem.n_parts, np.int32, zeroed=True)
    return found


def is_hasty(problem: PartitionProblem, facts: DeviceFacts) -> bool:
    """Return whether to refine in fewer turns, as CPUs do unless the effort is "max".

    On CPUs the cut becomes only a little worse with fewer turns. On GPUs fewer turns take more time, not less.
    """
    return facts.is_cpu and problem.effort != "max" and not problem.deterministic


def individual_defines(problem: PartitionProblem, facts: DeviceFacts) -> dict[str, int | str]:
    """Return the definitions that kernels for refining individuals are built with.

    On GPUs all individuals wait for the individual with the most turns. So with normal effort, refinement ends after
    fewer turns without success.
    """
    if is_hasty(problem, facts):
        return {"MIXES": 0}
    return {"SPARSE_PATIENCE": "6u"} if problem.effort != "max" else {}


def defines_of(
    problem: PartitionProblem, facts: DeviceFacts, parts_room: int, top_k: int, drops: bool
) -> dict[str, dict[str, int | str]]:
    """Return the definitions of each kernel file of the variants that *problem* selects.

    Label propagation has rounds that may return to an earlier partition. Other refinements continue only while the cut
    falls.
    """
    room: dict[str, int | str] = {"PARTS_ROOM": parts_room}
    refining = room | {"RECOUNTS": int(drops)}
    if problem.refinement not in ("buffered", "permutations"):
        hasty: dict[str, int | str] = {"MOST_HEAVY": "8u", "POLISHES": 1, "MIXES": 0}
        return {_REFINING: refining | (hasty if is_hasty(problem, facts) else {})}
    refining |= {"ROUNDS": "1u", "MIXES": 0}
    if problem.refinement == "buffered":
        return {_REFINING: refining | {"FINE_SHARE": 0, "COARSE_SHARE": 0}, BUFFERED: room}
    # Several moves may decrease the cut together although each alone increases it. So such moves are requested, too.
    refining |= {"FINE_SHARE": 4, "COARSE_SHARE": 4}
    return {_REFINING: refining, BUFFERED: {**room, "LEAST_GAIN": _ANY_GAIN}, PERMUTATIONS: {**room, "TOP": top_k}}


def match_segments(run: Any, level: int, n: int, seed: int, most_weight: int) -> None:
    """Match neighbours until each of the *n* vertices has a mate or has no unmatched neighbour that fits.

    Two neighbours fit if they weigh at most *most_weight* together.
    """
    given = {"open_room": run.plan.problem.graph.n_vertices}
    lengths, has_atomics = run.plan.arrays["open_lengths"], run.plan.session.facts.has_int64_atomics
    lengths.fill(0)
    run.launch(SEGMENTED, "start_segmented", n, level=level, **given)
    for number in range(_MAX_ROUNDS):
        given |= {"round": number, "seed": (seed + number) % 2**32}
        run.launch(SEGMENTED, "choose_segmented", n, level=level, most_weight=most_weight, **given)
        if not has_atomics:
            run.launch(SEGMENTED, "break_ties", n, **{k: given[k] for k in ("open_room", "round")})
        run.launch(SEGMENTED, "match_segmented", n, level=level, **given)
        if number % _ROUNDS_A_READ == _ROUNDS_A_READ - 1 and not lengths.item((number + 1) % 2):
            return


def sort_entries(run: Any, level: int, n: int, m: int) -> None:
    """Contract *level* by a sort.

    The *m* entries of the level are sorted by coarse rows and columns, equal entries are merged, and each coarse vertex
    gets the merged entries of its row in its slots.
    """
    shift, arrays = n.bit_length(), run.plan.arrays
    run.launch(SORTED, "gather_entries", n, level=level, shift=shift)
    names = ("packed", "packed_sorted", "entry_weights", "entry_weights_sorted")
    sort = Sort(run.plan.session, *(arrays[name].view(0, m) for name in names), end_bit=2 * shift)
    sort.run()
    run.launch(SORTED, "merge_runs", n, level=level, shift=shift)
    sort.check()


def drop_light_edges(run: Any, level: int, n: int, m: int) -> None:
    """Drop the lightest edges of the next coarser level, which is being made from *level*."""
    problem = run.plan.problem
    degree = -(-_DENSER * problem.graph.n_edges // max(1, problem.graph.n_vertices))
    run.plan.arrays["class_counts"].fill(0)
    run.launch(LIGHT_EDGES, "count_weights", m, level=level)
    run.launch(LIGHT_EDGES, "drop_light", n, level=level, seed=problem.seed, n_per_vertex=degree)


def first_level(problem: PartitionProblem, sizes: list[tuple[int, int]]) -> int | None:
    """Return the finest level on which individuals are refined, or ``None`` if there is no such level."""
    if problem.refinement != "label_propagation":
        return None
    most_vertices, most_entries = _SMALL[problem.effort]
    fits = (n <= most_vertices and m <= min(most_entries, _SHORT * n) for n, m in sizes)
    return next((level for level, is_small in enumerate(fits) if is_small), None)


def refine_individuals(run: Any, last: int, individuals: int, grown_each: int) -> None:
    """Refine several candidate partitions ("individuals"), combine them, and keep the best.

    The individuals are refined from the coarsest level to level *last*, where they are combined. The array ``grown``
    holds each individual's partition of the coarsest level, in *grown_each* words.
    """
    problem, constant = run.plan.problem, run.plan.program(POPULATION).constant
    n_parts, room = problem.n_parts, padded(run.sizes[last][0])
    generations = _GENERATIONS[problem.effort]
    each = constant("VERTEX_ARRAYS") * room + constant("INDIVIDUAL_PART_WORDS") * n_parts + constant("REFINE_WORDS")
    shared = (n_parts + 1) * n_parts if generations else 1
    individuals = max(1, min(individuals, _MAX_WORDS // max(each, shared)))
    run.reserve("population", individuals * each)
    run.reserve("parents", individuals * (room + n_parts))
    run.reserve("shared_all", individuals * shared)

    def launch(kernel: str, groups: int = individuals, **values: int) -> None:
        run.launch(POPULATION, kernel, 0, groups, room_each=room, **values)

    launch("refine_individuals", level=len(run.sizes) - 1, last_level=last, grown_each=grown_each)
    launch("keep_children", level=last, is_first=1)
    for generation in range(generations if individuals > 1 else 0):
        seed = (problem.seed + 0x85EBCA6B * (generation + 1)) % 2**32
        launch("cross_individuals", level=last, last_level=last, seed=seed)
        launch("keep_children", level=last, is_first=0)
    launch("keep_best_individual", 1, level=last, n_groups=individuals)
