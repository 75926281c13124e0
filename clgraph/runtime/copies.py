"""Copies between the host and a device, in the pieces in which the driver makes them soonest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clgraph.runtime import opencl as cl

if TYPE_CHECKING:
    from clgraph.runtime.session import Session


def enqueue_copies(
    session: Session,
    queue: cl.CommandQueue,
    buffer: Any,
    first_byte: int,
    host: NDArray[Any],
    *,
    to_host: bool,
    after: tuple[cl.Event, ...] = (),
) -> list[cl.Event]:
    """Enqueue copying contiguous *host* to *buffer* from *first_byte* on, or what is there *to_host*."""
    data, offset, events = host.reshape(-1).view(np.uint8), "src_offset" if to_host else "dst_offset", []
    for first, last in session.pieces(host.nbytes):
        ends: Any = (data[first:last], buffer) if to_host else (buffer, data[first:last])
        place: dict[str, Any] = {offset: first_byte + first}
        events.append(cl.enqueue_copy(queue, *ends, is_blocking=False, wait_for=after, **place))
        session.record_transfer(events[-1])
    return events
