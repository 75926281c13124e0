"""Checks of the values that the user's functions return, and a wrapper for these functions' errors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from clgraph.arguments import refuse_masked, shown
from clgraph.errors import DeviceError, InputError, KernelSourceError
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.memory.arrays import DeviceArray, number_type
from clgraph.runtime.programs.declarations import Parameter

Values: TypeAlias = Mapping[str, Any]

POSITION_NAMES = frozenset({"n", "first"})  # Parameters of a kernel that the scheduler sets.


class UserError(Exception):
    """Carries an OpenCL error of a user's function, so that it is not taken for a failure of the device.

    Attributes
    ----------
    error : Exception
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@contextlib.contextmanager
def users_errors() -> Iterator[None]:
    """Turn OpenCL errors in the block, which calls a function of the user, into a :class:`UserError`."""
    try:
        yield
    except (DeviceError, cl.Error) as error:
        raise UserError(error) from error


def checked_values(name: str, function: Callable[..., Any], arguments: Any, taken: Collection[str]) -> dict[str, Any]:
    """Return the values that the user's *function* called *name* returns for *arguments*.

    Raises
    ------
    InputError
        The function returns no mapping, a name of *taken*, or an array of another form than kernels read.
    """
    with users_errors():
        values = function(*arguments)
    if not isinstance(values, Mapping) or not all(isinstance(key, str) for key in values):
        raise InputError(f"{name} returned {shown(values)}; allowed: a mapping of names to arrays and numbers")
    if twice := values.keys() & taken:
        raise InputError(f"{name} returned {', '.join(sorted(twice))}, which the kernel has from elsewhere already")
    for key, value in values.items():
        if isinstance(value, np.ndarray):
            _check_array(f"{key} of {name}", value)
    return dict(values)


def _check_array(name: str, array: np.ndarray[Any, Any]) -> None:
    refuse_masked(name, array)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; allowed: contiguous arrays of one dimension")
    if not array.flags.c_contiguous:
        raise InputError(f"{name} is a strided view; allowed: contiguous arrays, such as np.ascontiguousarray makes")
    try:
        number_type(array.dtype)
    except InputError:
        raise InputError(f"{name} has type {array.dtype}; allowed: numbers in this machine's byte order") from None


def check_kinds(kernel: str, parameters: Iterable[Parameter], scope: Values) -> None:
    """Raise a KernelSourceError if an integer of *scope* is for a floating-point parameter of *kernel*, or vice versa.

    Signed and unsigned integers may stand for each other.
    """
    for parameter in parameters:
        dtype, value = parameter.dtype, scope[parameter.name]
        if dtype is None or dtype.names:
            continue
        if isinstance(value, DeviceArray):
            fits, what = (value.dtype.kind == "f") == (dtype.kind == "f"), f"an array of {value.dtype}"
        else:
            fits, what = dtype.kind == "f" or not isinstance(value, float | np.floating), shown(value)
        if not fits:
            raise KernelSourceError(f"{parameter.name} is {what}, but kernel {kernel} takes {dtype}")
