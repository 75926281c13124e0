"""Minimum spanning forests on several devices.

Each builds the forest of its edges, and forests are merged pairwise.

An edge that is not in the forest of some set of edges is not in the forest of any larger set either. So the union of
two devices' forests contains the forest of all their edges, and a merge computes the forest of that union.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.minimum_spanning_forest.plan import ForestPlan
from clgraph.algorithms.minimum_spanning_forest.problem import ForestProblem
from clgraph.algorithms.minimum_spanning_forest.strategies import part_edges
from clgraph.algorithms.minimum_spanning_forest.weights import upload_weights, weight_kind
from clgraph.data.graphs.graph import Graph
from clgraph.multi_device.split_graph import SplitGraph, StreamedGraph, wait_for
from clgraph.multi_device.team import Team
from clgraph.primitives.sort import Sort
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.graphs.device_graph import DeviceGraph, device_graph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_PARTS = "minimum_spanning_forest/parts.cl"
_NAMES = "rows", "columns", "weights", "entries"

Edges = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]


@dataclass(frozen=True)
class Solver:
    """A solver that finds the spanning forests of parts of a graph, and merges two forests into one.

    *kind* is the kind of the weights, see :func:`weight_kind`. With *maximum*, heavy edges are preferred.
    """

    kind: str
    maximum: bool

    def _program(self, session: Session) -> Any:
        return session.program(_PARTS, {"WEIGHTED": int(self.kind != "WEIGHT_NONE")})

    def _room(self, session: Session, count: int) -> dict[str, DeviceArray]:
        kinds = np.uint32, np.int32, np.uint32, np.uint32
        sizes = count, count, count if self.kind != "WEIGHT_NONE" else 1, count
        return {name: session.empty(size, kind) for name, size, kind in zip(_NAMES, sizes, kinds, strict=True)}

    def entries(self, part: DeviceGraph) -> DeviceArray:
        """Return, in ascending order, the uint32 positions of the CSR entries
        of *part* that are in its spanning forest.
        """
        session, n, m = part.session, part.n_vertices, part.n_edges
        with session.driver:
            weights = session.empty(1, np.uint32) if part.edge_weights is None else part.edge_weights
            problem = ForestProblem(part.as_graph(), self.maximum)
            plan = ForestPlan(session, problem, part_edges(problem, session.facts, weights, self.kind))
            # The plan's predicted time is set to 0, because a plan with a long predicted time waits after each launch.
            # A wait after each launch would hold the driver's lock, which the threads of the other devices need.
            plan.predicted_seconds = 0.0
            plan.run()
            in_order, n_edges = session.empty(n, np.uint32), session.empty(1, np.int32)
            sort = Sort(session, plan.arrays["forest"], in_order, end_bit=m.bit_length())
            sort.run()
            self._program(session).bind("count_edges", n + 1, n=n, in_order=in_order, n_edges=n_edges)()
        wait_for(session)
        with session.driver:
            (count,), *statuses = plan.read((n_edges, 0, 1), *sort.statuses())
            sort.check(statuses)
        return in_order.view(0, int(count))

    def forest(self, part: DeviceGraph, first: int, entries: DeviceArray | None = None) -> dict[str, DeviceArray]:
        """Return the edges of the spanning forest of *part*, one slab of the graph, as arrays on the device.

        Entry i of the part is entry *first* + i of the whole graph, or ``entries[i]`` if *entries* is given.
        """
        session, in_order = part.session, self.entries(part)
        with session.driver:
            found = self._room(session, in_order.size)
            scope = {
                "n": part.n_vertices, "n_edges": in_order.size, "in_order": in_order, "first": first,
                "is_listed": int(entries is not None), "part_entries": in_order if entries is None else entries,
                "edge_weights": found["weights"] if part.edge_weights is None else part.edge_weights, **part.scope,
            }  # fmt: skip
            self._program(session).bind("take_edges", in_order.size, scope, **found)()
        return found

    def merged(self, session: Session, n: int, *lists: Mapping[str, DeviceArray]) -> dict[str, DeviceArray]:
        """Return the spanning forest of two lists of forest edges together, as arrays on this device."""
        counts = [edges["entries"].size for edges in lists]
        if not all(counts):
            return dict(max(lists, key=lambda edges: edges["entries"].size))
        with session.driver:
            both = self._room(session, sum(counts))
            program, out = self._program(session), {f"all_{name}": array for name, array in both.items()}
            for mine, other in (lists, lists[::-1]):
                sizes = {"n_edges": mine["entries"].size, "n_others": other["entries"].size}
                scope = {**mine, **out, **sizes, "other_entries": other["entries"]}
                program.bind("merge_edges", sizes["n_edges"], scope)()
            offsets = session.empty(n + 1, np.int32)
            program.bind("find_offsets", n + 1, n=n, n_edges=sum(counts), rows=both["rows"], row_offsets=offsets)()
            weights = None if self.kind == "WEIGHT_NONE" else both["weights"]
            part = DeviceGraph(session, offsets, both["columns"], weights, has_sorted_rows=True)
        return self.forest(part, 0, both["entries"])


def solve(problem: ForestProblem, graph: SplitGraph | StreamedGraph) -> tuple[NDArray[np.int64], RunInfo]:
    """Find a spanning forest on several devices.

    Return the CSR entries of its edges in ascending order, and the run's info.
    """
    started, team, n = time.perf_counter(), graph.team, graph.n_vertices
    weights = problem.graph.edge_weights
    kind = weight_kind(problem.graph)
    if weights is not None and kind == "WEIGHT_RANK":
        graph = StreamedGraph(
            _ranked(problem.graph, weights), team, shares=graph.shares,
            segment_entries=graph.segment_entries, weights=True,
        )  # fmt: skip
        team = graph.team
    sent_before = team.sent_bytes
    solver, split = Solver(kind, problem.maximum), graph

    def local(place: int) -> dict[str, DeviceArray] | None:
        edges = None
        for slab in split.slabs(place):
            own = solver.forest(slab.graph, slab.first)
            edges = own if edges is None else solver.merged(slab.graph.session, n, edges, own)
        if edges is not None:
            wait_for(team.sessions[place])
        return edges

    forests = {place: edges for place, edges in enumerate(team.each(local)) if edges is not None}
    local_seconds = time.perf_counter() - started
    rounds = team.merge_rounds([*forests])
    for pairs in rounds:
        forests |= _merged(team, solver, n, dict(pairs), forests)
    last = rounds[-1][0][0] if rounds else next(iter(forests), None)
    entries = np.zeros(0, np.int64) if last is None else forests[last]["entries"].get().astype(np.int64)
    total = time.perf_counter() - started
    details = {
        "local_seconds": local_seconds, "merge_seconds": total - local_seconds, "merge_rounds": len(rounds),
        "merge_bytes": team.sent_bytes - sent_before,
    }  # fmt: skip
    seconds, names = Seconds(total, 0.0, 0.0, 0.0), ", ".join(team.names())
    return entries, RunInfo("edge_list", "online", names, "the strategy of parts", seconds, {}, {}, details)


def _merged(
    team: Team, solver: Solver, n: int, gives: Mapping[int, int], forests: Mapping[int, Mapping[str, DeviceArray]]
) -> Mapping[int, dict[str, DeviceArray]]:
    """Return, for each device that receives a forest, the merged spanning forest of receiver and sender."""

    def merge(taker: int) -> dict[str, DeviceArray]:
        session = team.sessions[taker]
        other = {name: team.send(array, session) for name, array in forests[gives[taker]].items()}
        return solver.merged(session, n, forests[taker], other)

    return dict(zip(gives, team.each(merge, [*gives]), strict=True))


def _ranked(graph: Graph, weights: NDArray[Any]) -> Graph:
    """Return a copy of the graph whose weights are 32-bit ranks.

    The ranks have the order of the graph's 64-bit weights.
    """
    ranks = np.unique(weights, return_inverse=True)[1].astype(np.uint32)
    return Graph._trusted(graph.row_offsets, graph.column_indices, ranks, sorted_rows=True)


def forest_of_edges(session: Session, n: int, edges: Edges, *, maximum: bool = False) -> Edges:
    """Return the edges of the minimum spanning forest of a list of edges, which *session*'s device finds.

    Parameters
    ----------
    session : Session
    n : int
        Number of vertices.
    edges : tuple
        Sources and targets (int32, 0 … *n* − 1, in any order), and weights or ``None``. Edges may be parallel.
    maximum : bool
        Find the maximum spanning forest.

    Returns
    -------
    tuple
        The lesser ends, the greater ends, and the weights, sorted by ends. Among edges of equal weight the one with
        the lesser ends wins.
    """
    sources, targets, weights = edges
    ends = np.minimum(sources, targets).astype(np.int64)
    ends <<= 32
    ends |= np.maximum(sources, targets)
    in_order = np.argsort(ends)
    ends, weights = ends[in_order], None if weights is None else weights[in_order]
    low, high = (ends >> 32).astype(np.int32), ends.astype(np.int32)
    del ends, in_order  # Free 16 bytes of host memory per edge before the upload allocates 35 bytes per edge.
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(low, minlength=n), out=offsets[1:])
    graph = Graph._trusted(offsets, high, weights, sorted_rows=True)
    with session.driver:
        on_device = device_graph(session, graph, weights=True)
        keys = None if weights is None else upload_weights(session, graph)
        part = replace(on_device, edge_weights=keys)
    found = Solver(weight_kind(graph), maximum).entries(part).get()
    return low[found], high[found], None if weights is None else weights[found]
