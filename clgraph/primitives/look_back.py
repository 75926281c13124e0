"""The base class of operations with decoupled look-back, in which work-groups wait for the results of earlier ones.

``cl/primitives/look_back.h`` explains decoupled look-back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from clgraph.primitives.types import Launches, tuned
from clgraph.runtime.driver.failure import check_status
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.programs.program import Launch, Program
from clgraph.runtime.session import Session

_CHUNK_ITEMS = 4096  # Least number of items per work-group in kernels without look-back.


def looks_back(session: Session) -> bool:
    """Return whether work-groups on the device of *session* may wait for work-groups that started earlier."""
    return session.facts.dialect.has_grid_barrier and session.facts.has_int64_atomics


class LookBack(Launches):
    """A reusable operation that enqueues ordinary launches, and then launches with look-back.

    One kind may be missing.

    State words are not cleared between runs: the values that a launch leaves count as "nothing" for the next
    launch. This requires that the host knows which launches the device got. After a run that raised, it does not
    know: the launch may have been enqueued or not, and a run of several may have ended between any two. So the next
    run clears all words first. Since the queue is in order, no earlier launch can write to the words afterwards.

    Attributes
    ----------
    launches : list of Launch
        The ordinary launches, which a run enqueues first.
    """

    _what: ClassVar[str]  # The name of the operation, for error messages.

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self._look_backs: list[Launch] = []
        self._control: DeviceArray | None = None
        self._words: list[DeviceArray] = []  # Arrays of state words, which must be zero before the first run.
        self._parity = 0
        self._is_known = True  # True if the state words have the values that a complete run leaves.
        self._was_known = True  # The value of _is_known when the host last asked for the status word.

    def _tuned(
        self, session: Session, source: str, strategy: str | None, tuning: Mapping[str, int] | None
    ) -> dict[str, int]:
        """Set the strategy of the operation, by default the best for the device.

        Return the tuned sizes of the file *source*.
        """
        self.strategy = strategy or ("look_back" if looks_back(session) else "chunks")
        self._is_plain = self.strategy == "chunks" and session.facts.is_cpu
        size, items = (1, 1) if self._is_plain else (256, 16)
        return tuned(session, source, {"WG_SIZE": size, "ITEMS_PER_ITEM": items}, tuning)

    def _chunks(self, session: Session, n: int, tile: int) -> tuple[int, int]:
        """Return the number of items per work-group of an operation, a
        multiple of *tile*, and the number of work-groups.

        This is for strategy "chunks", which has no look-back.
        """
        limit = (4 if self._is_plain else 8) * session.facts.compute_units
        chunk = tile * max(-(-_CHUNK_ITEMS // tile), -(-n // (tile * limit)))
        return chunk, max(1, -(-n // chunk))

    def _zeros(self, session: Session, size: int, dtype: DTypeLike = np.uint32) -> DeviceArray:
        """Allocate a device array of state words, which are zero at first.

        The run after a failed run clears them again.
        """
        self._words.append(session.zeros(size, dtype))
        return self._words[-1]

    def _new_control(self, session: Session, program: Program) -> DeviceArray:
        """Allocate the two control words of look-back launches of *program*: the tile counter and the status."""
        self._status_at = program.constant("CONTROL_STATUS")
        self._control = self._zeros(session, program.constant("CONTROL_WORDS"))
        return self._control

    def run(self) -> None:
        """Enqueue the launches of the operation.

        After an error, the operation can be run again.
        """
        if not self._is_known:
            for words in self._words:
                words.fill(0)
            self._parity = 0
        self._is_known = False
        for launch in self.launches:
            launch()
        for launch in self._look_backs:
            launch.set(nothing=2 * self._parity)
            launch()
            self._parity ^= 1
        self._is_known = True

    def run_checked(self) -> None:
        """Run the operation and then :meth:`check`.

        If it uses look-back, the check waits for the device.
        """
        self.run()
        self.check()

    def statuses(self) -> list[tuple[DeviceArray, int, int]]:
        """Return the array ranges that ``Session.read`` must read for :meth:`check`:
        the status word, if there is one.
        """
        if self._control is None:
            return []
        # If the wait times out or the read fails, the values of the state words stay unknown.
        self._was_known, self._is_known = self._is_known, False
        return [(self._control, self._status_at, self._status_at + 1)]

    def check(self, words: Sequence[NDArray[Any]] | None = None) -> None:
        """Raise an error if the operation has a status word and the word reports a time-out.

        *words* are the values that ``Session.read`` read for :meth:`statuses`. If *words* is ``None``, wait for the
        device and read the status word.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device reached its limit, so the results are wrong. The plan can be run again.
        """
        if self._control is None:
            return
        ((status,),) = self._control.memory.read(*self.statuses()) if words is None else words
        check_status(int(status), self._what)
        self._is_known = self._was_known
