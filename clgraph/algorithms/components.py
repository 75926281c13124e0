"""Connected components of an undirected graph; weak components of a directed one.

Strategies
----------
``hook_compress``
    Rounds of hooking without atomics, then one with compare-exchange [1]_.
``rem``
    Rem's union-find with splicing, lock-free [2]_.
``afforest``
    Link a few neighbours of every vertex, find the giant component by sampling on the device,
    then look only at what is outside it [3]_.
``degree_classes``
    One union-find per degree class: work-items, sub-groups and work-groups [4]_.

References
----------
.. [1] J. Soman, K. Kothapalli, P. J. Narayanan. "A fast GPU algorithm for graph connectivity." IPDPSW 2010.
.. [2] L. Dhulipala, C. Hong, J. Shun. "ConnectIt: a framework for static and incremental parallel graph
   connectivity algorithms." VLDB 2020.
.. [3] M. Sutton, T. Ben-Nun, A. Barak. "Optimizing Parallel Graph Connectivity Computation via Subgraph
   Sampling." IPDPS 2018.
.. [4] J. Jaiganesh, M. Burtscher. "A High-Performance Connected Components Implementation for GPUs." HPDC 2018.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.errors import InputError
from clgraph.graph import Graph, as_graph
from clgraph.model.cost import Atomics, Gathers, Work
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.device.facts import DeviceFacts
from clgraph.primitives.scan import Scan
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session, as_session
from clgraph.runtime.timing import RunInfo
from clgraph.stats import GraphStats

_MAX_VERTICES = 2**31 - 2**12  # a work-item's first vertex must fit int32, rounded up to work-groups


class UnionFindPlan:
    """A compiled and allocated run on one graph; ``run()`` may be called again.

    Attributes
    ----------
    labels : DeviceArray
        After ``run()``, the smallest vertex of each vertex's component, int32, in the first
        ``n_vertices`` items.
    """

    def __init__(self, session: Session, graph: Graph, *, hook_rounds: int, **defines: int) -> None:
        self.n = graph.n_vertices
        if self.n > _MAX_VERTICES:
            raise InputError(f"{self.n} vertices; connected components takes at most {_MAX_VERTICES}")
        self._session = session
        session.check_memory({"labels": 4 * (self.n + 4)})
        self._graph = device_graph(session, graph)
        self.labels = session.empty(-(-self.n // 4) * 4, np.int32)
        symmetric = int(not graph.directed)
        self._defines: dict[str, int | str] = {
            **self._graph.defines(),
            "SYMMETRIC": symmetric,
            "SORTED_ROWS": int(graph.has_sorted_rows),
            "HOOK_FIRST": int(hook_rounds > 0),
            "FIRST_IS_LINKED": int(hook_rounds > 0) * symmetric,
            **defines,
        }
        self._phases = session.program("components/phases.cl", self._defines)
        self._csr = (self._graph.row_offsets, self._graph.column_indices)
        self.launches: list[Launch] = [self.quarter("initialize", *self._csr, self.labels)]

    def quarter(self, kernel: str, *args: Any) -> Launch:
        """Bind a phase whose work-items take four vertices each."""
        return self._phases.bind(kernel, -(-self.n // 4), np.int32(self.n), *args)

    def compress(self) -> Launch:
        return self.quarter("compress", self.labels)

    def per_vertex(self, source: str, kernel: str, *args: Any) -> Launch:
        """Bind a kernel of *source* with a work-item per vertex."""
        return self._session.program(source, self._defines).bind(kernel, self.n, np.int32(self.n), *args)

    def run(self) -> None:
        """Enqueue everything; nothing is read back."""
        if self.n:
            for launch in self.launches:
                launch()

    def number(self) -> tuple[int, DeviceArray]:
        """Return the number of components, and labels 0 … k−1 by smallest vertex."""
        labels = self._session.empty(self.n, np.int32)
        if not self.n:
            return 0, labels
        ranks = self._session.empty(self.n, np.int32)
        n = np.int32(self.n)
        self._phases.bind("mark_roots", self.n, n, self.labels, labels)()
        Scan(self._session, labels, ranks).run()
        self._phases.bind("number_components", self.n, n, self.labels, ranks, labels)()
        return 0, labels

    def n_components(self) -> int:
        """Count the roots on the device."""
        return self.number()[0]


def _hook_compress(session: Session, graph: Graph, *, hook_rounds: int = 1) -> UnionFindPlan:
    """*hook_rounds* rounds without atomics, each followed by compress, before the atomic one."""
    plan = UnionFindPlan(session, graph, hook_rounds=hook_rounds)
    for _ in range(1, hook_rounds):
        plan.launches += [
            plan.compress(),
            plan.per_vertex("components/hook_compress.cl", "hook", *plan._csr, plan.labels),
        ]
    plan.launches += [
        plan.compress(),
        plan.per_vertex("components/hook_compress.cl", "hook_atomic", *plan._csr, plan.labels),
        plan.compress(),
    ]
    return plan


def _rem(session: Session, graph: Graph, *, hook_rounds: int = 1) -> UnionFindPlan:
    plan = UnionFindPlan(session, graph, hook_rounds=hook_rounds)
    if hook_rounds:
        plan.launches.append(plan.compress())
    plan.launches += [
        plan.per_vertex("components/rem.cl", "unite", *plan._csr, plan.labels), plan.compress(),
    ]
    return plan


def _afforest(session: Session, graph: Graph, *, neighbor_rounds: int = 2) -> UnionFindPlan:
    """*neighbor_rounds* neighbours of every vertex are linked before the giant is looked for."""
    plan = UnionFindPlan(session, graph, hook_rounds=1)
    plan.launches.append(plan.compress())
    for r in range(1, neighbor_rounds):
        plan.launches += [
            plan.per_vertex("components/afforest.cl", "link_neighbor", np.int32(r), *plan._csr, plan.labels),
            plan.compress(),
        ]
    giant = session.empty(2, np.int32)
    plan.launches += [
        plan._phases.bind("find_giant", 1, np.int32(plan.n), plan.labels, giant),
        plan.per_vertex("components/afforest.cl", "link_rest", *plan._csr, giant, plan.labels),
        plan.compress(),
    ]
    return plan


def _degree_classes(session: Session, graph: Graph, *, hook_rounds: int = 1) -> UnionFindPlan:
    plan = UnionFindPlan(session, graph, hook_rounds=hook_rounds)
    program = session.program("components/degree_classes.cl", plan._defines)
    rows, size = session.empty(plan.n, np.int32), session.empty(2, np.uint32)
    groups = 8 * session.facts.compute_units
    many = groups * program.work_group_size
    n = np.int32(plan.n)
    zero = session.program("primitives/fill.cl", {"T": "uint"})
    plan.launches += [
        plan.compress(),
        zero.bind("fill", 2, np.int64(2), np.uint32(0), size),
        plan.per_vertex("components/degree_classes.cl", "link_short", *plan._csr, plan.labels, rows, size),
        program.bind("link_medium", many, *plan._csr, rows, size, plan.labels),
        program.bind("link_long", many, n, *plan._csr, rows, size, plan.labels),
        plan.compress(),
    ]
    return plan
