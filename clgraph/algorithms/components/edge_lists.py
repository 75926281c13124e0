"""Components of edges that arrive list after list: the forest stays on the device, and no rows are ever made."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE = "components/edge_list.cl"


class EdgeComponents:
    """A union-find forest on a device, to which edges and other forests are linked.

    Parameters
    ----------
    session : Session
    n_vertices : int
    parents : int32 array, optional
        A forest to begin with, as :meth:`parents` returns it; it may have fewer vertices.
    """

    def __init__(self, session: Session, n_vertices: int, parents: NDArray[np.int32] | None = None) -> None:
        self.session, self.n_vertices = session, n_vertices
        known = 0 if parents is None else parents.size
        with session.driver:
            self._program = session.program(_SOURCE)
            self._parent = session.empty(4 * -(-n_vertices // 4), np.int32)  # four at a time where forests merge
            if known < n_vertices:
                self._program.bind("start_trees", n_vertices, {"n": n_vertices, "parent": self._parent})()
            if parents is not None and known:
                self._parent.set(parents)

    def link(self, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> None:
        """Join the ends of these edges, which must be vertices; returns when the arrays may change."""
        if sources.size:
            with self.session.driver:
                on_device = self._upload(sources), self._upload(targets)
                self._launch("link_edges", sources.size, m=sources.size, sources=on_device[0], targets=on_device[1])

    def link_forest(self, parents: NDArray[np.int32]) -> None:
        """Join what is joined in another forest of these vertices, or of the first of them."""
        if parents.size:
            with self.session.driver:
                scope = {"n": parents.size, "other": self._upload(parents), "parent": self._parent}
                merge = self.session.program("components/merge.cl").bind("merge_parents", -(-parents.size // 4), scope)
                self.session.wait(merge())

    def parents(self) -> NDArray[np.int32]:
        """Return the smallest vertex of each vertex's component."""
        if not self.n_vertices:
            return np.zeros(0, np.int32)
        with self.session.driver:
            self._launch("find_roots", self.n_vertices, n=self.n_vertices)
            return self.session.read((self._parent, 0, self.n_vertices))[0]

    def _upload(self, host: NDArray[np.int32]) -> DeviceArray:
        return self.session.upload(np.ascontiguousarray(host), in_place=True)

    def _launch(self, kernel: str, count: int, **values: int | DeviceArray) -> None:
        self.session.wait(self._program.bind(kernel, count, {"parent": self._parent, **values})())


def numbered(parents: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
    """Return how many components there are, and the number of each vertex's, by smallest vertex."""
    is_root = parents == np.arange(parents.size, dtype=np.int32)
    ranks = np.cumsum(is_root, dtype=np.int32)
    labels: NDArray[np.int32] = ranks[parents] - 1
    return int(ranks[-1]) if ranks.size else 0, labels
