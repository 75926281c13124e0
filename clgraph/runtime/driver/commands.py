"""The Commands class: the command queues of one device, waiting for commands, and recording of their times."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

from clgraph.device.facts import DeviceFacts
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import check_fork, typed_errors
from clgraph.runtime.driver.quirks import wants_one_thread, works_while_waiting
from clgraph.runtime.driver.timing import Recorder

_SPIN_SECONDS = 200e-6  # A waiting thread polls for 0.2 ms before it sleeps in the driver, because waking is slow.
_LONG_SPIN_SECONDS = 50e-3  # The same if no other thread of the process needs the core or the driver.
_POLL_SECONDS = 20e-6  # Pause between two polls of an event in wait_aside().
_PATIENCE_SECONDS = 1.0  # If the driver fails to wait for an event, the event is polled for up to a second.
# A polling thread yields its core, because a kernel on a CPU may need the core.
_let_others_run = getattr(os, "sched_yield", lambda: None)
_COMPLETE = 0  # OpenCL's CL_COMPLETE. A smaller status of an event is an error.


_one_thread = threading.RLock()  # All queues of drivers that allow only one thread at a time share this lock.


class Recording(threading.local):
    """Values that are recorded separately for each thread, such as its allocated bytes."""

    recorder: Recorder | None = None  # The recorder of the innermost Commands.measure block.
    allocated_bytes = 0  # Bytes that the thread has allocated so far, including memory that was freed again.


class Commands:
    """The command queue of one device, the lock of its driver, and the recorder of the running call's events.

    Attributes
    ----------
    context : pyopencl.Context
    device : pyopencl.Device
    facts : DeviceFacts
    driver : context manager
        A lock to hold while calling the driver, because some drivers allow calls of one thread only. It does
        nothing for the other drivers.
    others : list of callable
        Functions that wait for commands in other queues; :meth:`finish` and the end of :meth:`measure` call them.
    """

    def __init__(self, context: cl.Context, device: cl.Device, queue: cl.CommandQueue, facts: DeviceFacts) -> None:
        self._queue = queue  # queue.device is not used, because in PoCL it is the whole device for a sub-device.
        self.context, self.device, self.facts = context, device, facts
        self.driver: AbstractContextManager[Any] = contextlib.nullcontext()
        if wants_one_thread(self.device):
            self.driver = _one_thread
        self.others: list[Callable[[], None]] = []
        self._works_while_waiting = works_while_waiting(self.device)
        self._spin_seconds, self._has_others = _SPIN_SECONDS, True
        self._copy_queue: cl.CommandQueue | None = None
        self._making = threading.Lock()
        self.recording = Recording()

    def expect_one_thread(self) -> None:
        """Wait without pauses from now on, because only one thread of this process calls the driver."""
        self._spin_seconds, self._has_others = _LONG_SPIN_SECONDS, False

    @property
    def queue(self) -> cl.CommandQueue:
        """The command queue of the device.

        In a forked child it would hang, so reading it raises a :class:`ForkError`.
        """
        check_fork()
        return self._queue

    @cached_property
    def takes_times(self) -> bool:
        """True if the queue records the times of commands.

        A queue that the user gave may not do that.
        """
        return bool(self._queue.properties & cl.command_queue_properties.PROFILING_ENABLE)

    @property
    def copy_queue(self) -> cl.CommandQueue:
        """The queue of copies that overlap with kernels.

        All threads share it, so that the copies keep their order.
        """
        with self._making, typed_errors("creating a queue for transfers"):
            if self._copy_queue is None:
                properties: Any = cl.command_queue_properties.PROFILING_ENABLE if self.takes_times else 0
                self._copy_queue = cl.CommandQueue(self.context, self.device, properties=properties)
            return self._copy_queue

    @cached_property
    def has_device_queue(self) -> bool:
        """True if kernels can launch other kernels.

        The first read of this property creates the device's own queue.

        Only OpenCL 3.0's list of features is trusted, because PoCL answers the older queries at random.
        """
        kinds = cl.command_queue_properties
        try:
            features = {feature.name for feature in self.device.opencl_c_features}
            if self.facts.dialect.standard != "CL3.0" or "__opencl_c_device_enqueue" not in features:
                return False
            properties: Any = kinds.ON_DEVICE | kinds.ON_DEVICE_DEFAULT | kinds.OUT_OF_ORDER_EXEC_MODE_ENABLE
            self._device_queue = cl.CommandQueue(self.context, self.device, properties=properties)
        except (cl.Error, AttributeError):
            return False
        return True

    def wait(self, event: cl.Event) -> None:
        """Wait for *event*. After Ctrl-C, the wait ends as soon as the commands in flight have finished."""
        with self.driver, typed_errors("waiting for the device"):
            self.queue.flush()
            try:
                if not self._works_while_waiting:
                    until = time.perf_counter() + self._spin_seconds
                    while event.command_execution_status > _COMPLETE and time.perf_counter() < until:
                        _let_others_run()
                # event.wait() releases the GIL while it waits, and raises an error if the command has failed.
                event.wait()
            except cl.Error:
                self._outlast(event)
                raise
            except KeyboardInterrupt:
                self.queue.finish()
                raise

    def wait_aside(self, event: cl.Event) -> None:
        """Wait for *event* without blocking other threads: neither the GIL nor the driver's lock is held."""
        if not self._has_others:
            self.wait(event)
            return
        if isinstance(self.driver, contextlib.nullcontext):
            with typed_errors("waiting for the device"):
                event.wait()  # self.wait() would poll first, which would keep other threads from running.
            return
        while True:
            with self.driver:
                if event.command_execution_status <= _COMPLETE:
                    self.wait(event)  # This call raises an error if the command has failed.
                    return
            time.sleep(_POLL_SECONDS)

    @staticmethod
    def _outlast(event: cl.Event) -> None:
        """Poll until *event* ends, because the driver failed to wait for it, and the caller may free memory next."""
        until = time.perf_counter() + _PATIENCE_SECONDS
        while event.command_execution_status > _COMPLETE and time.perf_counter() < until:
            time.sleep(1e-3)

    def finish(self) -> None:
        """Wait for all enqueued commands of the device."""
        for finish in self.others:
            finish()
        with self.driver, typed_errors("waiting for the device"):
            marker = cl.enqueue_marker(self.queue)
        self.wait(marker)

    @contextlib.contextmanager
    def measure(self, started: float | None = None) -> Iterator[Recorder]:
        """Record events and compile times inside the block.

        The total time starts at *started*, by default now.

        Yields
        ------
        Recorder
            Its ``seconds`` and ``kernels()`` can be read after the block.
        """
        outer, recorder = self.recording.recorder, Recorder()
        recorder.started = recorder.started if started is None else started
        self.recording.recorder = recorder
        try:
            yield recorder
            for finish in self.others:
                finish()
            with typed_errors("reading event times"):
                for event in recorder.last_events:
                    if event.command_execution_status > _COMPLETE:
                        self.wait(event)
                recorder.stop(takes_times=self.takes_times)
        finally:
            self.recording.recorder = outer
        if outer is not None:
            outer.compile_seconds += recorder.compile_seconds
            outer.kernel_events += recorder.kernel_events
            outer.transfer_events += recorder.transfer_events

    def record_kernel(self, name: str, event: cl.Event) -> None:
        if (recorder := self.recording.recorder) is not None:
            recorder.kernel_events.append((name, event))

    def record_transfer(self, event: cl.Event) -> None:
        if (recorder := self.recording.recorder) is not None:
            recorder.transfer_events.append(event)

    def record_compile(self, seconds: float) -> None:
        if (recorder := self.recording.recorder) is not None:
            recorder.compile_seconds += seconds
