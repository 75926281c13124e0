"""Tell a person at a terminal why nothing seems to happen."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

TESTING = "testing the OpenCL devices"
COMPILING = "compiling kernels"
_AFTER_SECONDS = 0.5
_told: set[str] = set()


@contextlib.contextmanager
def announced(what: str) -> Iterator[None]:
    """Write *what* to stderr if the block lasts more than half a second: once a process, on a terminal only."""
    if what in _told or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(_AFTER_SECONDS, _tell, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(what: str) -> None:
    _told.add(what)
    print(f"clgraph: {what}, first run", file=sys.stderr, flush=True)
