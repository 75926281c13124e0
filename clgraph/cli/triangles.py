"""``clgraph triangles``."""

from __future__ import annotations

import argparse

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--top", metavar="K", type=int, default=5, help="how many of the first vertices to show (5)")


def _show(run: Run) -> Shown:
    import numpy as np

    found, ids = run.result, vertex_ids(run.graph)
    first = np.argsort(-found.counts, kind="stable")[: max(0, run.args.top)].tolist()
    top = [(ids[v], int(found.counts[v])) for v in first]
    average = found.average_clustering if len(found.counts) else None
    return Shown(
        {
            "n_triangles": found.n_triangles, "transitivity": found.transitivity, "average_clustering": average,
            "top": top,
        },
        {
            "triangles": f"{found.n_triangles:,}",
            "transitivity": f"{found.transitivity:.6g}",
            "average clustering": "none" if average is None else f"{average:.6g}",
            "most triangles": ", ".join(f"{vertex}: {count:,}" for vertex, count in top) or "none",
        },
    )  # fmt: skip


def _write(path: str, run: Run) -> None:
    counts, clustering = run.result.counts, run.result.clustering
    write_result(path, counts, zip(vertex_ids(run.graph), counts.tolist(), clustering.tolist(), strict=True))


TRIANGLES = GraphCommand(
    "triangles", "count the triangles of an undirected graph, at each vertex and in total", _show, _add_settings,
    write=_write,
    output="each vertex, its triangles and its clustering (an int64 array of triangles if FILE ends in .npy)",
)  # fmt: skip
