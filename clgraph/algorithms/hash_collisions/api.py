"""Collisions of hash colourings: how many vertices meet their own colour when colours are hashes of vertex numbers.

A hash colouring gives vertex v the colour h(v) mod 2**b. It costs nothing, and some neighbours collide; the table says
how many, for every hash function h of :mod:`clgraph.data.vertex_hashes` and every number of bits b.

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

import operator
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions.plan import CollisionProblem
from clgraph.algorithms.hash_collisions.strategies import STRATEGIES
from clgraph.algorithms.hash_collisions.table import MAX_BITS, CollisionTable
from clgraph.arguments import check_choice, checked_count, checked_flag, refusing, shown
from clgraph.data.graph import Graph, as_graph
from clgraph.data.vertex_hashes import HASHES
from clgraph.engine.solve import solve
from clgraph.errors import InputError
from clgraph.model.strategy import Choice, choose
from clgraph.runtime.session import Session, SessionLike, as_session


def as_problem(
    graph: Graph, *, distance: int, hashes: int | Iterable[str], bit_widths: Iterable[int]
) -> CollisionProblem:
    """Check the arguments of :func:`hash_collisions`."""
    distance = checked_count("distance", distance, 2)
    names = _as_hashes(hashes)
    with refusing("bit_widths", bit_widths, f"rising integers from 1 to {MAX_BITS}"):
        widths = tuple(operator.index(bits) for bits in islice(bit_widths, MAX_BITS + 1))
    if not widths or any(b <= a for a, b in zip((0, *widths), (*widths, MAX_BITS + 1), strict=False)):
        raise InputError(f"bit_widths = {shown(list(widths))}; allowed: rising integers from 1 to {MAX_BITS}")
    graph.require_reverses()
    if distance == 2 and not graph.has_sorted_rows:
        graph = Graph.from_scipy(graph.to_scipy())
    return CollisionProblem(graph, distance, names, widths)


def as_table(counts: Iterable[NDArray[np.int64]], problem: CollisionProblem) -> CollisionTable:
    """Return sums and maxima of *problem* as a table that knows its lines and columns."""
    table = CollisionTable(*counts)
    table.hashes, table.bit_widths = problem.hashes, problem.bit_widths
    table.n_vertices, table.distance = problem.graph.n_vertices, problem.distance
    return table


def _as_hashes(hashes: int | Iterable[str]) -> tuple[str, ...]:
    if isinstance(hashes, str):
        raise InputError(f"hashes = {shown(hashes)}; allowed: names in a list, or how many")
    if not isinstance(hashes, Iterable):
        return tuple(HASHES)[: checked_count("hashes", hashes, len(HASHES))]
    with refusing("hashes", hashes, "names in a list, or how many"):
        names = tuple(islice(hashes, len(HASHES) + 1))
    for name in names:
        check_choice("hashes", name, HASHES)
    if not names or len(set(names)) < len(names):
        raise InputError(f"hashes = {list(names)}; allowed: one or more names, each once")
    return names


def choose_strategy(
    session: Session,
    graph: Graph,
    *,
    strategy: str = "auto",
    distance: int = 1,
    hashes: int | Iterable[str] = 15,
    bit_widths: Iterable[int] = range(1, 11),
) -> Choice:
    """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest."""
    return _choose(session, as_problem(graph, distance=distance, hashes=hashes, bit_widths=bit_widths), strategy)


def _choose(session: Session, problem: CollisionProblem, strategy: str) -> Choice:
    return choose(STRATEGIES, strategy, lambda: problem.stats, session.facts, session.profile.rates)


def hash_collisions(
    graph: Any,
    *,
    distance: int = 1,
    hashes: int | Iterable[str] = 15,
    bit_widths: Iterable[int] = range(1, 11),
    strategy: str = "auto",
    session: SessionLike = None,
    verify: bool = False,
    **options: Any,
) -> CollisionTable:
    """Count the collisions of hash colourings of *graph*, for each hash function and each number of bits.

    The colour of vertex v is the low bits of its hash. At distance 1 the collisions of row v are its entries that have
    v's colour, without v itself; parallel edges count as often as they are stored. At distance 2 the closed row is the
    *set* of v and its neighbours, any two of which are at most two steps apart. The collisions of the row are the
    members of this set less the distinct colours among them. Parallel edges and self-loops add nothing to the set.

    Parameters
    ----------
    graph : Graph, scipy sparse array or networkx graph
        It is undirected, or directed with the reverse of each entry.
    distance : {1, 2}
    hashes : int or iterable of str
        Names of :data:`clgraph.data.vertex_hashes.HASHES`, or how many of them to take from the first on.
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
        and ``row_per_sub_group`` at distance 1, keep no rows there; for them it is how many entries and rows a
        work-group takes at a time. At distance 2 ``distinct`` is ``"bitmap"`` or ``"sort"``, and ``layout``, how what
        is sorted lies in memory, is ``"padded"`` or ``"compact"``.

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
    verify = checked_flag("verify", verify)
    on, data = as_session(session), as_graph(graph)
    problem = as_problem(data, distance=distance, hashes=hashes, bit_widths=bit_widths)
    tables, info = solve(
        on, STRATEGIES, lambda: _choose(on, problem, strategy), (problem,), options, lambda plan: plan.table()
    )
    result = as_table(tables, problem)
    result.info = info
    if verify:
        from clgraph.reference.hash_collisions import check_collisions

        check_collisions(data, problem.hashes, problem.bit_widths, *tables, distance=problem.distance)
    return result
