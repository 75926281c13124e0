"""Variants of the phases of a multilevel partition: what they launch, and what that needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.device.facts import DeviceFacts
from clgraph.model.recipe import Array
from clgraph.primitives.sort import Sort

BUFFERED, PERMUTATIONS, SEGMENTED, SORTED, LIGHT_EDGES, _REFINING = (
    f"partition/{name}.cl"
    for name in (
        "buffered",
        "permutations",
        "segmented",
        "sorted",
        "light_edges",
        "label_propagation",
    )
)
_ACCEPTING = {
    "label_propagation": ((_REFINING, "confirm_candidates"),),
    "buffered": tuple((BUFFERED, kernel) for kernel in ("count_requests", "place_requests", "accept_requests")),
    "permutations": (
        (BUFFERED, "count_requests"), (BUFFERED, "place_requests"), (PERMUTATIONS, "permute_requests"),
    ),
    "noop": (),
}  # fmt: skip
_ANY_GAIN = -(2**30)
_MOST_ROUNDS = 256  # of matching, which expects some twenty
_ROUNDS_A_READ = 4
_DENSER = 2  # times the mean degree of the graph, which levels without light edges have at most


def turn_of(problem: PartitionProblem) -> tuple[tuple[str, str], ...]:
    """Return files and kernels of a turn of refinement, behind the decision what is next."""
    return (_REFINING, "ask_border"), *_ACCEPTING[problem.refinement], (_REFINING, "apply_moves")


def sources_of(problem: PartitionProblem, drops: bool) -> tuple[str, ...]:
    """Return the kernel files of the variants."""
    matching = (SEGMENTED,) * (problem.matching == "segmented")
    contraction = (SORTED,) * (problem.contraction == "sorted") + (LIGHT_EDGES,) * drops
    return tuple({source: None for source, _ in turn_of(problem)}) + matching + contraction


def arrays_of(problem: PartitionProblem, drops: bool) -> dict[str, Array]:
    """Return the arrays of the variants."""
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
    """Return whether refinement makes fewer turns, where that costs little of the cut, as on CPUs."""
    return facts.is_cpu and problem.effort == "normal" and not problem.deterministic


def individual_defines(problem: PartitionProblem, facts: DeviceFacts) -> dict[str, int | str]:
    """Return the definitions of the population.

    On GPUs individuals wait for the one with the most turns, so with normal effort they give up sooner.
    """
    if is_hasty(problem, facts):
        return {"MIXES": 0}
    return {"SPARSE_PATIENCE": "6u"} if problem.effort == "normal" else {}


def defines_of(
    problem: PartitionProblem, facts: DeviceFacts, parts_room: int, top_k: int, drops: bool
) -> dict[str, dict[str, int | str]]:
    """Return the definitions of each kernel file of the variants.

    Label propagation has rounds that take a partition back; the other refinements only go on while the cut falls.
    """
    room: dict[str, int | str] = {"PARTS_ROOM": parts_room}
    refining = room | {"RECOUNTS": int(drops)}
    if problem.refinement not in ("buffered", "permutations"):
        hasty: dict[str, int | str] = {"MOST_HEAVY": "8u", "POLISHES": 1, "MIXES": 0}
        return {_REFINING: refining | (hasty if is_hasty(problem, facts) else {})}
    refining |= {"ROUNDS": "1u", "MIXES": 0}
    if problem.refinement == "buffered":
        return {_REFINING: refining | {"FINE_SHARE": 0, "COARSE_SHARE": 0}, BUFFERED: room}
    refining |= {"FINE_SHARE": 4, "COARSE_SHARE": 4}  # moves may lose alone what they gain together
    return {_REFINING: refining, BUFFERED: {**room, "LEAST_GAIN": _ANY_GAIN}, PERMUTATIONS: {**room, "TOP": top_k}}


def match_segments(run: Any, level: int, n: int, seed: int, most_weight: int) -> None:
    """Match until each vertex is matched or has no neighbour that could be its mate.

    Parameters
    ----------
    run : Multilevel
    level, n : int
        The level, and how many vertices it has.
    seed : int
    most_weight : int
        The most that a pair may weigh.
    """
    given = {"open_room": run.plan.problem.graph.n_vertices}
    lengths, has_atomics = run.plan.arrays["open_lengths"], run.plan.session.facts.has_int64_atomics
    lengths.fill(0)
    run.launch(SEGMENTED, "start_segmented", n, level=level, **given)
    for number in range(_MOST_ROUNDS):
        given |= {"round": number, "seed": (seed + number) % 2**32}
        run.launch(SEGMENTED, "choose_segmented", n, level=level, most_weight=most_weight, **given)
        if not has_atomics:
            run.launch(SEGMENTED, "break_ties", n, **{k: given[k] for k in ("open_room", "round")})
        run.launch(SEGMENTED, "match_segmented", n, level=level, **given)
        if number % _ROUNDS_A_READ == _ROUNDS_A_READ - 1 and not lengths.item((number + 1) % 2):
            return


def sort_entries(run: Any, level: int, n: int, m: int) -> None:
    """Fill the slots of coarse vertices with their entries, by a sort.

    Parameters
    ----------
    run : Multilevel
    level, n, m : int
        The level that is contracted, and how many vertices and entries it has.
    """
    shift, arrays = n.bit_length(), run.plan.arrays
    run.launch(SORTED, "gather_entries", n, level=level, shift=shift)
    names = ("packed", "packed_sorted", "entry_weights", "entry_weights_sorted")
    sort = Sort(run.plan.session, *(arrays[name].view(0, m) for name in names), end_bit=2 * shift)
    sort.run()
    run.launch(SORTED, "merge_runs", n, level=level, shift=shift)
    sort.check()


def drop_light_edges(run: Any, level: int, n: int, m: int) -> None:
    """Leave the lightest edges out of what will be the next level; see :func:`sort_entries` for the parameters."""
    problem = run.plan.problem
    degree = -(-_DENSER * problem.graph.n_edges // max(1, problem.graph.n_vertices))
    run.plan.arrays["class_counts"].fill(0)
    run.launch(LIGHT_EDGES, "count_weights", m, level=level)
    run.launch(LIGHT_EDGES, "drop_light", n, level=level, seed=problem.seed, n_per_vertex=degree)
