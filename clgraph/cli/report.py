"""``clgraph report FILE …``: print tables of benchmark results, or write them and this device to an HTML page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clgraph.errors import InputError

if TYPE_CHECKING:
    from clgraph.report import Row

HELP = "print tables of benchmark results (GitHub, LaTeX, CSV), or write a page about a device (HTML)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from clgraph.cli.options import add_device
    from clgraph.report import FORMATS, TABLES, TIMES

    parser.add_argument(
        "results", metavar="FILE", nargs="*",
        help="JSON written by a benchmark; without any, --html measures every strategy on small inputs",
    )  # fmt: skip
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
    parser.add_argument(
        "--html", metavar="FILE",
        help="write one page with facts and rates of the device, the strategies' predicted and measured times, and the "
        "studies' tables beside published figures",
    )  # fmt: skip
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    from clgraph.names import unknown_name
    from clgraph.report import by_benchmark, insert, replace_text, tabulate_rows

    if args.html is not None:
        return _write_page(args)
    if args.device is not None:
        raise InputError("--device: only with --html, which describes a device")
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


def _rows(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of all files; print a note on stderr for each file without rows.

    Raises
    ------
    InputError
        There is no file, or none has rows.
    """
    from clgraph.report import NoRowsError, read_rows

    rows = []
    for path in paths:
        try:
            rows += read_rows(path)
        except NoRowsError as error:
            print(f"clgraph: {error}", file=sys.stderr)
    if not paths:
        raise InputError("no FILE: name the JSON files of benchmarks, or write a page about a device by --html FILE")
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


def _write_page(args: argparse.Namespace) -> int:
    """Write the HTML page.

    Without files, its times are measured here.
    """
    from clgraph.cli.options import open_session
    from clgraph.cli.terminal import busy
    from clgraph.html_report.measured import ALGORITHMS, measured_rows
    from clgraph.html_report.page import report_page
    from clgraph.names import unknown_name
    from clgraph.report import replace_text

    path = Path(args.html)
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: {path.parent} is no folder")
    rows = _rows(args.results) if args.results else None
    known = ALGORITHMS if rows is None else tuple(dict.fromkeys(row["benchmark"] for row in rows))
    if args.benchmark not in (None, *known):
        raise InputError(unknown_name("benchmark", args.benchmark, known))
    chosen = known if args.benchmark is None else (args.benchmark,)
    session = open_session(args)
    origin = f"The rows are from {', '.join(Path(name).name for name in args.results)}."
    if rows is None:
        with busy("measuring"):
            rows = measured_rows(session, chosen)
        origin = "The rows were measured for this page, on small generated inputs."
    rows = [row for row in rows if row["benchmark"] in chosen]
    replace_text(path, report_page(session.facts, session.profile, rows, origin))
    print(path)
    return 0
