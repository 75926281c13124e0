"""The sub-commands that run algorithms on graph files; ``bfs`` and ``sssp`` are in ``paths.py``."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.cli.communities import COMMUNITIES
from clgraph.cli.cores import CORES
from clgraph.cli.graph_command import GraphCommand, Run, Shown
from clgraph.cli.independent import INDEPENDENT_SET, MATCHING
from clgraph.cli.options import vertex_ids, write_result
from clgraph.cli.paths import BFS, SSSP
from clgraph.cli.ranks import EIGENVECTOR, HITS, KATZ, PAGERANK
from clgraph.cli.triangles import TRIANGLES
from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.data.graphs.graph import Graph


def _writer(name: str) -> Callable[[str, Run], None]:
    """Return a function that writes the array *name* of a result, which has a value for each vertex."""

    def write(path: str, run: Run) -> None:
        values = getattr(run.result, name)
        write_result(path, values, zip(vertex_ids(run.graph), values.tolist(), strict=True))

    return write


def _given(*names: str) -> Callable[[argparse.Namespace, Graph], dict[str, Any]]:
    """Return a function that takes the settings *names* from the command's options of the same names."""
    return lambda args, graph: {name: getattr(args, name) for name in names}


# ---- connected components


def _add_components(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--largest", metavar="K", type=int, default=5, help="how many of the largest sizes to show (5)")


def _show_components(run: Run) -> Shown:
    import numpy as np

    n_components = run.result.n_components
    sizes = np.sort(np.bincount(run.result.labels))[::-1].tolist()[: max(0, run.args.largest)]
    return Shown(
        {"n_components": n_components, "largest": sizes},
        {"components": f"{n_components:,}", "largest": ", ".join(f"{size:,}" for size in sizes) or "none"},
    )


# ---- minimum spanning forests


def _add_forest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--maximum", action="store_true", help="find the forest that weighs most")


def _write_forest(path: str, run: Run) -> None:
    from clgraph.io import FORMATS, suffix_of, write

    forest = run.result
    written = {name: module for name, module in FORMATS.items() if module.write and name != "edge_list"}
    formats = {suffix for module in written.values() for suffix in module.SUFFIXES}
    if suffix_of(Path(path)) in formats:
        write(forest.to_graph(), path)
        return
    ids = vertex_ids(forest.graph)
    columns = [[ids[v] for v in ends.tolist()] for ends in (forest.sources, forest.targets)]
    if forest.weights is not None:
        columns.append(forest.weights.tolist())
    write_result(path, forest.edges, zip(*columns, strict=True))


def _show_forest(run: Run) -> Shown:
    forest = run.result
    n_edges, n_trees = forest.edges.size, run.graph.n_vertices - forest.edges.size
    return Shown(
        {"maximum": run.args.maximum, "weight": forest.weight, "n_forest_edges": n_edges, "n_trees": n_trees},
        {"weight": f"{forest.weight:,}", "edges": f"{n_edges:,}", "trees": f"{n_trees:,}"},
    )


# ---- colourings


def _add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1, help="of vertices that must differ (1)")
    parser.add_argument(
        "--order",
        help="natural, random, interleaved, largest_first or smallest_last; the default is what suits the strategy",
    )
    parser.add_argument(
        "--prefer", choices=("both", "colors", "time"), default="both",
        help="few colours in little time (the default), the fewest of several tries, or the fastest strategy",
    )  # fmt: skip
    parser.add_argument("--balanced", action="store_true", help="make the classes alike in size")
    parser.add_argument("--deterministic", action="store_true", help="the same colours in every run")
    parser.add_argument("--seed", type=int, default=0, help="of the hash that orders vertices (0)")


def _show_color(run: Run) -> Shown:
    n_colors, sizes = run.result.n_colors, run.result.class_sizes.tolist()
    return Shown(
        {"distance": run.args.distance, "n_colors": n_colors, "class_sizes": sizes},
        {"colors": f"{n_colors:,}", "class sizes": f"{min(sizes, default=0):,} … {max(sizes, default=0):,}"},
    )


# ---- partitions


def _add_partition(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-k", "--parts", dest="n_parts", type=int, required=True, metavar="N", help="number of parts")
    parser.add_argument(
        "--imbalance", type=float, default=0.03, metavar="SHARE",
        help="how much more than its share a part may weigh (0.03)",
    )  # fmt: skip
    parser.add_argument("--matching", default="two_hop", help="two_hop, lock_free or segmented")
    parser.add_argument("--contraction", default="hashed", help="hashed or sorted")
    parser.add_argument(
        "--refinement", default="label_propagation", help="label_propagation, buffered, permutations or noop"
    )  # fmt: skip
    parser.add_argument("--effort", default="normal", help="fast, normal or max: less time, or a smaller cut")
    parser.add_argument(
        "--scale-weights", type=float, metavar="FACTOR",
        help="multiply the weights of the edges and round them to the integers that a partition needs",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of what is left to chance (0)")
    parser.add_argument("--deterministic", action="store_true", help="the same parts in every run")


def _rounded(args: argparse.Namespace, graph: Graph) -> Graph:
    """Return *graph* with its weights multiplied by ``--scale-weights`` and rounded to integers."""
    import numpy as np

    from clgraph.algorithms.partition.problem import _MAX_CUT
    from clgraph.arguments import checked_number
    from clgraph.data.graphs.graph import Graph

    weights, factor = graph.edge_weights, args.scale_weights
    if weights is None or (factor is None and weights.dtype.kind == "i"):
        if factor is not None:
            raise InputError("--scale-weights: the graph has no weights")
        return graph
    # The sum of the weights is computed in float64, because a sum of 32-bit weights may overflow.
    # The factor is printed with three digits, and 0.995 keeps the printed factor small enough if it is rounded up.
    total = float(np.abs(weights, dtype=np.float64).sum()) / (1 if graph.directed else 2)
    most = f"at most {0.995 * _MAX_CUT / total:.3g}" if total else "any number"
    if factor is None:
        raise InputError(
            "the weights are real numbers, and a partition needs integers: --scale-weights FACTOR multiplies and "
            f"rounds them; {most} here"
        )
    scaled = np.rint(weights * checked_number("--scale-weights", factor, above=True))
    if not np.abs(scaled).sum() < 2.0**63:
        raise InputError(f"--scale-weights {factor:g}: the weights add up beyond 64 bits; allowed: {most}")
    if n_lost := int(np.count_nonzero((scaled == 0) & (weights != 0))):
        warnings.warn(f"--scale-weights {factor:g}: {n_lost} entries round to 0", stacklevel=2)
    return Graph(
        graph.row_offsets, graph.column_indices, scaled.astype(np.int64), graph.directed, graph.ids, copy=False
    )


def _write_parts(path: str, run: Run) -> None:
    parts = run.result.parts
    write_result(path, parts, ((part,) for part in parts.tolist()))


def _show_partition(run: Run) -> Shown:
    result, factor = run.result, run.args.scale_weights
    weights = result.part_weights.tolist()
    return Shown(
        {
            "n_parts": len(weights), "edge_cut": result.edge_cut, "imbalance": result.imbalance,
            "part_weights": weights, "levels": result.levels, "scale_weights": factor,
        },
        {
            "edge cut": f"{result.edge_cut:,}" + (f" ({result.edge_cut / factor:g} before scaling)" if factor else ""),
            "part weights": f"{min(weights):,} … {max(weights):,}",
            "imbalance": f"{100 * result.imbalance:.2f} %", "levels": str(len(result.levels)),
        },
    )  # fmt: skip


# Commands about the collisions of hash colourings follow.


def _add_collisions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--distance", type=int, choices=(1, 2), default=1, help="of vertices that collide (1)")
    parser.add_argument(
        "--hashes", metavar="H", type=hashes, default=15,
        help="how many of the known hash functions, or names with commas between them (15)",
    )  # fmt: skip
    parser.add_argument(
        "--bits", metavar="B", dest="bit_widths", type=bits, default=tuple(range(1, 11)),
        help="bits of a colour: numbers and ranges with commas between them (1-10)",
    )  # fmt: skip
    parser.add_argument(
        "--max-colors", metavar="N", type=int, help="name the best colouring of at most so many colours"
    )


def _show_collisions(run: Run) -> Shown:
    args, counts = run.args, run.result
    best = counts.best(max_colors=args.max_colors)
    fields = {
        "best": f"{best.hash} of {best.bits} bits: {best.total:,} collisions, {best.maximum:,} in the largest row"
    }
    if args.plot is not None:
        from clgraph.cli.collisions_plot import plot_collisions

        plot_collisions(counts, args.plot, Path(args.graph).name)
        fields["plot"] = args.plot
    document = {
        "distance": args.distance, "hashes": counts.hashes, "bit_widths": counts.bit_widths, "total": counts.total,
        "maximum": counts.maximum, "best": best._asdict(),
    }  # fmt: skip
    return Shown(document, fields, above=str(counts))


def hashes(text: str) -> int | list[str]:
    return int(text) if text.isdigit() else text.split(",")


def bits(text: str) -> tuple[int, ...]:
    """Return the numbers in *text*: 1, 2, 3, 4, 8 for ``1-4,8``. argparse shows this function's name in its error."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        found += range(int(first), int(last if dash else first) + 1)
    return tuple(found)


_COMMANDS = (
    GraphCommand(
        "connected_components", "find the connected components of a graph", _show_components, _add_components,
        output="each vertex and the number of its component (an int32 array of numbers if FILE ends in .npy)",
        write=_writer("labels"),
    ),
    GraphCommand(
        "strongly_connected_components", "find the strongly connected components of a directed graph",
        _show_components, _add_components,
        output="each vertex and the number of its component (an int32 array of numbers if FILE ends in .npy)",
        write=_writer("labels"),
    ),
    GraphCommand(
        "minimum_spanning_forest", "find the minimum spanning forest of a graph", _show_forest, _add_forest,
        _given("maximum"), write=_write_forest,
        output="the edges of the forest (an int64 array of their places among the entries of the undirected graph if "
        "FILE ends in .npy, a graph if in .mtx, .gr, .graph or .npz)",
    ),
    GraphCommand(
        "color", "colour the vertices of a graph so that neighbours differ", _show_color, _add_color,
        _given("distance", "order", "balanced", "deterministic", "prefer", "seed"), write=_writer("colors"),
        output="each vertex and its colour (an int32 array of colours if FILE ends in .npy)",
    ),
    GraphCommand(
        "partition", "divide the vertices into parts with few edges between them", _show_partition, _add_partition,
        _given("n_parts", "imbalance", "matching", "contraction", "refinement", "effort", "seed", "deterministic"),
        prepare=_rounded, write=_write_parts,
        output="the part of each vertex in the order of their ids, as METIS does (an int32 array if FILE ends in .npy)",
    ),
    GraphCommand(
        "hash_collisions", "count the collisions of hash colourings of a graph", _show_collisions, _add_collisions,
        _given("distance", "hashes", "bit_widths"), plot="the collisions",
    ),
    BFS,
    COMMUNITIES,
    CORES,
    EIGENVECTOR,
    HITS,
    KATZ,
    INDEPENDENT_SET,
    MATCHING,
    PAGERANK,
    SSSP,
    TRIANGLES,
)  # fmt: skip
GRAPH_COMMANDS = {command.name: command for command in _COMMANDS}
