"""Reading of pipes, such as standard input, whose data can be read only once."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from clgraph.errors import GraphFileError

_T = TypeVar("_T")


def is_pipe(path: Path) -> bool:
    """Return whether *path* exists and is neither a file nor a folder, so that it can be read only once."""
    return path.exists() and not path.is_file() and not path.is_dir()


def read_pipe(read: Callable[..., _T], pipe: Path, **options: Any) -> _T:
    """Return ``read(copy, **options)`` for a temporary copy of *pipe*, because readers open a file several times.

    Errors and warnings name the pipe.
    """
    with tempfile.TemporaryDirectory(prefix="clgraph-") as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        copy = Path(folder, pipe.name)
        try:
            with open(pipe, "rb") as given, open(copy, "wb") as made:
                shutil.copyfileobj(given, made)
        except OSError as error:
            reason = f"{error.strerror}, while it was copied to {folder} (TMPDIR names another folder)"
            raise GraphFileError(f"{pipe}: cannot be read: {reason}") from error
        try:
            found = read(copy, **options)
        except GraphFileError as error:
            raise type(error)(str(error).replace(str(copy), str(pipe))) from error
    for warning in caught:
        warnings.warn(str(warning.message).replace(str(copy), str(pipe)), warning.category, stacklevel=3)
    return found
