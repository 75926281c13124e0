"""Forests of several devices that are joined on the host where few vertices meet."""

from itertools import pairwise

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from clgraph.algorithms.connected_components.boundaries import Boundary, joined, owned_by


def forest(n: int, edges: np.ndarray) -> np.ndarray:
    """Return the smallest vertex of each vertex's component."""
    matrix = coo_array((np.ones(len(edges), bool), edges.T.reshape(2, -1)), shape=(n, n))
    _, first, component = np.unique(connected_components(matrix)[1], return_index=True, return_inverse=True)
    return first[component]


def pairs(found: object) -> np.ndarray:
    return np.array(found, np.int32).reshape(-1, 2)


def test_the_numbers_are_those_of_the_whole_graph() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, n_devices = rng.integers(1, 40), rng.integers(1, 5)
        edges = rng.integers(0, n, (rng.integers(0, 30), 2))
        of_device = rng.integers(0, n_devices, len(edges))
        cuts = [0, *sorted(rng.integers(0, n + 1, n_devices - 1).tolist()), n]
        owned = list(pairwise(cuts))
        forests = [forest(n, edges[of_device == k]) for k in range(n_devices)]
        ranks, boundaries = [], []
        for (first, last), labels in zip(owned, forests, strict=True):
            below, vertices = labels != np.arange(n), np.arange(n)
            outside = (vertices < first) | (vertices >= last)
            listed = {(int(v), int(labels[v])) for v in vertices[below & outside]}
            listed |= {(int(v), int(v)) for v in labels[below] if outside[v]}
            rank = np.cumsum(~below & ~outside) - 1
            ranks.append(np.where(~below & ~outside, rank, -1))
            boundaries.append(Boundary(pairs(sorted(listed)), int(np.count_nonzero(~below & ~outside))))
        mentioned = np.unique(np.concatenate([each.pairs.ravel() for each in boundaries]))
        found = [
            pairs([(labels[v], rank[labels[v]]) for v in own])
            for own, labels, rank in zip(owned_by(mentioned, owned), forests, ranks, strict=True)
        ]
        n_components, numbers = joined(boundaries, owned, mentioned, found)
        expected = np.unique(forest(n, edges), return_inverse=True)
        assert n_components == expected[0].size
        for (first, last), labels, rank, given in zip(owned, forests, ranks, numbers, strict=True):
            told = dict(given.pairs.tolist())
            left = [v for v in range(first, last) if rank[v] >= 0 and v not in told]
            for v in range(first, last):
                root = int(labels[v])
                assert (told[root] if root in told else given.base + left.index(root)) == expected[1][v]
