"""Variants of the phases of a multilevel partition: what they launch, and what that needs."""
from __future__ import annotations

import numpy as np

from clgraph.algorithms.partition.problem import PartitionProblem
from clgraph.model.recipe import Array

BUFFERED, PERMUTATIONS, _REFINING = (
    f"partition/{name}.cl" for name in ("buffered", "permutations", "label_propagation")
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


def turn_of(problem: PartitionProblem) -> tuple[tuple[str, str], ...]:
    """Return files and kernels of a turn of refinement, behind the decision what is next."""
    return (_REFINING, "ask_border"), *_ACCEPTING[problem.refinement], (_REFINING, "apply_moves")


def sources_of(problem: PartitionProblem) -> tuple[str, ...]:
    """Return the kernel files of the variants."""
    return tuple({source: None for source, _ in turn_of(problem)})


def arrays_of(problem: PartitionProblem) -> dict[str, Array]:
    """Return the arrays of the variants."""
    if problem.refinement not in ("buffered", "permutations"):
        return {}
    return {
        "requests": Array(problem.graph.n_vertices, np.int32),
        "request_words": Array(3 * problem.n_parts, np.int32, zeroed=True),
    }


def defines_of(problem: PartitionProblem, parts_room: int, top_k: int) -> dict[str, dict[str, int | str]]:
    """Return the definitions of each kernel file of the variants.

    Label propagation has rounds that take a partition back; these refinements only go on while the cut falls.
    """
    if problem.refinement not in ("buffered", "permutations"):
        return {}
    room: dict[str, int | str] = {"PARTS_ROOM": parts_room}
    once: dict[str, int | str] = {"ROUNDS": "1u", "PATIENCE": "4u"}
    if problem.refinement == "buffered":
        return {_REFINING: {**room, **once, "FINE_SHARE": 0, "COARSE_SHARE": 0}, BUFFERED: room}
    once |= {"FINE_SHARE": 4, "COARSE_SHARE": 4}  # moves may lose alone what they gain together
    return {_REFINING: room | once, BUFFERED: {**room, "LEAST_GAIN": _ANY_GAIN}, PERMUTATIONS: {**room, "TOP": top_k}}
