"""Output of commands: text or JSON on stdout, and progress on stderr."""

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
    """Print one JSON document. numpy numbers become plain numbers, and NaN and infinity become ``null``."""
    print(json.dumps(plain(document), indent=1, allow_nan=False))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(table(headers, rows))


def print_fields(fields: Mapping[str, object]) -> None:
    """Print one line with name and value per field."""
    print(field_lines(fields))


def run_fields(info: RunInfo, requested: str) -> dict[str, str]:
    """Return the lines about a run: its strategy, and whether it was
    picked or *requested*, its device and its times.
    """
    how = "picked" if requested == "auto" else "forced"
    return {**info.fields(), "strategy": f"{info.strategy} ({info.kind}, {how})"}
