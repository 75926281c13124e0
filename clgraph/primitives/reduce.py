"""Reductions of a device array to its sum, minimum or maximum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.types import Launches, c_type, check_count, tuned
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

SOURCE = "primitives/reduce.cl"
OPERATIONS = {"sum": "SUM_OF", "min": "LEAST_OF", "max": "GREATEST_OF"}
_LIMITS = {
    "int32": ("INT_MIN", "INT_MAX"),
    "uint32": ("0u", "UINT_MAX"),
    "int64": ("LONG_MIN", "LONG_MAX"),
    "uint64": ("0ul", "ULONG_MAX"),
    "float32": ("-INFINITY", "INFINITY"),
}


def operation_defines(operation: str, dtype: np.dtype[Any]) -> dict[str, int | str]:
    """Return the kernel definitions for reducing numbers of *dtype* by *operation* (``cl/primitives/operation.h``)."""
    if operation not in OPERATIONS:
        raise InputError(f"operation {operation!r}; use one of {', '.join(OPERATIONS)}")
    name = c_type(dtype)
    lowest, highest = _LIMITS[dtype.name]
    return {"T": name, "T_LOWEST": lowest, "T_HIGHEST": highest, "OPERATION": OPERATIONS[operation]}


class Reduce(Launches):
    """A reusable operation that computes the sum, minimum or maximum of a device array.

    The result stays on the device.

    Parameters
    ----------
    source : DeviceArray
        An array of int32, uint32, int64, uint64 or float32.
    target : DeviceArray
        Its first item becomes the result. Sums are computed in its type. If *source* is empty, "sum" gives 0, "min" the
        highest value of the type (infinity for floats), and "max" the lowest.
    operation : {"sum", "min", "max"}
        A float sum is the same in every run on one device. If an item is NaN, the result of "min" and "max" is
        unspecified.
    tuning : mapping, optional
        ``WG_SIZE`` and ``UNROLL`` instead of the tuned sizes.
    """

    def __init__(
        self,
        session: Session,
        source: DeviceArray,
        target: DeviceArray,
        operation: str = "sum",
        *,
        tuning: Mapping[str, int] | None = None,
    ) -> None:
        check_count(source.size)
        cpu, units = session.facts.is_cpu, session.facts.compute_units
        sizes = tuned(session, SOURCE, {"WG_SIZE": 1 if cpu else 256, "UNROLL": 4}, tuning)
        vec = 16 if cpu else 4
        types = operation_defines(operation, target.dtype)
        program = session.program(SOURCE, {**sizes, **types, "IN_T": c_type(source.dtype), "VEC": vec})
        group = sizes["WG_SIZE"]
        # Least number of items for which one more work-group pays off.
        worth = max(4096, 4 * group * vec * sizes["UNROLL"])
        groups = max(1, min((4 if cpu else 8) * units, -(-source.size // worth)))
        chunk = vec * max(1, -(-source.size // (groups * vec)))
        partials = session.empty(groups, target.dtype) if groups > 1 else target
        self.launches = [
            program.bind("reduce_items", groups * group, n=source.size, chunk=chunk, items=source, partials=partials)
        ]
        if groups > 1:
            self.launches.append(program.bind("reduce_partials", group, n=groups, partials=partials, out=target))


def reduce(session: Session, source: DeviceArray, operation: str = "sum") -> DeviceArray:
    """Enqueue a reduction of a device array, and return an array whose only item is the result; see :class:`Reduce`."""
    target = session.empty(1, source.dtype)
    Reduce(session, source, target, operation).run()
    return target
