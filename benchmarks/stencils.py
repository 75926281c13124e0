"""Patterns of matrices from finite elements and differences on regular grids, with their diagonal.

A stencil on a grid is a Kronecker product: one band matrix for each axis, and the couplings of the unknowns of a node.
"""

from __future__ import annotations

from functools import reduce
from itertools import permutations
from typing import Any

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np
import scipy.sparse as sp

from clgraph.data.graphs.csr import offset_dtype
from clgraph.data.graphs.graph import Graph

AROUND = (-1, 0, 1)


def band(n: int, offsets: tuple[int, ...]) -> Any:
    """Return the matrix of *n* nodes in a row, each coupled with the nodes at these *offsets*."""
    return sp.diags_array([np.ones(n, np.int8)] * len(offsets), offsets=offsets, shape=(n, n), dtype=np.int8)


def product(*factors: Any) -> Any:
    """Return the Kronecker product in CSR form; the last factor varies fastest."""
    return reduce(sp.kron, factors).tocsr()


def graph_of(pattern: Any) -> Graph:
    """Return the graph with an edge for each entry of a CSR array."""
    pattern.sort_indices()
    offsets, columns = pattern.indptr.astype(offset_dtype(pattern.nnz)), pattern.indices.astype(np.int32)
    return Graph._trusted(offsets, columns, sorted_rows=True)


def shell(rows: int, columns: int) -> Graph:
    """Like af_shell: five unknowns at each node of a sheet, and at the eight nodes around it."""
    return graph_of(product(band(rows, AROUND), band(columns, AROUND), np.ones((5, 5), np.int8)))


def twenty_seven_point(side: int) -> Graph:
    """Each node of a cube meets all around it, without itself."""
    return graph_of(product(*[band(side, AROUND)] * 3) - sp.eye_array(side**3, dtype=np.int8, format="csr"))


def seven_point(*sides: int) -> Graph:
    """Like atmosmod: finite differences in three dimensions."""
    along = ([band(n, AROUND if i == axis else (0,)) for i, n in enumerate(sides)] for axis in range(len(sides)))
    return graph_of(sum(product(*factors) for factors in along))


def curl_curl(*sides: int) -> Graph:
    """Like CurlCurl: an unknown on each edge of a grid, which meets the other edges of its four faces."""
    pattern = sp.csr_array((3 * np.prod(sides),) * 2, dtype=np.int8)
    for d, e in permutations(range(3), 2):
        for other, offsets in ((d, {e: AROUND}), (e, {d: (0, 1), e: (-1, 0)})):
            unknowns = sp.coo_array(([np.int8(1)], ([d], [other])), shape=(3, 3))
            pattern = pattern + product(*(band(n, offsets.get(i, (0,))) for i, n in enumerate(sides)), unknowns)
    return graph_of(pattern)


def consolidation(*sides: int) -> Graph:
    """Like Cube_Coup: displacement and pressure, four unknowns a node, on a grid of cubes cut into six tetrahedra."""
    forward = product(*(band(n, (0, 1)) for n in sides))
    return graph_of(product(forward + forward.T, np.ones((4, 4), np.int8)))
