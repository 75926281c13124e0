"""The directory where clgraph caches device profiles, compiled kernels and graphs read from files."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

logger = logging.getLogger(__name__)


_NOWHERE = Path(os.devnull) / "clgraph"  # This folder cannot be created, so writing a cache file into it fails.


@lru_cache(maxsize=1)
def _own_root() -> Path:
    """Return a temporary cache directory that is removed when this process ends;
    ``_NOWHERE`` if none can be created.
    """
    for folder in (None, "/dev/shm"):  # /dev/shm is used if the system's temporary directory cannot be written.
        with contextlib.suppress(OSError):
            path = Path(tempfile.mkdtemp(prefix="clgraph-", dir=folder))
            atexit.register(shutil.rmtree, path, ignore_errors=True)
            return path
    return _NOWHERE


def cache_root() -> Path:
    """Return ``$CLGRAPH_CACHE_DIR``, else the platform's cache directory (``~/.cache/clgraph``).

    It is created if missing.

    If the cache directory cannot be written, return a directory that is removed when this process ends. If nothing can
    be written, return a path that does not exist, so that reading and writing caches raises an :class:`OSError`.
    """
    # The import is inside the function, because programs that cache nothing do not need platformdirs.
    from platformdirs import user_cache_path

    try:
        given = os.environ.get("CLGRAPH_CACHE_DIR")
        path = Path(given) if given else user_cache_path("clgraph", appauthor=False)
        if not given and not path.is_absolute():
            raise OSError("the user has no home directory")
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path
        reason = f"{path} cannot be written"
    except OSError as error:
        reason = str(error)
    if not _own_root.cache_info().currsize:
        logger.warning("no cache is kept: %s; set CLGRAPH_CACHE_DIR", reason)
    return _own_root()


def cache_dir(name: str) -> Path:
    """Return the directory *name* in the user's cache.

    It is created if it is missing and the cache can be written.
    """
    path = cache_root() / name
    with contextlib.suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
    return path


def write_whole(path: Path, text: str) -> None:
    """Replace the content of the file *path* by *text* atomically.

    A reader gets all of the old or all of the new text.
    """
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock on the file *path* inside the block.

    Only one process at a time can hold the lock.

    Yield whether the lock is held, because not every file system supports locks.
    """
    from filelock import FileLock  # The import of filelock takes long, so it is inside this function.

    lock = FileLock(path)
    try:
        lock.acquire()
    except (OSError, NotImplementedError) as error:
        logger.debug("%s cannot be locked: %s", path, error)
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
