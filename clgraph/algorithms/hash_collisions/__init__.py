"""Count the collisions of hash colourings: neighbours of one colour, where the colour is a hash of the vertex number.

A hash colouring gives vertex v the colour h(v) mod 2**b. It costs nothing, but some neighbours get the same colour. The
table has the number of these collisions for each hash function h of :mod:`clgraph.data.graphs.vertex_hashes` and each
number of bits b.

Strategies
----------
``row_per_item``
    A work-item processes a row. A work-group processes a tile of rows and reduces its counts once. At distance 1 the
    neighbours are loaded into local memory, and all hashes and widths are compared and counted at once, as bit planes.
``row_per_sub_group``
    A sub-group processes a row, and each of its lanes a hash. A histogram of the number of equal low bits counts all
    widths at once.
``persistent``
    ``row_per_item``, but a work-group processes consecutive tiles and reduces only at the end.

At distance 2 the distinct colours of a row are counted in one of two ways. Either they are marked in a bitmap, which
is folded in half from width to width. Or a sorting network sorts them by reversed bits, so that colours with equal low
bits become neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict, Unpack

from clgraph.algorithms.hash_collisions.plan import CollisionPlan
from clgraph.algorithms.hash_collisions.problem import CollisionProblem, as_problem
from clgraph.algorithms.hash_collisions.strategies import STRATEGIES, contenders
from clgraph.algorithms.hash_collisions.table import CollisionTable as CollisionTable
from clgraph.algorithms.hash_collisions.table import as_table
from clgraph.engine.algorithm import Algorithm
from clgraph.runtime.session import SessionLike


class Options(TypedDict, total=False):
    """Keyword options of :func:`hash_collisions`, whose docstring describes each option."""

    tile: int | None
    distinct: str | None
    layout: str | None


def hash_collisions(
    graph: Any,
    *,
    distance: int = 1,
    hashes: int | Iterable[str] = 15,
    bit_widths: Iterable[int] = range(1, 11),
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> CollisionTable:
    """Count the collisions of hash colourings of *graph*, for each hash function and each number of bits.

    The colour of vertex v is the low bits of its hash. At distance 1 the collisions of row v are its entries that have
    v's colour; self-loops do not count, and each parallel edge does. At distance 2 the closed row of v is the *set* of
    v and its neighbours. Its collisions are its size minus its number of distinct colours. Parallel edges and
    self-loops add nothing to the set.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        Undirected, or directed with the reverse of each entry.
    distance : {1, 2}
    hashes : int or iterable of str
        Names of :data:`clgraph.data.graphs.vertex_hashes.HASHES`, or a number k for the first k of them.
    bit_widths : iterable of int
        Numbers of bits of a colour, ascending, 1 … 31.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Options of the strategy. ``tile`` is the number of words of local memory for the rows of a work-group. Bitmaps,
        and ``row_per_sub_group`` at distance 1, keep no rows in local memory; for them ``tile`` is the number of
        entries and rows that a work-group processes at a time. At distance 2, ``distinct`` is the way of counting
        distinct colours, ``"bitmap"`` or ``"sort"``, and ``layout`` is the memory layout of sorted colours,
        ``"padded"`` or ``"compact"``.

    Returns
    -------
    CollisionTable
        int64 ``total`` and ``maximum`` over the rows, the names ``hashes``, ``bit_widths``, and ``info``. Every device
        and strategy returns the same counts.

    Raises
    ------
    InputError
        *graph* is not a graph or not symmetric, or an argument is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> table = cg.hash_collisions(cg.generators.cycle(6), hashes=["identity"], bit_widths=[1, 2])
    >>> table.total.tolist(), table.best().bits, table.colors("identity", 1).tolist()
    ([[0, 0]], 1, [0, 1, 0, 1, 0, 1])
    """
    problem = as_problem(graph, distance=distance, hashes=hashes, bit_widths=bit_widths)
    result: CollisionTable = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options
    )
    return result


def _answer(problem: CollisionProblem, plan: CollisionPlan) -> CollisionTable:
    return as_table(plan.table(), problem)


def _check(problem: CollisionProblem, result: CollisionTable) -> None:
    from clgraph.reference.hash_collisions import check_collisions

    check_collisions(problem.graph, problem.hashes, problem.bit_widths, *result, distance=problem.distance)


ALGORITHM = Algorithm("hash_collisions", STRATEGIES, contenders, as_problem, _answer, _check)
