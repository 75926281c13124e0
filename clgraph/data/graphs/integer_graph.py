"""A graph with integer weights, in which sums are exact and so do not depend on the order of additions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError

FRACTION_BITS = 20  # The resolution is a multiple of 2**-20.
WEIGHT_BITS = 40  # The sum of all integer weights, times the resolution if that is above 1, is at most 2**40.


@dataclass(frozen=True, eq=False)
class IntegerGraph:
    """A symmetric graph with integer weights, and the numbers of an objective.

    The quality of labels is ``(factor · inside - penalty · resolution · Σ out · in) / scale``. *inside* is the weight
    of all entries inside communities, self-loops of undirected graphs twice; the sum runs over the communities, whose
    strengths are *out* and *in*.

    Attributes
    ----------
    row_offsets, column_indices : int32 arrays
        A directed graph has the reverse of each entry, too, so a pair of opposite entries is listed twice.
    weights : int64 array or None
        The user's weights times ``2**exponent``, rounded; ``None``: all weigh 1.
    out_strengths, in_strengths : int64 arrays
        The same array unless the graph is directed and the objective is modularity.
    """

    row_offsets: NDArray[Any]
    column_indices: NDArray[Any]
    weights: NDArray[np.int64] | None
    out_strengths: NDArray[np.int64]
    in_strengths: NDArray[np.int64]
    loop_factor: int
    factor: int
    resolution: int
    penalty: int
    scale: Fraction
    offset: Fraction

    @property
    def directed(self) -> bool:
        return self.penalty == 2

    def sources(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.row_offsets.size - 1), np.diff(self.row_offsets))

    def measured(self, labels: NDArray[Any]) -> tuple[int, int]:
        """Return the weight inside communities, and the sum over communities of the products of their strengths."""
        rows, columns = self.sources(), self.column_indices
        weights = np.ones(rows.size, np.int64) if self.weights is None else self.weights
        weights = np.where(rows == columns, self.loop_factor, 1) * weights
        sums = np.zeros((2, int(labels.max(initial=-1)) + 1), np.int64)
        np.add.at(sums[0], labels, self.out_strengths)
        np.add.at(sums[1], labels, self.in_strengths)
        products = sum(a * b for a, b in zip(sums[0].tolist(), sums[1].tolist(), strict=True))
        return int(weights[labels[rows] == labels[columns]].sum()), products

    def quality(self, inside: int, products: int) -> float:
        """Return the quality for the weight inside communities and the sum of products of strengths."""
        if not self.scale:
            return 0.0
        return float(self.gain(inside, products) / self.scale + self.offset)

    def gain(self, inside: int, products: int) -> int:
        """Return the quality as an integer, to compare labels of this graph."""
        return self.factor * inside - self.penalty * self.resolution * products


def _exponent(weights: NDArray[Any], most: Fraction) -> int:
    """Return the exponent of the greatest power of two by which *weights* can be scaled, so that they sum to *most*.

    Integer weights are never scaled up, because they are exact already.
    """
    heaviest = weights.max(initial=0)
    if not heaviest:
        return 0
    if weights.dtype.kind in "iu":
        total, exponent = int(weights.sum(dtype=np.uint64 if heaviest < 2**32 else object)), 0
    else:
        exponent = 61 - math.frexp(float(heaviest))[1] - weights.size.bit_length()
        total = int(np.rint(np.ldexp(weights.astype(np.float64), exponent)).astype(np.int64).sum())
    while total > most:
        total, exponent = (total + 1) // 2, exponent - 1
    return exponent


def _integers(graph: Graph, most: Fraction) -> tuple[NDArray[np.int64] | None, int]:
    """Return the weights as integers that sum to at most *most*, and the exponent of their scale."""
    weights = graph.edge_weights
    if weights is None:
        return None, 0
    if not np.isfinite(weights).all() or (weights < 0).any():
        at = int(np.argmax(~(np.isfinite(weights) & (weights >= 0))))
        raise InputError(f"edge_weights[{at}] = {weights[at]}; communities need finite weights of at least 0")
    exponent = _exponent(weights, most)
    if exponent or weights.dtype.kind == "f":
        integers = np.rint(np.ldexp(weights.astype(np.float64), exponent)).astype(np.int64)
    else:
        integers = weights.astype(np.int64)
    if (lost := (integers == 0) & (weights > 0)).any():
        at = int(np.argmax(lost))
        raise InputError(
            f"edge_weights[{at}] = {weights[at]:g} would become 0 beside a greatest weight of {weights.max():g}: "
            f"weights are rounded to multiples of 2**{-exponent}. Leave such weights out, or raise them"
        )
    return integers, exponent


def _sums(offsets: NDArray[Any], weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the sum of each row."""
    if weights is None:
        return np.diff(offsets).astype(np.int64)
    sums: NDArray[np.int64] = np.diff(np.append(0, np.cumsum(weights))[offsets])
    return sums


def integer_graph(graph: Graph, objective: str, resolution: float) -> IntegerGraph:
    """Return *graph* with integer weights, and the numbers of the objective.

    Raises
    ------
    InputError
        A weight is negative or not finite, a positive weight would become 0, or the resolution is too high for a graph
        of this size.
    """
    fixed = round(resolution * 2**FRACTION_BITS)
    most = Fraction(2**WEIGHT_BITS) / max(Fraction(1), Fraction(fixed, 2**FRACTION_BITS))
    if 2 * graph.n_edges > most or 2 * graph.n_vertices > most:
        raise InputError(f"resolution = {resolution:g} is too high for {graph.n_edges} entries")
    weights, exponent = _integers(graph, most / 2)
    offsets, columns, n = graph.row_offsets, graph.column_indices, graph.n_vertices
    rows = graph.sources()
    if graph.directed:
        out = _sums(offsets, weights)
        order = np.argsort(both := np.concatenate([rows, columns]), kind="stable")
        columns = np.concatenate([columns, rows])[order].astype(np.int32)
        doubled = None if weights is None else np.concatenate([weights, weights])[order]
        offsets = np.append(0, np.cumsum(np.bincount(both, minlength=n)))
        into, loop_factor, weights = _sums(offsets, doubled) - out, 1, doubled
    else:
        loops, loop_factor = rows == columns, 2
        extra = np.bincount(rows[loops], minlength=n) if weights is None else np.zeros(n, np.int64)
        if weights is not None:
            np.add.at(extra, rows[loops], weights[loops])
        out = into = _sums(offsets, weights) + extra
    total, penalty = int(out.sum()), 2 if graph.directed and objective == "modularity" else 1
    factor, scale, offset = total << FRACTION_BITS, Fraction(total * total * penalty << FRACTION_BITS), Fraction(0)
    if objective == "cpm":
        # Each edge has two entries, and n(n - 1) / 2 pairs are (n² - n) / 2.
        out = into = np.ones(n, np.int64)
        fixed = round(Fraction(fixed) * Fraction(2) ** exponent)
        factor, scale = 1 << FRACTION_BITS, Fraction(2) ** (exponent + FRACTION_BITS + 1)
        offset = Fraction(fixed * n) / scale
        if fixed * n > 2**63 - 1:
            raise InputError(f"resolution = {resolution:g} is too high for {n} vertices and weights of this range")
    kept = offsets.astype(np.int32, copy=False)
    return IntegerGraph(kept, columns, weights, out, into, loop_factor, factor, fixed, penalty, scale, offset)
