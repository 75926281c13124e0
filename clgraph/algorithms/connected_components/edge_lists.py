"""Connected components of edges that arrive as lists.

A union-find forest stays on the device; no CSR rows are built.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session


class EdgeComponents:
    """A union-find forest on a device, for connected components.

    Lists of edges and other forests can be joined to it.

    Parameters
    ----------
    session : Session
    n_vertices : int
    parents : int32 array, optional
        The initial forest, as returned by :meth:`parents`. It may cover only the first vertices.
    """

    def __init__(self, session: Session, n_vertices: int, parents: NDArray[np.int32] | None = None) -> None:
        self.session, self.n_vertices = session, n_vertices
        known = 0 if parents is None else parents.size
        # Each work-item of the kernels that merge and compress trees processes four vertices.
        self._fours = -(-n_vertices // 4)
        with session.driver:
            self._parent = session.empty(4 * self._fours, np.int32)
            if known < 4 * self._fours:
                self._launch("edge_list.cl:start_trees", 4 * self._fours, n=4 * self._fours)
            if parents is not None and known:
                self._parent.set(parents)

    def link(self, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> None:
        """Unite the components of the two ends of each edge.

        The ends are not range-checked.

        The arrays may change afterwards.
        """
        if sources.size:
            with self.session.driver:
                ends = {"sources": self._upload(sources), "targets": self._upload(targets)}
                self._launch("edge_list.cl:link_edges", sources.size, m=sources.size, **ends)

    def link_forest(self, parents: NDArray[np.int32]) -> None:
        """Unite the vertices that another union-find forest connects.

        The other forest may have only the first vertices.
        """
        if parents.size:
            with self.session.driver:
                other = self._upload(parents)
                self._launch("merge.cl:merge_parents", -(-parents.size // 4), n=parents.size, other=other)

    def parents(self) -> NDArray[np.int32]:
        """Return, for each vertex of the graph, the smallest vertex of its connected component."""
        if not self.n_vertices:
            return np.zeros(0, np.int32)
        with self.session.driver:
            self._launch("phases.cl:compress", self._fours, n=self.n_vertices)
            return self.session.read((self._parent, 0, self.n_vertices))[0]

    def _upload(self, host: NDArray[np.int32]) -> DeviceArray:
        return self.session.upload(np.ascontiguousarray(host), in_place=True)

    def _launch(self, kernel: str, count: int, **values: int | DeviceArray) -> None:
        source, name = kernel.split(":")
        program = self.session.program(f"connected_components/{source}")
        self.session.wait(program.bind(name, count, {"parent": self._parent, **values})())


def numbered(parents: NDArray[np.int32]) -> tuple[int, NDArray[np.int32]]:
    """Return the number of components and, for each vertex, the number of
    its component, from a flat forest's *parents*.

    Components are numbered in the order of their smallest vertices.
    """
    is_root = parents == np.arange(parents.size, dtype=np.int32)
    ranks = np.cumsum(is_root, dtype=np.int32)
    labels: NDArray[np.int32] = ranks[parents] - 1
    return int(ranks[-1]) if ranks.size else 0, labels
