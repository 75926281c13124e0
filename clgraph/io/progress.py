"""How much of a file there is to read."""

from __future__ import annotations

import os
from pathlib import Path

from clgraph.io.text import Progress
from clgraph.progress import begin


def reading_progress(path: Path) -> Progress:
    """Return what a reader of *path* calls with the bytes read so far, after decompression."""
    return begin(f"reading {path.name}", content_bytes(path), "bytes")


def content_bytes(path: Path) -> int | None:
    """Return the size of what a file holds, after decompression; ``None`` if the file does not say it.

    A gzip file ends with the size of its content modulo 2**32, which is below that of the file if it is larger.
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
