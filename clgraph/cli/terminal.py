"""Output of commands: text or JSON on stdout, progress on stderr."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clgraph.progress import bars as busy
from clgraph.tables import field_lines, milliseconds, plain, table

__all__ = [
    "busy", "milliseconds", "print_fields", "print_json", "print_table", "run_fields",
    "table",
]  # fmt: skip

if TYPE_CHECKING:
    from clgraph.runtime.driver.timing import RunInfo


def print_json(document: Any) -> None:
    """Print one JSON document; numpy numbers become plain numbers, and NaN and infinity become ``null``."""
    print(json.dumps(plain(document), indent=1, allow_nan=False))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(table(headers, rows))


def print_fields(fields: Mapping[str, object]) -> None:
    """Print one ``name  value`` line per field."""
    print(field_lines(fields))


def run_fields(info: RunInfo, requested: str) -> dict[str, str]:
    """Return the lines about a run: strategy, with whether it was picked or *requested*, device and times."""
    how = "picked" if requested == "auto" else "forced"
    return {**info.fields(), "strategy": f"{info.strategy} ({info.kind}, {how})"}
