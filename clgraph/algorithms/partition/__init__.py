"""Partitions of the vertices into parts of like weight, with few edges between parts.

Strategies
----------
``gpu``
    Multilevel, on one device from end to end. Levels are matched and contracted until few vertices are left; those are
    divided by recursive bisection, several times at once, and every level is refined on the way back [1]_.
    ``matching`` is ``"lock_free"``, heavy edges that both ends choose; ``"two_hop"``, which then matches the rest if
    they have a common neighbour [2]_, as the others do once a level hardly shrinks; or ``"segmented"``, where the
    lanes of a sub-group share its rows, and vertices propose and accept until none has a free neighbour.
    ``contraction`` is ``"hashed"``, with a table for each coarse vertex, or ``"sorted"``, by one sort of all entries;
    both make the same levels.
    ``refinement`` is ``"label_propagation"`` [3]_; ``"buffered"``, in which parts take the requests that gain
    most and for which they have room [4]_; ``"permutations"``, in which each part takes the best set of some requests;
    or ``"noop"``, which projects only.
``hybrid``
    The same, but the CPU divides a coarse level: METIS if pymetis is installed, or the OpenCL runtime of the CPU. All
    levels are refined on the device [4]_.

References
----------
.. [1] G. Karypis, V. Kumar. "A fast and high quality multilevel scheme for partitioning irregular graphs." SIAM J.
   Scientific Computing 20, 1998.
.. [2] D. LaSalle et al. "Improving graph partitioning for modern graphs and architectures." IA3 2015.
.. [3] M. Gilbert, K. Madduri, E. Boman, S. Rajamanickam. "Jet: multilevel graph partitioning on graphics processing
   units." SIAM J. Scientific Computing 46, 2024.
.. [4] G. Goodarzi, M. Burtscher, D. Goswami. "Parallel graph partitioning on a CPU-GPU architecture." IPDPSW 2016.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.partition.problem import PartitionProblem, as_problem, whole_of
from clgraph.algorithms.partition.strategies import STRATEGIES, contenders
from clgraph.arguments import Seed
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import Result
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Partition(NamedTuple):
    edge_cut: int
    parts: NDArray[np.int32]


class Partition(Result, _Partition):
    """Result of :func:`partition`; unpacks as ``edge_cut, parts``.

    Attributes
    ----------
    edge_cut : int
        The weight of the edges between parts; each edge counts once.
    parts : int32 array, shape (n_vertices,)
        The part of each vertex, 0 … n_parts - 1.
    part_weights : int64 array, shape (n_parts,)
    imbalance : float
        The greatest excess of a part's weight over its share, as a fraction of the share.
    levels : list of dict
        ``vertices`` and ``edges`` of each level, the finest first; ``coarsening_seconds``, the time to make
        the next level from it; and as far as the host knows them, the ``cut`` that refinement left, its ``turns`` and
        its ``refinement_seconds``.
    info : RunInfo
        What ran, where, and how long it took; ``info.details`` has the seconds of each phase.
    """

    part_weights: NDArray[np.int64]
    imbalance: float
    levels: list[dict[str, Any]]
    info: RunInfo


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`partition`, which tells what each does."""

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
    """Divide the vertices of *graph* into *n_parts* parts of like weight, with few edges between parts.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        It is undirected, or directed with the reverse of each entry. Weights of edges are integers of at least 0;
        without any, each is 1. Self-loops do not matter, and repeats add up.
    n_parts : int
        1 … 1024.
    imbalance : float
        How much more a part may weigh than its share, as a fraction of the share. No part weighs more if vertices
        weigh 1 each, or if the heaviest is light enough (see Notes).
    vertex_weights : int array, shape (n_vertices,), optional
        At least 0, and at most 2**31 - 1 together.
    target_weights : float array, shape (n_parts,), optional
        The share of each part of the whole weight; it is scaled to a sum of 1.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    matching : {"two_hop", "lock_free", "segmented"}
    contraction : {"hashed", "sorted"}
    refinement : {"label_propagation", "buffered", "permutations", "noop"}
    effort : {"normal", "max"}
        With ``"max"`` more partitions of the coarse levels are tried, and crossed for some generations, and levels are
        made anew within the parts more often.
    seed : int, or what else numpy.random.default_rng takes
        The seed of all random choices, modulo 2**32.
    deterministic : bool
        Give the same parts in every run and on every device.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Options of the strategy. ``gpu`` has ``coarsest``, the vertices for each part at which coarsening ends,
        ``individuals``, how many partitions of the coarsest level are tried, and ``top_k``, 1 … 16, how many moves to a
        part the refinement ``"permutations"`` combines (11). With ``drop_light_edges=True`` coarse levels keep only
        their heaviest entries, per vertex at most twice the mean degree of the graph; this is for irregular graphs.
        ``hybrid`` has the same without ``individuals``, and ``move_at``, the most vertices of the level that the CPU
        divides, and ``host``, ``"metis"`` or ``"cpu"``.

    Returns
    -------
    Partition
        ``edge_cut`` and int32 ``parts``, ``part_weights``, ``imbalance``, ``levels`` and ``info``.

    Raises
    ------
    InputError
        *graph* is no graph or not symmetric, or an argument is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The levels do not fit on the device.

    Warns
    -----
    RuntimeWarning
        A part weighs more than *imbalance* allows, since a vertex is heavier than that or the weights do not fit.

    Notes
    -----
    The limit of a part is its share times 1 + *imbalance*, or the share rounded up if that is more. All parts keep
    their limits if vertices weigh 1 each; if the heaviest weighs at most the free weight of all limits over
    ``n_parts - 1``; or if the vertices fit when each, the heaviest first, goes to the part with the most room. A vertex
    heavier than every limit has a part alone, and the other parts share the rest of the weight. A part is empty only if
    its share of the vertices is below half a vertex, or if no other part has a second vertex that fits.

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
    result.levels = plan.levels
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
