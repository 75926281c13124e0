"""The problem of a partition: a graph, the number of parts and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

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
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.problem import GraphProblem
from clgraph.errors import InputError
from clgraph.runtime.graphs.device_graph import DeviceGraph, GraphOnDevice
from clgraph.runtime.graphs.with_weight import with_weight

MAX_PARTS = 1024
MATCHINGS = ("two_hop", "lock_free", "segmented")
CONTRACTIONS = ("hashed", "sorted")
REFINEMENTS = ("label_propagation", "buffered", "permutations", "noop")
EFFORTS = ("normal", "fast", "max")
_MAX_CUT = 2**30  # greatest total edge weight. Kernels hold twice the cut in 32 bits.
_MAX_WEIGHT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Apart:
    """The vertices that are heavier than the limit of every part.

    Each of these vertices gets a part of its own.

    The reduced problem keeps these vertices, but without edges and with weight 0. Its parts are the parts *others* of
    the *whole* problem, numbered from 0. All edges of the heavy vertices are cut. *edge_cut* is the weight of these
    edges.
    """

    whole: PartitionProblem
    vertices: NDArray[np.int64]
    parts: NDArray[np.int64]
    others: NDArray[np.int64]
    edge_cut: int


@dataclass(frozen=True, eq=False)
class PartitionProblem(GraphProblem):
    """The checked arguments of :func:`partition`: a symmetric graph, and the number and sizes of the wanted parts.

    Attributes
    ----------
    target_weights : float64 array or None
        The share of each part in the total weight; ``None`` means equal shares.
    apart : Apart or None
        The vertices that were taken out of the problem because each has a part of its own.
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
    apart: Apart | None = None

    @cached_property
    def total_weight(self) -> int:
        if self.vertex_weights is None:
            return self.graph.n_vertices
        return int(self.vertex_weights.sum(dtype=np.int64))

    @property
    def heaviest(self) -> int:
        """The weight of the heaviest vertex; 1 if vertices have no weights."""
        return 1 if self.vertex_weights is None else int(self.vertex_weights.max(initial=0))

    @cached_property
    def shares(self) -> NDArray[np.int64]:
        """The wanted weight of each part, :attr:`targets`, rounded up to integers."""
        return np.ceil(self.targets).astype(np.int64)

    @cached_property
    def limits(self) -> NDArray[np.int64]:
        """The greatest allowed weight of each part, at most the total weight.

        A single vertex may be heavier.
        """
        most = np.minimum(np.floor((1 + self.imbalance) * self.targets), self.total_weight).astype(np.int64)
        return np.maximum(self.shares, most)

    @property
    def targets(self) -> NDArray[np.float64]:
        """The wanted total weight of the vertices in each part, before it is rounded."""
        if self.target_weights is None:
            return np.full(self.n_parts, self.total_weight / self.n_parts)
        return self.target_weights * self.total_weight

    def without_heavy(self) -> Self:
        """Return the problem without the vertices that are heavier than the limit of every part.

        Each heavy vertex gets a part of its own; the heaviest gets the part with the greatest share. The other parts
        share the rest of the weight. The limits of the other parts become lower, so more vertices may become heavy.
        """
        if self.vertex_weights is None or self.heaviest <= self.limits.max():
            return self
        vertices = np.argsort(-self.vertex_weights.astype(np.int64), kind="stable")
        parts = np.argsort(-self.targets, kind="stable")
        weights, rest, n_apart = self.vertex_weights.copy(), self, 0
        while rest.heaviest > rest.limits.max():
            n_apart += int(np.count_nonzero(weights > rest.limits.max()))
            weights[vertices[:n_apart]] = 0
            others = np.sort(parts[n_apart:])
            shares = None if self.target_weights is None else self.target_weights[others]
            shares = None if shares is None else shares / shares.sum()
            rest = replace(self, n_parts=others.size, vertex_weights=weights.copy(), target_weights=shares)
        graph, cut = _without_entries_of(self.graph, vertices[:n_apart])
        return replace(rest, graph=graph, apart=Apart(self, vertices[:n_apart], parts[:n_apart], others, cut))


def whole_of(problem: PartitionProblem) -> PartitionProblem:
    """Return the user's whole problem, including heavy vertices that were taken out of *problem*."""
    return problem if problem.apart is None else problem.apart.whole


def as_problem(
    graph: Any,
    *,
    n_parts: int = 2,
    imbalance: float = 0.03,
    vertex_weights: Any = None,
    target_weights: Sequence[float] | NDArray[Any] | None = None,
    matching: str = MATCHINGS[0],
    contraction: str = CONTRACTIONS[0],
    refinement: str = REFINEMENTS[0],
    effort: str = EFFORTS[0],
    seed: Seed = 0,
    deterministic: bool = False,
    weight: Weight = "weight",
) -> PartitionProblem:
    """Return the problem of these arguments of :func:`partition`, or raise an :class:`InputError`."""
    n_parts = checked_count("n_parts", n_parts, MAX_PARTS)
    imbalance = checked_number("imbalance", imbalance, most=1e6)
    check_choice("matching", matching, MATCHINGS)
    check_choice("contraction", contraction, CONTRACTIONS)
    check_choice("refinement", refinement, REFINEMENTS)
    check_choice("effort", effort, EFFORTS)
    deterministic, seed = checked_flag("deterministic", deterministic), checked_seed(seed) % 2**32
    graph = with_weight(graph, weight)
    graph._require_fits("partitions take", 2**31 - 1)
    graph.require_reverses()
    _check_edge_weights(graph)
    weights = None if vertex_weights is None else _weights("vertex_weights", vertex_weights, graph.n_vertices)
    if weights is not None and (total := int(weights.sum(dtype=np.int64))) > _MAX_WEIGHT:
        raise InputError(f"vertex_weights sum to {total}; allowed: at most {_MAX_WEIGHT}")
    problem = PartitionProblem(
        graph, n_parts, imbalance, weights, _shares_of(target_weights, n_parts), matching, contraction, refinement,
        seed, deterministic, effort,
    )  # fmt: skip
    return problem.without_heavy()


def _without_entries_of(graph: Graph, vertices: NDArray[Any]) -> tuple[Graph, int]:
    """Return *graph* without the edges of *vertices*, and the total weight of the removed edges except self-loops."""
    is_left_out = np.zeros(graph.n_vertices, bool)
    is_left_out[vertices] = True
    rows, columns, weights = graph.sources(), graph.column_indices, graph.edge_weights
    gone = is_left_out[rows] | is_left_out[columns]
    between = gone & (rows != columns)
    cut = int(between.sum() if weights is None else weights[between].sum(dtype=np.int64)) // 2
    offsets = np.append(0, np.cumsum(~gone))[graph.row_offsets]
    left = Graph._trusted(
        offsets, columns[~gone], None if weights is None else weights[~gone], directed=graph.directed,
        sorted_rows=graph.has_sorted_rows,
    )  # fmt: skip
    if isinstance(graph, GraphOnDevice):
        left = DeviceGraph.from_graph(left, graph.on_device.session).as_graph()
    return left, cut


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
    """Return *given* as int32, or raise an :class:`InputError` unless it has *size* nonnegative integers."""
    weights = checked_array(name, given)
    if weights.shape != (size,):
        raise InputError(f"{name} have shape {weights.shape}; needed: ({size},)")
    if weights.dtype.kind not in "iub":
        raise InputError(
            f"{name} are {weights.dtype}; needed: integers. Multiply and round them"
            + ", or ignore them: weight=None" * (name == "edge_weights")
        )
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
