"""Works for common computations: an expression of each element of arrays, and a number from each row of a matrix."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import checked_array, refusing, shown
from clgraph.data.graphs.sparse import checked_matrix
from clgraph.errors import InputError
from clgraph.hetero.checks import POSITION_NAMES, Values
from clgraph.hetero.work import Kernel, Output, Work
from clgraph.primitives.types import c_type
from clgraph.runtime.memory.arrays import number_type

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
# Names that the kernels declare. A user cannot give them to other variables.
_OF_ELEMENTWISE = POSITION_NAMES | {"k", "i", "out", "T"}
_OF_ROWS = POSITION_NAMES | {"i", "place", "row", "length", "result", "out", "T", "VALUE_T"}
_OF_DENSE_ROWS = _OF_ROWS | {"width", "matrix"}
_OF_SPARSE_ROWS = _OF_ROWS | {"row_offsets", "column_indices", "row_values", "begin", "columns"}


def _check_names(argument: str, names: Iterable[Any], reserved: Collection[str]) -> None:
    """Raise an error unless all *names* are identifiers of OpenCL C that are not *reserved* by the kernel."""
    for name in names:
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name) or name in reserved:
            taken = ", ".join(sorted(reserved))
            raise InputError(f"{argument} has the name {shown(name)}; allowed: names of OpenCL C except {taken}")


def _typed(name: str, values: Any, dtype: np.dtype[Any], n_dims: int) -> NDArray[Any]:
    array = checked_array(name, values)
    if array.ndim != n_dims or array.dtype != dtype:
        raise InputError(f"{name} has {array.ndim} dimensions and type {array.dtype}; allowed: {n_dims} and {dtype}")
    return array


def _parameters(types: Mapping[str, np.dtype[Any]]) -> str:
    """Return the declarations of read-only kernel parameters with these names and types, as text for a macro."""
    return "".join(f"__global const {c_type(kind)} *restrict {name}, " for name, kind in types.items())


def elementwise(expression: str, *, inputs: Mapping[str, DTypeLike], dtype: DTypeLike) -> Work:
    """Return a work that computes an expression of each element of some arrays.

    Parameters
    ----------
    expression : str
        One line of OpenCL C. In it, each name of the *inputs* stands for one element, and ``i`` for the element's
        position in the load.
    inputs : mapping of str to dtype
        A load is a mapping of these names to arrays of one dimension and equal length, or the array of the only name.
        Parts of an array that is not contiguous are copied.
    dtype : dtype
        The type of the result, which is an array of the same length as the inputs.

    Raises
    ------
    InputError
        A type is no int32, uint32, int64, uint64 or float32, or the kernel declares a name of the *inputs* itself.

    Examples
    --------
    >>> work = elementwise("x * x + y", inputs={"x": np.float32, "y": np.float32}, dtype=np.float32)
    >>> results, report = HeteroScheduler().run(work, [{"x": x, "y": y}])
    """
    with refusing("inputs", inputs, "a mapping of names to types"):
        types = {name: number_type(kind) for name, kind in inputs.items()}
    if not types:
        raise InputError(f"inputs = {shown(inputs)}; allowed: one name or several")
    _check_names("inputs", types, {*_OF_ELEMENTWISE, *(f"{name}_items" for name in types)})
    out = number_type(dtype)
    defines = {
        "T": c_type(out),
        "EXPRESSION": _one_line("expression", expression),
        "PARAMETERS": _parameters({f"{name}_items": kind for name, kind in types.items()}),
        "LOAD_ITEM": " ".join(f"const {c_type(kind)} {name} = {name}_items[k];" for name, kind in types.items()),
    }

    def arrays(load: Any) -> dict[str, NDArray[Any]]:
        given = load if isinstance(load, Mapping) else dict.fromkeys(types, load)
        if given.keys() != types.keys():
            raise InputError(f"a load has the arrays {sorted(given)}; allowed: {sorted(types)}")
        return {name: _typed(name, given[name], kind, 1) for name, kind in types.items()}

    def count(load: Any) -> int:
        lengths = {name: len(array) for name, array in arrays(load).items()}
        if len({*lengths.values()}) != 1:
            raise InputError(f"the arrays of a load have different lengths: {lengths}")
        return next(iter(lengths.values()))

    return Work(
        Kernel("hetero/elementwise.cl", "elementwise", defines),
        count,
        cut=lambda load, start, stop: {
            f"{name}_items": np.ascontiguousarray(a[start:stop]) for name, a in arrays(load).items()
        },
        outputs={"out": Output(out)},
    )


def map_rows(
    body: str,
    *,
    dtype: DTypeLike,
    values: DTypeLike = np.float32,
    sparse: bool = False,
    shared: Mapping[str, Any] | None = None,
) -> Work:
    """Return a work that computes one number for each row of a matrix, with one work-item per row.

    Parameters
    ----------
    body : str
        OpenCL C statements that set ``result`` from ``row`` (a pointer to the row's values), ``length`` (their number),
        ``i`` (the number of the row) and, for a sparse matrix, ``columns`` (a pointer to the columns of the values).
    dtype, values : dtype
        The type of the result, which has one number per row, and the type of the matrix.
    sparse : bool
        A load is a scipy CSR matrix with indices of 32 bits instead of an array of two dimensions.
    shared : mapping of str to array, optional
        Arrays of one dimension that the body reads whole, such as the vector of a product.

    Raises
    ------
    InputError
        A type is no int32, uint32, int64, uint64 or float32, the kernel declares a name of *shared* itself, or an array
        of *shared* has several dimensions.
    """
    kind, out = number_type(values), number_type(dtype)
    with refusing("shared", shared, "a mapping of names to arrays"):
        whole = {name: _whole(f"shared[{name!r}]", array) for name, array in (shared or {}).items()}
    _check_names("shared", whole, _OF_SPARSE_ROWS if sparse else _OF_DENSE_ROWS)
    defines = {
        "T": c_type(out),
        "VALUE_T": c_type(kind),
        "BODY": _one_line("body", body),
        "SHARED": _parameters({name: array.dtype for name, array in whole.items()}),
    }

    def cut(load: Any, start: int, stop: int) -> Values:
        if not sparse:
            return {"matrix": np.ascontiguousarray(matrix(load)[start:stop]).reshape(-1), "width": load.shape[1]}
        first, last = load.indptr[start], load.indptr[stop]
        return {
            "row_offsets": np.ascontiguousarray(load.indptr[start : stop + 1]),
            "column_indices": np.ascontiguousarray(load.indices[first:last]),
            "row_values": np.ascontiguousarray(load.data[first:last]),
        }

    def matrix(load: Any) -> NDArray[Any]:
        return _typed("a load", load, kind, 2)

    def count(load: Any) -> int:
        if not sparse:
            return len(matrix(load))
        if getattr(load, "format", "") != "csr" or {load.indptr.dtype, load.indices.dtype} != {np.dtype(np.int32)}:
            raise InputError(f"a load is no CSR matrix of {kind} with indices of 32 bits")
        # checked_matrix() also checks the indices of the matrix, which the kernel follows.
        if checked_matrix(load).dtype != kind:
            raise InputError(f"a load is a CSR matrix of {load.dtype}; allowed: {kind}")
        return int(load.shape[0])

    name = "map_sparse_rows" if sparse else "map_rows"
    return Work(
        Kernel(f"hetero/{name}.cl", name, defines),
        count,
        cut,
        {"out": Output(out)},
        shared=(lambda _load: whole) if whole else None,
    )


def _whole(name: str, values: Any) -> NDArray[Any]:
    array = checked_array(name, values)
    return np.ascontiguousarray(_typed(name, array, array.dtype, 1))


def _one_line(name: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip() or "#" in text or "//" in text:
        raise InputError(f"{name} = {shown(text)}; allowed: OpenCL C without directives and comments by //")
    return " ".join(text.split())
