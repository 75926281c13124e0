"""Reductions and sorts within each segment of a device array.

CSR offsets give the segments.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from clgraph.errors import InputError
from clgraph.primitives.reduce import operation_defines
from clgraph.primitives.sort import KINDS, Sort
from clgraph.primitives.types import Launches, c_type, check_count, tuned
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

REDUCE_SOURCE = "primitives/segmented_reduce.cl"
SORT_SOURCE = "primitives/segmented_sort.cl"


def _n_rows(row_offsets: DeviceArray) -> int:
    if not row_offsets.size:
        raise InputError("row_offsets needs one item more than there are segments")
    check_count(row_offsets.size)
    return row_offsets.size - 1


class SegmentedReduce(Launches):
    """A reusable operation that computes the sum, minimum or maximum of each segment of a device array.

    Parameters
    ----------
    row_offsets : DeviceArray
        int32 or int64. Segment r has the items ``row_offsets[r]`` … ``row_offsets[r + 1]`` − 1 of *values*. The
        first offset is 0, the last is the size of *values*, and they do not decrease.
    values, target : DeviceArray
        Two arrays of the same type: int32, uint32, int64, uint64 or float32. *target* has an item per segment. An
        empty segment gets 0 from "sum", the highest value of the type from "min", and the lowest from "max".
    operation : {"sum", "min", "max"}
    tuning : mapping, optional
        ``WG_SIZE`` and ``ITEMS_PER_ITEM`` instead of the tuned sizes.
    """

    def __init__(
        self,
        session: Session,
        row_offsets: DeviceArray,
        values: DeviceArray,
        target: DeviceArray,
        operation: str = "sum",
        *,
        tuning: Mapping[str, int] | None = None,
    ) -> None:
        n_rows, n = _n_rows(row_offsets), values.size
        check_count(n)
        if target.size != n_rows or target.dtype != values.dtype:
            raise InputError(f"target must have {n_rows} items of {values.dtype}")
        cpu = session.facts.is_cpu
        sizes = tuned(session, REDUCE_SOURCE, {"WG_SIZE": 1 if cpu else 256, "ITEMS_PER_ITEM": 8}, tuning)
        types = {**operation_defines(operation, values.dtype), "OFFSET_T": c_type(row_offsets.dtype, "int32 int64")}
        program = session.program(REDUCE_SOURCE, {**sizes, **types})
        self.launches = []
        if not n_rows:
            return
        group, steps = sizes["WG_SIZE"], n_rows + n
        piece = group * sizes["ITEMS_PER_ITEM"]
        if group == 1:
            piece = max(4096, -(-steps // (4 * session.facts.compute_units)))
        groups = -(-steps // piece)
        rows, carries = session.empty(groups, np.int32), session.empty(groups, values.dtype)
        scope = {"n_rows": n_rows, "n": n, "piece": piece, "row_offsets": row_offsets, "values": values, "out": target}
        kernel = "reduce_pieces" if group == 1 else "reduce_tiles"
        self.launches.append(program.bind(kernel, groups * group, scope, carry_rows=rows, carries=carries))
        while groups > 4 * group > 4:
            merged = {**scope, "n_carries": groups, "rows_in": rows, "values_in": carries}
            groups = -(-groups // group)
            rows, carries = session.empty(groups, np.int32), session.empty(groups, values.dtype)
            merged |= {"rows_out": rows, "values_out": carries}
            self.launches.append(program.bind("merge_carries", groups * group, merged))
        self.launches.append(program.bind("add_carries", groups, scope, n_carries=groups, rows=rows, values=carries))


class SegmentedSort:
    """A reusable operation that sorts the keys within each segment of a
    device array stably, together with their values.

    Parameters
    ----------
    row_offsets : DeviceArray
        As in :class:`SegmentedReduce`.
    keys, out_keys : DeviceArray
        Different arrays of int32, uint32 or float32 (in total order).
    values, out_values : DeviceArray, optional
        Values that move with the keys, of any type of 4 or 8 bytes.
    key_bits : int
        If it is less than 32, all keys must be integers in ``[0, 2**key_bits)``, and the sort takes fewer
        passes.
    """

    def __init__(
        self,
        session: Session,
        row_offsets: DeviceArray,
        keys: DeviceArray,
        out_keys: DeviceArray,
        values: DeviceArray | None = None,
        out_values: DeviceArray | None = None,
        *,
        key_bits: int = 32,
    ) -> None:
        n_rows, n = _n_rows(row_offsets), keys.size
        c_type(keys.dtype, "int32 uint32 float32")
        if not 1 <= key_bits <= 32 or (key_bits < 32 and keys.dtype.kind == "f"):
            raise InputError(f"key_bits={key_bits} for {keys.dtype}; it is 1 to 32, and 32 for floats")
        if out_keys.size != n or out_keys.dtype != keys.dtype:
            raise InputError(f"out_keys must have {n} items of {keys.dtype}")
        bits = key_bits + max(0, n_rows - 1).bit_length()
        packed_type = np.dtype(np.uint32 if bits <= 32 else np.uint64)
        packed, in_order = session.empty(n, packed_type), session.empty(n, packed_type)
        self._sort = Sort(session, packed, in_order, values, out_values, end_bit=bits)
        cpu, units = session.facts.is_cpu, session.facts.compute_units
        program = session.program(
            SORT_SOURCE,
            {
                "WG_SIZE": 1 if cpu else 256,
                "KEY_KIND": KINDS[keys.dtype.kind if key_bits == 32 else "u"],
                "PACKED_T": c_type(packed_type),
                "PACKED_KEY_BITS": key_bits,
                "OFFSET_T": c_type(row_offsets.dtype, "int32 int64"),
            },
        )
        group = program.work_group_size
        chunk = max(4096, -(-n // (4 * units))) if cpu else 16 * group
        groups = -(-n // chunk)
        items, scope = groups * group, {"n": n, "chunk": chunk}
        self._pack = program.bind(
            "pack_rows", items, scope, n_rows=n_rows, row_offsets=row_offsets, keys=keys, packed=packed
        )
        self._unpack = program.bind("unpack_rows", items, scope, packed=in_order, keys=out_keys)

    def run(self) -> None:
        """Enqueue the kernels that sort all segments."""
        if self._sort.n:
            self._pack()
            self._sort.run()
            self._unpack()

    def check(self) -> None:
        """Raise an error if a wait of the sort on the device timed out; see :meth:`LookBack.check`."""
        self._sort.check()
