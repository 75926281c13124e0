"""The problem of finding communities: a graph, an objective and a method, and the graph's weights as integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import Seed, check_choice, checked_array, checked_count, checked_number, checked_seed
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.integer_graph import FRACTION_BITS, IntegerGraph, integer_graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.problem import GraphProblem
from clgraph.errors import InputError
from clgraph.runtime.graphs.with_weight import with_weight

METHODS = ("leiden", "louvain")
OBJECTIVES = ("modularity", "cpm")
MAX_RESOLUTION = 2.0**20
MAX_LEVELS = 64
ITERATIONS = 8
_MAX_ENTRIES = 2**30  # Kernels number entries by 32 bits, and look up to 2**20 entries ahead.


@dataclass(frozen=True, eq=False)
class CommunitiesProblem(GraphProblem):
    """The checked arguments of :func:`communities`.

    Attributes
    ----------
    initial : int32 array or None
        The communities to start from, numbered 0 … n_vertices - 1 at most; ``None``: each vertex is alone.
    """

    method: str = METHODS[0]
    objective: str = OBJECTIVES[0]
    resolution: float = 1.0
    seed: int = 0
    max_levels: int = MAX_LEVELS
    iterations: int = ITERATIONS
    initial: NDArray[np.int32] | None = None

    def admitted(self) -> Self:
        _ = self.integers  # raises an InputError if the weights are out of range
        return self

    @cached_property
    def integers(self) -> IntegerGraph:
        """The symmetric graph that kernels read, with integer weights."""
        return integer_graph(self.graph, self.objective, self.resolution)


def as_problem(
    graph: Any,
    *,
    method: str = METHODS[0],
    objective: str = OBJECTIVES[0],
    resolution: float = 1.0,
    initial: Any = None,
    seed: Seed = 0,
    max_levels: int = MAX_LEVELS,
    iterations: int = ITERATIONS,
    weight: Weight = "weight",
) -> CommunitiesProblem:
    """Return the problem of these arguments of :func:`communities`, or raise an :class:`InputError`."""
    check_choice("method", method, METHODS)
    check_choice("objective", objective, OBJECTIVES)
    resolution = checked_number("resolution", resolution, most=MAX_RESOLUTION)
    if 0 < resolution < 2.0**-FRACTION_BITS:
        raise InputError(f"resolution = {resolution:g}; allowed: 0, or at least 2**-{FRACTION_BITS}")
    max_levels, iterations = (
        checked_count("max_levels", max_levels, MAX_LEVELS),
        checked_count("iterations", iterations, 100),
    )
    graph = with_weight(graph, weight)
    # A directed graph gets the reverse of each entry.
    graph._require_fits("communities take", _MAX_ENTRIES // 2 if graph.directed else _MAX_ENTRIES)
    labels = None if initial is None else checked_labels("initial", initial, graph)
    problem = CommunitiesProblem(
        graph, method, objective, resolution, checked_seed(seed) % 2**32, max_levels, iterations, labels
    )
    return problem.admitted_if_checked()


def checked_labels(name: str, given: Any, graph: Graph) -> NDArray[np.int32]:
    """Return the communities *given* as numbers from 0 without gaps, one for each vertex of *graph*."""
    labels = checked_array(name, given)
    if labels.shape != (graph.n_vertices,) or labels.dtype.kind not in "iu":
        raise InputError(
            f"{name} is {labels.dtype} of shape {labels.shape}; "
            f"needed: an integer for each of {graph.n_vertices} vertices"
        )
    numbers: NDArray[np.int32] = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return numbers
