"""Connected components of an undirected graph; weak components of a directed one.

Strategies
----------
``hook_compress``
    Rounds of hooking without atomics, then one with compare-exchange [1]_.
``rem``
    Rem's union-find with splicing, lock-free [2]_.
``afforest``
    Hook along a sample of the edges, find the giant component on the device, then look only at
    what is outside it [3]_.
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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.components_work import (
    afforest_work,
    degree_classes_work,
    hook_compress_work,
    rem_hooks_first,
    rem_work,
    sample_strides,
    starts_as_one_tree,
)
from clgraph.arguments import checked_count, checked_flag, shown
from clgraph.engine.solve import solve
from clgraph.errors import InputError, VerificationError
from clgraph.graph import Graph, as_graph
from clgraph.model.strategy import Choice, Strategy, choose
from clgraph.primitives.fill import Fill
from clgraph.primitives.scan import Scan
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session, SessionLike, as_session
from clgraph.runtime.timing import RunInfo

_MAX_VERTICES = 2**31 - 2**12  # a work-item's first vertex must fit int32, rounded up to work-groups
_PHASES = "components/phases.cl"
_LONG_RUN = 1 << 25  # entries
_MOST_STRIDES = 1 << 8


class _Components(NamedTuple):
    n_components: int
    labels: NDArray[np.int32]


class Components(_Components):
    """Result of :func:`connected_components`; unpacks as ``n_components, labels``.

    Attributes
    ----------
    n_components : int
    labels : int32 array, shape (n_vertices,)
        The number of each vertex's component; components are numbered by their smallest vertex.
    info : RunInfo
        What ran, where, and how long it took.
    """

    info: RunInfo


class ComponentsPlan:
    """A compiled and allocated run on one graph; ``run()`` may be called again.

    Attributes
    ----------
    labels : DeviceArray
        After ``run()``, the smallest vertex of each vertex's component, int32, in the first
        ``n_vertices`` items.
    launches : list of Launch
        What ``run()`` enqueues.
    """

    def __init__(self, session: Session, graph: Graph, *, hook_first: bool, **defines: int) -> None:
        if graph.n_vertices > _MAX_VERTICES:
            raise InputError(f"{graph.n_vertices} vertices; connected components takes at most {_MAX_VERTICES}")
        self.session, self.n = session, graph.n_vertices
        # Ctrl-C is heard between launches; on a CPU a few of them in flight may take seconds.
        self._waits = session.facts.is_cpu and graph.n_edges > _LONG_RUN
        on_device = device_graph(session, graph)
        self.labels = session.empty(-(-self.n // 4) * 4, np.int32)
        hook_first = hook_first and graph.n_edges > 0
        self.defines: dict[str, int | str] = {
            **on_device.defines(),
            "SYMMETRIC": int(not graph.directed),
            "SORTED_ROWS": int(graph.has_sorted_rows),
            "HOOK_FIRST": int(hook_first),
            "FIRST_IS_LINKED": int(hook_first and not graph.directed),
            **defines,
        }
        second = session.empty(self.labels.size if defines.get("KEEP_SECOND") else 1, np.int32)
        self.scope: dict[str, Any] = {
            "n": self.n, "m": graph.n_edges, **on_device.scope, "parent": self.labels, "second": second
        }
        self.launches: list[Launch] = [self.bind_quarter(_PHASES, "initialize")]

    def bind(self, source: str, kernel: str, n_items: int, **arguments: Any) -> Launch:
        """Bind *kernel* of *source* to what the phases share, and *arguments* of its own."""
        return self.session.program(source, self.defines).bind(kernel, n_items, self.scope, **arguments)

    def bind_quarter(self, source: str, kernel: str, **arguments: Any) -> Launch:
        """Bind a kernel whose work-items take four vertices each."""
        return self.bind(source, kernel, -(-self.n // 4), **arguments)

    def compress(self) -> Launch:
        return self.bind_quarter(_PHASES, "compress")

    def run(self) -> None:
        """Enqueue everything; nothing is read back."""
        if self.n:
            for launch in self.launches:
                event = launch()
                if self._waits:
                    self.session.wait(event)

    def number(self) -> tuple[DeviceArray, int]:
        """Number the components by their smallest vertex, after ``run()``.

        Returns
        -------
        labels : DeviceArray, int32
            Component numbers 0 … k−1 of the vertices.
        n_components : int
            k, read back.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        labels, ranks = self.session.empty(self.n, np.int32), self.session.empty(self.n + 1, np.int32)
        if not self.n:
            return labels, 0
        self.bind(_PHASES, "mark_roots", self.n, is_root=labels)()
        scan = Scan(self.session, labels, ranks)
        scan.run()
        self.bind(_PHASES, "number_components", self.n, rank=ranks, labels=labels)()
        scan.check()
        return labels, int(ranks.item(self.n))

    def n_components(self) -> int:
        """Count the components on the device, after ``run()``."""
        return self.number()[1]


def _hook_compress(session: Session, graph: Graph, *, hook_rounds: int = 1) -> ComponentsPlan:
    """*hook_rounds* rounds without atomics, each followed by compressing, before the atomic one."""
    hook_rounds = checked_count("hook_rounds", hook_rounds, 2, least=0)
    plan = ComponentsPlan(session, graph, hook_first=hook_rounds > 0)
    source = "components/hook_compress.cl"
    for _ in range(1, hook_rounds):
        plan.launches += [plan.compress(), plan.bind(source, "hook", plan.n)]
    if hook_rounds:
        plan.launches.append(plan.compress())
    plan.launches += [plan.bind(source, "hook_atomic", plan.n), plan.compress()]
    return plan


def _rem(session: Session, graph: Graph, *, hook_rounds: int | None = None) -> ComponentsPlan:
    """*hook_rounds*: 0 or 1 rounds of hooking without atomics first; the default is for the device and graph."""
    if hook_rounds is None:
        hook_rounds = int(rem_hooks_first(graph.stats, session.facts))
    plan = ComponentsPlan(session, graph, hook_first=checked_count("hook_rounds", hook_rounds, 1, least=0) > 0)
    if hook_rounds:
        plan.launches.append(plan.compress())
    plan.launches += [plan.bind("components/rem.cl", "unite", plan.n), plan.compress()]
    return plan


def _afforest(
    session: Session, graph: Graph, *, strides: Sequence[int] | None = None, hook_steps: int | None = None
) -> ComponentsPlan:
    """Round k hooks every *strides*[k]-th vertex to its second neighbour; defaults from the statistics."""
    if strides is None:
        strides = sample_strides(graph.stats)
    if not isinstance(strides, Sequence) or len(strides) > _MOST_STRIDES:
        raise InputError(f"strides = {shown(strides)}; allowed: a sequence of at most {_MOST_STRIDES} integers")
    strides = [checked_count("strides", stride, 2**20) for stride in strides]
    if hook_steps is None:
        hook_steps = 2 if starts_as_one_tree(graph.stats) else 1
    plan = ComponentsPlan(
        session, graph, hook_first=True, HOOK_STEPS=checked_count("hook_steps", hook_steps, 64),
        KEEP_SECOND=int(1 in strides and graph.n_edges > 0),
    )
    source = "components/afforest.cl"
    plan.launches.append(plan.compress())
    for stride in strides:
        if stride == 1 and graph.n_edges:
            hook = plan.bind_quarter(source, "hook_second")
        else:
            hook = plan.bind(source, "hook_sample", -(-plan.n // stride), stride=stride)
        plan.launches += [hook, plan.compress()]
    words = session.program(_PHASES, plan.defines).constant("STATE_WORDS")
    plan.scope["state"] = session.empty(words, np.int32)
    plan.launches += [
        plan.bind(_PHASES, "find_giant", 1),
        plan.bind_quarter(source, "link_rest"),
        plan.bind_quarter(_PHASES, "compress_if_linked", max_groups=16 * session.facts.compute_units),
    ]
    return plan


def _degree_classes(session: Session, graph: Graph, *, hook_rounds: int = 1) -> ComponentsPlan:
    plan = ComponentsPlan(session, graph, hook_first=checked_count("hook_rounds", hook_rounds, 1, least=0) > 0)
    source = "components/degree_classes.cl"
    size = session.empty(2, np.uint32)
    plan.scope |= {"rows": session.empty(plan.n, np.int32), "size": size}
    many = 8 * session.facts.compute_units * session.program(source, plan.defines).work_group_size
    if hook_rounds:
        plan.launches.append(plan.compress())
    plan.launches += [
        *Fill(session, size, 0).launches,
        plan.bind(source, "link_short", plan.n),
        plan.bind(source, "link_medium", many),
        plan.bind(source, "link_long", many),
        plan.compress(),
    ]
    return plan


STRATEGIES: dict[str, Strategy] = {
    "afforest": Strategy("online", _afforest, afforest_work),
    "rem": Strategy("online", _rem, rem_work),
    "hook_compress": Strategy("online", _hook_compress, hook_compress_work),
    "degree_classes": Strategy("online", _degree_classes, degree_classes_work),
}


def choose_strategy(session: Session, graph: Graph, *, strategy: str = "auto") -> Choice:
    """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest."""
    return choose(STRATEGIES, strategy, lambda: graph.stats, session.facts, session.profile.rates)


def connected_components(
    graph: Any,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Any,
) -> Components:
    """Find the connected components of *graph*; of a directed graph, the weak ones.

    Parameters
    ----------
    graph : Graph, scipy sparse array or networkx graph
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, sequentially on the host.
    **options
        Options of the strategy: ``hook_rounds`` (``hook_compress``: 0 … 2; ``rem`` and
        ``degree_classes``: 0 or 1), ``strides`` and ``hook_steps`` (``afforest``).

    Returns
    -------
    Components
        ``n_components`` and int32 ``labels`` of shape (n_vertices,), numbered by smallest vertex as
        scipy's are, equal on every device and under every strategy; and ``info``.

    Raises
    ------
    InputError
        *graph* is no graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> n_components, labels = cg.connected_components(cg.generators.path(4))
    >>> n_components, labels.tolist()
    (1, [0, 0, 0, 0])
    """
    verify = checked_flag("verify", verify)
    on, data = as_session(session), as_graph(graph)
    result, info = solve(
        on, STRATEGIES, lambda: choose_strategy(on, data, strategy=strategy), (data,), options, _components
    )
    result.info = info
    if verify:
        _verify(data, result)
    return result


def _components(plan: ComponentsPlan) -> Components:
    numbers, n_components = plan.number()
    return Components(n_components, numbers.get())


def _verify(graph: Graph, result: Components) -> None:
    from clgraph.reference.components import check_components

    numbers, smallest = np.unique(result.labels, return_index=True)
    if not np.array_equal(numbers, np.arange(result.n_components)) or (np.diff(smallest) < 0).any():
        raise VerificationError("the components are not numbered 0, 1, … by their smallest vertices")
    check_components(graph, smallest.astype(np.int32)[result.labels])
