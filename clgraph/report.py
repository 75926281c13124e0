"""Tables of benchmark results, which are JSON files of rows.

A row is one measurement of one strategy on one graph and device. ``benchmarks/harness.py`` writes rows and documents
their fields.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import Any, TypeAlias

from clgraph.errors import InputError

Row: TypeAlias = Mapping[str, Any]
Cells: TypeAlias = tuple[list[str], list[list[Any]]]

SCHEMA_VERSION = 1
FORMATS = ("github", "latex", "csv")
TABLES = ("strategies", "rows", "regret", "parts", "ratios")
TIMES = ("wall", "least_wall", "kernel", "least_kernel")
HEADINGS = {"github": "### {}", "latex": "% {}", "csv": "# {}"}
_REQUIRED = ("benchmark", "device", "graph", "strategy", "wall_seconds")


class NoRowsError(InputError):
    """A result file has no rows, because its benchmark does not time strategies."""


def read_rows(path: str | Path) -> list[dict[str, Any]]:
    """Read the rows of one file of benchmark results.

    Raises
    ------
    InputError
        The file is not a result file, or has another schema version.
    NoRowsError
        The benchmark of this file does not time strategies.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    if isinstance(document, dict) and "schema" not in document and document.keys() & {"command", "commands"}:
        raise NoRowsError(f"{path}: left out, since it holds no times of strategies")
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_VERSION:
        raise InputError(f"{path}: not benchmark results of schema {SCHEMA_VERSION}")
    rows: list[dict[str, Any]] = document["rows"]
    for number, row in enumerate(rows):
        if missing := [name for name in _REQUIRED if name not in row]:
            raise InputError(f"{path}: row {number} lacks {', '.join(missing)}")
    return rows


def write_rows(path: str | Path, rows: Iterable[Row]) -> None:
    """Add *rows* to the file of results *path*, which is created if missing.

    The file is replaced atomically.
    """
    target = Path(path)
    merged: dict[tuple[str, ...], Row] = {}  # A new row replaces the old row of the same measurement.
    for row in (*(read_rows(target) if target.exists() else ()), *rows):
        merged[_device(row), row["benchmark"], row["graph"], row["strategy"]] = row
    target.parent.mkdir(parents=True, exist_ok=True)
    document = {"schema": SCHEMA_VERSION, "rows": [*merged.values()]}
    replace_text(target, json.dumps(document, indent=1, allow_nan=False) + "\n")


def replace_text(path: Path, text: str) -> None:
    """Replace the content of the file *path* by *text*.

    If writing fails, the old file stays.
    """
    from clgraph.io.text import replacing

    with replacing(path) as stream:
        stream.write(text.encode())


def insert(text: str, table: str, benchmark: str) -> str:
    """Return *text* with *table* inserted between the two marks that name *benchmark*.

    Raises
    ------
    InputError
        The marks are missing.
    """
    opening, closing = f"<!-- report {benchmark} -->", f"<!-- /report {benchmark} -->"
    head, begin, rest = text.partition(opening)
    _, end, tail = rest.partition(closing)
    if not begin or not end:
        raise InputError(f"the file has no place for a table: two lines, {opening} and {closing}")
    return f"{head}{begin}\n{table}\n{end}{tail}"


def by_benchmark(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each benchmark.

    The benchmarks are in the order of their first rows.
    """
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["benchmark"]].append(row)
    return groups


def tabulate_rows(rows: Sequence[Row], table: str, style: str, time: str = "wall") -> str:
    """Return a table of benchmark *rows* as text.

    *table* names its kind.

    Parameters
    ----------
    table : {"strategies", "rows", "regret", "parts", "ratios"}
        One line per device and graph with a column per strategy (milliseconds; ``*`` marks the cost
        model's pick, bold the fastest); every row with its prediction; how much slower the pick
        was than the best; where the time of calls went, from the user's array to the answer; or, for each
        algorithm, how many times as fast as scipy's or networkx's own its calls are (geometric mean over graphs, the
        least in parentheses).
    style : {"github", "latex", "csv"}
    time : {"wall", "least_wall", "kernel", "least_kernel"}
        Which of a row's times counts; rows without it are left out of the strategies and the regret.
    """
    if table == "rows":
        headers, cells = _every_row(rows)
    elif table == "parts":
        headers, cells = _parts(rows)
    elif table == "ratios":
        headers, cells = _ratios(rows)
    else:
        timed = [row for row in rows if row.get(f"{time}_seconds") is not None]
        if not timed:
            raise InputError(f"no row has {time} seconds")
        headers, cells = _strategies(timed, style, time) if table == "strategies" else _regret(timed, time)
    if style == "csv":
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([headers, *cells])
        return buffer.getvalue().rstrip("\n")
    from tabulate import tabulate

    tablefmt = "latex_booktabs" if style == "latex" else "github"
    text: str = tabulate(cells, headers, tablefmt=tablefmt, disable_numparse=True, colalign=_alignment(cells))
    return text


def regrets(rows: Iterable[Row], time: str = "wall") -> dict[tuple[str, str], tuple[str, str, float]]:
    """Return, for each device and graph, the strategy that the cost model
    picked, the fastest strategy, and their ratio.

    The ratio is ``time(pick) / time(best)``. *time* is one of ``TIMES`` and selects the kind of seconds to compare; the
    cost model predicts wall seconds. Graphs without a row marked ``picked`` are left out.
    """
    table = {}
    for key, strategies in _by_graph(row for row in rows if row.get("kind")).items():
        picks = [name for name, row in strategies.items() if row.get("picked")]
        if picks:
            seconds = {name: float(row[f"{time}_seconds"]) for name, row in strategies.items()}
            best = min(seconds, key=seconds.__getitem__)
            table[key] = (picks[0], best, seconds[picks[0]] / seconds[best])
    return table


def _by_graph(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    """Return a dictionary from pairs (device, graph) to the row of each strategy."""
    groups: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        groups[_device(row), row["graph"]][row["strategy"]] = row
    return groups


def _strategies(rows: Sequence[Row], style: str, time: str) -> Cells:
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    cells = []
    for (device, graph), group in _by_graph(rows).items():
        seconds = {name: float(row[f"{time}_seconds"]) for name, row in group.items()}
        best = min((seconds[name] for name, row in group.items() if row.get("kind")), default=0.0)
        shown = {
            name: _time_cell(seconds[name], seconds[name] == best, bool(row.get("picked")), style)
            for name, row in group.items()
        }
        cells.append([device, graph, *(shown.get(name, "") for name in names)])
    return ["device", "graph", *names], cells


def _time_cell(seconds: float, is_best: bool, is_picked: bool, style: str) -> str:
    text = _ms(seconds)
    if style == "csv":
        return text
    if is_best and style == "github":
        text = f"**{text}**"
    return f"{text} *" if is_picked else text


def _every_row(rows: Sequence[Row]) -> Cells:
    headers = [
        "device", "graph", "strategy", "kind", "picked",
        "predicted ms", "wall ms", "kernel ms", "least kernel ms",
    ]  # fmt: skip
    cells = [
        [
            _device(row), row["graph"], row["strategy"], row.get("kind") or "",
            "yes" if row.get("picked") else "",
            *(_ms(row.get(f"{name}_seconds")) for name in ("predicted", "wall", "kernel", "least_kernel")),
        ]
        for row in rows
    ]  # fmt: skip
    return headers, cells


def _regret(rows: Sequence[Row], time: str) -> Cells:
    table = regrets(rows, time)
    if not table:
        raise InputError("no row is marked as the cost model's pick")
    cells = [[device, graph, *rest, f"{ratio:.2f}"] for (device, graph), (*rest, ratio) in table.items()]
    for device in dict.fromkeys(device for device, _ in table):
        ratios = [ratio for (name, _), (*_, ratio) in table.items() if name == device]
        cells.append([device, "geometric mean", "", "", f"{geometric_mean(ratios):.2f}"])
        cells.append([device, "worst", "", "", f"{max(ratios):.2f}"])
    return ["device", "graph", "pick", "best", "pick / best"], cells


def _parts(rows: Sequence[Row]) -> Cells:
    """Return the calls of the end-to-end benchmark and the milliseconds of each part of a call."""
    calls = [row for row in rows if "call" in row]
    if not calls:
        raise InputError("no row tells the parts of a call")
    names = ("check", "convert", "statistics", "upload", "kernel", "span", "read", "compile", "python", "bus")
    parts = [name for name in names if any(row.get(f"{name}_seconds") for row in calls)]
    others = [name for name in ("scipy", "networkx") if any(f"{name}_seconds" in row for row in calls)]
    cells = [
        [
            _device(row), row["graph"], row["input"], row["call"], row["ran"], _ms(row["least_wall_seconds"]),
            *(_ms(row.get(f"{name}_seconds")) for name in parts),
            *(_ratio(row.get(f"{name}_seconds"), row["least_wall_seconds"]) for name in others),
        ]
        for row in calls
    ]  # fmt: skip
    headers = ["device", "graph", "input", "call", "strategy", "ms", *parts, *(f"{name} / ours" for name in others)]
    return headers, cells


def _ratio(seconds: float | None, ours: float) -> str:
    return "" if seconds is None else f"{seconds / ours:.2f}"


def _ratios(rows: Sequence[Row]) -> Cells:
    """Return the speedup of clgraph's calls over scipy, or over networkx if scipy does not take the input."""
    groups: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.get("call") in (None, "cold process"):
            continue
        other = "scipy" if "scipy_seconds" in row and row["input"] != "networkx" else "networkx"
        if f"{other}_seconds" in row:
            ratio = row[f"{other}_seconds"] / row["least_wall_seconds"]
            groups[_device(row), row["algorithm"]][row["strategy"]].append(ratio)
    if not groups:
        raise InputError("no row of a call has the seconds of another library")
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    cells = [
        [*key, *(_mean_and_least(group[name]) if name in group else "" for name in names)]
        for key, group in groups.items()
    ]
    return ["device", "algorithm", *names], cells


def _mean_and_least(ratios: Sequence[float]) -> str:
    return f"{geometric_mean(ratios):.2f} ({min(ratios):.2f})"


def _device(row: Row) -> str:
    """Return the device name of a result *row*, with the platform if known, as a processor may have several drivers."""
    return f"{row['device']} ({row['platform']})" if "platform" in row else str(row["device"])


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return ""
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def _alignment(cells: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the alignment of each column: columns of numbers to the right, other columns to the left."""

    def number(text: str) -> bool:
        return text.strip("* ").replace(".", "", 1).replace("e-", "", 1).isdigit()

    columns = zip(*cells, strict=True)
    return tuple("right" if all(number(t) for t in column if t) else "left" for column in columns)
