"""Tables as text or HTML, and conversion of values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_MAX_VALUE = 100  # Characters. Longer values in a table of fields are cut off.


def plain(value: Any) -> Any:
    """Return *value* as types that :func:`json.dumps` takes.

    NaN and infinity become ``None``.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not (abs(value) < float("inf")):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], style: str = "simple") -> str:
    """Return a table of rows under *headers* as text, or as HTML if *style* is ``"html"``.

    Numbers are aligned right.
    """
    from tabulate import tabulate

    return str(tabulate([list(row) for row in rows], headers, tablefmt=style, disable_numparse=False))


def field_lines(fields: Mapping[str, object]) -> str:
    """Return the text of *fields*: one line with name and value per field."""
    width = max(map(len, fields))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in fields.items())


def html_fields(fields: Mapping[str, object]) -> str:
    """Return an HTML table of the names and values of *fields*."""
    return table((), ((name, described(value)) for name, value in fields.items()), "html")


def described(value: object) -> str:
    """Return a short text for *value* in a table of fields; for an array, its type and shape."""
    if hasattr(value, "dtype") and hasattr(value, "shape") and value.shape:
        return f"{value.dtype} array of shape {value.shape}"
    text = str(value)
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"


def milliseconds(seconds: float) -> str:
    """Return *seconds* in ms with three significant figures."""
    value = 1e3 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
