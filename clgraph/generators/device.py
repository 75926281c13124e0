"""Functions that all graph generators on a device share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clgraph.data.graphs.csr import offset_dtype
from clgraph.data.graphs.graph import Graph
from clgraph.errors import InputError
from clgraph.primitives.compact import Compact
from clgraph.primitives.sort import Sort
from clgraph.runtime.graphs.device_graph import DeviceGraph
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_MAX_ENTRIES = 2**31 - 2**16 - 1  # A device can sort less than 2^31 - 2^16 entries, because the row offsets are int32.
_GROUPS = {True: 4, False: 32}  # Largest number of work-groups per compute unit, on CPUs (True) and on GPUs (False).


def launch(
    session: Session,
    source: str,
    kernel: str,
    n_items: int,
    defines: Mapping[str, int | str] | None = None,
    /,
    **arguments: Any,
) -> None:
    """Enqueue a graph generator's kernel of ``cl/generators`` for *n_items*
    items, with a chunk of items per work-group.

    An argument *key*, for random numbers, has two words. They are passed as ``key0`` and ``key1``.
    """
    if "key" in arguments:
        arguments["key0"], arguments["key1"] = arguments.pop("key")
    is_cpu = session.facts.is_cpu
    size = session.facts.group_size(None)
    program = session.program(f"generators/{source}.cl", defines, work_group_size=size)
    most = _GROUPS[is_cpu] * session.facts.compute_units
    program.bind(kernel, n_items, max_groups=most, **arguments)()


def born(session: Session, row_offsets: DeviceArray, column_indices: DeviceArray) -> Graph:
    """Return the undirected graph of CSR arrays on the device, which must be valid and have sorted rows."""
    return DeviceGraph(session, row_offsets, column_indices, has_sorted_rows=True).as_graph()


def empty_rows(session: Session, n: int, m: int) -> dict[str, DeviceArray]:
    """Return uninitialised CSR arrays on the device for *n* vertices and *m* entries.

    A kernel fills the arrays.
    """
    offsets = offset_dtype(m)
    session.check_memory({"row offsets": (n + 1) * np.dtype(offsets).itemsize, "column indices": 4 * m})
    return {"row_offsets": session.empty(n + 1, offsets), "column_indices": session.empty(m, np.int32)}


def without_edges(session: Session, n: int) -> Graph:
    return born(session, session.zeros(n + 1, np.int32), session.empty(0, np.int32))


def bits_of(n: int) -> int:
    """Return the number of bits that a vertex number below *n* needs, at least one."""
    return max(1, (n - 1).bit_length())


def check_keys(session: Session, count: int) -> None:
    """Raise an error unless the device has enough memory for *count* keys of edges and for sorting the keys."""
    session.check_memory(dict.fromkeys(("keys of entries", "keys in order", "keys between passes"), 8 * count))


def new_keys(session: Session, count: int) -> DeviceArray:
    """Return an uninitialised device array for *count* keys of edges, from
    which :func:`graph_of_keys` makes a graph.
    """
    if count > _MAX_ENTRIES:
        raise InputError(f"{count} entries to sort; a device sorts at most {_MAX_ENTRIES}, the host more")
    check_keys(session, count)
    return session.empty(count, np.uint64)


def graph_of_keys(session: Session, n: int, keys: DeviceArray, *, merged: bool) -> Graph:
    """Return the graph of *n* vertices whose entries are given as *keys*: the row in the high bits, the column below.

    Row and column numbers have ``bits_of(n)`` bits each. If *merged*, repeated keys are dropped, and so are keys of all
    ones, which mark self-loops and edges that do not exist. *keys* is overwritten.
    """
    bits, count = bits_of(n), keys.size
    in_order = session.empty(count, np.uint64)
    Sort(session, keys, in_order, end_bit=2 * bits).run_checked()
    if merged:
        largest = f"{(1 << 2 * bits) - 1}ul"
        chosen = Compact(
            session,
            count,
            keys,
            predicate=f"in_order[i] < {largest} && (i == 0 || in_order[i] != in_order[i - 1])",
            item="in_order[i]",
            arrays={"in_order": in_order},
        )
        chosen.run_checked()
        count, in_order = chosen.size.item(), keys
    rows = empty_rows(session, n, count)
    find_rows(session, in_order, rows["row_offsets"], count, shift=bits)
    columns = rows["column_indices"]
    launch(session, "rows", "take_columns", count, shift=bits, count=count, keys=in_order, column_indices=columns)
    return born(session, **rows)


def find_rows(
    session: Session, keys: DeviceArray, row_offsets: DeviceArray, count: int | None = None, *, shift: int = 0
) -> None:
    """Fill *row_offsets* from the first *count* of the sorted *keys* of a graph.

    The row of a key is ``key >> shift``.
    """
    n_rows, count = row_offsets.size - 1, keys.size if count is None else count
    defines = {"KEY_T": "uint"} if keys.dtype == np.uint32 else None
    scope = {"n_rows": n_rows, "count": count, "shift": shift, "keys": keys, "row_offsets": row_offsets}
    launch(session, "rows", "find_rows", n_rows + 1, defines, **scope)
