"""Text for people on stdout, JSON for programs, progress on stderr."""
from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from clgraph.progress import bars as busy

__all__ = [
    "busy", "milliseconds", "print_fields", "print_json", "print_table", "run_document", "run_fields",
    "table",
]  # fmt: skip

if TYPE_CHECKING:
    from clgraph.runtime.timing import RunInfo


def print_json(document: Any) -> None:
    """Print one JSON document; numpy numbers become plain ones, and NaN or infinity ``null``."""
    print(json.dumps(_plain(document), indent=1, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not (abs(value) < float("inf")):
        return None
    return value


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows under *headers* as text; numbers are aligned to the right."""
    from tabulate import tabulate

    return str(tabulate([list(row) for row in rows], headers, tablefmt="simple", disable_numparse=False))


def print_table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(table(headers, rows))


def print_fields(fields: Mapping[str, object]) -> None:
    """Print one ``name  value`` line per field."""
    width = max(map(len, fields))
    for name, value in fields.items():
        print(f"{name:<{width}}  {value}")


def milliseconds(seconds: float) -> str:
    """Return *seconds* in ms with three significant figures."""
    value = 1e3 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def run_fields(info: RunInfo, requested: str) -> dict[str, str]:
    """Return what to print of a run of the *requested* strategy: what ran, where, and how long it took."""
    seconds = info.seconds
    parts = ("compile", "transfer", "kernel", "host")
    fields = {
        "strategy": f"{info.strategy} ({info.kind}, {'picked' if requested == 'auto' else 'forced'})",
        "device": f"{info.device} ({info.why})",
        "time": f"{milliseconds(seconds.total)} ms: "
        + ", ".join(f"{part} {milliseconds(getattr(seconds, part))}" for part in parts),
    }
    if info.details:
        fields["details"] = ", ".join(f"{name} {value}" for name, value in info.details.items() if value != "")
    if predicted := info.predicted_seconds.get(info.strategy):
        fields["predicted"] = f"{milliseconds(predicted)} ms for the call, without what is made once"
    return fields


def run_document(info: RunInfo) -> dict[str, Any]:
    """Return the same as fields of a JSON document."""
    document = asdict(info)
    document["seconds"]["host"] = info.seconds.host
    return document
