"""Progress reports of long operations: reading, building, generating, fitting.

Silent unless a listener is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias


class Progress(NamedTuple):
    """The progress of one step of a long operation, which a listener receives.

    Attributes
    ----------
    what : str
        The step, such as "reading road-NY.mtx.gz".
    done : int
    total : int or None
        ``None`` if it is unknown.
    unit : str
        Unit of *done* and *total*: "bytes", "entries", "edges", "points", "vertices", "ratings" or "epochs".
    note : str
        More text to show.
    """

    what: str
    done: int = 0
    total: int | None = None
    unit: str = ""
    note: str = ""


Listener: TypeAlias = Callable[[Progress], Any]
_listener: ContextVar[Listener | None] = ContextVar("clgraph_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of every long step inside the block to *listener*."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def begin(what: str, total: int | None = None, unit: str = "") -> Callable[..., Any]:
    """Report that a long step begins.

    Return a function ``tell(done, note="")`` that reports the step's progress.

    Without a listener, the function does nothing.
    """
    listener = _listener.get()
    if listener is None:
        return _silent
    listener(Progress(what, 0, total, unit))
    return lambda done, note="": listener(Progress(what, done, total, unit, note))


def is_heard() -> bool:
    """Return whether a progress listener is set for the steps of this thread."""
    return _listener.get() is not None


def _silent(done: int, note: str = "") -> None:
    pass


def reading_progress(path: Path) -> Callable[..., Any]:
    """Return a function to report reading of the file *path*.

    Its argument is the number of bytes read after decompression.
    """
    return begin(f"reading {path.name}", _content_bytes(path), "bytes")


def _content_bytes(path: Path) -> int | None:
    """Return the size of a file's content after decompression, or ``None`` if the file does not store it.

    A gzip trailer stores the content's size modulo 2**32. If that is smaller than the file, it has wrapped around, and
    the size is unknown.
    """
    if not path.is_file():
        return None
    size = path.stat().st_size
    with open(path, "rb") as stream:
        head = stream.read(6)
        if head.startswith((b"BZh", b"\xfd7zXZ")):
            return None
        if not head.startswith(b"\x1f\x8b"):
            return size
        stream.seek(-min(4, size), os.SEEK_END)
        content = int.from_bytes(stream.read(), "little")
    return content if content >= size else None


@contextmanager
def bars(message: str = "") -> Iterator[Listener]:
    """Draw a progress bar on stderr for each long step inside the block, with total, rate and remaining time.

    Nothing is drawn where stderr is no terminal.

    Parameters
    ----------
    message : str
        The text to show until a step begins.

    Yields
    ------
    callable
        The listener. The block may also call this listener with its own :class:`Progress`.
    """
    outer = _listener.get()
    if outer is not None or sys.stderr is None or not sys.stderr.isatty():
        yield outer or (lambda state: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(20)
    amount = TextColumn("{task.fields[amount]}", markup=False)
    with Bars(*columns, amount, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(message, total=None, amount="")

        def draw(state: Progress) -> None:
            if state.done == 0:
                drawn.reset(task, total=state.total, amount="")
            drawn.update(task, completed=state.done, total=state.total)
            now = drawn.tasks[0]
            text = f"{state.what}, {state.note}" if state.note else state.what
            drawn.update(task, description=text, amount=_amount(state, now.speed, now.time_remaining))

        with listening(draw):
            yield draw


def _amount(state: Progress, per_second: float | None, seconds_left: float | None) -> str:
    """Return the text of a progress bar, such as ``12 of 96 MiB, 31 MiB/s, 0:03 left``."""
    if not state.done or not state.unit:
        return ""
    size, unit = (2**20, "MiB") if state.unit == "bytes" else (1, state.unit)
    parts = [f"{state.done / size:,.0f}" + (f" of {state.total / size:,.0f}" if state.total else "") + f" {unit}"]
    if per_second:
        rate = per_second / size
        parts.append(f"{rate:,.0f} {unit}/s" if rate >= 100 else f"{rate:.3g} {unit}/s")
    if seconds_left is not None:
        parts.append(f"{int(seconds_left) // 60}:{int(seconds_left) % 60:02} left")
    return ", ".join(parts)
