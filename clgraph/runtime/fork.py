"""Refuse to use OpenCL in a forked child: no runtime's threads and locks survive a fork."""
from __future__ import annotations

import os

from clgraph.errors import ForkError

_used_in: int | None = None


def mark_opencl_used() -> None:
    """Remember the process that made the first platform query; raise in its forked children."""
    global _used_in
    check_fork()
    _used_in = os.getpid()


def check_fork() -> None:
    """Raise :class:`ForkError` when the process was forked after OpenCL was used."""
    if _used_in is not None and _used_in != os.getpid():
        raise ForkError(
            f"OpenCL was used in process {_used_in} before it forked this one; no OpenCL runtime survives "
            "that. Start children with multiprocessing.get_context('spawn'), or first use clgraph in them"
        )
