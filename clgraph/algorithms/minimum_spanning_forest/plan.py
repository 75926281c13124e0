"""The plan of a minimum spanning forest on one device, and its answer (``cl/minimum_spanning_forest/answer.cl``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.wrapped import WrappedGraph
from clgraph.engine.plan import Plan
from clgraph.primitives.sort import Sort
from clgraph.runtime.graphs.device_graph import device_graph

LANES, ADDENDS = 64, 128
"""Every block of ``LANES * ADDENDS`` edges is summed into ``LANES`` partial sums of ``ADDENDS`` weights each.

``answer.cl`` does the same, so that host and device add floats in the same order.
"""
_VALUES = {"int32": "INT", "int64": "LONG", "float32": "FLOAT", "float64": "DOUBLE"}


class Told(NamedTuple):
    """The answer of a spanning-forest plan: edges, total weight (or
    ``None``), and the edges' ends and weights if listed.
    """

    edges: NDArray[np.int64]
    weight: int | float | None
    ends: Mapping[str, NDArray[Any] | None]


class ForestPlan(Plan):
    """A plan that finds the edges of a spanning forest.

    The graph is undirected, and its rows are sorted.
    """

    @cached_property
    def _answer(self) -> _Answer:
        return _Answer(self)

    def result(self) -> Told:
        """After ``run()``, return the entries of the forest's edges in ascending
        order, the total weight, and the ends if known.
        """
        return self._answer.told(self) if self.setting.values["m"] else Told(np.zeros(0, np.int64), None, {})


class _Answer:
    """Kernels that make the answer of a spanning-forest run: they sort the forest's edges and sum their weights.

    For a :class:`WrappedGraph` they also list the ends of the edges.
    """

    def __init__(self, plan: Plan) -> None:
        session, graph, stats = plan.session, plan.problem.graph, plan.problem.stats
        n, self._dtype = stats.n_vertices, graph.weight_dtype
        most = n - stats.n_isolated  # The forest has at most this number of edges.
        kind = "NONE" if self._dtype is None else _VALUES[self._dtype.name]
        rows = device_graph(session, graph, weights=True)
        program = session.program(
            "minimum_spanning_forest/answer.cl",
            {**rows.defines(), "VALUES": f"VALUES_{kind}", "LANES": LANES, "ADDENDS": ADDENDS},
        )
        named, in_order = session.empty(n, np.uint32), session.empty(n, np.uint32)
        self._sort = Sort(session, named, in_order, end_bit=plan.setting.values["m"].bit_length())
        # The plan's run is over, so the answer reuses the plan's arrays, which may be longer than the answer needs.
        self._arrays = {
            "n_edges": session.empty(1, np.int32), "edges": plan.arrays["best"].view(dtype=np.int64).view(0, most)
        }  # fmt: skip
        scope = {
            **rows.scope, "n": most, "n_vertices": n, "in_order": in_order,
            "values": rows.column_indices if rows.edge_weights is None else rows.edge_weights,
        }  # fmt: skip
        kernels = [("list_edges", most)]
        is_exact = kind in ("INT", "LONG")
        if kind != "NONE" and (is_exact or session.facts.has_fp64):
            scope["n_sums"] = n_sums = LANES * -(-most // (LANES * ADDENDS))
            words = n_sums * program.constant("SUM_WORDS")
            self._arrays["sums"] = session.empty(words, np.int64 if is_exact else np.float64)
            kernels.append(("sum_weights", n_sums))
        # The copy is needed, because the owner of the matrix may change its arrays after the call.
        if isinstance(graph, WrappedGraph):
            self._arrays |= {
                "sources": plan.arrays["parent"].view(0, most), "targets": named.view(0, most, np.int32),
                "weights": session.empty(1 if self._dtype is None else most, self._dtype or np.int32),
            }  # fmt: skip
            kernels.append(("name_ends", most))
        scope |= self._arrays
        self._name = plan.program("minimum_spanning_forest/rows.cl").bind("name_edges", n, plan.scope, edges=named)
        self._launches = [program.bind(*kernel, scope) for kernel in kernels]

    def told(self, plan: Plan) -> Told:
        """Return the spanning forest that the last run of *plan* has found."""
        self._name()
        self._sort.run()
        for launch in self._launches:
            launch()
        parts = [(array, 0, array.size) for array in self._arrays.values()]
        read = plan.read(*parts, *self._sort.statuses())
        self._sort.check(read[len(parts) :])
        found = dict(zip(self._arrays, read[: len(parts)], strict=True))
        n_edges = int(found["n_edges"][0])
        ends: dict[str, NDArray[Any] | None] = {
            name: found[name][:n_edges] for name in ("sources", "targets", "weights") if name in found
        }
        weight: int | float | None = n_edges
        if self._dtype is not None:
            weight = sum_of_parts(found["sums"], n_edges, self._dtype) if "sums" in found else None
        elif ends:
            ends["weights"] = None
        return Told(found["edges"][:n_edges], weight, ends)


def total_weight(weights: NDArray[Any]) -> int | float:
    """Return the sum of edge *weights*: an exact integer, or a float64 that
    is summed in the same order as in kernels.
    """
    n = weights.size
    if weights.dtype.kind == "f":
        # A sum of few weights uses fewer addends, because the other addends would be zero.
        n_addends = min(ADDENDS, -(-n // LANES))
        padded = np.zeros((_n_sums(n) // LANES, n_addends, LANES))
        padded.reshape(-1)[:n] = weights
        # Weights may be infinite, so overflow and invalid sums cause no warning.
        with np.errstate(over="ignore", invalid="ignore"):
            return sum_of_parts(padded.sum(axis=1).reshape(-1), n, weights.dtype)
    if weights.itemsize == 4:
        return int(weights.sum(dtype=np.int64))
    return (int((weights >> 32).sum()) << 32) + int((weights & 0xFFFFFFFF).sum())


def sum_of_parts(sums: NDArray[Any], n: int, dtype: np.dtype[Any]) -> int | float:
    """Return the sum of *n* edge weights of *dtype* from the partial *sums* that kernels have computed.

    For 64-bit integers each partial sum is a pair: the sum of the high words, and the sum of the low words.
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            return float(sums[: _n_sums(n)].sum())
    if dtype.itemsize == 4:
        return int(sums.sum())
    return (int(sums[::2].sum()) << 32) + int(sums[1::2].sum())


def _n_sums(n: int) -> int:
    return LANES * -(-n // (LANES * ADDENDS))
