"""Where clgraph keeps what it measured, compiled and read."""
from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

logger = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def _own_root() -> Path:
    path = Path(tempfile.mkdtemp(prefix="clgraph-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def cache_root() -> Path:
    """Return ``$CLGRAPH_CACHE_DIR``, else ``clgraph`` in ``$XDG_CACHE_HOME`` or ``~/.cache``; made if missing.

    Where that cannot be written, a directory that lasts as long as this process.
    """
    try:
        given = os.environ.get("CLGRAPH_CACHE_DIR")
        path = Path(given or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clgraph")
        path.mkdir(parents=True, exist_ok=True)
        if os.access(path, os.W_OK):
            return path
        reason = f"{path} cannot be written"
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home
        reason = str(error)
    if not _own_root.cache_info().currsize:
        logger.warning("no cache is kept: %s; set CLGRAPH_CACHE_DIR", reason)
    return _own_root()


def write_whole(path: Path, text: str) -> None:
    """Write a file that other processes may be reading: it has all of *text*, or what it had."""
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
