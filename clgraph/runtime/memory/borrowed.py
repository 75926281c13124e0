"""Use of the user's pyopencl arrays as device arrays, without a copy."""

from __future__ import annotations

from typing import Any

from clgraph.arguments import refusing, shown
from clgraph.errors import InputError
from clgraph.runtime.memory.arrays import DeviceArray, Home

_ALLOWED = "a DeviceArray, or a contiguous one-dimensional pyopencl.array.Array of numbers"


def is_pyopencl_array(array: object) -> bool:
    """Return whether *array* is a ``pyopencl.array.Array``."""
    return type(array).__module__.partition(".")[0] == "pyopencl" and hasattr(array, "base_data")


def borrowed(memory: Home, name: str, array: Any) -> DeviceArray:
    """Return the pyopencl array *array* as a device array in the same memory, after its own work has ended.

    Parameters
    ----------
    memory : Home
        The memory of the session in which the array is to be used.
    name : str
        The name of the argument, for errors.
    array : pyopencl.array.Array or DeviceArray
        A device array is returned itself.

    Raises
    ------
    InputError
        It is another object, has another shape, is not contiguous, or belongs to another OpenCL context.
    """
    if isinstance(array, DeviceArray):
        return array
    if not is_pyopencl_array(array):
        raise InputError(f"{name} = {shown(array)}; allowed: {_ALLOWED}")
    with refusing(name, array, _ALLOWED):
        if array.ndim != 1 or not array.flags.c_contiguous or array.dtype.kind not in "iuf":
            raise InputError(f"{name} has shape {array.shape} and type {array.dtype}; allowed: {_ALLOWED}")
        if array.context != memory.commands.queue.context:
            raise InputError(
                f"{name} is in another OpenCL context; make the session with Session(queue) of the array's queue"
            )
        array.finish()  # The user's queue may be another one, whose kernels still write to the array.
        n_items, size = array.size, array.dtype.itemsize
        first, rest = divmod(array.offset, size)
        if rest:
            raise InputError(f"{name} begins at byte {array.offset} of its buffer, which is no multiple of {size}")
        whole = DeviceArray(memory, array.base_data, array.dtype, first + n_items)
        return whole.view(first, first + n_items)  # A view does not release the memory of the user.
