"""Colour the columns of a matrix such that no row has entries in two columns of one colour."""

from __future__ import annotations

from typing import Any, Unpack

from clgraph.algorithms.color import ALGORITHM, Coloring, Options
from clgraph.algorithms.color.problem import as_problem
from clgraph.arguments import Seed
from clgraph.runtime.session import SessionLike


def color_columns(
    matrix: Any,
    *,
    strategy: str = "auto",
    order: str | None = None,
    deterministic: bool = False,
    prefer: str = "colors",
    seed: Seed = 0,
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> Coloring:
    """Colour the columns of *matrix* with few colours such that no row has entries in two columns of one colour.

    Columns of one colour are structurally orthogonal. A sparse Jacobian of this pattern can therefore be computed from
    one product with a vector per colour, instead of one per column. This is a partial colouring at distance 2 of a
    bipartite graph [1]_, with the same strategies as :func:`color` at distance 2 [2]_.

    Parameters
    ----------
    matrix : Graph, DeviceGraph, scipy sparse array or networkx graph
        A sparse array may have any shape (m, n), type and format. A graph is taken as its adjacency matrix. Every
        stored entry counts, including explicit zeros; values are ignored.
    strategy, order, deterministic, prefer, seed, session, **options
        As for :func:`color` at distance 2. The degree of a column is the number of other columns with which it shares a
        row; for ``speculative`` it is the number of its entries. Only ``jones_plassmann`` supports the order
        ``"smallest_last"``.
    verify : bool
        Check the result against the definition, on the host.

    Returns
    -------
    Coloring
        ``n_colors``, int32 ``colors`` of shape (n,), 0 … n_colors - 1, ``class_sizes`` and ``info``. Its ``graph`` is
        the pattern as a directed graph, padded with empty rows or columns to a square.

    Raises
    ------
    InputError
        *matrix* is not a matrix or graph, or an argument is out of range.
    GraphError
        *matrix* is invalid, or has more than 2**31 - 1 rows or columns.
    UnsupportedStrategyError
        The strategy is unknown, or does not support distance 2.
    DeviceMemoryError
        The matrix does not fit on the device.

    References
    ----------
    .. [1] A. H. Gebremedhin, F. Manne, A. Pothen. "What color is your Jacobian? Graph coloring for computing
       derivatives." SIAM Review 47, 2005.
    .. [2] M. K. Taş, K. Kaya, E. Saule. "Greed is good: parallel algorithms for bipartite-graph partial coloring on
       multicore architectures." ICPP 2017.

    Examples
    --------
    Compute a Jacobian from one product per colour:

    >>> import numpy as np, scipy.sparse as sp, clgraph as cg
    >>> jacobian = sp.diags_array([[1.0] * 5, [2.0] * 6, [3.0] * 5], offsets=[-1, 0, 1]).tocsr()
    >>> n_colors, colors = cg.color_columns(jacobian)
    >>> seeds = np.eye(n_colors)[colors]  # shape (n, n_colors): row j has a 1 in the column of its colour
    >>> products = jacobian @ seeds  # n_colors products, for instance by finite differences
    >>> rows, columns = jacobian.nonzero()
    >>> bool((products[rows, colors[columns]] == jacobian[rows, columns]).all())
    True
    """
    problem = as_problem(
        matrix, distance=2, order=order, deterministic=deterministic, seed=seed, bipartite=True, prefer=prefer
    )
    result: Coloring = ALGORITHM.solve(problem, strategy=strategy, session=session, verify=verify, options=options)
    return result
