"""The function ``connected_components`` with the signature of scipy.sparse.csgraph's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components as scipy_components

from clgraph.algorithms.connected_components import ALGORITHM
from clgraph.algorithms.connected_components import connected_components as components
from clgraph.algorithms.strongly_connected_components import ALGORITHM as STRONG
from clgraph.algorithms.strongly_connected_components import strongly_connected_components as strong_components
from clgraph.arguments import shown
from clgraph.csgraph.inputs import as_csr, is_faster_on_host, is_left_to_scipy
from clgraph.errors import InputError
from clgraph.runtime.session import SessionLike


def connected_components(
    csgraph: Any,
    directed: bool = True,
    connection: str = "weak",
    return_labels: bool = True,
    *,
    session: SessionLike = None,
    strategy: str = "auto",
) -> Any:
    """Find the weak or strong connected components of a graph.

    Parameters
    ----------
    csgraph : array_like or sparse array, shape (n, n)
    directed : bool
        If false, *connection* is ignored, since an undirected graph has only weak components.
    connection : {"weak", "strong"}
    return_labels : bool
    session : Session, str, pyopencl Device, Context or CommandQueue, or None
        Where to run, as in :func:`clgraph.connected_components`.
    strategy : str
        A strategy of :func:`clgraph.connected_components` for weak components, and of
        :func:`clgraph.strongly_connected_components` for strong ones. ``"auto"`` takes scipy's own function where it is
        faster.

    Returns
    -------
    n_components : int
    labels : int32 array, shape (n,)
        Only with *return_labels*. Weak components are numbered by their smallest vertex, as scipy numbers them. Strong
        components are numbered by their smallest vertex, too; scipy numbers them in the order of its search.

    Raises
    ------
    ValueError
        *connection* is unknown, or *csgraph* is no square matrix.

    Examples
    --------
    >>> from clgraph import csgraph
    >>> n_components, labels = csgraph.connected_components([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    >>> n_components, labels.tolist()
    (2, [0, 0, 1])
    """
    # scipy's connected_components() takes no list, so a list becomes an array first.
    csgraph = np.asarray(csgraph) if isinstance(csgraph, list) else csgraph
    if not hasattr(csgraph, "dtype"):
        raise InputError(
            f"csgraph = {shown(csgraph)}; allowed: an array or a sparse array; clgraph.connected_components takes "
            "graphs and meshes"
        )
    is_known = isinstance(connection, str) and connection.lower() in ("weak", "strong")
    if is_known and not is_left_to_scipy(csgraph, session, strategy):
        is_strong = directed and connection.lower() == "strong"
        matrix = as_csr(csgraph, either_way=True)
        algorithm = STRONG if is_strong else ALGORITHM
        if matrix is not None and not is_faster_on_host(algorithm, algorithm.problem(matrix), session, strategy):
            find = strong_components if is_strong else components
            found: Any = find(matrix, session=session, strategy=strategy)
            return (found.n_components, found.labels) if return_labels else found.n_components
        # The CSR matrix that exists is passed on, because scipy would convert the user's matrix to CSR once more.
        csgraph = csgraph if matrix is None else matrix
    return scipy_components(csgraph, directed, connection, return_labels)
