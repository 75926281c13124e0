"""Proper colourings: vertices of one colour are never neighbours, and at distance 2 have no common neighbour.

Strategies
----------
``best_of_orders``
    Run several colourings and keep the one with the fewest colours: the greedy algorithm in the orders
    ``largest_first`` and ``smallest_last``, and the fastest of the other strategies (at distance 2 both). Then recolour
    the best one by iterated greedy, class by class, last class first, until that saves no colour.
``best_of_two``
    Run two colourings and keep the one with the fewest colours: the fastest strategy and the greedy algorithm in the
    order ``largest_first``; at distance 2 ``speculative`` and ``hash_repair``.
``first_fit``
    One core of a CPU colours the vertices one after the other; each takes the least colour that no neighbour has. By
    default vertices with more neighbours come first, compared by the bit length of their degrees [2]_. Distance 1 only.
``jones_plassmann``
    Each vertex takes the least colour not used by its neighbours of higher priority, as soon as that is known. The
    result equals the sequential greedy algorithm's in the same order [1]_ [2]_. At distance 2 it colours the square of
    the graph, which the host computes.
``speculative``
    All vertices at once take the least colour that looks free. Then the losers of conflicts try again [3]_.
``hash_repair``
    A vertex's first colour is a hash of its number. Colours without conflict stay, and ``speculative`` recolours the
    other vertices. ``hash=`` names the hash; the default has the fewest collisions in a sample of the entries.

References
----------
.. [1] M. T. Jones, P. E. Plassmann. "A parallel graph coloring heuristic." SIAM J. Scientific Computing 14, 1993.
.. [2] G. Alabandi, E. Powers, M. Burtscher. "Increasing the parallelism of graph coloring via shortcutting." PPoPP
   2020.
.. [3] A. H. Gebremedhin, F. Manne. "Scalable parallel graph coloring algorithms." Concurrency: Practice and Experience
   12, 2000.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.color.class_balance import balance_classes
from clgraph.algorithms.color.problem import ColoringProblem, as_problem
from clgraph.algorithms.color.strategies import STRATEGIES, contenders
from clgraph.arguments import Seed, is_among
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import VertexResult
from clgraph.errors import InputError
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Coloring(NamedTuple):
    n_colors: int
    colors: NDArray[np.int32]


class Coloring(VertexResult, _Coloring):
    """Result of :func:`color`; unpacks as ``n_colors, colors``.

    Attributes
    ----------
    n_colors : int
    colors : int32 array, shape (n_vertices,)
        Colour of each vertex, 0 … n_colors - 1. Every colour is used.
    distance : int
    graph : Graph
        The input. A pickle keeps only its vertices and their ids.
    info : RunInfo
        What ran, where, and how long it took.
    """

    distance: int
    graph: Graph
    info: RunInfo
    _VALUES = "colors", "color"

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of vertices of each colour, int64."""
        return np.bincount(self.colors, minlength=self.n_colors).astype(np.int64, copy=False)


class Options(TypedDict, total=False):
    """Keyword options of :func:`color`, whose docstring describes them."""

    by: str
    long_row: int | None
    hash: str | None
    bits: int | None


def color(
    graph: Any,
    *,
    distance: int = 1,
    strategy: str = "auto",
    order: str | None = None,
    balanced: bool = False,
    deterministic: bool = False,
    bipartite: bool = False,
    prefer: str = "both",
    seed: Seed = 0,
    session: SessionLike = None,
    verify: bool = False,
    output: str = "host",
    **options: Unpack[Options],
) -> Coloring:
    """Colour the vertices of *graph* with few colours such that neighbours differ.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array, networkx graph or TriangleMesh
        A mesh stands for its dual graph, whose vertices are the triangles.
        Undirected, or directed with the reverse of each entry. Self-loops and parallel edges are ignored.
    distance : {1, 2}
        With distance 2, vertices that have a common neighbour get different colours too.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for a choice that follows *prefer*.
    order : str, optional
        Order in which vertices are coloured, or win conflicts: ``"natural"``, ``"random"``, ``"interleaved"``,
        ``"largest_first"`` or ``"smallest_last"``. With an order, ``"auto"`` returns the greedy algorithm's colours
        in this order, unless *prefer* is ``"time"``. By default ``jones_plassmann``, and on CPUs ``speculative``, use
        ``"largest_first"``; if degrees hardly differ, they use ``"interleaved"``, which is faster. At distance 2
        ``jones_plassmann`` orders by the degrees of the square graph, other strategies by the degrees of the graph.
    balanced : bool
        Make the sizes of the colour classes more equal, without additional colours.
    deterministic : bool
        Return the same colours in every run and on every device. ``jones_plassmann`` does so in any case. Other
        strategies then take more rounds, and balancing moves one vertex after the other, which is slow on GPUs.
    bipartite : bool
        Colour the columns of a square matrix; :func:`color_columns` takes a matrix of any shape.
    prefer : {"both", "colors", "time"}
        Sets the strategy of ``"auto"``. ``"time"`` takes the fastest strategy.

        ``"both"`` takes ``best_of_two``. It needs no more colours than the fastest strategy and, at distance 1, than
        the greedy algorithm in the order ``largest_first``. On GPUs, if degrees differ, ``jones_plassmann`` alone
        fulfils this and is taken.

        ``"colors"`` takes ``best_of_orders``, which needs no more colours than the greedy algorithm in the orders
        ``largest_first`` and ``smallest_last``. It takes 5 to 11 times the time of ``"time"`` on a CPU and 10 to 1,800
        times on a GPU. At distance 2 this holds if the closed rows have at most 2**26 pairs of members. For larger
        graphs one of the fast strategies is taken.
    seed : int, or another argument of numpy.random.default_rng
        Seed of the hash that orders vertices, modulo 2**32.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    output : {"host", "device"}
        "device" leaves the arrays in device memory, as ``pyopencl.array.Array``. The result is then a
        :class:`~clgraph.engine.device_result.DeviceResult` with the same attributes; its ``get()`` copies it.
    **options
        Options of the strategy. ``hash_repair`` has ``hash``, a name of
        :data:`clgraph.data.graphs.vertex_hashes.HASHES`, and ``bits``, the width of a colour, 1 … 16, or 1 … 10 at
        distance 2. By default the hash is chosen from a sample of the entries. The default ``bits`` give fewer colours
        than a greedy colouring at distance 1, and enough for the longest row at distance 2. :func:`hash_collisions`
        counts collisions of all entries for any number of bits. ``speculative`` has ``by`` at distance 1: a work-item
        checks a vertex (``"vertex"``) or an edge (``"edge"``); at distance 2 it has ``long_row``: a work-group
        processes each vertex with more entries.

    Returns
    -------
    Coloring
        ``n_colors`` and int32 ``colors``, ``class_sizes`` and ``info``.

    Raises
    ------
    InputError
        *graph* is not a graph or not symmetric, or an argument is out of range.
    UnsupportedStrategyError
        The strategy is unknown, does not support this distance, or cannot run on the device.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> n_colors, colors = cg.color(cg.generators.star(5))
    >>> n_colors, colors.tolist()
    (2, [0, 1, 1, 1, 1])

    Find the best hash colouring with at most 4 colours, and repair its collisions:

    >>> grid = cg.generators.grid(30, 30)
    >>> table = cg.hash_collisions(grid, distance=2, hashes=["murmur3", "identity"], bit_widths=[1, 2, 3])
    >>> best = table.best(max_colors=4)
    >>> repaired = cg.color(grid, distance=2, strategy="hash_repair", hash=best.hash, bits=best.bits)
    >>> best.hash, best.bits, best.total, cg.count_conflicts(grid, repaired.colors, distance=2)
    ('identity', 2, 840, 0)
    """
    problem = as_problem(
        graph,
        distance=distance,
        order=order,
        deterministic=deterministic,
        seed=seed,
        bipartite=bipartite,
        balanced=balanced,
        prefer=prefer,
    )
    if problem.balanced and not is_among(output, ("host",)):
        raise InputError("balanced = True: colour classes are balanced on the host, so output = 'host' is needed")
    result: Coloring = ALGORITHM.solve(
        problem, strategy=strategy, session=session, verify=verify, options=options, output=output
    )
    return result


def _answer(problem: ColoringProblem, plan: Any) -> Coloring:
    n_colors, colors = plan.result()
    if problem.balanced:
        colors = balance_classes(
            plan.session, problem.graph, colors, distance=problem.distance, deterministic=problem.deterministic
        )
    result = Coloring(n_colors, colors)
    result.distance, result.graph = problem.distance, problem.graph
    return result


def _check(problem: ColoringProblem, result: Coloring) -> None:
    from clgraph.reference.color import check_coloring

    graph = problem.graph.to_scipy()[:, : problem.n_columns] if problem.bipartite else problem.graph
    check_coloring(graph, result.colors, distance=problem.distance, bipartite=problem.bipartite)


ALGORITHM = Algorithm("color", STRATEGIES, contenders, as_problem, _answer, _check)
