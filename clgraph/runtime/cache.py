"""The kernel caches, and the lock under which programs are built.

A driver's kernel cache damaged by a process that died while compiling kills every later
process (seen with PoCL). So each builder leaves a marker while it compiles; a marker that is left
means that the cache is wiped before another process uses it.
"""
from __future__ import annotations

import contextlib
import logging
import os
import shutil
import uuid
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from clgraph.user_cache import cache_root

logger = logging.getLogger(__name__)

try:
    import fcntl
except ImportError:  # pragma: no cover  (no POSIX locks: builds are then not serialised)
    fcntl = None  # type: ignore[assignment]


def cache_dir(name: str) -> Path:
    """Return the cache directory *name*, made if missing; PoCL's is wiped after a builder died."""
    path = cache_root() / name
    path.mkdir(parents=True, exist_ok=True)
    if name == "pocl":
        with build_lock() as locked:
            if locked:
                _heal(path)
    return path


def _heal(path: Path) -> None:
    # Only a holder of the lock has a marker, so any other marker's owner is dead.
    dead = [marker for marker in cache_root().glob("building-*") if marker.name != _marker()]
    if dead:
        logger.warning("a process died while compiling kernels; clearing %s", path)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)
        for marker in dead:
            marker.unlink(missing_ok=True)


@lru_cache(maxsize=1)
def _marker() -> str:
    # Not the process id alone: in containers a new process often has that of a dead one.
    return f"building-{os.getpid()}-{uuid.uuid4().hex[:8]}"


@contextlib.contextmanager
def build_lock() -> Iterator[bool]:
    """Hold the inter-process lock under which programs are compiled.

    Yields
    ------
    bool
        Whether there is such a lock: not on every file system, and not on Windows.
    """
    root = cache_root()
    marker = root / _marker()
    with open(root / "build.lock", "w", encoding="ascii") as handle:
        locked = _lock(handle.fileno())
        marker.touch()
        try:
            yield locked
        finally:
            marker.unlink(missing_ok=True)


def _lock(handle: int) -> bool:
    if fcntl is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        logger.warning("programs are compiled without a lock: %s", error)
        return False
    return True
