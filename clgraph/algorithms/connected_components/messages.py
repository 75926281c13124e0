"""Messages that carry the forest of one device to another device, which joins it to its own forest."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.multi_device.split_graph import wait_for
from clgraph.primitives.scan import Scan
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.session import Session

_MESSAGE = "connected_components/message.cl"
_WORD = 32  # A 32-bit word of a bitmap has one bit for each of 32 vertices.
# A message consists of blocks of 32 words, or of blocks of one word if the forest has less than 2^17 vertices.
_WORDS, _SMALL = 32, 1 << 17


def forest_message(session: Session, n: int, parent: DeviceArray) -> tuple[DeviceArray, bool]:
    """Return the flat forest *parent* as an array for another device, and whether this array is packed.

    It is packed only if the packed form is shorter than one label for each of the *n* vertices.
    """
    shape = _shape(n)
    n_words, n_blocks = shape["n_words"], shape["n_blocks"]
    with session.driver:
        program = session.program(_MESSAGE)
        scope = {
            **shape,
            "parent": parent,
            "chosen": session.empty(n_blocks, np.int32),
            **{name: session.empty(n_words, np.uint32) for name in ("same", "other")},
        }
        sizes, offsets = session.empty(n_blocks, np.uint32), session.empty(n_blocks + 1, np.uint32)
        program.bind("choose_labels", n_blocks, scope)()
        program.bind("mark_labels", n_words, scope)()
        program.bind("size_blocks", n_blocks, scope, sizes=sizes)()
        scan = Scan(session, sizes, offsets)
        scan.run()
    wait_for(session)
    with session.driver:
        (total,), *statuses = session.read((offsets, n_blocks, n_blocks + 1), *scan.statuses())
        scan.check(statuses)
        if (size := n_blocks + 1 + int(total)) >= n:
            return parent.view(0, n), False
        message = session.empty(size, np.uint32)
        message.copy_from(offsets)
        program.bind("write_blocks", n_words, scope, message=message)()
    return message, True


def join_forest(session: Session, n: int, message: DeviceArray, parent: DeviceArray, *, is_packed: bool) -> None:
    """Enqueue kernels that join the forest in *message*, from
    :func:`forest_message`, to *parent* on the same device.
    """
    scope, n_items = {**_shape(n), "parent": parent}, -(-n // 4)
    if is_packed:
        session.program(_MESSAGE).bind("merge_message", n_items, scope, message=message)()
    else:
        session.program("connected_components/merge.cl").bind("merge_parents", n_items, scope, other=message)()


def _shape(n: int) -> dict[str, Any]:
    words, n_words = 1 if n < _SMALL else _WORDS, -(-n // _WORD)
    return {"n": n, "words": words, "n_words": n_words, "n_blocks": -(-n_words // words)}
