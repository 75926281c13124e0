"""Fitted models as numpy archives; nothing is pickled."""
from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_path
from clgraph.errors import InputError
from clgraph.io.text import reading, replacing

_VERSION = 1


def write_model(path: str | os.PathLike[str], settings: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write *settings*, which JSON must be able to hold, and the *arrays* that are not ``None``.

    Raises
    ------
    InputError
        Something cannot be saved, or the file cannot be written; an older file is as before.
    """
    present = {name: array for name, array in arrays.items() if array is not None}
    if objects := [name for name, array in present.items() if array.dtype.kind == "O"]:
        raise InputError(f"{', '.join(objects)}: Python objects cannot be saved; make them text or numbers")
    try:
        text = json.dumps({"version": _VERSION, **settings}, default=_plain)
    except TypeError as error:
        raise InputError(f"the model cannot be saved: {error}") from error
    with replacing(checked_path("path", path)) as stream:
        np.savez(stream, clgraph_factorization=np.array(text), **present)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless a model can be written to *path*; no file is made or changed."""
    target = os.path.realpath(path)
    try:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.isfile(target) or not os.path.exists(target):  # what replaces it is made beside it
            with tempfile.TemporaryFile(dir=os.path.dirname(target)):
                pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return settings and arrays of a file of :func:`write_model`.

    Raises
    ------
    InputError
        It is no such file, of another version, or damaged.
    """
    with reading(checked_path("path", path)) as stream:
        try:
            with np.load(stream, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive}
            settings: dict[str, Any] = json.loads(str(arrays.pop("clgraph_factorization")))
            version = settings.pop("version")
        except Exception as error:  # numpy, zipfile and json raise a dozen kinds
            raise InputError(f"{path}: no saved factorisation: {type(error).__name__}: {error}") from error
    if version != _VERSION:
        raise InputError(f"{path}: a factorisation of version {version!r}; this clgraph reads version {_VERSION}")
    return settings, arrays


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is no number, text, list or dict")
