"""Save and load fitted factorisation models as numpy archives without pickles."""

from __future__ import annotations

import errno
import json
import math
import os
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.factorization.factors import Factors
from clgraph.algorithms.factorization.problem import MAX_RANK
from clgraph.arguments import checked_path
from clgraph.data.graphs.csr import as_integers
from clgraph.errors import InputError
from clgraph.io.npz import read_archive
from clgraph.io.text import replacing

_VERSION = 1
_FAULT = "no saved factorisation"
_MOST = float(np.finfo(np.float32).max)


def write_model(path: str | os.PathLike[str], settings: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a model file from *settings*, which must be JSON-serialisable, and the *arrays* that are not ``None``.

    Raises
    ------
    InputError
        A value cannot be saved, or the file cannot be written. An existing file then stays unchanged.
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
    """Raise an InputError unless a model can be written to *path*.

    This check creates and changes no file.
    """
    target = os.path.realpath(path)
    try:
        if os.path.isdir(target):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        # Writing a model creates a new file in the same folder, so the folder is checked.
        if os.path.isfile(target) or not os.path.exists(target):
            with tempfile.TemporaryFile(dir=os.path.dirname(target)):
                pass
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the settings and the arrays of a model file that :func:`write_model` has written.

    Raises
    ------
    InputError
        The file is not a saved model, has another version, or is damaged.
    """
    arrays = read_archive(checked_path("path", path), _FAULT)
    try:
        if not isinstance(arrays, dict):
            raise ValueError("a sparse matrix")
        settings: dict[str, Any] = json.loads(str(arrays.pop("clgraph_factorization")))
        version = settings.pop("version")
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: {_FAULT}: {type(error).__name__}: {error}") from error
    if version != _VERSION:
        raise InputError(f"{path}: a factorisation of version {version!r}; this clgraph reads version {_VERSION}")
    return settings, arrays


def check_model(
    settings: Mapping[str, Any], arrays: Mapping[str, Any], factors: Factors, defaults: Mapping[str, Any]
) -> None:
    """Raise an InputError unless the model that :func:`read_model` has read can predict and can be trained further.

    Parameters
    ----------
    settings, arrays : mapping
    factors : Factors
        Factors that have passed :func:`check_factors`.
    defaults : mapping
        Default of each parameter. Its type determines the allowed types.
    """
    for name, value in settings["parameters"].items():
        if name not in defaults:
            raise InputError(f"unknown parameter {name!r}")
        kinds: tuple[type, ...] = (str,) if isinstance(defaults[name], str) else (int, float)
        if defaults[name] is None:
            kinds += (dict, type(None))
        if not isinstance(value, kinds) or (isinstance(value, (int, float)) and not abs(value) < _MOST):
            raise InputError(f"{name} = {value!r}; needed: {' or '.join(kind.__name__ for kind in kinds)}, finite")
    for epoch in settings["history"]:
        if not all(isinstance(value, float) or (type(value) is int and abs(value) < _MOST) for value in epoch):
            raise InputError(f"history holds {epoch!r}; needed: lists of numbers")
    offsets, items = (as_integers(name, arrays[name]) for name in ("offsets", "items"))
    ends = offsets[:1].tolist() + offsets[-1:].tolist()
    if offsets.size != len(factors.user_factors) + 1 or ends != [0, items.size] or (offsets[1:] < offsets[:-1]).any():
        raise InputError(f"offsets of shape {offsets.shape} do not rise from 0 to {items.size}, one step per user")
    mean, biases = settings["mean"], [b for b in factors[2:] if b is not None]
    rows = [np.einsum("ij,ij->i", f, f, dtype=np.float64) for f in factors[:2]]
    most = math.sqrt(math.prod(r.max(initial=0.0) for r in rows)) + sum(float(abs(b).max(initial=0)) for b in biases)
    if not isinstance(mean, (int, float)) or not abs(mean) < _MOST - most:
        raise InputError(f"mean = {mean!r}; predictions up to {most} away from it are not finite in float32")


def check_factors(factors: Factors) -> tuple[int, int]:
    """Check a model's *factors*, and return the numbers of users and items.

    A wrong shape, type or value is a ValueError.
    """
    users, items, *biases = factors
    if np.ndim(users) != 2 or np.ndim(items) != 2 or not 1 <= users.shape[1] <= MAX_RANK:
        found = f"{np.shape(users)} and {np.shape(items)}"
        raise ValueError(f"factors of shapes {found}; needed: (n_users, rank) and (n_items, rank), rank 1 … {MAX_RANK}")
    rank = users.shape[1]
    shapes = [(len(users), rank), (len(items), rank), (len(users),), (len(items),)]
    if (biases[0] is None) != (biases[1] is None):
        raise ValueError("biases of one side only")
    for name, array, shape in zip(factors._fields, factors, shapes, strict=True):
        if array is None:
            continue
        if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            raise ValueError(f"{name} is {array.dtype} {array.shape}; needed: finite float32 {shape}")
    return len(users), len(items)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is no number, text, list or dict")
