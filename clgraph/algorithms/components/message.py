"""A forest as it goes to another device: short where its labels allow that, and at most a label for each vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

from clgraph.engine.split_graph import wait_for
from clgraph.engine.team import Team
from clgraph.primitives.scan import Scan
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.program import Launch
from clgraph.runtime.session import Session

_SOURCE = "components/message.cl"
_WORD = 32  # vertices of which a word has a bit each
_WORDS, _SMALL = 32, 1 << 17  # words of a block; forests of fewer vertices have blocks of one word


class Message:
    """The forest of *parent*, a flat one of *n* vertices, on its way to other devices.

    Attributes
    ----------
    nbytes : int
        How long it is, at most 4 *n*.
    """

    def __init__(self, session: Session, n: int, parent: DeviceArray) -> None:
        self._n = n
        self._scope: dict[str, Any] = _shape(n)
        packed = self._packed(session, parent)
        self._is_packed = packed is not None
        self._array = parent.view(0, n) if packed is None else packed
        self.nbytes = self._array.nbytes

    def _packed(self, session: Session, parent: DeviceArray) -> DeviceArray | None:
        n_words, n_blocks = self._scope["n_words"], self._scope["n_blocks"]
        with session.driver:
            program = session.program(_SOURCE)
            scope = {
                **self._scope,
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
            if (size := n_blocks + 1 + int(total)) >= self._n:
                return None
            message = session.empty(size, np.uint32)
            message.copy_from(offsets)
            program.bind("write_blocks", n_words, scope, message=message)()
        return message

    def join(self, team: Team, session: Session, parent: DeviceArray) -> None:
        """Send it to *session*, and enqueue joining it with the forest of *parent* there."""
        array = team.send(self._array, session)
        with session.driver:
            joining(session, self._n, array, parent, is_packed=self._is_packed)()


def joining(session: Session, n: int, array: DeviceArray, parent: DeviceArray, *, is_packed: bool) -> Launch:
    """Return what joins a forest, packed or as a parent for each vertex, with that of *parent*."""
    scope, n_items = {**_shape(n), "parent": parent}, -(-n // 4)
    if is_packed:
        return session.program(_SOURCE).bind("merge_message", n_items, scope, message=array)
    return session.program("components/merge.cl").bind("merge_parents", n_items, scope, other=array)


def _shape(n: int) -> dict[str, int]:
    words, n_words = 1 if n < _SMALL else _WORDS, -(-n // _WORD)
    return {"n": n, "words": words, "n_words": n_words, "n_blocks": -(-n_words // words)}
