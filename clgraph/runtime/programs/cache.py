"""The caches of PoCL and pyopencl, the lock under which programs are built, and what a waiting person is told.

A process that dies while compiling leaves a damaged cache, which kills every later process (seen with
PoCL). So each builder leaves a marker in the cache while it compiles; a marker that is left makes later
processes begin another directory. The damaged one is removed once no process uses it.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import platform
import shutil
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

from clgraph.runtime.programs.pocl_cpu import processor_of_builtins
from clgraph.user_cache import cache_dir, cache_root, locked

logger = logging.getLogger(__name__)

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows, for which there is no wheel of PoCL)
    fcntl = None  # type: ignore[assignment]

TESTING = "testing the OpenCL devices"
COMPILING = "compiling kernels"
_AFTER_SECONDS = 0.5
_told: set[str] = set()
_used: dict[Path, int] = {}  # caches of this process; the open file descriptors hold shared locks


def pocl_cache() -> Path:
    """Return the directory in which this process lets PoCL keep its kernels."""
    # PoCL's keys know the processor that LLVM names, not the one for which it compiles.
    target = processor_of_builtins() or platform.machine()
    with build_lock() as held:
        numbers = [0, *(int(path.name.rpartition("-")[2]) for path in _generations(target))]
        path = cache_dir(f"pocl/{target}-{max(numbers)}")
        if held and any(path.glob("building-*")):  # only a holder of the lock has a marker: its owner is dead
            logger.debug("a process died while compiling into %s", path)
            path = cache_dir(f"pocl/{target}-{max(numbers) + 1}")
        use(path)
        if held:
            remove_unused(_generations(target), but=path)
    return path


def use(path: Path) -> None:
    """Keep the cache *path* from removal while this process lives, and put markers into it."""
    # A file descriptor, not a file: the system closes it when the process ends, and Python does not warn of it.
    with contextlib.suppress(OSError):  # it cannot be written, or the file system has no locks
        handle = os.open(path / "in-use", os.O_CREAT | os.O_WRONLY, 0o666)
        with contextlib.suppress(KeyError):
            os.close(_used.pop(path))
        _used[path] = handle
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)


def program_cache() -> str:
    """Return the directory in which pyopencl keeps binaries of programs, which are pickled by one version of Python."""
    return str(cache_dir(f"pyopencl/programs-{platform.python_version()}"))


def keep_callers() -> None:
    """Let pyopencl keep its generated callers of kernels in the cache directory; without one it keeps nothing.

    pyopencl takes no argument for the place. It asks the environment for the user's cache directory when its module
    of callers is imported first, and that import fails where the directory cannot be written.
    """
    path = cache_dir("pyopencl")
    if not os.access(path, os.W_OK):
        import pyopencl

        pyopencl._PYOPENCL_NO_CACHE = True  # as the environment variable PYOPENCL_NO_CACHE does at import
        return
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(path)
    try:
        importlib.import_module("pyopencl.invoker")
    finally:
        del os.environ["XDG_CACHE_HOME"]
        if before is not None:
            os.environ["XDG_CACHE_HOME"] = before


def _generations(target: str) -> list[Path]:
    return [path for path in cache_root().glob(f"pocl/{target}-*") if path.name.rpartition("-")[2].isdecimal()]


def remove_unused(paths: list[Path] | None = None, *, but: Path | None = None) -> None:
    """Remove the caches among *paths* (default: all) that no process uses; the caller holds the build lock."""
    for path in list(cache_root().glob("pocl/*")) if paths is None else paths:
        if path == but:
            continue
        with contextlib.suppress(OSError), open(path / "in-use", "a", encoding="ascii") as handle:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def build_lock(*, into_cache: bool = False) -> Iterator[bool]:
    """Hold the inter-process lock under which programs are compiled, *into_cache*: into PoCL's.

    Yields
    ------
    bool
        Whether there is such a lock: not on every file system.
    """
    # The process id is not enough: in containers, new processes often get the id of a dead one.
    name = f"building-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    markers = [path / name for path in _used] if into_cache else []
    with locked(cache_root() / "build.lock") as held:
        for marker in markers:
            marker.touch()
        try:
            yield held
        finally:
            for marker in markers:
                marker.unlink(missing_ok=True)


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
