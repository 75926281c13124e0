"""CSR arrays that kernels have made, checked where they are."""
from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from clgraph.data.csr import check_range, check_rising, offset_dtype
from clgraph.errors import GraphError
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.session import Session

_SOURCE = "data/check_csr.cl"
_NONE = 2**32 - 1


def check_csr(
    session: Session, n: int, row_offsets: DeviceArray, column_indices: DeviceArray, edge_weights: DeviceArray | None
) -> tuple[int, bool]:
    """Check a graph of *n* vertices by one kernel, and read what it has found.

    Returns
    -------
    n_edges : int
        What stands after the offsets of all rows; the other arrays may be longer.
    has_sorted_rows : bool

    Raises
    ------
    GraphError
        The arrays are not CSR, or a weight is NaN; the message names value, position and limit.
    """
    weights = column_indices if edge_weights is None else edge_weights
    room = min(column_indices.size, weights.size)
    program = session.program(
        _SOURCE,
        {
            "OFFSET_T": "long" if row_offsets.dtype.itemsize == 8 else "int",
            "WEIGHT_T": "ulong" if weights.dtype.itemsize == 8 else "uint",
            "WEIGHTS_ARE_FLOATS": int(weights.dtype.kind == "f"),
        },
        work_group_size=1 if session.facts.is_cpu else None,
    )
    state = session.zeros(program.constant("STATE_WORDS"), np.uint32)
    state.fill(_NONE, 0, program.constant("STATE_DESCENTS"))
    program.bind(
        "check_csr", max(n + 1, room), n=n, room=room, row_offsets=row_offsets, column_indices=column_indices,
        edge_weights=weights, state=state, max_groups=4 * session.facts.compute_units,
    )()
    words, block = state.get(), program.constant("BLOCK")
    last = program.constant("STATE_LAST")
    m = int(words[last : last + 2].view(np.int64)[0])

    def begin_of(word: str) -> int | None:
        """Return where the first block begins in which something is wrong."""
        found = int(words[program.constant(word)])
        return None if found == _NONE else found * block

    if (begin := begin_of("STATE_OFFSET")) is not None:
        first = max(0, begin - 1)
        offsets: NDArray[np.signedinteger] = row_offsets.get(first, min(n + 1, begin + block))
        if not first and offsets[0]:
            raise GraphError(f"row_offsets starts at {offsets[0]}; it must start at 0")
        check_rising(offsets, first)
    if m > room or np.dtype(offset_dtype(m)).itemsize > row_offsets.dtype.itemsize:
        raise GraphError(f"row_offsets, of {row_offsets.dtype}, ends at {m}; the other arrays have room for {room}")
    if (begin := begin_of("STATE_COLUMN")) is not None:
        check_range("column_indices", column_indices.get(begin, min(m, begin + block)), n, begin)
    if (begin := begin_of("STATE_WEIGHT")) is not None:
        at = begin + int(np.isnan(weights.get(begin, min(m, begin + block))).argmax())
        raise GraphError(f"weight {at} is NaN; weights must be numbers")
    return m, not words[program.constant("STATE_DESCENTS")]
