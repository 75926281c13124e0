"""The Work class, which describes a computation on each item of a load, and functions that make common works."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import checked_array, refusing, shown
from clgraph.data.graphs.sparse import checked_matrix
from clgraph.errors import InputError
from clgraph.primitives.types import c_type
from clgraph.runtime.memory import recycled
from clgraph.user_cache import cache_dir, write_whole

Values: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Kernel:
    """An OpenCL kernel of a work: its source, its definitions, and the sizes with which it is launched.

    Its parameters are bound by name. The names are: the arrays and numbers that :attr:`Work.cut` returns for a part,
    the values that all parts share, the outputs, ``n`` (the number of items in the part) and ``first`` (the position
    of the part's first item in the load).

    Attributes
    ----------
    source : str
        OpenCL C, or the path of a ``.cl`` file. It declares the kernel with ``KERNEL`` of ``common/types.h``.
    name : str
        The name of the kernel.
    defines : mapping of str to int or str
        Macros with which the source is built.
    work_group_size : int, optional
    work_items : callable, optional
        ``work_items(n, values)`` returns the number of work-items that compute *n* items; by default, it is *n*.
    """

    source: str
    name: str
    defines: Mapping[str, int | str] = field(default_factory=dict)
    work_group_size: int | None = None
    work_items: Callable[[int, Values], int] | None = None

    @property
    def file(self) -> str:
        """Path of the kernel's source file.

        Source that is given as text is written to a file in the cache.
        """
        if self.source.endswith(".cl"):
            return self.source
        path = cache_dir("sources") / f"{hashlib.sha256(self.source.encode()).hexdigest()[:16]}.cl"
        if not path.exists():
            write_whole(path, self.source)
        return str(path)


@dataclass(frozen=True)
class Output:
    """The output of a work's kernel for each item: an array of this *shape* and *dtype*, or by default one number."""

    dtype: DTypeLike
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Work:
    """A computation on the items of a load, which do not depend on each other.

    Attributes
    ----------
    kernels : Kernel, or mapping of ``"cpu"`` and ``"gpu"`` to Kernel
    count : callable
        ``count(load)`` returns the number of items.
    cut : callable
        The partitioner: ``cut(load, start, stop)`` returns the arrays and numbers that the kernel gets for these
        items, by the names of its parameters. Several threads call it at once. Slices are best, since they copy
        nothing; parts may overlap.
    outputs : mapping of str to Output, or a function of the load that returns one
    shared : callable, optional
        ``shared(load)`` returns the data that all parts of a load need. It is copied to each device once per load.
    collect : callable, optional
        The collector: ``collect(load, outputs)`` makes the result from the complete outputs, which are arrays of shape
        ``(n_items, *shape)`` by name. By default, the result is the output, or the mapping of several outputs.
    grain : int
        The number of items of each part except the last one is a multiple of *grain*.
    """

    kernels: Kernel | Mapping[str, Kernel]
    count: Callable[[Any], int]
    cut: Callable[[Any, int, int], Values]
    outputs: Mapping[str, Output] | Callable[[Any], Mapping[str, Output]]
    shared: Callable[[Any], Values] | None = None
    collect: Callable[[Any, dict[str, NDArray[Any]]], Any] | None = None
    grain: int = 1

    def kernel(self, is_cpu: bool) -> Kernel:
        """Return the work's kernel for CPUs if *is_cpu*, else its kernel for GPUs."""
        if isinstance(self.kernels, Kernel):
            return self.kernels
        kind = "cpu" if is_cpu else "gpu"
        if kind not in self.kernels:
            raise InputError(f"the work has no kernel for a device of kind {kind!r}, only for {sorted(self.kernels)}")
        return self.kernels[kind]

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for two works if a device computes both at the same speed."""
        kernels = {"all": self.kernels} if isinstance(self.kernels, Kernel) else self.kernels
        return tuple((kind, k.source, k.name, *sorted(k.defines.items())) for kind, k in sorted(kernels.items()))

    def output_forms(self, load: Any, n_items: int) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return the shape and the type of each output array for *load*, by name."""
        declared = self.outputs(load) if callable(self.outputs) else self.outputs
        return {name: ((n_items, *output.shape), np.dtype(output.dtype)) for name, output in declared.items()}

    def new_outputs(self, load: Any, n_items: int) -> dict[str, NDArray[Any]]:
        """Return uninitialised arrays for all outputs of the work's kernels for *load*, by name.

        They have the memory of deleted results if possible.
        """
        forms = self.output_forms(load, n_items)
        return {name: recycled.empty(math.prod(shape), dtype).reshape(shape) for name, (shape, dtype) in forms.items()}


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
    dtype : dtype
        The type of the result, which is an array of the same length as the inputs.

    Raises
    ------
    InputError
        A type is no int32, uint32, int64, uint64 or float32.

    Examples
    --------
    >>> work = elementwise("x * x + y", inputs={"x": np.float32, "y": np.float32}, dtype=np.float32)
    >>> results, report = HeteroScheduler().run(work, [{"x": x, "y": y}])
    """
    with refusing("inputs", inputs, "a mapping of names to types"):
        types = {name: np.dtype(kind) for name, kind in inputs.items()}
    out = np.dtype(dtype)
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
        cut=lambda load, start, stop: {f"{name}_items": a[start:stop] for name, a in arrays(load).items()},
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
        A type is no int32, uint32, int64, uint64 or float32.
    """
    kind, out = np.dtype(values), np.dtype(dtype)
    whole = {name: checked_array(name, array) for name, array in (shared or {}).items()}
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
            "row_offsets": load.indptr[start : stop + 1],
            "column_indices": load.indices[first:last],
            "row_values": load.data[first:last],
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


def _one_line(name: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip() or "#" in text or "//" in text:
        raise InputError(f"{name} = {shown(text)}; allowed: OpenCL C without directives and comments by //")
    return " ".join(text.split())
