"""Edges that a known forest rules out are dropped before anything is made of them."""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.components.edge_lists import EdgeComponents
from clgraph.distributed.chunks import Segment
from clgraph.runtime.session import Session

# What so many of the lightest edges of the forest connect rules out heavier edges.
_SHARES = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


class ForestFilter:
    """What the lightest edges of a forest connect.

    An edge is in no minimum spanning forest if lighter edges connect its ends. The test is the filter step of [1]_,
    with components in place of the recursion, so that edges may come in any order.

    Parameters
    ----------
    session : Session
    n : int
        Number of vertices.
    edges : tuple of array
        Sources, targets and weights of the forest's edges, of which there is one at least.
    maximum : bool
        Whether it is a maximum spanning forest; heavier edges rule out lighter ones then.

    References
    ----------
    .. [1] V. Osipov, P. Sanders, J. Singler. "The filter-Kruskal minimum spanning tree algorithm." ALENEX 2009.
    """

    def __init__(self, session: Session, n: int, edges: Segment, *, maximum: bool) -> None:
        sources, targets, weights = edges
        assert weights is not None
        in_order = np.argsort(weights)[:: -1 if maximum else 1]
        sources, targets, weights = sources[in_order], targets[in_order], weights[in_order]
        ends = sorted({-int(-share * weights.size // 1) for share in _SHARES})
        self._maximum, self._limits = maximum, weights[[end - 1 for end in ends]]
        self._labels = np.empty((len(ends), n), np.int32)
        forest, start = EdgeComponents(session, n), 0
        for level, end in enumerate(ends):
            forest.link(sources[start:end], targets[start:end])
            self._labels[level], start = forest.parents(), end

    def rest(self, segment: Segment) -> Segment:
        """Return the edges of *segment* that may be in a forest; they have weights."""
        sources, targets, weights = segment
        assert weights is not None
        if self._maximum:
            levels = self._limits.size - 1 - np.searchsorted(self._limits[::-1], weights, "right")
        else:
            levels = np.searchsorted(self._limits, weights, "left") - 1
        tested = np.flatnonzero((levels >= 0) & (np.maximum(sources, targets) < self._labels.shape[1]))
        levels = levels[tested]
        ruled_out = self._labels[levels, sources[tested]] == self._labels[levels, targets[tested]]
        kept = np.ones(sources.size, bool)
        kept[tested[ruled_out]] = False
        return sources[kept], targets[kept], weights[kept]
