"""What the user gets of a forest, made by kernels of its edges in order; ``cl/mst/answer.cl``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.mst.total_weight import ADDENDS, LANES, sum_of_parts
from clgraph.data.wrapped import WrappedGraph
from clgraph.engine.plan import Plan
from clgraph.primitives.sort import Sort
from clgraph.runtime.device_graph import device_graph

_ROWS, _ANSWER = "mst/rows.cl", "mst/answer.cl"
_VALUES = {"int32": "INT", "int64": "LONG", "float32": "FLOAT", "float64": "DOUBLE"}


class Told(NamedTuple):
    """The edges, what they weigh if that is known, and their ``sources``, ``targets`` and ``weights`` if wanted."""

    edges: NDArray[np.int64]
    weight: int | float | None
    ends: Mapping[str, NDArray[Any] | None]


class Answer:
    """The edges and what they weigh; and their ends, if the graph is there for one call only.

    Attributes
    ----------
    arrays : dict of str to DeviceArray
        What there is after ``run()``; there may be room behind the last edge.
    sort : Sort
        Its status tells whether they are right.
    """

    def __init__(self, plan: Plan) -> None:
        session, graph, stats = plan.session, plan.problem.graph, plan.problem.stats
        n, self._dtype = stats.n_vertices, graph.weight_dtype
        most = n - stats.n_isolated  # edges
        kind = "NONE" if self._dtype is None else _VALUES[self._dtype.name]
        rows = device_graph(session, graph, weights=True)
        program = session.program(
            _ANSWER, {**rows.defines(), "VALUES": f"VALUES_{kind}", "LANES": LANES, "ADDENDS": ADDENDS}
        )
        named, in_order = session.empty(n, np.uint32), session.empty(n, np.uint32)
        self.sort = Sort(session, named, in_order, end_bit=plan.setting.values["m"].bit_length())
        # The run is over: some of its arrays have room for the answer.
        self.arrays = {
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
            self.arrays["sums"] = session.empty(words, np.int64 if is_exact else np.float64)
            kernels.append(("sum_weights", n_sums))
        if isinstance(graph, WrappedGraph):  # its owner may change the arrays after the call
            self.arrays |= {
                "sources": plan.arrays["parent"].view(0, most), "targets": named.view(0, most, np.int32),
                "weights": session.empty(1 if self._dtype is None else most, self._dtype or np.int32),
            }  # fmt: skip
            kernels.append(("name_ends", most))
        scope |= self.arrays
        self._name = plan.program(_ROWS).bind("name_edges", n, plan.scope, edges=named)
        self._launches = [program.bind(*kernel, scope) for kernel in kernels]

    def run(self) -> None:
        self._name()
        self.sort.run()
        for launch in self._launches:
            launch()

    def told(self, read: Iterable[NDArray[Any]]) -> Told:
        """Return the answer from what was *read* of all :attr:`arrays`."""
        found = dict(zip(self.arrays, read, strict=True))
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
