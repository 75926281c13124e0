"""Find the connected components of an undirected graph, or the weak components of a directed graph.

Strategies
----------
``hook_compress``
    Rounds of hooking without atomics, then one with compare-exchange [1]_.
``rem``
    Rem's union-find with splicing, lock-free [2]_. On a CPU, a matrix that is passed for one call is validated by the
    same kernels that unite its edges.
``afforest``
    Hook along a sample of the edges, find the giant component on the device, then process only the
    vertices outside it [3]_.
``degree_classes``
    Three kernels by degree: a row is processed by a work-item, a sub-group or a work-group [4]_.
``host``
    scipy's search on one core of the host. It finishes small graphs before a kernel would have started.

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

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components import on_devices, on_processes
from clgraph.algorithms.connected_components.plan import ComponentsPlan, MatrixComponents
from clgraph.algorithms.connected_components.problem import ComponentsProblem, as_problem
from clgraph.algorithms.connected_components.strategies import STRATEGIES, contenders
from clgraph.arguments import checked_flag, is_among, shown
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertices import Vertices
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.host import HostPlan
from clgraph.engine.result import VertexResult
from clgraph.errors import InputError, VerificationError
from clgraph.multi_device.process_graph import ProcessGraph, as_parts
from clgraph.multi_device.split_graph import SPLIT_OPTIONS, SplitGraph, StreamedGraph
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import Session, SessionLike


class _Components(NamedTuple):
    n_components: int
    labels: NDArray[np.int32]


class Components(VertexResult, _Components):
    """Result of :func:`connected_components`; unpacks as ``n_components, labels``.

    Attributes
    ----------
    n_components : int
    labels : int32 array, shape (n_vertices,)
        The component number of each vertex. Components are numbered in the order of their smallest vertices.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids, and so does the result of a graph that was made on
        several devices.
    info : RunInfo
        What ran, where, and how long it took.
    """

    graph: Graph
    info: RunInfo
    _VALUES = "labels", "component"


class Options(TypedDict, total=False):
    """Keyword options of :func:`connected_components`, whose docstring describes each option."""

    strides: Sequence[int] | None
    hook_steps: int | None
    hook_rounds: int | None
    skip_giant: bool
    shares: str
    segment_entries: int | None


def connected_components(
    graph: Any,
    *,
    strategy: str = "auto",
    session: SessionLike = None,
    devices: object = None,
    verify: bool = False,
    output: str = "host",
    **options: Unpack[Options],
) -> Components:
    """Find the connected components of *graph*, or its weak components if the graph is directed.

    Parameters
    ----------
    graph : Graph, DeviceGraph, SplitGraph, ProcessGraph, scipy sparse array or networkx graph
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    devices : "all", or sequence of str, Session or pyopencl.Device, optional
        Several devices instead, which get ranges of the entries, in segments, and merge their forests. A
        :class:`SplitGraph` or :class:`ProcessGraph` has its devices already. Several GPUs that are named read a graph
        of :meth:`Graph.share_memory` at once, in processes of their own; any other graph goes to the first of them,
        unless it is too large for that.
    verify : bool
        Check the result against the definition, sequentially on the host.
    output : {"host", "device"}
        "device" leaves the arrays in device memory, as ``pyopencl.array.Array``. The result is then a
        :class:`~clgraph.engine.device_result.DeviceResult` with the same attributes; its ``get()`` copies it.
    **options
        Options of the strategy: ``hook_rounds`` (``hook_compress``: 0 … 2; ``rem`` and ``degree_classes``: 0 or 1),
        the rounds of hooking without atomics; ``strides`` and ``hook_steps`` (``afforest``): round k hooks every
        ``strides[k]``-th vertex to its second neighbour; ``skip_giant`` (``afforest``): whether rows of the giant
        component are left out, by default true. With *devices*: ``shares``, whether each device gets entries
        in proportion to the ``"speed"`` of its memory (the default) or an ``"equal"`` number; and ``segment_entries``,
        the number of entries uploaded at once. Several devices support ``rem``, ``hook_compress`` and ``afforest``.

    Returns
    -------
    Components
        ``n_components``, int32 ``labels`` of shape (n_vertices,), and ``info``. Components are numbered by their
        smallest vertex, as in scipy. Every device and strategy returns the same labels.

    Raises
    ------
    InputError
        *graph* is not a graph, or an option is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.
    DeviceError
        One of several devices has failed; the message names it.

    Examples
    --------
    >>> import clgraph as cg
    >>> n_components, labels = cg.connected_components(cg.generators.path(4))
    >>> n_components, labels.tolist()
    (1, [0, 0, 0, 0])
    """
    if devices is not None or isinstance(graph, SplitGraph | ProcessGraph):
        checked_flag("verify", verify)
        if not is_among(output, ("host",)):
            raise InputError(f"output = {shown(output)}: answers of several devices are collected on the host")
        ALGORITHM.check_options(options)
        parts = as_parts(graph, devices, session, given := dict(options))
        if not isinstance(parts, Session):
            return _on_devices(parts, strategy, given, verify)
        session = parts
    problem = as_problem(graph)
    result: Components = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options, output=output
    )
    return result


def _on_devices(
    graph: SplitGraph | StreamedGraph | ProcessGraph, strategy: str, options: Mapping[str, Any], verify: bool
) -> Components:
    if verify and graph.source is None:
        raise InputError("verify = True; a graph that was made on its devices cannot be checked on the host")
    solver = on_processes if isinstance(graph, ProcessGraph) else on_devices
    n_components, labels, info = solver.solve(graph, strategy, options)
    result = Components(n_components, labels)
    result.info, result.graph = info, graph.source or Vertices(labels.size, None)
    if verify:
        _check(as_problem(graph.source), result)
    return result


def _answer(problem: ComponentsProblem, plan: ComponentsPlan | MatrixComponents | HostPlan) -> Components:
    result = Components(*plan.result())
    result.graph = problem.graph
    return result


def _check(problem: ComponentsProblem, result: Components) -> None:
    from clgraph.reference.connected_components import check_components

    numbers, smallest = np.unique(result.labels, return_index=True)
    if not np.array_equal(numbers, np.arange(result.n_components)) or (np.diff(smallest) < 0).any():
        raise VerificationError("the components are not numbered 0, 1, … by their smallest vertices")
    check_components(problem.graph, smallest.astype(np.int32)[result.labels])


ALGORITHM = Algorithm(
    "connected_components", STRATEGIES, contenders, as_problem, _answer, _check, split_options=SPLIT_OPTIONS
)
