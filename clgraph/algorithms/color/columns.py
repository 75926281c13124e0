"""Colour the columns of a matrix, so that a sparse Jacobian or Hessian follows from few products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from clgraph.algorithms.color import ALGORITHM, Coloring, Options
from clgraph.algorithms.color.problem import MAX_PAIRS, ColoringProblem, as_problem, columns_graph
from clgraph.algorithms.color.star import conflict_graph, entry_places
from clgraph.arguments import Seed, checked_array, checked_flag, refusing, shown
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike


class ColumnColoring(Coloring):
    """Result of :func:`color_columns`; unpacks as ``n_colors, colors``, and has all that :class:`Coloring` has.

    Attributes
    ----------
    symmetric : bool
        Whether :meth:`recover` uses that the matrix is symmetric.
    """

    symmetric: bool

    def seed_matrix(self, dtype: Any = np.float64) -> NDArray[Any]:
        """Return a matrix of shape (n_columns, n_colors): in each row, a 1 is in the column of the row's colour.

        A function's derivatives along the columns of this matrix are the argument of :meth:`recover`.
        """
        with refusing("dtype", dtype, "a type of numbers"):
            kind = np.dtype(dtype)
        if kind.kind not in "biufc":
            raise InputError(f"dtype = {shown(dtype)}; allowed: a type of numbers")
        seeds = np.zeros((self.colors.size, self.n_colors), kind)
        seeds[np.arange(self.colors.size), self.colors] = 1
        return seeds

    def recover(self, products: ArrayLike) -> csr_array:
        """Return the sparse matrix whose products with the columns of :meth:`seed_matrix` are *products*.

        Parameters
        ----------
        products : array, shape (n_rows, n_colors)
            The matrix times :meth:`seed_matrix`, from finite differences or from automatic differentiation.

        Returns
        -------
        csr_array, shape (n_rows, n_columns)
            The values of all entries of the pattern that was coloured, with the dtype of *products*. Each value is an
            element of *products*, without arithmetic.

        Raises
        ------
        InputError
            *products* has another shape.
        MissingEdgesError
            The result was unpickled, which leaves the pattern out.
        """
        products = checked_array("products", products)
        graph, n_columns = self.graph.sorted_pattern(), self.colors.size
        if products.ndim != 2 or products.shape[1] != self.n_colors or not self._has_rows(graph, products.shape[0]):
            raise InputError(f"products of shape {products.shape}; needed: a row per row of the matrix, and "
                             f"{self.n_colors} columns, one per colour")  # fmt: skip
        rows, columns = graph.sources(), graph.column_indices
        if self.symmetric:
            at_row, at_column = entry_places(graph, self.colors)
        else:
            at_row, at_column = rows, self.colors[columns]
        n_rows = products.shape[0]
        values = products[at_row, at_column]
        return csr_array((values, columns.copy(), graph.row_offsets[: n_rows + 1].copy()), shape=(n_rows, n_columns))

    def _has_rows(self, graph: Graph, n_rows: int) -> bool:
        """Return whether the coloured matrix may have *n_rows* rows: *graph* is padded to a square with empty rows."""
        n_columns = self.colors.size
        if self.symmetric or graph.n_vertices > n_columns:
            return n_rows == graph.n_vertices
        return n_rows <= n_columns and int(graph.row_offsets[n_rows]) == graph.n_edges


def color_columns(
    matrix: Any,
    *,
    symmetric: bool = False,
    strategy: str = "auto",
    order: str | None = None,
    deterministic: bool = False,
    prefer: str = "colors",
    seed: Seed = 0,
    session: SessionLike = None,
    verify: bool = False,
    **options: Unpack[Options],
) -> ColumnColoring:
    """Colour the columns of *matrix* with few colours such that no row has entries in two columns of one colour.

    Columns of one colour are structurally orthogonal. A sparse Jacobian of this pattern can therefore be computed from
    one product with a vector per colour, instead of one per column. This is a partial colouring at distance 2 of a
    bipartite graph [1]_, with the same strategies as :func:`color` at distance 2 [2]_.

    A Hessian is symmetric, and *symmetric* then needs fewer colours: two columns of one colour may share a row, if
    their entries of this row can be read from other rows. This is a star colouring [3]_. A full row and column cost one
    colour, where they otherwise give every column a colour of its own.

    Parameters
    ----------
    matrix : Graph, DeviceGraph, scipy sparse array or networkx graph
        A sparse array may have any shape (m, n), type and format. A graph is taken as its adjacency matrix. Every
        stored entry counts, including explicit zeros; values are ignored.
    symmetric : bool
        Whether the matrix is symmetric. Each entry must then have its reverse.
    strategy, order, deterministic, prefer, seed, session, **options
        As for :func:`color` at distance 2. The degree of a column is the number of other columns with which it shares a
        row; for ``speculative`` it is the number of its entries. Only ``jones_plassmann`` supports the order
        ``"smallest_last"``. If *symmetric*, as for :func:`color` at distance 1, of the graph that joins each two
        columns that may not share a colour. The host makes this graph in memory. ``prefer="colors"`` also colours
        at distance 2, if that is possible in reasonable time, and returns the result with fewer colours.
    verify : bool
        Check the result against the definition, on the host.

    Returns
    -------
    ColumnColoring
        ``n_colors``, int32 ``colors`` of shape (n,), 0 … n_colors - 1, ``class_sizes``, ``seed_matrix()``,
        ``recover(products)`` and ``info``. Its ``graph`` is the pattern as a directed graph, padded with empty rows or
        columns to a square.

    Raises
    ------
    InputError
        *matrix* is not a matrix or graph, an argument is out of range, or *symmetric* is set and an entry has no
        reverse.
    GraphError
        *matrix* is invalid, or has more than 2**31 - 1 rows or columns.
    UnsupportedStrategyError
        The strategy is unknown, or does not support distance 2.
    DeviceMemoryError
        The matrix does not fit on the device.
    HostMemoryError
        *symmetric* is set, and the graph of conflicts may not fit into this machine's memory.

    References
    ----------
    .. [1] A. H. Gebremedhin, F. Manne, A. Pothen. "What color is your Jacobian? Graph coloring for computing
       derivatives." SIAM Review 47, 2005.
    .. [2] M. K. Taş, K. Kaya, E. Saule. "Greed is good: parallel algorithms for bipartite-graph partial coloring on
       multicore architectures." ICPP 2017.
    .. [3] A. H. Gebremedhin, A. Tarafdar, F. Manne, A. Pothen. "New acyclic and star coloring algorithms with
       application to computing Hessians." SIAM J. Scientific Computing 29, 2007.

    Examples
    --------
    Compute a Jacobian from one product per colour:

    >>> import numpy as np, scipy.sparse as sp, clgraph as cg
    >>> jacobian = sp.diags_array([[1.0] * 5, [2.0] * 6, [3.0] * 5], offsets=[-1, 0, 1]).tocsr()
    >>> coloring = cg.color_columns(jacobian)
    >>> products = jacobian @ coloring.seed_matrix()  # n_colors products, for instance by finite differences
    >>> coloring.n_colors, bool((coloring.recover(products) != jacobian).nnz == 0)
    (3, True)

    A Hessian with a full row and column takes three colours:

    >>> hessian = sp.coo_array(([4.0] * 9 + [1.0] * 16, ([*range(9), *[0] * 8, *range(1, 9)],
    ...                                                  [*range(9), *range(1, 9), *[0] * 8]))).tocsr()
    >>> coloring = cg.color_columns(hessian, symmetric=True)
    >>> coloring.n_colors, bool((coloring.recover(hessian @ coloring.seed_matrix()) != hessian).nnz == 0)
    (2, True)
    """
    symmetric = checked_flag("symmetric", symmetric)
    settings: dict[str, Any] = {"order": order, "deterministic": deterministic, "seed": seed, "prefer": prefer}
    solve = partial(ALGORITHM.solve, strategy=strategy, session=session, verify=verify, options=options)
    if symmetric:
        graph, _ = columns_graph(matrix)
        found = _star_coloring(graph, solve, settings)
    else:
        problem = as_problem(matrix, distance=2, bipartite=True, **settings)
        graph, found = problem.graph, solve(problem)
    if symmetric and verify:
        from clgraph.reference.color import check_star_coloring

        check_star_coloring(graph, found.colors)
    result = ColumnColoring(*found)
    result.distance, result.graph, result.info, result.symmetric = 2, graph, found.info, symmetric
    return result


def _star_coloring(graph: Graph, solve: Callable[[ColoringProblem], Coloring], settings: dict[str, Any]) -> Coloring:
    """Return the star colouring of a symmetric matrix, or its colouring at distance 2 if that has fewer colours."""
    graph.require_reverses()
    found = solve(as_problem(conflict_graph(graph), **settings))
    if settings["prefer"] != "colors" or ColoringProblem(graph, 2).n_pairs > MAX_PAIRS:
        return found
    other = solve(as_problem(graph, distance=2, **settings))
    return other if other.n_colors < found.n_colors else found
