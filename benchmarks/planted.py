"""Graphs with planted communities, after the LFR benchmark.

Degrees follow a power law with exponent 2.5, and sizes of communities one with exponent 1.5. A share *mixing* of the
ends of edges is drawn from all vertices, and the other ends from the vertex's own community. Self-loops and repeats
are dropped.

A. Lancichinetti, S. Fortunato, F. Radicchi, "Benchmark graphs for testing community detection algorithms", Physical
Review E 78, 2008.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph


def power_law(random: np.random.Generator, size: int, exponent: float, least: int, most: int) -> NDArray[np.int64]:
    """Return integers from *least* to *most* whose density falls with *exponent*."""
    power = 1 - exponent
    low, high = float(least) ** power, float(most + 1) ** power
    drawn = (low + (high - low) * random.random(size)) ** (1 / power)
    return np.minimum(drawn.astype(np.int64), most)


def labels_of(n: int, random: np.random.Generator, least: int, most: int) -> NDArray[np.int64]:
    """Return the planted community of each vertex."""
    sizes = power_law(random, n // least + 1, 1.5, least, most)
    labels: NDArray[np.int64] = np.repeat(np.arange(sizes.size), sizes)[:n]
    return random.permutation(labels)


def planted(n: int, mixing: float, seed: int = 0, *, least_degree: int = 10, most_degree: int = 200) -> Graph:
    """Return an undirected graph of *n* vertices; :func:`planted_labels` has its communities."""
    random = np.random.default_rng(seed)
    labels = labels_of(n, random, 20, 1000)
    degrees = power_law(random, n, 2.5, least_degree, most_degree)
    outside = random.binomial(degrees, mixing)
    ends: list[Any] = []
    for counts, grouped in ((degrees - outside, True), (outside, False)):
        stubs = random.permutation(np.repeat(np.arange(n), counts))
        if grouped:  # Stubs of a community follow each other, in random order.
            stubs = stubs[np.argsort(labels[stubs], kind="stable")]
        pairs = stubs[: stubs.size // 2 * 2].reshape(-1, 2)
        ends.append(pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]] if grouped else pairs)
    src, dst = np.concatenate(ends).T
    return Graph.from_edges(src, dst, n=n, duplicates="first", self_loops="drop")


def planted_labels(n: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the communities of the graph that :func:`planted` makes."""
    return labels_of(n, np.random.default_rng(seed), 20, 1000)
