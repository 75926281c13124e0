"""Proper colourings: no two vertices of one colour are neighbours, or at distance 2 have a common neighbour.

Strategies
----------
``best_of_orders``
    The fewest colours of: the greedy algorithm in the orders ``largest_first`` and ``smallest_last``, the fastest of
    the other strategies (at distance 2 both others), and the greedy algorithm that takes the classes of the best of
    these one after the other, the last first, as long as that saves a colour.
``jones_plassmann``
    Each vertex takes the least colour that its neighbours of higher priority leave, as soon as it is known. The result
    equals the sequential greedy algorithm's in the same order [1]_ [2]_. At distance 2 it colours the square of the
    graph, which the host makes.
``speculative``
    All vertices at once take the least colour that they see free; then the losers of conflicts try again [3]_.
``hash_repair``
    A hash of the vertex is its first colour. Colours that do not collide stay, and ``speculative`` colours the others.
    ``hash=`` names the hash; the default is the one with the fewest collisions in a sample of the entries.

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
from clgraph.arguments import Seed
from clgraph.data.graphs.graph import Graph
from clgraph.engine.algorithm import Algorithm
from clgraph.engine.result import Result
from clgraph.runtime.driver.timing import RunInfo
from clgraph.runtime.session import SessionLike


class _Coloring(NamedTuple):
    n_colors: int
    colors: NDArray[np.int32]


class Coloring(Result, _Coloring):
    """Result of :func:`color`; unpacks as ``n_colors, colors``.

    Attributes
    ----------
    n_colors : int
    colors : int32 array, shape (n_vertices,)
        Colour of each vertex, 0 … n_colors - 1; every colour is used.
    distance : int
    graph : Graph
        The input. A pickle has its vertices and their ids only.
    info : RunInfo
        What ran, where, and how long it took.
    """

    distance: int
    graph: Graph
    info: RunInfo

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Number of vertices of each colour, int64."""
        return np.bincount(self.colors, minlength=self.n_colors).astype(np.int64, copy=False)


class Options(TypedDict, total=False):
    """Options of all strategies of :func:`color`, which tells what each does."""

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
    **options: Unpack[Options],
) -> Coloring:
    """Colour the vertices of *graph* with few colours, so that neighbours differ.

    Parameters
    ----------
    graph : Graph, DeviceGraph, scipy sparse array or networkx graph
        It is undirected, or directed with the reverse of each entry. Self-loops and repeats do not matter.
    distance : {1, 2}
        At 2 vertices that have a common neighbour differ, too.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice, as *prefer* says.
    order : str, optional
        Order in which vertices are coloured, or win conflicts: ``"natural"``, ``"random"``, ``"interleaved"``,
        ``"largest_first"`` or ``"smallest_last"``. With an order, ``"auto"`` gives the colours of the greedy algorithm
        in this order, unless it prefers time. The default suits the strategy: ``jones_plassmann``, and on CPUs
        ``speculative``, take ``"largest_first"``, or ``"interleaved"``, which is faster, where degrees are alike.
        ``jones_plassmann`` at distance 2 orders by the degree in the square, the others by that in the graph.
    balanced : bool
        Make the colour classes more alike in size, with no more colours.
    deterministic : bool
        Give the same colours in every run and on every device. ``jones_plassmann`` does so in any case. Other
        strategies then take more rounds, and balancing takes one vertex after the other, which is slow on GPUs.
    bipartite : bool
        Colour the columns of a square matrix; :func:`color_columns` takes a matrix of any shape.
    prefer : {"both", "colors", "time"}
        ``"time"``: ``"auto"`` takes the fastest strategy. ``"both"``: ``best_of_two``, so no more colours than that
        strategy, nor, at distance 1, than the greedy algorithm in the order ``largest_first``; on GPUs
        ``jones_plassmann`` alone does so where degrees differ. ``"colors"``: ``best_of_orders``, so no more colours
        than the greedy algorithm in the orders ``largest_first`` and ``smallest_last``; it takes 5 to 11 times as long
        as ``"time"`` on a CPU and 10 to 1,800 times on a GPU. At distance 2 it does so if the members of all rows make
        at most 2**26 pairs; else it leaves out the strategy that often takes more colours.
    seed : int, or what else numpy.random.default_rng takes
        Seed of the hash that orders vertices, modulo 2**32.
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Options of the strategy. ``hash_repair`` has ``hash``, a name of
        :data:`clgraph.data.graphs.vertex_hashes.HASHES`, and ``bits``, the width of a colour, 1 … 16, or 1 … 10 at
        distance 2. By default a sample of the entries decides between hashes. The default number of bits gives fewer
        hash colours than greedy ones at distance 1, and enough for the longest row at distance 2.
        :func:`hash_collisions` looks at all entries, and at any number of bits. ``speculative`` has two options: at
        distance 1 a work-item looks for the conflicts of a vertex or of an edge (``by="vertex"``, ``by="edge"``), and
        at distance 2 a work-group takes each vertex of more entries than ``long_row``.

    Returns
    -------
    Coloring
        ``n_colors`` and int32 ``colors``, ``class_sizes`` and ``info``.

    Raises
    ------
    InputError
        *graph* is no graph or not symmetric, or an argument is out of range.
    UnsupportedStrategyError
        The strategy is unknown, does not colour at this distance, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> n_colors, colors = cg.color(cg.generators.star(5))
    >>> n_colors, colors.tolist()
    (2, [0, 1, 1, 1, 1])

    Repair the collisions of the best of a table's hash colourings with at most 4 colours:

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
    result: Coloring = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
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
