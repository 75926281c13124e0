"""Partition the vertices into parts of nearly equal weight, with few edges between parts.

Strategies
----------
``gpu``
    Multilevel partitioning, on one device from end to end. Levels are matched and contracted until few vertices are
    left. These are divided by recursive bisection, in several attempts at once, and every level is refined on the way
    back [1]_.

    ``matching`` selects how vertices are paired. ``"lock_free"`` takes heavy edges that both ends choose.
    ``"two_hop"`` then also pairs remaining vertices with a common neighbour [2]_; the other matchings do so once a
    level hardly shrinks. In ``"segmented"`` the lanes of a sub-group share its rows, and vertices propose and accept
    until none has a free neighbour.

    ``contraction`` selects how parallel edges of a coarse level are merged: ``"hashed"``, by a hash table for each
    coarse vertex, or ``"sorted"``, by one sort of all entries. Both produce the same levels.

    ``refinement`` selects how vertices move between parts: ``"label_propagation"`` [3]_; ``"buffered"``, in which a
    part accepts the requests with the largest gains that fit [4]_; ``"permutations"``, in which a part accepts the
    best subset of some requests; or ``"noop"``, which only projects the coarser partition.
``pairwise_fm``
    Multilevel partitioning by one work-item for each core of a CPU. Vertices join clusters by label propagation [5]_,
    and a cluster is a vertex of the next level. The coarsest level is divided by recursive bisection, in several
    attempts. On the way back each pair of adjacent parts is refined by the method of Fiduccia and Mattheyses [6]_ [7]_,
    two pairs of different parts at the same time. It has a matching, contraction and refinement of its own, and is not
    deterministic.
``hybrid``
    ``gpu``, but the CPU divides a coarse level, by METIS if pymetis is installed, else by the CPU's OpenCL runtime. All
    levels are refined on the device [4]_.
``host``
    METIS, on one core of the host, if pymetis is installed.

References
----------
.. [1] G. Karypis, V. Kumar. "A fast and high quality multilevel scheme for partitioning irregular graphs." SIAM J.
   Scientific Computing 20, 1998.
.. [2] D. LaSalle et al. "Improving graph partitioning for modern graphs and architectures." IA3 2015.
.. [3] M. Gilbert, K. Madduri, E. Boman, S. Rajamanickam. "Jet: multilevel graph partitioning on graphics processing
   units." SIAM J. Scientific Computing 46, 2024.
.. [4] G. Goodarzi, M. Burtscher, D. Goswami. "Parallel graph partitioning on a CPU-GPU architecture." IPDPSW 2016.
.. [5] L. Gottesbüren et al. "Deep multilevel graph partitioning." ESA 2021.
.. [6] C. Fiduccia, R. Mattheyses. "A linear-time heuristic for improving network partitions." DAC 1982.
.. [7] M. Holtgrewe, P. Sanders, C. Schulz. "Engineering a scalable high quality graph partitioner." IPDPS 2010.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.problem import PartitionProblem, as_problem, whole_of
from clgraph.algorithms.partition.strategies import STRATEGIES, contenders
from clgraph.arguments import Seed
from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.networkx_graphs import Weight
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import VertexResult
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Partition(NamedTuple):
    edge_cut: int
    parts: NDArray[np.int32]


class Partition(VertexResult, _Partition):
    """Result of :func:`partition`; unpacks as ``edge_cut, parts``.

    Attributes
    ----------
    edge_cut : int
        The weight of the edges between parts. Each edge counts once.
    parts : int32 array, shape (n_vertices,)
        The part of each vertex, 0 … n_parts - 1.
    part_weights : int64 array, shape (n_parts,)
    imbalance : float
        The largest excess of a part's weight over its share, as a fraction of the share.
    levels : list of dict
        For each level, the finest first: the number of ``vertices`` and ``edges``; ``coarsening_seconds``, the time to
        make the next level; and if the host knows them, the ``cut`` after refinement, its ``turns`` and its
        ``refinement_seconds``.
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took. ``info.details`` has the seconds of each phase.
    """

    part_weights: NDArray[np.int64]
    imbalance: float
    levels: list[dict[str, Any]]
    graph: Graph
    info: RunInfo
    _VALUES = "parts", "part"


class Options(TypedDict, total=False):
    """Keyword options of :func:`partition`, whose docstring describes them."""

    coarsest: int | None
    individuals: int | None
    top_k: int
    drop_light_edges: bool
    move_at: int | None
    host: str | None


def partition(
    graph: Any,
    n_parts: int,
    *,
    imbalance: float = 0.03,
    vertex_weights: Any = None,
    target_weights: Any = None,
    weight: Weight = "weight",
    strategy: str = "auto",
    matching: str = "two_hop",
    contraction: str = "hashed",
    refinement: str = "label_propagation",
    effort: str = "normal",
    seed: Seed = 0,
    deterministic: bool = False,
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> Partition:
    """Divide the vertices of *graph* into *n_parts* parts of nearly equal weight, with few edges between parts.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array, networkx graph or TriangleMesh
        Undirected, or directed with the reverse of each entry. Edge weights are nonnegative integers; without weights
        every edge weighs 1. Self-loops are ignored, and the weights of parallel edges add up. A mesh
        stands for its dual graph, whose vertices are the triangles.
    n_parts : int
        1 … 1024.
    imbalance : float
        Allowed excess of a part's weight over its share, as a fraction of the share. It is kept if vertices weigh 1
        each, or if the heaviest vertex is light enough (see Notes).
    vertex_weights : int array, shape (n_vertices,), optional
        Nonnegative, with a sum of at most 2**31 - 1.
    target_weights : float array, shape (n_parts,), optional
        The share of each part in the total weight. The shares are scaled to a sum of 1.
    weight : str, function or None
        Edge attribute of a networkx graph to use; edges without it weigh 1. ``None`` ignores the weights of any graph.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    matching : {"two_hop", "lock_free", "segmented"}
    contraction : {"hashed", "sorted"}
    refinement : {"label_propagation", "buffered", "permutations", "noop"}
    effort : {"normal", "fast", "max"}
        On CPUs ``"fast"`` takes less time for a larger cut; on GPUs it is the same as ``"normal"``. ``"max"`` lowers
        the cut for more time. It tries more partitions of the coarse levels, and ``gpu`` combines them in several
        generations, as a genetic algorithm does. It also coarsens and refines again within the parts, more often.
    seed : int, or another argument of numpy.random.default_rng
        The seed of all random choices, modulo 2**32.
    deterministic : bool
        Return the same parts in every run and on every device.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Options of the strategy. ``gpu`` has ``coarsest``, the number of vertices per part at which coarsening ends;
        ``individuals``, the number of partitions of the coarsest level that are tried; and ``top_k`` (1 … 16, default
        11), the number of moves to a part that the refinement ``"permutations"`` combines. With
        ``drop_light_edges=True`` coarse levels keep only their heaviest entries, at most twice the graph's mean degree
        per vertex; this suits irregular graphs. ``pairwise_fm`` has ``coarsest`` and ``individuals``. ``hybrid`` has
        the options of ``gpu`` except ``individuals``. It also has ``move_at``, the largest number of vertices of the
        level that the CPU divides, and ``host``, ``"metis"`` or ``"cpu"``.

    Returns
    -------
    Partition
        ``edge_cut`` and int32 ``parts``, ``part_weights``, ``imbalance``, ``levels`` and ``info``.

    Raises
    ------
    InputError
        *graph* is not a graph or not symmetric, or an argument is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The levels do not fit on the device.

    Warns
    -----
    RuntimeWarning
        A part weighs more than *imbalance* allows, because a vertex alone is heavier or the weights do not fit.

    Notes
    -----
    The limit of a part is its share times 1 + *imbalance*, or the share rounded up if that is more. All parts keep
    their limits in three cases: if vertices weigh 1 each; if the heaviest vertex weighs at most ``f / (n_parts - 1)``,
    where f is the sum of all limits minus the total weight; or if the vertices fit when each, the heaviest first, is
    put into the part with the most room.

    A vertex heavier than every limit gets a part of its own, and the other parts share the rest of the weight. A part
    is empty only if its share is below half a vertex, or if no other part has a second vertex that fits.

    Examples
    --------
    >>> import clgraph as cg
    >>> edge_cut, parts = cg.partition(cg.generators.two_cliques(8, bridge=True), 2)
    >>> edge_cut, sorted([*parts[:8], *parts[8:]]) == [0] * 8 + [1] * 8
    (1, True)
    """
    problem = as_problem(
        graph,
        n_parts=n_parts,
        imbalance=imbalance,
        vertex_weights=vertex_weights,
        target_weights=target_weights,
        matching=matching,
        contraction=contraction,
        refinement=refinement,
        effort=effort,
        seed=seed,
        deterministic=deterministic,
        weight=weight,
    )
    result: Partition = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    problem = whole_of(problem)
    if (result.part_weights > problem.limits).any():
        warnings.warn(
            f"a part is {100 * result.imbalance:.1f} % heavier than its share; allowed: {100 * imbalance:g} %"
            + (f". A vertex weighs {problem.heaviest}" if problem.heaviest > problem.limits.max() else ""),
            RuntimeWarning,
            stacklevel=2,
        )
    return result


def _answer(problem: PartitionProblem, plan: Any) -> Partition:
    parts, edge_cut, weights = plan.result()
    if (apart := problem.apart) is not None:
        problem = apart.whole
        parts, edge_cut = apart.others.astype(np.int32)[parts], edge_cut + apart.edge_cut
        parts[apart.vertices] = apart.parts
        assert problem.vertex_weights is not None
        of_others, weights = weights, np.zeros(problem.n_parts, np.int64)
        weights[apart.others], weights[apart.parts] = of_others, problem.vertex_weights[apart.vertices]
    result = Partition(edge_cut, parts)
    result.part_weights, result.imbalance = weights, _imbalance(problem, weights)
    result.levels, result.graph = getattr(plan, "levels", []), problem.graph
    return result


def _imbalance(problem: PartitionProblem, weights: NDArray[np.int64]) -> float:
    targets = problem.targets
    over = np.where(targets > 0, weights / np.where(targets > 0, targets, 1.0), np.where(weights > 0, np.inf, 0.0))
    return float(over.max() - 1) if problem.total_weight else 0.0


def _check(problem: PartitionProblem, result: Partition) -> None:
    from clgraph.reference.partition import check_partition

    problem = whole_of(problem)
    check_partition(
        problem.graph,
        result.parts,
        problem.n_parts,
        result.edge_cut,
        vertex_weights=problem.vertex_weights,
        part_weights=result.part_weights,
    )


ALGORITHM = Algorithm("partition", STRATEGIES, contenders, as_problem, _answer, _check)
