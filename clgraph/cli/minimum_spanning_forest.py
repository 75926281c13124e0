"""``clgraph minimum_spanning_forest GRAPH``: minimum spanning forest."""

from __future__ import annotations

import argparse
from pathlib import Path

from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.options import vertex_ids, write_result


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--maximum", action="store_true", help="find the forest that weighs most")


def _write(path: str, run: Run) -> None:
    from clgraph.io import FORMATS, suffix_of, write

    forest = run.result
    formats = {suffix for name, module in FORMATS.items() if name != "edge_list" for suffix in module.SUFFIXES}
    if suffix_of(Path(path)) in formats:
        write(forest.to_graph(), path)
        return
    ids = vertex_ids(forest.graph)
    columns = [[ids[v] for v in ends.tolist()] for ends in (forest.sources, forest.targets)]
    if forest.weights is not None:
        columns.append(forest.weights.tolist())
    write_result(path, forest.edges, zip(*columns, strict=True))


def _show(run: Run) -> Shown:
    forest = run.result
    n_edges, n_trees = forest.edges.size, run.graph.n_vertices - forest.edges.size
    return Shown(
        {"maximum": run.args.maximum, "weight": forest.weight, "n_forest_edges": n_edges, "n_trees": n_trees},
        {"weight": f"{forest.weight:,}", "edges": f"{n_edges:,}", "trees": f"{n_trees:,}"},
    )


COMMAND = GraphCommand(
    "minimum_spanning_forest", "find the minimum spanning forest of a graph", _show, _add_settings,
    lambda args, graph: {"maximum": args.maximum},
    output="the edges of the forest (an int64 array of their places among the entries of the undirected graph if FILE "
    "ends in .npy, a graph if in .mtx, .gr, .graph or .npz)",
    write=_write,
)  # fmt: skip
