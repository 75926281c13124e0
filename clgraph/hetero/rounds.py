"""The state of one load on several devices.

Their threads ask a policy for items, and failed devices are dropped.
"""

from __future__ import annotations

import threading

from clgraph.errors import ClgraphError
from clgraph.hetero.policies import Policy, Range


class Round:
    """The state of a scheduling round, which the threads of all devices share.

    A thread that finds nothing to do waits, because a failing device may give its items back.
    """

    def __init__(self, policy: Policy, n_items: int, sub_load: int, grain: int) -> None:
        self._policy, self._left = policy, n_items
        self._changed = threading.Condition()
        self._waiting = 0  # Number of threads that have found nothing to do since the last change of the round.
        self._in_flight: dict[int, Range] = {}
        # The number of items that each device has computed, and the seconds in which the device was busy.
        self.items, self.seconds = [0] * len(policy.members), [0.0] * len(policy.members)
        self.failures: dict[int, Exception] = {}
        self.error: BaseException | None = None
        policy.begin(n_items, sub_load, grain)

    def take(self, device: int) -> Range | None:
        """Return the range of items that *device* computes next.

        Wait while it is unknown; return ``None`` at the end.
        """
        with self._changed:
            while self._left and self.error is None:
                if (part := self._policy.take(device)) is not None:
                    self._in_flight[device] = part
                    self._wake()  # Other threads may be waiting for the shares of the load that are known from now on.
                    return part
                self._waiting += 1
                if self._waiting == len(self._policy.living):  # All threads wait, so nothing would ever change.
                    name = self._policy.name
                    self.error = ClgraphError(f"policy {name!r} hands out nothing though {self._left} items are left")
                    self._wake()
                else:
                    self._changed.wait()
            return None

    def _wake(self) -> None:
        self._waiting = 0  # All threads ask for work again after a change.
        self._changed.notify_all()

    def pay(self, device: int, seconds: float) -> None:
        """Add the *seconds* that *device* has spent on data that all its parts of the load need."""
        with self._changed:
            self.seconds[device] += seconds

    def done(self, device: int, seconds: float) -> None:
        """Record that *device* has computed its last range of items in *seconds* seconds."""
        with self._changed:
            first, stop = self._in_flight.pop(device)
            self._left -= stop - first
            self.items[device] += stop - first
            self.seconds[device] += seconds
            self._policy.done(device, stop - first, seconds)
            self._wake()

    def fail(self, device: int, error: Exception) -> None:
        """Go on without *device*, which has failed with *error*.

        If no device is left, the round ends with *error*.
        """
        with self._changed:
            self.failures[device] = error
            lost = self._in_flight.pop(device, None)
            self._policy.drop(device, *([lost] if lost else []))
            if not self._policy.living:
                self.error = error
            self._wake()

    def stop(self, error: BaseException) -> None:
        """End the scheduling round for all devices with *error*."""
        with self._changed:
            self.error = self.error or error
            self._wake()
