"""Search for communities beside igraph, NetworKit and sc-cluster-libreville, on the same graphs in one run.

    benchmarks/bench_communities_peers.py --device pocl --graphs web-NotreDame rmat-16 --json results.json

It needs the packages igraph, networkit and sc-cluster-libreville. All codes run in turn, once for each of ``--seeds``
seeds. igraph's Leiden takes two iterations on one thread, and libreville runs until an iteration changes nothing. Times
are medians, without the conversion of the graph. ``--leave-out`` names codes to leave out. In a row, ``quality`` is
the median modularity, recomputed for all codes by :func:`clgraph.modularity`. ``n_apart`` counts the communities that
are not connected, in all seeds together. ``nmi`` is the median normalized mutual information with the planted
communities.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import harness
import inputs
import numpy as np
import planted
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from clgraph import generators
from clgraph.algorithms.communities import communities, modularity
from clgraph.data.graphs.graph import Graph
from clgraph.reference.communities import connected_parts
from clgraph.report import write_rows
from clgraph.runtime.session import Session

Run = Callable[[int], Any]  # maps a seed to the community of each vertex


def neighbours(n: int = 60_000, k: int = 12, seed: int = 0) -> Graph:
    """Return the graph of the *k* nearest neighbours of points around 30 centres in 10 dimensions."""
    drawn = np.random.default_rng(seed)
    points = drawn.normal(size=(30, 10))[drawn.integers(30, size=n)] + 0.35 * drawn.normal(size=(n, 10))
    near = cKDTree(points).query(points, k + 1)[1][:, 1:]
    return Graph.from_edges(np.repeat(np.arange(n), k), near.reshape(-1), n=n, duplicates="first")


GRAPHS: dict[str, Callable[[], Graph]] = {
    **{name: partial(inputs.undirected, name) for name in ("web-NotreDame", "road-NY", "4elt", "delaunay_n15")},
    "rmat-16": partial(generators.rmat, 16, 16),
    "rmat-17": partial(generators.rmat, 17, 16),
    "neighbours-60K": neighbours,
    **{name: make for name, make in inputs.COMMUNITIES.items() if name.startswith("planted-100K")},
}


def peers(graph: Graph) -> dict[str, Run]:
    """Return the runs of the other codes on *graph*, which each has in its own form."""
    import cluster_libreville  # type: ignore[import-not-found,unused-ignore]
    import igraph  # type: ignore[import-not-found,unused-ignore]
    import networkit  # type: ignore[import-not-found,unused-ignore]

    src, dst = graph.sources(), graph.column_indices
    once = src < dst
    edges = np.stack((src[once], dst[once]), axis=1)
    n = graph.n_vertices
    of_igraph = igraph.Graph(n, edges)
    of_networkit = networkit.GraphFromCoo((edges[:, 0], edges[:, 1]), n=n)
    matrix = csr_array((np.ones(graph.n_edges), (src, dst)), shape=(n, n))

    def leiden(seed: int) -> Any:
        igraph.set_random_number_generator(random.Random(seed))
        return of_igraph.community_leiden("modularity", n_iterations=2).membership

    def by_networkit(kind: str, seed: int) -> Any:
        networkit.setSeed(seed, False)
        return getattr(networkit.community, kind)(of_networkit).run().getPartition().getVector()

    return {
        "igraph": leiden,
        "PLM": partial(by_networkit, "PLM"),
        "ParallelLeiden": partial(by_networkit, "ParallelLeiden"),
        "libreville": lambda seed: cluster_libreville.leiden(matrix, seed=seed, n_iterations=-1, threads=2),
    }


def n_apart(graph: Graph, labels: NDArray[Any]) -> int:
    """Return the number of communities that are not connected."""
    parts = connected_parts(graph.sources(), graph.column_indices, labels)[1]
    parts_of = np.unique(np.stack((labels, parts)), axis=1)[0]
    return int((np.bincount(parts_of) > 1).sum())


def nmi(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Return the mutual information of two partitions over the mean of their entropies."""

    def entropy(labels: NDArray[Any]) -> float:
        share = np.unique(labels, return_counts=True)[1] / labels.size
        return float(-(share * np.log(share)).sum())

    one, other = entropy(found), entropy(expected)
    both = entropy(found.astype(np.int64) * (int(expected.max()) + 1) + expected)
    return 2 * (one + other - both) / (one + other)


def measure(name: str, args: argparse.Namespace, session: Session) -> list[dict[str, Any]]:
    """Return a row for each code."""
    graph = GRAPHS[name]()
    expected = planted.planted_labels(graph.n_vertices) if name in inputs.COMMUNITIES else None
    communities(graph, session=session, verify=True)
    runs: dict[str, Run] = {}
    for iterations in args.iterations:
        given = {"session": session, "iterations": iterations}
        runs[f"clgraph, {iterations} iterations"] = partial(_ours, graph, given)
    runs |= {code: run for code, run in peers(graph).items() if code not in args.leave_out}
    seconds: dict[str, list[float]] = {code: [] for code in runs}
    found: dict[str, list[NDArray[Any]]] = {code: [] for code in runs}
    for seed in range(args.seeds):
        for code, run in runs.items():
            started = time.perf_counter()
            labels = run(seed)
            seconds[code].append(time.perf_counter() - started)
            found[code].append(np.asarray(labels))
    rows = []
    for code in runs:
        qualities = [modularity(graph, labels) for labels in found[code]]
        row: dict[str, Any] = {
            "benchmark": "communities_peers", "algorithm": "communities", "graph": name, "n_vertices": graph.n_vertices,
            "n_entries": graph.n_edges, "strategy": code, "seeds": args.seeds,
            "wall_seconds": float(np.median(seconds[code])),
            "quality": float(np.median(qualities)), "least_quality": min(qualities), "greatest_quality": max(qualities),
            "n_communities": int(np.median([np.unique(labels).size for labels in found[code]])),
            "n_apart": sum(n_apart(graph, labels) for labels in found[code]),
        }  # fmt: skip
        if expected is not None:
            row["nmi"] = float(np.median([nmi(labels, expected) for labels in found[code]]))
        rows.append({**row, **harness.provenance(session)})
    return rows


def _ours(graph: Graph, given: dict[str, Any], seed: int) -> Any:
    return communities(graph, seed=seed, **given).labels


def main() -> int:
    made = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    made.add_argument("-d", "--device", default="pocl")
    made.add_argument("--graphs", nargs="+", metavar="NAME", default=[*GRAPHS], help=f"of {', '.join(GRAPHS)}")
    made.add_argument("--iterations", nargs="+", type=int, default=[8], help="ours (default %(default)s)")
    made.add_argument("--seeds", type=int, default=5)
    made.add_argument("--leave-out", nargs="*", metavar="CODE", default=[])
    made.add_argument("--json", metavar="PATH", help="add rows to this file")
    args = made.parse_args()
    session = Session(args.device)
    for name in args.graphs:
        rows = measure(name, args, session)
        for row in rows:
            print(f"{row['graph']:16s}{row['strategy']:24s}{row['wall_seconds']:8.3f} s  {row['quality']:.5f} "
                  f"({row['least_quality']:.5f} .. {row['greatest_quality']:.5f})  "
                  f"{row['n_communities']:7d} communities, "
                  f"{row['n_apart']} apart, NMI {row.get('nmi', float('nan')):.4f}", flush=True)  # fmt: skip
        if args.json:
            write_rows(args.json, rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
