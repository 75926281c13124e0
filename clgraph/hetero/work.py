"""The Work class, which describes a computation on each item of a load, and its kernels and outputs."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.arguments import check_callback, checked_count, refusing, shown
from clgraph.errors import InputError
from clgraph.hetero.checks import POSITION_NAMES, Values
from clgraph.runtime.memory import recycled
from clgraph.runtime.memory.arrays import number_type
from clgraph.runtime.programs.source import flatten, located
from clgraph.user_cache import cache_dir, write_whole

_MAX_ITEMS = 1 << 62


@dataclass(frozen=True)
class Kernel:
    """An OpenCL kernel of a work: its source, its definitions, and the sizes with which it is launched.

    Its parameters are bound by name. The names are: the arrays and numbers that :attr:`Work.cut` returns for a part,
    the values that all parts share, the outputs, ``n`` (the number of items in the part) and ``first`` (the position
    of the part's first item in the load).

    Attributes
    ----------
    source : str
        OpenCL C, or the path of a ``.cl`` file. A relative path is looked up among the package's kernel files, then in
        the current directory. Headers are looked up beside the file that includes them, then in the package. The file
        is read again in each run. It declares the kernel as ``KERNEL name(…)``; ``KERNEL`` of ``common/types.h`` stands
        for ``__kernel``, attributes and ``void``.
    name : str
        The name of the kernel.
    defines : mapping of str to int or str
        Macros with which the source is built.
    work_group_size : int, optional
        At most the largest size of the device is used. The kernel has the size as the macro ``WG_SIZE``.
    work_items : callable, optional
        ``work_items(n, values)`` returns the number of work-items that compute *n* items; by default, it is *n*. The
        number is rounded up to whole work-groups.

    Raises
    ------
    InputError
        An attribute has a wrong type or value.
    """

    source: str
    name: str
    defines: Mapping[str, int | str] = field(default_factory=dict)
    work_group_size: int | None = None
    work_items: Callable[[int, Values], int] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.source, str) or not self.source.strip():
            raise InputError(f"source = {shown(self.source)}; allowed: OpenCL C, or the path of a .cl file, as a str")
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise InputError(f"name = {shown(self.name)}; allowed: the name of a kernel")
        with refusing("defines", self.defines, "a mapping of names to integers and texts"):
            for name, value in self.defines.items():
                if not isinstance(name, str) or not isinstance(value, int | float | str | np.number):
                    raise TypeError(f"{shown(name)}: {shown(value)}")
        if self.work_group_size is not None:
            size = checked_count("work_group_size", self.work_group_size, 1 << 31)
            object.__setattr__(self, "work_group_size", size)
        check_callback("work_items", self.work_items)

    @property
    def _is_file(self) -> bool:
        return self.source.endswith(".cl") and "\n" not in self.source

    @property
    def file(self) -> str:
        """Path of the kernel's source file, or its name if the package has it.

        Source that is given as text is written to a file in the cache.
        """
        if self._is_file:
            return located(self.source)
        path = cache_dir("sources") / f"{hashlib.sha256(self.source.encode()).hexdigest()[:16]}.cl"
        if not path.exists():
            write_whole(path, self.source)
        return str(path)

    def sent(self) -> Kernel:
        """Return this kernel for another process, which may have another current directory."""
        return replace(self, source=self.file) if self._is_file else self


@dataclass(frozen=True)
class Output:
    """The output of a work's kernel for each item: an array of this *shape* and *dtype*, or by default one number."""

    dtype: DTypeLike
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", number_type(self.dtype))
        with refusing("shape", self.shape, "a tuple of integers"):
            sizes = tuple(checked_count("shape", size, _MAX_ITEMS, least=0) for size in self.shape)
        object.__setattr__(self, "shape", sizes)


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
        nothing; parts may overlap. Arrays are contiguous and have one dimension. Only the kernel knows how many values
        it reads, so the sizes of the arrays are not checked.
    outputs : mapping of str to Output, or a function of the load that returns one
    shared : callable, optional
        ``shared(load)`` returns the data that all parts of a load need. It is copied to each device once per load.
    collect : callable, optional
        The collector: ``collect(load, outputs)`` makes the result from the complete outputs, which are arrays of shape
        ``(n_items, *shape)`` by name. By default, the result is the output, or the mapping of several outputs.
    grain : int
        The number of items of each part except the last one is a multiple of *grain*.

    Raises
    ------
    InputError
        An attribute has a wrong type or value.
    """

    kernels: Kernel | Mapping[str, Kernel]
    count: Callable[[Any], int]
    cut: Callable[[Any, int, int], Values]
    outputs: Mapping[str, Output] | Callable[[Any], Mapping[str, Output]]
    shared: Callable[[Any], Values] | None = None
    collect: Callable[[Any, dict[str, NDArray[Any]]], Any] | None = None
    grain: int = 1

    def __post_init__(self) -> None:
        kernels = {"cpu": self.kernels} if isinstance(self.kernels, Kernel) else self.kernels
        with refusing("kernels", kernels, "a Kernel, or a mapping of 'cpu' and 'gpu' to Kernel"):
            if wrong := {*kernels} - {"cpu", "gpu"} or [k for k in kernels.values() if not isinstance(k, Kernel)]:
                raise TypeError(shown(wrong))
        for name in ("count", "cut"):
            if not callable(getattr(self, name)):
                raise InputError(f"{name} = {shown(getattr(self, name))}; allowed: a function")
        if not callable(self.outputs):
            _check_outputs("outputs", self.outputs)
        check_callback("shared", self.shared)
        check_callback("collect", self.collect)
        object.__setattr__(self, "grain", checked_count("grain", self.grain, _MAX_ITEMS))

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
        parts = ((kind, flatten(k.file), k.name, *sorted(k.defines.items())) for kind, k in sorted(kernels.items()))
        return tuple(parts)

    def n_items(self, name: str, load: Any) -> int:
        """Return the number of items of *load*, which is called *name*; an error if it has none."""
        count = checked_count(f"count({name})", self.count(load), _MAX_ITEMS, least=0)
        if count < 1:
            raise InputError(f"{name} has {count} items; allowed: 1 and more")
        return count

    def output_forms(self, load: Any, n_items: int) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return the shape and the type of each output array for *load*, by name."""
        declared = self.outputs
        if callable(declared):
            declared = declared(load)
            _check_outputs("outputs(load)", declared)
        return {name: ((n_items, *output.shape), np.dtype(output.dtype)) for name, output in declared.items()}

    def new_outputs(self, load: Any, n_items: int) -> dict[str, NDArray[Any]]:
        """Return uninitialised arrays for all outputs of the work's kernels for *load*, by name.

        They have the memory of deleted results if possible.
        """
        forms = self.output_forms(load, n_items)
        return {name: recycled.empty(math.prod(shape), dtype).reshape(shape) for name, (shape, dtype) in forms.items()}


def _check_outputs(name: str, outputs: Any) -> None:
    with refusing(name, outputs, "a mapping of one name or several to Output, except n and first"):
        if not outputs or not all(isinstance(output, Output) for output in outputs.values()):
            raise TypeError("no Output")
        if POSITION_NAMES & outputs.keys():
            raise ValueError("a name is taken")
