"""The cache directory, and the lock under which programs are built.

A driver's kernel cache damaged by a process that died while compiling kills every later
process (seen with PoCL). So each builder leaves a marker; a marker whose process is gone
means that the cache is wiped before it is used again.
"""
from __future__ import annotations

import contextlib
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

logger = logging.getLogger(__name__)

try:
    import fcntl
except ImportError:  # pragma: no cover  (no POSIX locks: builds are then not serialised)
    fcntl = None  # type: ignore[assignment]


def cache_root() -> Path:
    """Return ``$CLGRAPH_CACHE_DIR``, or ``clgraph`` in the user's cache directory."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "clgraph"
    return Path(os.environ.get("CLGRAPH_CACHE_DIR", default))


def cache_dir(name: str) -> Path:
    """Return the cache directory *name*, made if missing; wiped after a builder died."""
    path = cache_root() / name
    path.mkdir(parents=True, exist_ok=True)
    if name == "pocl":
        with build_lock():
            _heal(path)
    return path


def _heal(path: Path) -> None:
    dead = [marker for marker in cache_root().glob("building-*") if not _alive(marker)]
    if dead:
        logger.warning("a process died while compiling kernels; clearing %s", path)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)
        for marker in dead:
            marker.unlink(missing_ok=True)


def _alive(marker: Path) -> bool:
    try:
        os.kill(int(marker.name.rpartition("-")[2]), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, ValueError):
        return True
    return True


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """Hold the inter-process lock under which programs are compiled."""
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    marker = root / f"building-{os.getpid()}"
    with open(root / "build.lock", "w", encoding="ascii") as handle:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX)
        marker.touch()
        try:
            yield
        finally:
            marker.unlink(missing_ok=True)
