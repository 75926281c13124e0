"""``clgraph report FILE …``: tables of benchmark results."""
from __future__ import annotations

import argparse
from pathlib import Path

HELP = "print tables of benchmark results (GitHub, LaTeX, CSV)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from clgraph.report import FORMATS, TABLES, TIMES

    parser.add_argument("results", metavar="FILE", nargs="+", help="JSON written by a benchmark")
    parser.add_argument("-f", "--format", choices=FORMATS, default="github")
    parser.add_argument("-t", "--table", choices=TABLES, default="strategies", help="(default: strategies)")
    parser.add_argument(
        "--time", choices=TIMES, default="wall", help="of a run (wall, the default) or of its kernels only"
    )
    parser.add_argument("-b", "--benchmark", default="components", help="such as components (the default)")
    parser.add_argument(
        "--into", metavar="FILE",
        help="replace what stands between the lines <!-- report --> and <!-- /report --> of FILE "
        "(<!-- report NAME --> for a benchmark other than components)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from clgraph.report import insert, read_rows, replace_text, tabulate_rows

    rows = [row for path in args.results for row in read_rows(path)]
    rows = [row for row in rows if row["benchmark"] == args.benchmark]
    text = tabulate_rows(rows, args.table, args.format, args.time)
    if args.into is None:
        print(text)
    else:
        path, name = Path(args.into), "" if args.benchmark == "components" else args.benchmark
        replace_text(path, insert(path.read_text(encoding="utf-8"), text, name))
    return 0
