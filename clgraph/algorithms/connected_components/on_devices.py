"""Connected components on several devices.

Each device builds a forest of its edges, and forests are merged pairwise.

After the multi-GPU components of T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An Asynchronous Multi-GPU
Programming Model for Irregular Computations", PPoPP 2017.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components.messages import forest_message, join_forest
from clgraph.algorithms.connected_components.plan import ComponentsPlan
from clgraph.algorithms.connected_components.problem import ComponentsProblem
from clgraph.algorithms.connected_components.strategies import STRATEGIES
from clgraph.arguments import is_among, shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.stats import GraphStats
from clgraph.engine.options import checked_options
from clgraph.errors import UnsupportedStrategyError
from clgraph.model.strategy import Choice, choose
from clgraph.multi_device.split_graph import SplitGraph, StreamedGraph, wait_for
from clgraph.multi_device.team import Team
from clgraph.runtime.driver.timing import RunInfo, Seconds
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.kept import key_of
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_NUMBERING_BYTES = 5  # A plan that has numbered the components holds at most 5 more bytes for each vertex.
LOCAL = "rem", "hook_compress", "afforest"
# In a part of a graph, two rounds of `afforest` hook every fourth vertex to its second neighbour. The second round
# repairs unions that the first one lost.
_STRIDES = 4, 4


@dataclass(frozen=True)
class _PartProblem(ComponentsProblem):
    """A part of a graph.

    Its statistics do not show whether the graph has a giant component, because a search ends at vertices whose rows are
    in other parts. Prices assume that there is one.
    """

    @property
    def stats(self) -> GraphStats:
        return replace(self.graph.stats, reached_share=1.0)


@dataclass
class Forest:
    """The spanning forest of the edges that one device holds.

    The arrays of *plan* hold the forest.
    """

    plan: ComponentsPlan
    n_entries: int = 0
    seconds: float = 0.0
    states: list[DeviceArray] = field(default_factory=list)
    keep: Callable[[], None] = lambda: None  # Keeps the plan for the next call, if the part stays on the device.

    @property
    def session(self) -> Session:
        return self.plan.session

    def merge(self, other: DeviceArray, *, is_packed: bool = False, flatten: bool = True) -> None:
        """Enqueue kernels that join another forest on the same device to this spanning forest.

        Both forests must be flat. *flatten* the result, unless components are numbered next.
        """
        scope = self.plan.scope
        join_forest(self.session, scope["n"], other, self.plan.labels, is_packed=is_packed)
        if flatten:
            self.plan.program("connected_components/phases.cl").bind("compress", -(-scope["n"] // 4), scope)()

    def take(self, team: Team, other: Forest) -> int:
        """Join the spanning forest of another device to this forest, and wait for it.

        Return the number of bytes sent.
        """
        message, is_packed = forest_message(other.session, self.plan.scope["n"], other.plan.labels)
        sent = team.send(message, self.session)
        with self.session.driver:
            self.merge(sent, is_packed=is_packed)
        wait_for(self.session)
        return message.nbytes

    def skips(self) -> list[int | None]:
        """Return, for each slab, a vertex of the giant component whose rows were
        skipped, or ``None`` without skipped rows.
        """
        if not self.states:
            return [None]
        at = self.session.program("connected_components/afforest.cl").constant
        with self.session.driver:
            words = [state.get() for state in self.states]
        return [int(each[at("STATE_GIANT")]) if each[at("STATE_SHARE")] >= at("SKIP_SHARE") else None for each in words]


def solve(
    graph: SplitGraph | StreamedGraph, strategy: str, options: Mapping[str, Any]
) -> tuple[int, NDArray[np.int32], RunInfo]:
    """Find the components of a graph on several devices.

    Return their number, each vertex's component, and the run's info.
    """
    check_strategy(strategy)
    started, team, n = time.perf_counter(), graph.team, graph.n_vertices
    asked, strategy = strategy, picked(graph, strategy)
    why = reason(asked)
    given = checked_options(STRATEGIES, Choice(strategy, asked, {}), options)
    forests = {k: found for k, found in enumerate(_local_forests(graph, strategy, given)) if found is not None}
    local_seconds, sent_before = time.perf_counter() - started, team.sent_bytes
    last, n_rounds, most_bytes = _merge(team, forests)
    merge_seconds = time.perf_counter() - started - local_seconds
    n_components, numbers = n, np.arange(0 if forests else n, dtype=np.int32)
    if forests:
        with forests[last].session.driver:
            n_components, numbers = forests[last].plan.result()
    collect_seconds = time.perf_counter() - started - local_seconds - merge_seconds
    details: dict[str, Any] = {
        "device_entries": tuple(forests[k].n_entries if k in forests else 0 for k in range(len(team))),
        "device_seconds": tuple(forests[k].seconds if k in forests else 0.0 for k in range(len(team))),
        "local_seconds": local_seconds, "merge_seconds": merge_seconds, "collect_seconds": collect_seconds,
        "merge_rounds": n_rounds, "merge_bytes": team.sent_bytes - sent_before, "most_merge_bytes": most_bytes,
    }  # fmt: skip
    seen = all_seen([skip for found in forests.values() for skip in found.skips()], numbers)
    for forest in forests.values():
        forest.keep()
    if not seen:
        n_components, numbers, info = solve(graph, strategy, {**given, "skip_giant": False})
        why = "giants of parts are not one, so their rows were read"
        details = {**info.details, "merge_bytes": team.sent_bytes - sent_before, "giants_differed": True}
    seconds = Seconds(time.perf_counter() - started, 0.0, 0.0, 0.0)
    return n_components, numbers, RunInfo(strategy, "online", ", ".join(team.names()), why, seconds, {}, {}, details)


def check_strategy(strategy: object) -> None:
    """Raise an :class:`UnsupportedStrategyError` if a components *strategy* cannot run on several devices."""
    if not is_among(strategy, ("auto", *LOCAL)):
        raise UnsupportedStrategyError(f"strategy = {shown(strategy)}; on several devices: 'auto', {', '.join(LOCAL)}")


def reason(asked: str) -> str:
    """Return the text that tells why a run uses its strategy.

    *asked* is the strategy that the caller named.
    """
    return "asked for" if asked != "auto" else "predicted to be the fastest on the first part"


def all_seen(skips: Sequence[int | None], numbers: NDArray[np.int32]) -> bool:
    """Return whether the component labels are right although some devices skipped the rows of their giant component.

    An edge is missed if both of its rows are skipped, in two different parts. Then its ends are in the giants of these
    parts. The edge is not needed if all giants belong to one component in the end. A part that skipped nothing reads
    each edge in only one of its two rows, and the other part may have skipped that row. So either all parts skip
    rows, or none.

    Parameters
    ----------
    skips : sequence of int or None
        A vertex of each part's giant component, or ``None`` for a part that has read all its rows.
    numbers : int32 array
        The component number of each vertex, as found.
    """
    giants = [vertex for vertex in skips if vertex is not None]
    return not giants or (len(giants) == len(skips) and np.unique(numbers[giants]).size == 1)


def picked(graph: SplitGraph | StreamedGraph, strategy: str) -> str:
    """Return the components *strategy* to run; for ``"auto"``, the cost model's choice for the first slab of the graph.

    A streamed graph is limited by the bus, whatever the strategy. So it takes the first of ``LOCAL``.
    """
    if strategy != "auto":
        return strategy
    if isinstance(graph, SplitGraph):
        for place, session in enumerate(graph.team.sessions):
            for slab in graph.slabs(place):
                table = {name: STRATEGIES[name] for name in LOCAL}
                problem = _PartProblem(slab.graph.as_graph())
                with session.driver:
                    return choose(table, LOCAL, "auto", problem, session.facts, session.profile.rates).strategy
    return LOCAL[0]


def _local_forests(graph: SplitGraph | StreamedGraph, strategy: str, given: Mapping[str, Any]) -> list[Forest | None]:
    """Return, for each device, the spanning forest of the entries that it
    holds, or ``None`` for a device without entries.
    """

    def found(place: int) -> Forest | None:
        began, forest = time.perf_counter(), local_forest(graph, place, strategy, given)
        if forest is not None:
            wait_for(forest.session)
            forest.seconds = time.perf_counter() - began
        return forest

    return graph.team.each(found)


def local_forest(
    graph: SplitGraph | StreamedGraph, place: int, strategy: str, given: Mapping[str, Any]
) -> Forest | None:
    """Enqueue kernels that find the spanning forest of the entries that one device holds, and return the forest.

    Return ``None`` for a device without entries.
    """
    forest = None
    for slab in graph.slabs(place):
        session = slab.graph.session
        with session.driver:
            plan, keep = _plan(slab.graph, strategy, given, stays=isinstance(graph, SplitGraph))
            plan.run()
            if forest is None:
                forest = Forest(plan, keep=keep)
            else:
                forest.merge(plan.labels)
                keep()
            forest.n_entries += slab.graph.n_edges
            # In an undirected graph, the plan may have skipped the rows of the giant component.
            if not slab.graph.directed and "state" in plan.arrays and given.get("skip_giant", True):
                forest.states.append(plan.arrays["state"])
    return forest


def _plan(
    part: DeviceGraph, strategy: str, given: Mapping[str, Any], *, stays: bool
) -> tuple[ComponentsPlan, Callable[[], None]]:
    """Return a plan for *part*, and a function that keeps the plan for the next call, if the part *stays*."""
    session, problem, make = part.session, ComponentsProblem(part.as_graph()), STRATEGIES[strategy].plan
    if strategy == "afforest":
        given = {"strides": _STRIDES, **given}
    key = key_of(make, given, "part") if stays else None
    plan: ComponentsPlan | None = None if key is None else session.kept.take(part, key)
    if plan is None or not plan.fits(session):
        plan = make(session, problem, **given)
    else:
        plan.attach(problem)
    # The plan's predicted time is set to 0, because a plan with a long predicted time waits after each launch.
    # A wait after each launch would hold the driver's lock, which the threads of the other devices need.
    plan.predicted_seconds = 0.0
    if key is None:
        return plan, plan.release

    def keep(plan: ComponentsPlan = plan) -> None:
        plan.detach()
        n_bytes = sum(array.nbytes for array in plan.arrays.values()) + _NUMBERING_BYTES * part.n_vertices
        session.kept.put(part, key, plan, n_bytes)

    return plan, keep


def bare_forest(session: Session, n: int) -> Forest:
    """Return the spanning forest of *n* vertices without edges: each vertex is a tree."""
    graph = Graph._trusted(np.zeros(n + 1, np.int32), np.zeros(0, np.int32), sorted_rows=True)
    plan = STRATEGIES["rem"].plan(session, ComponentsProblem(graph))
    plan.run()
    return Forest(plan)


def _merge(team: Team, forests: Mapping[int, Forest]) -> tuple[int, int, int]:
    """Merge the forests of all devices on one of them.

    Return its index, the rounds, and the most bytes moved by a device.
    """
    rounds, moved = team.merge_rounds([*forests]), dict.fromkeys(forests, 0)
    for pairs in rounds:
        gives = dict(pairs)

        def merge(taker: int, gives: Mapping[int, int] = gives) -> int:
            return forests[taker].take(team, forests[gives[taker]])

        for (taker, giver), n_bytes in zip(pairs, team.each(merge, [*gives]), strict=True):
            moved[taker] += n_bytes
            moved[giver] += n_bytes
    last = rounds[-1][0][0] if rounds else next(iter(forests), 0)
    return last, len(rounds), max(moved.values(), default=0)
