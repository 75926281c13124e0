"""The caches of PoCL and pyopencl, the lock that a process holds while it compiles, and notices of long compilations.

A process that dies while compiling leaves a damaged cache, which crashes every later process (seen with
PoCL). So a process puts a marker into the cache while it compiles. If a later process finds an old marker,
it starts a new cache directory. The damaged directory is removed when no process uses it any more.
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
_AFTER_SECONDS = 0.5  # A notice is printed after a wait of this time.
_told: set[str] = set()  # The notices that were printed already.
_used: dict[Path, int] = {}  # The caches that this process uses, each with an open file that holds a shared lock.


def pocl_cache() -> Path:
    """Return the directory for PoCL's cache of kernels, and mark the directory as used by this process."""
    # Each target processor gets its own directory, because PoCL's own cache keys do not contain the target processor.
    # PoCL's cache keys contain the processor that LLVM names, which may differ from the target processor.
    target = processor_of_builtins() or platform.machine()
    with build_lock() as held:
        numbers = [0, *(int(path.name.rpartition("-")[2]) for path in _generations(target))]
        path = cache_dir(f"pocl/{target}-{max(numbers)}")
        # Only a process that holds the lock has a marker, so the process that made this marker has died.
        if held and any(path.glob("building-*")):
            logger.debug("a process died while compiling into %s", path)
            path = cache_dir(f"pocl/{target}-{max(numbers) + 1}")
        use(path)
        if held:
            remove_unused(_generations(target), but=path)
    return path


def use(path: Path) -> None:
    """Protect the cache directory *path* from removal while this process runs, and put build markers into it."""
    # The system closes a file descriptor at exit, and Python does not warn about it, as it would about a file object.
    with contextlib.suppress(OSError):  # The directory cannot be written, or the file system has no locks.
        handle = os.open(path / "in-use", os.O_CREAT | os.O_WRONLY, 0o666)
        with contextlib.suppress(KeyError):
            os.close(_used.pop(path))
        _used[path] = handle
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_SH)


def program_cache() -> str:
    """Return the directory for pyopencl's cache of compiled programs.

    Each version of Python has its own directory, because the binaries are pickled.
    """
    return str(cache_dir(f"pyopencl/programs-{platform.python_version()}"))


def keep_callers() -> None:
    """Let pyopencl store its generated Python callers of kernels in clgraph's cache directory, or nowhere.

    pyopencl has no argument for the directory. It reads the user's cache directory from the environment when its module
    ``invoker`` is first imported, and that import fails if the directory cannot be written.
    """
    path = cache_dir("pyopencl")
    if not os.access(path, os.W_OK):
        import pyopencl

        pyopencl._PYOPENCL_NO_CACHE = True  # This has the same effect as the environment variable PYOPENCL_NO_CACHE.
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
    """Remove the caches among *paths* (by default all) that no process uses.

    The caller must hold the build lock.
    """
    for path in list(cache_root().glob("pocl/*")) if paths is None else paths:
        if path == but:
            continue
        with contextlib.suppress(OSError), open(path / "in-use", "a", encoding="ascii") as handle:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def build_lock(*, into_cache: bool = False) -> Iterator[bool]:
    """Hold the lock under which one process at a time compiles.

    If *into_cache*, put a marker into PoCL's cache.

    Yields
    ------
    bool
        Whether the lock is held, because not every file system supports locks.
    """
    # A marker's name needs more than the process id, since in a container a new process often has a dead one's id.
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
    """Print the notice *what* to stderr if the block takes over half a second.

    A notice is printed once per process, and only on a terminal.
    """
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
