"""What partitions are asked of."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import (
    Seed,
    check_choice,
    checked_array,
    checked_count,
    checked_flag,
    checked_number,
    checked_seed,
)
from clgraph.data.graph import Graph, as_graph
from clgraph.engine.problem import GraphProblem
from clgraph.errors import InputError

MAX_PARTS = 1024
MATCHINGS = ("two_hop", "lock_free", "segmented")
CONTRACTIONS = ("hashed", "sorted")
REFINEMENTS = ("label_propagation", "buffered", "permutations", "noop")
EFFORTS = ("normal", "max")
_MAX_CUT = 2**30  # twice the cut fits 32 bits
_MAX_WEIGHT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class PartitionProblem(GraphProblem):
    """A symmetric graph, and what its parts are to be.

    Attributes
    ----------
    n_parts : int
    imbalance : float
        A part may weigh so much more than its share, as a fraction of the share.
    vertex_weights : int32 array or None
        ``None`` is 1 for each.
    target_weights : float64 array or None
        The share of each part of the whole weight; ``None`` is the same for each.
    matching, contraction, refinement : str
        The variant of each phase.
    seed : int
    deterministic : bool
    effort : str
    """

    n_parts: int
    imbalance: float = 0.03
    vertex_weights: NDArray[np.int32] | None = None
    target_weights: NDArray[np.float64] | None = None
    matching: str = MATCHINGS[0]
    contraction: str = CONTRACTIONS[0]
    refinement: str = REFINEMENTS[0]
    seed: int = 0
    deterministic: bool = False
    effort: str = EFFORTS[0]

    @cached_property
    def total_weight(self) -> int:
        if self.vertex_weights is None:
            return self.graph.n_vertices
        return int(self.vertex_weights.sum(dtype=np.int64))

    @property
    def heaviest(self) -> int:
        """The weight of the heaviest vertex."""
        return 1 if self.vertex_weights is None else int(self.vertex_weights.max(initial=0))

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """What each part is to weigh, rounded up."""
        return np.ceil(self.targets).astype(np.int64)

    @cached_property
    def limits(self) -> NDArray[np.int64]:
        """The most that each part may weigh, but for a vertex that is heavier."""
        return np.maximum(self.shares, np.floor((1 + self.imbalance) * self.targets)).astype(np.int64)

    @property
    def targets(self) -> NDArray[np.float64]:
        """What each part is to weigh."""
        if self.target_weights is None:
            return np.full(self.n_parts, self.total_weight / self.n_parts)
        return self.target_weights * self.total_weight


def as_problem(
    graph: Any, *, n_parts: int = 2, imbalance: float = 0.03, vertex_weights: Any = None,
    target_weights: Sequence[float] | NDArray[Any] | None = None, matching: str = MATCHINGS[0],
    contraction: str = CONTRACTIONS[0], refinement: str = REFINEMENTS[0], effort: str = EFFORTS[0], seed: Seed = 0,
    deterministic: bool = False,
) -> PartitionProblem:
    """Check the arguments of :func:`partition`."""
    n_parts = checked_count("n_parts", n_parts, MAX_PARTS)
    imbalance = checked_number("imbalance", imbalance, most=1e6)
    check_choice("matching", matching, MATCHINGS)
    check_choice("contraction", contraction, CONTRACTIONS)
    check_choice("refinement", refinement, REFINEMENTS)
    check_choice("effort", effort, EFFORTS)
    deterministic, seed = checked_flag("deterministic", deterministic), checked_seed(seed) % 2**32
    graph = as_graph(graph)
    graph._require_fits("partitions take", 2**31 - 1)
    graph.require_reverses()
    _check_edge_weights(graph)
    weights = None if vertex_weights is None else _weights("vertex_weights", vertex_weights, graph.n_vertices)
    if weights is not None and (total := int(weights.sum(dtype=np.int64))) > _MAX_WEIGHT:
        raise InputError(f"vertex_weights sum to {total}; allowed: at most {_MAX_WEIGHT}")
    return PartitionProblem(
        graph, n_parts, imbalance, weights, _shares_of(target_weights, n_parts), matching, contraction, refinement,
        seed, deterministic, effort,
    )  # fmt: skip


def _check_edge_weights(graph: Graph) -> None:
    if graph.weight_dtype is None:
        total = graph.n_edges
    else:
        assert graph.edge_weights is not None
        total = int(_weights("edge_weights", graph.edge_weights, graph.n_edges).sum(dtype=np.int64))
        if graph.directed and not graph.is_symmetric():
            raise InputError("an entry and its reverse differ in weight; an edge must weigh the same both ways")
    if total > 2 * _MAX_CUT:
        raise InputError(f"edges weigh {total // 2} together; allowed: at most {_MAX_CUT}")


def _weights(name: str, given: Any, size: int) -> NDArray[np.int32]:
    """Return *given* as int32, if they are *size* integers of at least 0."""
    weights = checked_array(name, given)
    if weights.shape != (size,) or weights.dtype.kind not in "iub":
        raise InputError(f"{name} are {weights.dtype} of shape {weights.shape}; needed: integers of shape ({size},)")
    if size and (weights.min() < 0 or weights.max() > _MAX_WEIGHT):
        at = int(np.argmax((weights < 0) | (weights > _MAX_WEIGHT)))
        raise InputError(f"{name}[{at}] = {weights[at]}; allowed: 0 to {_MAX_WEIGHT}")
    return weights.astype(np.int32, copy=False)


def _shares_of(given: Any, n_parts: int) -> NDArray[np.float64] | None:
    if given is None:
        return None
    targets = checked_array("target_weights", given)
    if targets.shape != (n_parts,) or targets.dtype.kind not in "iuf":
        raise InputError(f"target_weights are {targets.dtype} of shape {targets.shape}; needed: {n_parts} numbers")
    shares = targets.astype(np.float64)
    if not np.isfinite(shares).all() or shares.min() < 0 or not 0 < shares.sum() < np.inf:
        raise InputError("target_weights must be finite, at least 0, and not all 0")
    scaled: NDArray[np.float64] = shares / shares.sum()
    return scaled
