"""The base class of plans whose work-groups may wait for earlier ones, as ``cl/primitives/look_back.h`` explains."""

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

_CHUNK_ITEMS = 4096  # least items per work-group if work-groups do not look back


def looks_back(session: Session) -> bool:
    """Return whether a work-group on this device may wait for work-groups that started before it."""
    return session.facts.dialect.has_grid_barrier and session.facts.has_int64_atomics


class LookBack(Launches):
    """A plan that enqueues ordinary launches, then launches that look back; it may have none of either kind.

    State words are not cleared between runs: the values that a launch leaves count as "nothing" for the next
    launch. This requires that the host knows which launches the device got. After a run that raised, it does not
    know: the launch may have been enqueued or not, and a run of several may have ended between any two. So the next
    run clears all words first. Since the queue is in order, no earlier launch can write to them afterwards.

    Attributes
    ----------
    launches : list of Launch
        The ordinary launches, which a run enqueues first.
    """

    _what: ClassVar[str]  # name of the operation in error messages

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self._look_backs: list[Launch] = []
        self._control: DeviceArray | None = None
        self._words: list[DeviceArray] = []  # arrays that must be zero before the first run
        self._parity = 0
        self._is_known = True  # whether the words are as the last launch of a complete run leaves them
        self._was_known = True  # the same, at the time when the status word was requested

    def _tuned(
        self, session: Session, source: str, strategy: str | None, tuning: Mapping[str, int] | None
    ) -> dict[str, int]:
        """Set the strategy, by default the device's best one, and return its tuned sizes for kernel file *source*."""
        self.strategy = strategy or ("look_back" if looks_back(session) else "chunks")
        self._is_plain = self.strategy == "chunks" and session.facts.is_cpu
        size, items = (1, 1) if self._is_plain else (256, 16)
        return tuned(session, source, {"WG_SIZE": size, "ITEMS_PER_ITEM": items}, tuning)

    def _chunks(self, session: Session, n: int, tile: int) -> tuple[int, int]:
        """Return the items per work-group, in whole tiles, and the number of work-groups, without look-back."""
        limit = (4 if self._is_plain else 8) * session.facts.compute_units
        chunk = tile * max(-(-_CHUNK_ITEMS // tile), -(-n // (tile * limit)))
        return chunk, max(1, -(-n // chunk))

    def _zeros(self, session: Session, size: int, dtype: DTypeLike = np.uint32) -> DeviceArray:
        """Allocate words that are zero before the first run, and are cleared again after a failed run."""
        self._words.append(session.zeros(size, dtype))
        return self._words[-1]

    def _new_control(self, session: Session, program: Program) -> DeviceArray:
        """Allocate the ticket and status words for the launches of *program* that look back."""
        self._status_at = program.constant("CONTROL_STATUS")
        self._control = self._zeros(session, program.constant("CONTROL_WORDS"))
        return self._control

    def run(self) -> None:
        """Enqueue the operation. After an error, the plan can be run again."""
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
        """Run, then call :meth:`check`, which waits for the device if work-groups look back."""
        self.run()
        self.check()

    def statuses(self) -> list[tuple[DeviceArray, int, int]]:
        """Return the range of the status word, if any, for ``Session.read``; :meth:`check` takes what that returns."""
        if self._control is None:
            return []
        # It stays unknown if the wait times out or the read fails.
        self._was_known, self._is_known = self._is_known, False
        return [(self._control, self._status_at, self._status_at + 1)]

    def check(self, words: Sequence[NDArray[Any]] | None = None) -> None:
        """Raise an error if the status word, if there is one, reports a time-out.

        *words* are the values read of :meth:`statuses`. Without them, wait for the device and read the word.

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
