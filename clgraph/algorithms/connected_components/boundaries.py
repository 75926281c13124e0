"""Forests of several devices that have few vertices in common.

Each device owns a range of the vertices. The boundary of a device consists of the vertices outside its range that its
forest connects with other vertices. If all boundaries are small, no device needs the forest of another one: the host
joins the trees that meet at boundary vertices, and tells each device the numbers of the components that other devices
number, or that lie in ranges of several devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.connected_components.plan import ComponentsPlan
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch

_SOURCE = "connected_components/boundary.cl"
MAX_BOUNDARY = 1 << 12  # A boundary is small if it has fewer pairs. The host joins 4,000 pairs in about 1 ms.

Range = tuple[int, int]
Pairs = NDArray[np.int32]  # Shape (k, 2).


@dataclass(frozen=True)
class Boundary:
    """The boundary of one device's forest.

    Attributes
    ----------
    pairs : int32 array, shape (k, 2)
        Vertices of the boundary with their labels in the device's forest. A root is its own label.
    n_roots : int
        Number of roots in the device's own range.
    """

    pairs: Pairs
    n_roots: int


class BoundaryLaunches:
    """The launches for the boundary of the forest of *plan*, whose device owns the vertices of the range *own*.

    The boundary is listed at once. A boundary of *most* pairs and more is large.
    """

    def __init__(self, plan: ComponentsPlan, own: Range, most: int) -> None:
        session, n, self._plan, self._most = plan.session, plan.setting.values["n"], plan, most
        self._numbering, program = plan.numbering(*own), session.program(_SOURCE)
        self._pairs, listed = session.empty(2 * (most + 1), np.int32), session.empty(-(-n // 32), np.uint32)
        self._pairs.fill(0, 0, 1)
        listed.fill(0)
        scope = {**self._numbering.scope, "most": most, "listed": listed, "pairs": self._pairs, "count": 0}
        program.bind("list_boundary", -(-n // 4), scope)()
        self._numbering.run()
        # The host binds these launches here, while the device finds the forest; their arrays are set later.
        self._look_up = program.bind("look_up", 1, scope, vertices=self._pairs, found=self._pairs)
        self._set_numbers = program.bind("set_numbers", 1, scope, numbers=self._pairs)
        self._group_size = program.work_group_size

    def boundary(self) -> Boundary | None:
        """Wait for the boundary, and return it, or ``None`` if it is large."""
        scan = self._numbering.scan
        pairs, (n_roots,), *status = self._plan.session.read(
            (self._pairs, 0, self._pairs.size), self._numbering.count, *scan.statuses()
        )
        scan.check(status)
        size = int(pairs[0])
        return Boundary(pairs[2 : 2 + 2 * size].reshape(-1, 2), int(n_roots)) if size < self._most else None

    def look_up(self, vertices: NDArray[np.int32]) -> Pairs:
        """Return the label of each of the *vertices*, and the label's rank among the device's own roots.

        The rank is −1 if another device owns the root.
        """
        if not vertices.size:
            return np.zeros((0, 2), np.int32)
        found = self._plan.session.empty(2 * vertices.size, np.int32)
        given = self._plan.session.upload(vertices)
        self._launch(self._look_up, vertices.size, vertices=given, found=found)
        return self._plan.session.read((found, 0, found.size))[0].reshape(-1, 2)

    def set_numbers(self, numbers: Pairs) -> None:
        """Enqueue the kernel that gives the trees of some roots the numbers of their components.

        *numbers* has the roots, each with the number.
        """
        if numbers.size:
            self._launch(self._set_numbers, len(numbers), numbers=self._plan.session.upload(numbers.ravel()))

    def _launch(self, launch: Launch, count: int, **arrays: DeviceArray) -> None:
        launch.lend(arrays)
        launch.set(count=count)
        launch(-(-count // self._group_size))


@dataclass(frozen=True)
class Numbers:
    """The numbers of components that a device needs beside its own.

    Attributes
    ----------
    base : int
        Number of the first component whose smallest vertex the device owns.
    pairs : int32 array, shape (k, 2)
        Roots of the device's forest that are no smallest vertices of components in its range, each with the number of
        its component.
    """

    base: int
    pairs: Pairs


def owned_by(vertices: NDArray[np.int32], owned: Sequence[Range]) -> list[NDArray[np.int32]]:
    """Return the part of the sorted *vertices* that each device owns."""
    ends = np.searchsorted(vertices, [0, *(last for _, last in owned)])
    return [vertices[first:last] for first, last in pairwise(ends.tolist())]


def joined(
    boundaries: Sequence[Boundary], owned: Sequence[Range], mentioned: NDArray[np.int32], found: Sequence[Pairs]
) -> tuple[int, list[Numbers]]:
    """Join the trees of all devices that meet at boundary vertices.

    Parameters
    ----------
    boundaries : sequence of Boundary
    owned : sequence of (int, int)
        The range of vertices of each device. The ranges follow each other.
    mentioned : int32 array
        All vertices in the pairs of the boundaries, in order.
    found : sequence of array
        The results of :meth:`BoundaryLaunches.look_up` for the vertices of *mentioned* that each device owns.

    Returns
    -------
    int, list of Numbers
        The number of components, and the numbers that each device needs.
    """
    labels, ranks = np.concatenate([*found]).T
    edges = np.concatenate([np.stack([mentioned, labels], axis=1), *(each.pairs for each in boundaries)])
    nodes, ids = np.unique(edges, return_inverse=True)
    smallest = nodes[_smallest(nodes.size, *ids.reshape(-1, 2).T)]  # The smallest vertex of each component.

    # A root is gone if its tree was joined with a tree that has a smaller vertex. Only the other roots are numbered.
    roots, at = np.unique(labels[ranks >= 0], return_index=True)
    place = np.searchsorted(nodes, roots)
    is_gone = smallest[place] < roots
    gone, firsts = roots[is_gone], np.array([first for first, _ in owned])
    counts = np.cumsum([0, *(each.n_roots for each in boundaries)])
    numbers = np.zeros(nodes.size, np.int32)
    device = np.searchsorted(firsts, roots, side="right") - 1
    numbers[place] = counts[device] + ranks[ranks >= 0][at] - np.cumsum(is_gone)
    numbers = numbers[np.searchsorted(nodes, smallest)]

    bases = (counts[:-1] - np.searchsorted(gone, firsts)).tolist()
    made = []
    for each, base, own in zip(boundaries, bases, owned_by(gone, owned), strict=True):
        listed, labels = each.pairs.T
        vertices = np.concatenate([listed[listed == labels], own])
        made.append(Numbers(base, np.stack([vertices, numbers[np.searchsorted(nodes, vertices)]], axis=1)))
    return int(counts[-1]) - gone.size, made


def _smallest(n: int, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return, for each of *n* vertices, the smallest vertex of its component, where edges join *a* and *b*.

    In each turn the smaller label of an edge goes to both ends, and to the vertices that are their labels. If trees are
    flat, few turns are needed.
    """
    labels, before = np.arange(n), np.zeros(0, np.intp)
    while not np.array_equal(labels, before):
        before, least = labels, np.minimum(labels[a], labels[b])
        labels = labels.copy()
        for ends in (a, b, before[a], before[b]):
            np.minimum.at(labels, ends, least)
        labels = labels[labels]
    return labels
