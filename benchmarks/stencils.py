"""Patterns of matrices from finite elements and differences on regular grids, with their diagonal."""

from __future__ import annotations

import itertools
import math

import checkout  # noqa: F401 (whatever imports this first gets the package of this checkout)
import numpy as np

from clgraph.data.graphs.csr import offset_dtype
from clgraph.data.graphs.graph import Graph

Coupling = tuple[tuple[int, ...], int]  # steps along each axis, and the unknown at that node


def stencil(shape: tuple[int, ...], couplings: list[list[Coupling]]) -> Graph:
    """Return the graph of a grid whose unknown d of each node meets those of ``couplings[d]``, where there are such."""
    n_unknowns, strides = len(couplings), [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    n_nodes, width = math.prod(shape), max(map(len, couplings))
    steps = np.zeros((n_unknowns, width, len(shape)), np.int32)
    shift = np.zeros((n_unknowns, width), np.int32)
    present = np.zeros((n_unknowns, width), bool)
    for d, row in enumerate(couplings):
        at = [sum(s * t for s, t in zip(step, strides, strict=True)) * n_unknowns + e for step, e in row]
        for i, (column, (step, _)) in enumerate(sorted(zip(at, row, strict=True))):
            steps[d, i], shift[d, i], present[d, i] = step, column, True
    columns, degrees = [], []
    inner = np.stack(np.unravel_index(np.arange(n_nodes // shape[0]), (1, *shape[1:])), axis=1).astype(np.int32)
    sides = np.array(shape, np.int32)
    across = np.ones((inner.shape[0], n_unknowns, width), bool)
    for axis in range(1, len(shape)):
        at = inner[:, None, None, axis] + steps[None, :, :, axis]
        across &= (at >= 0) & (at < sides[axis])
    for layer in range(shape[0]):
        there = layer + steps[:, :, 0]
        inside = across & (present & (there >= 0) & (there < shape[0]))
        first = (layer * inner.shape[0] + np.arange(inner.shape[0], dtype=np.int32)) * n_unknowns
        columns.append((first[:, None, None] + shift)[inside])
        degrees.append(inside.sum(axis=2).ravel())
    size = sum(part.size for part in columns)
    offsets = np.zeros(n_nodes * n_unknowns + 1, offset_dtype(size))
    np.cumsum(np.concatenate(degrees), out=offsets[1:])
    return Graph._trusted(offsets, np.concatenate(columns), sorted_rows=True)


def _blocks(steps: list[tuple[int, ...]], n_unknowns: int) -> list[list[Coupling]]:
    """Couple all unknowns of a node with all at each of these steps."""
    return [[(step, e) for step in steps for e in range(n_unknowns)]] * n_unknowns


def shell(rows: int, columns: int) -> Graph:
    """Like af_shell: five unknowns at each node of a sheet, and at the eight nodes around it."""
    return stencil((rows, columns), _blocks(list(itertools.product((-1, 0, 1), repeat=2)), 5))


def twenty_seven_point(side: int) -> Graph:
    """Each node of a cube meets all around it, without itself."""
    steps = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]
    return stencil((side, side, side), _blocks(steps, 1))


def seven_point(x: int, y: int, z: int) -> Graph:
    """Like atmosmod: finite differences in three dimensions."""
    steps = [(0, 0, 0), *(tuple(sign * int(i == axis) for i in range(3)) for axis in range(3) for sign in (-1, 1))]
    return stencil((x, y, z), _blocks(steps, 1))


def curl_curl(x: int, y: int, z: int) -> Graph:
    """Like CurlCurl: an unknown on each edge of a grid, which meets the other edges of its four faces."""
    couplings: list[list[Coupling]] = []
    unit = [tuple(int(i == axis) for i in range(3)) for axis in range(3)]
    for d in range(3):
        row = {((0, 0, 0), d)}
        for e in {0, 1, 2} - {d}:
            for back in (0, 1):
                corner = tuple(-back * u for u in unit[e])
                along, up = (tuple(a + b for a, b in zip(corner, unit[axis], strict=True)) for axis in (d, e))
                row |= {(corner, d), (up, d), (corner, e), (along, e)}
        couplings.append(sorted(row))
    return stencil((x, y, z), couplings)


def consolidation(x: int, y: int, z: int) -> Graph:
    """Like Cube_Coup: displacement and pressure, four unknowns a node, on a grid of cubes cut into six tetrahedra."""
    ups = [step for step in itertools.product((0, 1), repeat=3) if any(step)]
    steps = [(0, 0, 0), *ups, *(tuple(-s for s in step) for step in ups)]
    return stencil((x, y, z), _blocks(steps, 4))
