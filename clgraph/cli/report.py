"""``clgraph report FILE …``: print tables of benchmark results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.report import Row

HELP = "print tables of benchmark results (GitHub, LaTeX, CSV)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from clgraph.report import FORMATS, TABLES, TIMES

    parser.add_argument("results", metavar="FILE", nargs="+", help="JSON written by a benchmark")
    parser.add_argument("-f", "--format", choices=FORMATS, default="github")
    parser.add_argument("-t", "--table", choices=TABLES, default="strategies", help="(default: strategies)")
    parser.add_argument(
        "--time", choices=TIMES, default="wall", help="of a run (wall, the default) or of its kernels only"
    )
    parser.add_argument(
        "-b", "--benchmark", metavar="NAME",
        help="print the table of this one only, such as connected_components; the default prints one of each",
    )  # fmt: skip
    parser.add_argument(
        "--into", metavar="FILE",
        help="replace what stands between the lines <!-- report NAME --> and <!-- /report NAME --> of FILE; "
        "needs --benchmark NAME",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from clgraph.names import unknown_name
    from clgraph.report import by_benchmark, insert, replace_text, tabulate_rows

    if args.into is not None and args.benchmark is None:
        raise InputError("--into takes one table: name its benchmark by --benchmark")
    groups = by_benchmark(_rows(args.results))
    if args.benchmark is None:
        _print_all(groups, args)
        return 0
    if args.benchmark not in groups:
        raise InputError(unknown_name("benchmark", args.benchmark, groups))
    text = tabulate_rows(groups[args.benchmark], args.table, args.format, args.time)
    if args.into is None:
        print(text)
    else:
        path = Path(args.into)
        replace_text(path, insert(path.read_text(encoding="utf-8"), text, args.benchmark))
    return 0


def _rows(paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of all files; print a note on stderr for each file without rows."""
    from clgraph.report import NoRowsError, read_rows

    rows = []
    for path in paths:
        try:
            rows += read_rows(path)
        except NoRowsError as error:
            print(f"clgraph: {error}", file=sys.stderr)
    if not rows:
        raise InputError("none of the files holds rows of strategies")
    return rows


def _print_all(groups: Mapping[str, list[Row]], args: argparse.Namespace) -> None:
    """Print a table per benchmark, and a note on stderr for each benchmark that has no table of this kind."""
    from clgraph.report import HEADINGS, tabulate_rows

    texts = []
    for name, rows in groups.items():
        try:
            text = tabulate_rows(rows, args.table, args.format, args.time)
        except InputError as error:
            print(f"clgraph: {name}: left out: {error}", file=sys.stderr)
        else:
            texts.append(f"{HEADINGS[args.format].format(name)}\n\n{text}" if len(groups) > 1 else text)
    print("\n\n".join(texts))
