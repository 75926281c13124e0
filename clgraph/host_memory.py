"""The free memory of this machine.

A call whose data cannot fit is refused before it allocates memory.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from clgraph.errors import HostMemoryError


def check_host_memory(what: str, n_bytes: int) -> None:
    """Raise :class:`HostMemoryError` unless *n_bytes* of host memory are free.

    Less than 16 MiB is not checked.
    """
    if n_bytes >= 1 << 24 and n_bytes > (free := free_bytes()):
        raise HostMemoryError(f"{what} needs {n_bytes:,} bytes; this machine has {free:,} bytes of memory free")


def free_bytes() -> int:
    """Return the number of bytes this process may still allocate, or ``sys.maxsize`` if the system does not say."""
    free = [sys.maxsize]
    with contextlib.suppress(OSError, ValueError, KeyError):
        rows = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        free.append(1024 * int(rows["MemAvailable"].split()[0]))
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            free.append(most - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(free))
