"""Collisions of hash colourings: how many vertices meet their own colour when colours are hashes of vertex numbers.

A hash colouring gives vertex v the colour h(v) mod 2**b. It costs nothing, and some neighbours collide; the table says
how many, for every hash function h of :mod:`clgraph.data.graphs.vertex_hashes` and every number of bits b.

Strategies
----------
``row_per_item``
    A work-item takes a row. A work-group takes a tile of rows, which it reduces to one struct of counters. At distance
    1 the neighbours are loaded into local memory, and all hashes and widths are compared and counted at once, as bit
    planes.
``row_per_sub_group``
    A sub-group takes a row, and each lane another hash. A histogram of how many low bits agree counts all widths at
    once.
``persistent``
    It works as ``row_per_item``, but a work-group keeps consecutive tiles and reduces once.

At distance 2 the colours of a row are marked in bitmaps that are folded in half from width to width, or sorted by a
network so that those with most low bits in common stand side by side.
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
    """Options of all strategies of :func:`hash_collisions`, which tells what each does."""

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
    v's colour, without v itself; parallel edges count as often as they are stored. At distance 2 the closed row is the
    *set* of v and its neighbours, any two of which are at most two steps apart. The collisions of the row are the
    members of this set less the distinct colours among them. Parallel edges and self-loops add nothing to the set.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        It is undirected, or directed with the reverse of each entry.
    distance : {1, 2}
    hashes : int or iterable of str
        Names of :data:`clgraph.data.graphs.vertex_hashes.HASHES`, or how many of them to take from the first on.
    bit_widths : iterable of int
        Bits of a colour, rising, 1 … 31.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Options of the strategy. ``tile`` is the number of words of local memory for the rows of a work-group. Bitmaps,
        and ``row_per_sub_group`` at distance 1, keep no rows there; for them it is the number of entries and rows that
        a work-group takes at a time. At distance 2 ``distinct`` is ``"bitmap"`` or ``"sort"``, and ``layout``, how
        the sorted colours lie in memory, is ``"padded"`` or ``"compact"``.

    Returns
    -------
    CollisionTable
        int64 ``total`` and ``maximum`` over the rows, equal on every device and under every strategy, the names
        ``hashes``, ``bit_widths``, and ``info``.

    Raises
    ------
    InputError
        *graph* is no graph or not symmetric, or an argument is out of range.
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
