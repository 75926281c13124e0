"""Meshes whose edges are directed by a sweep, as transport codes order their cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clgraph.data.graphs.graph import Graph

_JITTER, _BOTH_WAYS = (
    0.35,
    0.01,
)  # displacement of a point in widths of a cell, and share of the edges that lead back, too


def swept(shape: Sequence[int], direction: Sequence[float]) -> Graph:
    """Return a grid of displaced points. Each edge leads to the point that is farther along *direction*."""
    rng, at = np.random.default_rng(4), np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    height = sum(
        along * (places + rng.uniform(-_JITTER, _JITTER, shape))
        for along, places in zip(direction, np.indices(shape), strict=True)
    ).ravel()
    axes = range(len(shape))
    u = np.concatenate([at.take(range(shape[axis] - 1), axis).ravel() for axis in axes])
    v = np.concatenate([at.take(range(1, shape[axis]), axis).ravel() for axis in axes])
    is_turned, leads_back = height[u] > height[v], rng.random(u.size) < _BOTH_WAYS
    u, v = np.where(is_turned, v, u), np.where(is_turned, u, v)
    return Graph.from_edges(np.append(u, v[leads_back]), np.append(v, u[leads_back]), n=at.size, directed=True)
