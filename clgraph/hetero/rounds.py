"""The state of one load on several devices.

Their threads ask a policy for items, and failed devices are dropped.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from numpy.typing import NDArray

from clgraph.errors import ClgraphError, DeviceDroppedWarning, DeviceError
from clgraph.hetero.checks import UserError
from clgraph.hetero.policies import Policy, Range
from clgraph.hetero.report import RoundReport
from clgraph.hetero.runner import Runner
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import as_device_error


class Round:
    """The state of a scheduling round, which the threads of all devices share.

    A thread that finds nothing to do waits, because a failing device may give its items back.
    """

    def __init__(self, policy: Policy, n_items: int, sub_load: int, grain: int) -> None:
        self._policy, self._left = policy, n_items
        self._changed = threading.Condition()
        self._active = set(policy.living)  # The devices that have threads.
        self._waiting = 0  # Number of threads that have found nothing to do since the last change of the round.
        self._in_flight: dict[int, Range] = {}
        # The number of items that each device has computed, and the seconds in which the device was busy.
        self.items, self.seconds = [0] * len(policy.members), [0.0] * len(policy.members)
        self.failures: dict[int, Exception] = {}
        self.error: BaseException | None = None
        policy.begin(n_items, sub_load, grain)

    def next_team(self) -> list[int]:
        """Return the devices that get threads next, or an empty list at the end of the round.

        Devices that rest get threads only after another device has failed.
        """
        if not self._left or self.error is not None:
            return []
        self._active = self._policy.living - (set() if self.failures else self._policy.resting())
        return sorted(self._active)

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
                if self._waiting == len(self._active):  # All threads wait, so nothing would ever change.
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

        If no device is left, the round ends with *error*. After the end of the round, nothing changes.
        """
        with self._changed:
            if self.error is not None:
                return
            self.failures[device] = error
            self._active.discard(device)
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


def compute_round(
    threads: ThreadPoolExecutor,
    policy: Policy,
    runners: Sequence[Runner],
    load: Any,
    outputs: dict[str, NDArray[Any]],
    sub_loads: int,
) -> RoundReport:
    """Compute one load on all devices, and return a report on this round."""
    n_items, grain = len(next(iter(outputs.values()))), runners[0].work.grain
    planned = policy.ratios()
    sub_load = max(grain, round(n_items / sub_loads / grain) * grain)
    started = time.perf_counter()
    state = Round(policy, n_items, sub_load, grain)
    arguments = load, outputs, min(n_items, sub_load)
    futures: list[Future[None]] = []
    try:
        while team := state.next_team():
            futures += [threads.submit(_compute, state, d, runners[d], *arguments) for d in team]
            # The wait ends at the first exception, because other threads may wait for items of the thread that failed.
            wait(futures, return_when=FIRST_EXCEPTION)
            for future in futures:
                if future.done():
                    future.result()
    except BaseException as error:  # mainly Ctrl-C
        try:
            state.stop(error)
            if not isinstance(error, Exception):
                for runner in runners:
                    runner.interrupt()
        finally:
            _wait_for(futures)
        raise
    total = time.perf_counter() - started
    for d, failure in state.failures.items():
        warnings.warn(
            f"{runners[d].name} (device {d}) has failed and is not used any more: {failure}",
            DeviceDroppedWarning, stacklevel=4,
        )  # fmt: skip
    if state.error is not None:
        raise state.error
    items, seconds = tuple(state.items), tuple(state.seconds)
    policy.end(items, seconds)
    idle = tuple(max(0.0, 1 - busy / total) for busy in seconds)
    return RoundReport(items, seconds, idle, tuple(policy.steals), planned, total, tuple(sorted(state.failures)))


def _wait_for(futures: Sequence[Future[None]]) -> None:
    """Wait until all *futures* are done, and then raise an error that ended the wait.

    Threads that still compute write into the outputs and use the sessions, so Ctrl-C must not end the wait.
    """
    interrupt: BaseException | None = None
    while not all(future.done() for future in futures):
        try:
            wait(futures)
        except BaseException as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt


def _compute(
    state: Round, device: int, runner: Runner, load: Any, outputs: dict[str, NDArray[Any]], warm_up: int
) -> None:
    """Compute parts of *load* on one device until the round ends.

    Each device has a thread that runs this function.
    """
    try:
        started = time.perf_counter()
        runner.begin(load, outputs)
        shared_seconds = time.perf_counter() - started
        runner.warm_up(warm_up)
        state.pay(device, shared_seconds)
        while (part := state.take(device)) is not None:
            runner.prepare(*part)
            started = time.perf_counter()
            runner.run(*part)
            state.done(device, time.perf_counter() - started)
    except UserError as error:
        state.stop(error.error)
    except DeviceError as error:
        state.fail(device, error)
    except cl.Error as error:
        state.fail(device, as_device_error("computing a part of a load", error))
    except BaseException as error:
        state.stop(error)
    finally:
        runner.end()
