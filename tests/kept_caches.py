"""Folders for kernels that PoCL compiled, which stay from run to run: compiling is a third of a run's work."""

from __future__ import annotations

import itertools
import os
import shutil
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAX_BYTES = 2 << 30  # A worker fills 100 MB in a run, and each edited header adds as much.


def claim_folder(root: Path) -> Path:
    """Return the first folder of *root* that no other run has; it is this process's until it ends.

    So each cache has one worker at a time, and no worker waits for the build lock of another run.
    """
    for number in itertools.count():
        folder = root / f"run-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "in-use", os.O_CREAT | os.O_WRONLY, 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            continue
        if sum(path.lstat().st_size for path in folder.rglob("*")) > MAX_BYTES:
            for worker in folder.iterdir():
                shutil.rmtree(worker, ignore_errors=True)  # the file in-use stays
        return folder
    raise AssertionError("there is always another number")
