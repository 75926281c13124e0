"""Vertex ids of the user: their checks, and the numbering of the vertices."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import check_length, checked_array, is_array, refusing, shown
from clgraph.data.graphs.pairs import distinct
from clgraph.errors import GraphError, InputError

# width of the range of ids divided by the number of ids. If it is larger, ids are sorted, because a table of the range
# would need more memory.
_MAX_RANGE_PER_ID = 8
_OBJECTS = "OT"  # Kinds of numpy dtypes of arrays of Python objects (O) and of strings of any length (T).
# An id of a vertex that has one of the methods in _WRAPPERS is a tensor or an Arrow scalar.
_WRAPPERS = ("__array__", "__dlpack__", "as_py")


def as_ids(name: str, values: Any) -> NDArray[Any]:
    """Return the vertex ids in *values* as a one-dimensional array.

    An array is returned as it is, unless its elements are objects. Otherwise the result is an array of integers, of
    strings or of hashable objects.
    """
    allowed = "a one-dimensional array or list of ids that can be hashed"
    if isinstance(values, str | bytes) or not (isinstance(values, Sequence) or is_array(values)):
        raise InputError(f"{name} = {shown(values)}; allowed: {allowed}")
    if is_array(values):
        given = checked_array(name, values)
        if given.ndim != 1:
            raise InputError(f"{name} has shape {given.shape}; needed: one dimension")
        if given.dtype.kind not in _OBJECTS:
            return given
        values = given.tolist()
    with refusing(name, values, allowed):
        check_length(name, values)
        ids = list(values)
        kinds = {*map(type, ids)}
        # An array of strings is no exact copy of strings that end with "\0", because numpy drops a "\0" at the end.
        if kinds == {int} or (kinds == {str} and not any(i.endswith("\0") for i in ids)):
            with contextlib.suppress(OverflowError):
                plain = np.array(ids)
                # numpy converts integers to floats if a list has both negative integers and integers above 2**63.
                if plain.dtype.kind != "f":
                    return plain
        if wrappers := {k for k in kinds if not issubclass(k, np.generic) and any(hasattr(k, m) for m in _WRAPPERS)}:
            at = next(i for i, value in enumerate(ids) if type(value) in wrappers)
            raise InputError(f"{name}[{at}] = {shown(ids[at])}, which holds an id; pass the ids as one array")
        array = np.empty(len(ids), object)
        for i, value in enumerate(ids):
            hash(value)
            array[i] = value
        return array if ids else np.zeros(0, np.int64)


def check_present(name: str, ids: NDArray[Any]) -> None:
    """Raise an error if a vertex id is missing (None, NaN, NaT, pandas' NA), because missing ids name no vertex."""
    kind = ids.dtype.kind
    if kind in "fc":
        missing = np.isnan(ids)
    elif kind in "mM":
        missing = np.isnat(ids)
    elif kind == "O":
        missing = np.fromiter(map(_is_missing, ids.tolist()), bool, ids.size)
    else:
        return
    if missing.any():
        at = int(missing.argmax())
        raise GraphError(f"{name}[{at}] = {shown(ids.tolist()[at])} is missing; drop this row, or give it an id")


def _is_missing(value: Any) -> bool:
    """Return whether an id is missing: None, or like NaN not equal to itself."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # A comparison with pandas' NA is neither true nor false, and raises this error.
        return True


def number_ids(source: NDArray[Any], target: NDArray[Any], ids: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the ends of edges as vertex numbers instead of ids, and the id of each vertex."""
    kinds = {ends.dtype.kind for ends in (source, target) if ends.size}
    both = np.concatenate([source, target], dtype=object if len(kinds) > 1 else None)
    if both.dtype.kind == "O":
        position = {name: i for i, name in enumerate(dict.fromkeys(both.tolist()))}
        names = as_ids("ids", list(position))
        numbers: NDArray[Any] = np.fromiter(map(position.__getitem__, both.tolist()), np.int32, both.size)
    elif both.dtype.kind == "i":
        names, (numbers,) = number_integers([both.astype(np.int64, copy=False)])
    else:
        names, numbers = np.unique(both, return_inverse=True)
    numbers, names = renumbered(numbers, names, ids)
    return numbers[: source.size], numbers[source.size :], names


def renumbered(numbers: NDArray[Any], names: NDArray[Any], ids: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return *numbers*, which are positions in *names*, as positions in *ids*, and *ids* as an array.

    If *ids* is "auto", the ids are the *names*.
    """
    if isinstance(ids, str) and ids == "auto":
        return numbers, names
    given = as_ids("ids", ids)
    position = {name: i for i, name in enumerate(given.tolist())}
    if len(position) != given.size:
        raise GraphError("ids must be distinct")
    try:
        positions = np.fromiter(map(position.__getitem__, names.tolist()), np.int32, names.size)
    except KeyError as error:
        raise GraphError(f"id {shown(error.args[0])} is not in ids") from None
    return positions[numbers], given


def number_integers(arrays: list[NDArray[Any]]) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """Return the sorted distinct ids in *arrays*, and for each array the positions of its ids among the sorted ids."""
    filled = [ids for ids in arrays if ids.size]
    if not filled:
        return np.zeros(0, np.int64), arrays
    low, high = min(int(ids.min()) for ids in filled), max(int(ids.max()) for ids in filled)
    if high - low < _MAX_RANGE_PER_ID * sum(ids.size for ids in arrays):
        occurs = np.zeros(high - low + 1, bool)
        for ids in arrays:
            occurs[ids - low] = True
        found = np.flatnonzero(occurs)
        if found.size == occurs.size:
            return found + low, [ids - low for ids in arrays] if low else arrays
        places = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        return found + low, [places[ids - low] for ids in arrays]
    found = distinct(np.concatenate(arrays)).astype(np.int64)
    return found, [found.searchsorted(ids) for ids in arrays]
