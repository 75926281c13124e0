"""Options that several sub-commands share, and functions that apply them."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from clgraph.cli.terminal import busy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clgraph.data.graphs.graph import Graph
    from clgraph.data.ratings.ratings import Ratings
    from clgraph.runtime.session import Session

READING = ("format", "base", "ids", "size_line", "directed", "duplicates")
"""The options of :func:`add_reading` that only graph files have."""


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-d", "--device", metavar="DEVICE",
        help="gpu, cpu, part of a platform, vendor or device name (nvidia, amd:1, pocl), or an id of "
        "`clgraph devices`; the default is CLGRAPH_DEVICE, then the best GPU, then the CPU",
    )  # fmt: skip


def add_strategy(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-s", "--strategy", default="auto", help="strategy to force; the default takes the cost model's pick"
    )


def add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verify", action="store_true", help="check the result against the definition")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def add_graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("graph", metavar="GRAPH", help="graph file; its content decides the format; - is stdin")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options for reading a graph file to a sub-command."""
    parser.add_argument(
        "--format",
        help="of the file: matrix_market, edge_list, dimacs9, dimacs_col, metis, npz, parquet, graphml, gml or pajek; "
        "by default its content decides",
    )
    parser.add_argument("--base", type=int, choices=(0, 1), help="ids of an edge list are numbers from here on")
    parser.add_argument(
        "--ids", choices=("keep", "compact", "names"),
        help="of an edge list: keep them as numbers, so that unused ones are vertices, too, or number those that occur "
        "(the default unless the head states a range that holds them), or take them as text",
    )  # fmt: skip
    add_columns(parser, "an edge list (source,target,weight)")
    parser.add_argument(
        "--size-line", action=argparse.BooleanOptionalAction,
        help="the first line of an edge list holds its numbers of vertices and edges; by default if it fits",
    )  # fmt: skip
    parser.add_argument(
        "--directed", action=argparse.BooleanOptionalAction, help="read a directed graph; by default what the file says"
    )
    parser.add_argument(
        "--duplicates", choices=("first", "sum", "min", "max", "keep", "error"),
        help="what to do with repeated edges: keep the first (the default for lists of edges) or all, or merge weights",
    )  # fmt: skip


def add_columns(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option for the columns of a text file.

    *what* describes the file and its columns.
    """
    parser.add_argument(
        "--columns", metavar="NAME,…", type=_columns,
        help=f"names of the columns of {what}; others are passed over; by default the file's header tells; "
        "source=from,target=to names columns of the header",
    )  # fmt: skip


def _columns(text: str) -> tuple[str, ...] | dict[str, str]:
    names = text.split(",")
    pairs = [name.partition("=") for name in names]
    if all(sign for _, sign, _ in pairs):
        return {role: name for role, _, name in pairs}
    return tuple(names)


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option to write a result to a file.

    *what* describes its content.
    """
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help=f"write {what}, one a line and without a header: between commas if FILE ends in .csv, else between tabs; "
        "vertices have the ids of the graph file; - is stdout",
    )  # fmt: skip


def add_plot(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option to save a plot.

    *what* describes the plot.
    """
    parser.add_argument("--plot", metavar="FILE", help=f"draw {what} (.png, .svg or .pdf; needs the extra plot)")


def check_plot(args: argparse.Namespace) -> None:
    """Raise an error unless ``--plot`` will work.

    Call this before the computation whose result is drawn.
    """
    from clgraph.figure import check_figure

    if args.plot is not None:
        check_figure(args.plot)


def open_session(args: argparse.Namespace) -> Session:
    """Return a session on the device that the option ``--device`` names."""
    from clgraph.runtime.session import Session

    return Session(args.device)


def read_graph(path: str, args: argparse.Namespace) -> Graph:
    """Return the graph in the file *path*, read with the options in *args*.

    Progress is shown on a terminal.

    A text file is parsed once, then cached. The graph keeps the file's ids unless they are 0, 1, 2, ….
    """
    from clgraph.io import read

    given = {name: value for name in (*READING, "columns") if (value := getattr(args, name)) is not None}
    with busy(f"reading {path}"):
        # A .npz file is binary already.
        return read(_input(path), with_ids=True, cache=not path.endswith(".npz"), **given)


def read_rating_file(path: str, columns: Sequence[str] | Mapping[str, str] | None) -> Ratings:
    """Return the ratings in file *path*; show progress on a terminal."""
    from clgraph.io.ratings import read_ratings

    with busy(f"reading {path}"):
        return read_ratings(_input(path), columns=columns)


def _input(path: str) -> str:
    return "/dev/stdin" if path == "-" else path


def vertex_ids(graph: Graph) -> Sequence[Any]:
    """Return the ids of the graph's vertices, or their numbers if the graph has no ids."""
    ids: Sequence[Any] = range(graph.n_vertices) if graph.ids is None else graph.ids.tolist()
    return ids


def write_result(path: str, array: NDArray[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write *array* if *path* ends in .npy, else *rows* as text, comma-separated for .csv; "-" means stdout."""
    from clgraph.io import suffix_of
    from clgraph.io.text import writing

    if path == "-":
        _write_rows(sys.stdout, rows, "\t")
        return
    suffix = suffix_of(Path(path))
    with writing(Path(path)) as stream:
        if suffix == ".npy":
            import numpy as np

            np.save(stream, array)
        else:
            text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            _write_rows(text, rows, "," if suffix == ".csv" else "\t")
            text.detach()  # flushes it


def _write_rows(stream: TextIO, rows: Iterable[Sequence[Any]], delimiter: str) -> None:
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
