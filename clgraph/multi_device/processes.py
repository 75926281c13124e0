"""A process for each of several GPUs, because an OpenCL driver lets only one thread of a process in at a time.

The processes start at the first call that names several devices, and stay for later calls. They end with this process.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.arguments import shown
from clgraph.errors import DeviceError, InputError, NoDeviceError
from clgraph.multi_device import exchange, member
from clgraph.multi_device.child_process import SECONDS_TO_END, ChildProcess
from clgraph.runtime.devices import working_gpus
from clgraph.runtime.discovery.query import enumerate_devices
from clgraph.runtime.discovery.selection import select_device
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import check_fork

MIN_GPUS = 2  # With fewer GPUs, threads of one process are equally fast.
# A thread that waits for several GPUs' processes polls for 50 ms before it sleeps, because waking takes 0.1 to 0.6 ms.
_SPIN_SECONDS = 50e-3

_T = TypeVar("_T")
_keys = itertools.count()


def device_names(devices: object) -> list[str]:
    """Return a name ``"platform:device"`` for each of the *devices*.

    ``"all"`` stands for all GPUs.

    Raises
    ------
    InputError
        *devices* are no names, or a device is named twice.
    NoDeviceError
        A name fits no device, or there is no GPU.
    """
    if (key := _as_key(devices)) is None:
        raise InputError(f"devices = {shown(devices)}; allowed: 'all', or a list of names of devices")
    chosen = list(_chosen(key)[0])
    for place, name in enumerate(chosen):
        if (first := chosen.index(name)) != place:
            raise InputError(f"devices = {shown(devices)}; devices[{first}] and devices[{place}] are the same one")
    return chosen


def names_of(devices: object) -> list[str] | None:
    """Return the :func:`device_names` of *devices* if each of these devices gets a process, else ``None``.

    Devices get processes if they are given by name and at least :data:`MIN_GPUS` of them are GPUs.
    """
    if os.name != "posix" or not sys.executable:
        return None  # A child process could not inherit the connection.
    if (key := _as_key(devices)) is None or _n_gpus() < MIN_GPUS or _chosen(key)[1] < MIN_GPUS:
        return None
    return device_names(devices)


def _as_key(devices: object) -> tuple[str, ...] | None:
    """Return *devices* as a tuple of names, or ``None`` if *devices* does not consist of names."""
    if isinstance(devices, str):
        return (devices,) if devices == "all" else None
    are_names = isinstance(devices, list | tuple) and devices and all(isinstance(each, str) for each in devices)
    return tuple(devices) if are_names else None  # type: ignore[arg-type]


@cache
def _n_gpus() -> int:
    return sum(bool(device.type & cl.device_type.GPU) for _, device in enumerate_devices())


@cache
def _chosen(key: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Return the names of the devices in *key*, and the number of GPUs among them.

    A search takes 1 ms per device.
    """
    if key == ("all",):
        found = working_gpus()
        if not found:
            raise NoDeviceError("devices = 'all', and there is no GPU that works")
    else:
        found = [select_device(name)[0] for name in key]
    names = {device.int_ptr: name for name, device in enumerate_devices()}
    return tuple(names[device.int_ptr] for device in found), sum(bool(d.type & cl.device_type.GPU) for d in found)


class Processes:
    """The child processes that drive several devices, one process for each device.

    Parameters
    ----------
    devices : sequence of str
        As :func:`names_of` returns them.
    """

    def __init__(self, devices: Sequence[str]) -> None:
        self._devices = tuple(devices)
        self._processes: list[ChildProcess] = []
        self._lock = threading.Lock()
        # Keys of values that the processes still keep although nothing needs the values any more.
        self._dropped: list[Any] = []
        self.generation = 0  # Number of starts of the processes. A new start loses all values that the processes kept.
        self._names: list[str] = []
        self._is_interrupted = False

    def __len__(self) -> int:
        return len(self._devices)

    def names(self) -> list[str]:
        """Return the names of the devices that these processes drive."""
        if not self._names:
            self._names = self.each(member.describe)
        return self._names

    def each(
        self, function: Callable[..., _T], *arguments: Sequence[Any], needs: int | None = None,
        exchange_bytes: int | None = None,
    ) -> list[_T]:  # fmt: skip
        """Return the result of ``function(member, *items)`` from each process, with one item of each argument.

        Parameters
        ----------
        function : callable
            A function of a module that the processes can import.
        *arguments : sequence
            Each argument has one item for each process. Arrays in shared memory are not copied.
        needs : int, optional
            The :attr:`generation` whose kept values the function uses.
        exchange_bytes : int, optional
            The first item is an :class:`~clgraph.multi_device.exchange.Exchange` of values of at most so many bytes.

        Raises
        ------
        DeviceError
            A device has failed, or a process has ended; the message says which. If one process has ended, all are
            ended, and the next call starts new processes.
        """
        check_fork()  # The processes answer only the process that started them.
        with self._lock:
            if self._is_interrupted:
                self._end()
                self._is_interrupted = False
            if needs is not None and (needs != self.generation or not self._processes):
                raise DeviceError("a process that held a part of the data has ended; split the data again")
            if not self._processes:
                self._processes = [ChildProcess(device) for device in self._devices]
                self.generation += 1
            try:
                return self._answers(function, [*zip(*arguments, strict=True)] or [()] * len(self), exchange_bytes)
            except BaseException as error:
                if not isinstance(error, Exception):  # After Ctrl-C, the calls to the processes are still running.
                    self._end()
                raise

    def new_key(self, owner: object) -> int:
        """Return a key for values that the processes keep until *owner* is deleted."""
        key = next(_keys)
        weakref.finalize(owner, self._dropped.append, key).atexit = False
        return key

    def _answers(
        self, function: Callable[..., _T], given: Sequence[tuple[Any, ...]], exchange_bytes: int | None
    ) -> list[_T]:
        room, size = None, len(self)
        if exchange_bytes is not None:
            room, spin_seconds = exchange.new_room(size, exchange_bytes), _SPIN_SECONDS * self._polls()
            given = [(exchange.Exchange(room, size, place, spin_seconds), *each) for place, each in enumerate(given)]
        living = shared_memory.living()
        calls = [shared_memory.dumps((function, each, living)) for each in given]
        if dropped := self._dropped.copy():
            del self._dropped[: len(dropped)]
            self._send([shared_memory.dumps((member.drop, (dropped,), living))] * len(self))
            self._receive()
        self._send(calls)
        return self._receive(room)

    def _send(self, calls: Sequence[bytes]) -> None:
        for place, (process, call) in enumerate(zip(self._processes, calls, strict=True)):
            try:
                process.connection.send_bytes(call)
            except OSError as error:
                raise self._lost(place) from error

    def _receive(self, room: NDArray[np.uint8] | None = None) -> list[Any]:
        """Return the answers of all processes.

        If an answer is an error, it is raised after all processes have answered. It ends the exchange in *room*.
        """
        waiting = {process.connection: place for place, process in enumerate(self._processes)}
        answers: list[Any] = [None] * len(self)
        error: Exception | None = None
        while waiting:
            for connection in self._ready([*waiting]):
                place = waiting.pop(connection)
                try:
                    is_right, answers[place] = pickle.loads(connection.recv_bytes())
                except (EOFError, OSError) as lost:
                    raise self._lost(place) from lost
                if not is_right and error is None:
                    error = self._named(place, answers[place])
                    if room is not None:
                        exchange.end(room, len(self))
        if error is not None:
            raise error
        return answers

    def _ready(self, connections: Sequence[Connection]) -> list[Connection]:
        """Wait for an answer, or for the end of a process, and return the connections that have one."""
        polls, until = self._polls(), time.perf_counter() + _SPIN_SECONDS
        while polls and time.perf_counter() < until:
            if found := wait(connections, 0):
                return found  # type: ignore[return-value]
        return wait(connections)  # type: ignore[return-value]

    def _polls(self) -> bool:
        """Return whether waiting threads poll.

        Kernels on a CPU need the core of a polling thread. Several threads may wait for a process each, and polling
        threads hold up each other.
        """
        return 1 < len(self) == _chosen(self._devices)[1]

    def interrupt(self) -> None:
        """Kill the processes, so that a call for which another thread waits ends with an error at once.

        The next call starts new processes.
        """
        self._is_interrupted = True
        for process in self._processes:
            process.process.kill()

    def _lost(self, place: int) -> DeviceError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._processes[place].process.wait(SECONDS_TO_END)
        code = self._processes[place].process.poll()
        self._end()
        return DeviceError(f"{self._place(place)}{self._devices[place]}: its process has ended (exit code {code})")

    def _named(self, place: int, error: Exception) -> Exception:
        if not isinstance(error, DeviceError) or isinstance(error, NoDeviceError):
            return error
        name = self._names[place] if self._names else self._devices[place]
        return type(error)(f"{self._place(place)}{name}: {error}")

    def _place(self, place: int) -> str:
        return f"devices[{place}], " if len(self) > 1 else ""

    def _end(self) -> None:
        for process in self._processes:
            process.end()
        self._processes = []


_started: dict[tuple[str, ...], Processes] = {}


def processes_of(devices: Sequence[str]) -> Processes:
    """Return the :class:`Processes` of *devices*.

    Later calls with the same devices return the same object.
    """
    key = tuple(devices)
    if key not in _started:
        _started[key] = Processes(key)
    return _started[key]


@atexit.register
def _end_all() -> None:
    for processes in _started.values():
        processes._end()


def _forget_all() -> None:
    """Forget all GPU processes after a fork, because they belong to the parent of this process."""
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
