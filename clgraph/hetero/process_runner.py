"""Runs parts of loads on several GPUs. The caller's process drives the first GPU, and a process each other one."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.device.facts import DeviceFacts
from clgraph.errors import DeviceError
from clgraph.hetero.checks import Values
from clgraph.hetero.policies import Member as PolicyMember
from clgraph.hetero.runner import Runner, member
from clgraph.hetero.work import Kernel, Work
from clgraph.lent_memory import LentArray, is_readable, lend, let_children_read
from clgraph.multi_device.member import Member, drop
from clgraph.multi_device.processes import Processes, names_of, processes_of
from clgraph.runtime.devices import beside_gpus, sessions_of
from clgraph.runtime.discovery.selection import select_device
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.memory.arrays import DeviceArray, number_type
from clgraph.runtime.memory.copiers import HostArray
from clgraph.runtime.session import Session, as_session

# A device's first large copies are slow. On an H200 the first load takes up to 2.2 times a later load's time, and the
# second one up to 1.2 times.
_WARM_UPS = 2
_LEAST_BYTES = 1 << 16  # Smaller arrays go to a process in the call itself.


class ProcessDevice:
    """A GPU that a process drives.

    Attributes
    ----------
    name : str
    facts : DeviceFacts
    processes : Processes
        The process of this GPU alone, so that another GPU's process may end without it.
    """

    def __init__(self, name: str, processes: Processes) -> None:
        let_children_read()
        probe = np.ones(1)
        self.name, self.processes = name, processes
        self.facts: DeviceFacts
        self.member: PolicyMember
        self.reads_memory: bool  # Whether the process may read the memory of the caller's process.
        self.facts, self.member, self.reads_memory = self.call(_described, lend(probe))
        self.warm_here: set[Any] = set()  # Works that the caller's process has run on this GPU.

    def call(self, function: Any, *arguments: Any, needs: int | None = None) -> Any:
        """Return the result of ``function(member, *arguments)`` from the process."""
        return self.processes.each(function, *([each] for each in arguments), needs=needs)[0]


def devices_of(devices: object) -> list[Any]:
    """Return a session for the first of several GPUs that are named, a :class:`ProcessDevice` for each later GPU, and a
    session for each other device.

    A session belongs to the caller's process. This process copies the arrays of loads faster than other processes do,
    so it drives a GPU, too. A CPU reads the arrays where they are, and needs no process. If the system does not let
    processes read the memory of the caller's process, all devices have sessions.
    """
    if (names := names_of(devices)) is None:
        return list(sessions_of(devices))
    if devices == "all":
        return [*_in_processes(names), *beside_gpus(len(names))]
    gpus = [name for name in names if select_device(name)[0].type & cl.device_type.GPU]
    started = dict(zip(gpus, _in_processes(gpus), strict=True))
    return [started[name] if name in started else as_session(name) for name in names]


def _in_processes(names: Sequence[str]) -> list[Any]:
    first, *others = names
    with ThreadPoolExecutor(len(names), "clgraph-start") as threads:  # A process starts in 1 to 2 seconds.
        devices: list[Any] = list(threads.map(lambda name: ProcessDevice(name, processes_of([name])), others))
    if not all(device.reads_memory for device in devices):
        devices = [as_session(name) for name in others]  # The threads of this process take turns in the driver.
    return [as_session(first), *devices]


class GPURunner(Runner):
    """A runner that computes parts of loads on one of several GPUs in the caller's process.

    Before it computes a whole load for the first time, it computes it twice without being timed, since the policy
    compares this GPU with GPUs that are warm. *warm* has the keys of the works of which the GPU has computed a load.
    """

    def __init__(self, session: Session, work: Work, *, is_warm: bool, warm: set[Any]) -> None:
        super().__init__(session, work, is_warm=is_warm)
        self._warm = warm

    def prepare(self, start: int, stop: int) -> None:
        """Warm the GPU up, if the part is the whole load."""
        n_items = len(next(iter(self._outputs.values())))
        if stop - start == n_items and self.work.key not in self._warm:
            self.compute_and_drop(n_items, _WARM_UPS)
            self._warm.add(self.work.key)


class ProcessRunner(Runner):
    """A runner that computes parts of loads in the process of one GPU.

    This process cuts the load, because users' functions may not be sent to other processes. The other process reads the
    arrays of the parts, and writes the results, in the memory of this process. A load that is a single part runs in
    this process.
    """

    def __init__(self, device: ProcessDevice, work: Work, *, is_warm: bool) -> None:
        self.session, self.work, self.is_warm = device, work, is_warm  # type: ignore[assignment]
        self.device, self.key = device, device.name
        self.name = f"{device.facts.name} ({device.facts.compute_units} units)"
        self.member = device.member
        self._kernel = work.kernel(device.facts.is_cpu)
        self._sent_kernel = replace(self._kernel.sent(), work_items=None)
        self._names = device.call(_parameters, self._sent_kernel)
        self._token, self._n_loads = device.processes.new_key(self), 0
        self._here: GPURunner | None = None
        self._given: dict[str, Any] | None = None  # The values that all parts of the load share.
        self._generation: int | None = None  # The generation of the process that keeps a runner of this work.

    def begin(self, load: Any, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Keep *load* and *outputs*; the process gets the data that all parts share with its first part."""
        self.check_outputs(outputs)
        self._load, self._outputs, self._given = load, outputs, None
        self._n_items, self._n_loads = len(next(iter(outputs.values()))), self._n_loads + 1

    def prepare(self, start: int, stop: int) -> None:
        """Make a runner of this process, and warm it up, if the part is the whole load."""
        if not self._is_whole(start, stop):
            return
        if self._here is None:
            self._here = GPURunner(as_session(self.device.name), self.work, is_warm=True, warm=self.device.warm_here)
        if self.work.key in self.device.warm_here:
            return
        self._here.begin(self._load, self._outputs)
        try:
            self._here.prepare(start, stop)
        finally:
            self._here.end()

    def run(self, start: int, stop: int) -> None:
        """Compute the items *start* … *stop* − 1 of the load, and write the results into the output arrays."""
        if self._here is None or not self._is_whole(start, stop):  # A warm-up comes before prepare().
            self._run_there(start, stop)
            return
        self._here.begin(self._load, self._outputs)
        try:
            self._here.run(start, stop)
        finally:
            self._here.end()

    def end(self) -> None:
        """Drop the runner's references to the load and the load's arrays."""
        self._given, self._load, self._outputs = None, None, {}

    def interrupt(self) -> None:
        """End the process."""
        self.device.processes.interrupt()

    def close(self) -> None:
        """Let the process drop what it has of the last load."""
        if self._generation is not None:
            with contextlib.suppress(DeviceError):  # The process may have ended.
                self.device.call(drop, [self._token], needs=self._generation)

    def _is_whole(self, start: int, stop: int) -> bool:
        return stop - start == self._n_items

    def _run_there(self, start: int, stop: int) -> None:
        if self._given is None:
            self._given = self._shared_values()
        pieces, sent = [*self._pieces(start, stop)], []
        for first, last, values in pieces:
            n = last - first
            scope = {"n": n, "first": first, **self._given, **values, **self._targets(first, last)}
            sent.append((first, last, _lent(values), self._n_work_items(n, scope)))
        outputs = {name: (lend(array), math.prod(array.shape[1:])) for name, array in self._outputs.items()}
        arguments = self._sent_kernel, _lent(self._given), sent, outputs
        self.device.call(_compute, self._token, self._n_loads, *arguments)
        self._generation = self.device.processes.generation


def _lent(values: Values) -> dict[str, Any]:
    """Return the arguments of a kernel in which arrays are the places of the *values*."""
    return {name: _argument(v) if isinstance(v, np.ndarray) else v for name, v in values.items()}


def _argument(array: NDArray[Any]) -> NDArray[Any] | LentArray:
    if array.nbytes < _LEAST_BYTES or shared_memory.place_of(array) is not None:
        return array
    return lend(array)


class _LentRunner(Runner):
    """A runner in the process of a GPU.

    Its loads are in the memory of the caller's process, or in shared memory.
    """

    def __init__(self, here: Member, kernel: Kernel, given: Mapping[str, Any], number: int = 0) -> None:
        work = Work(kernel, count=len, cut=lambda *_: {}, outputs=lambda _load: {}, shared=lambda _load: given)
        super().__init__(here.session, work)
        self._here, self.number = here, number

    def compute_to(self, outputs: Mapping[str, tuple[LentArray, int]], pieces: Sequence[tuple[Any, ...]]) -> None:
        """Compute *pieces*, and write the results to *outputs*: the lent arrays, and the numbers of values an item."""
        self._outputs = outputs
        self.compute(pieces)

    def _targets(self, start: int, stop: int) -> Mapping[str, HostArray]:
        outputs: Mapping[str, Any] = self._outputs
        return {name: lent[start * width : stop * width] for name, (lent, width) in outputs.items()}

    def _upload(self, name: str, host: HostArray) -> DeviceArray:
        if isinstance(host, LentArray) or shared_memory.place_of(host) is None:
            return super()._upload(name, host)
        dtype = number_type(host.dtype)
        self.session.check_memory({f"{name} of {host.size} {dtype}": host.nbytes})
        array = DeviceArray(self.session.memory, self._here.room(self.session, None, host.nbytes), dtype, host.size)
        self._here.write(array, 0, host)
        return array


def _described(here: Member, probe: LentArray) -> tuple[DeviceFacts, PolicyMember, bool]:
    return here.session.facts, member(here.session), is_readable(probe)


def _parameters(here: Member, kernel: Kernel) -> tuple[str, ...]:
    """Build *kernel* on this process's GPU, and return the names of its parameters."""
    return tuple(_LentRunner(here, kernel, {})._names)


def _compute(
    here: Member, token: int, load: int, kernel: Kernel, given: Mapping[str, Any], pieces: Sequence[tuple[Any, ...]],
    outputs: Mapping[str, tuple[LentArray, int]],
) -> None:  # fmt: skip
    """Compute *pieces* of a load on this process's GPU, and write the results to *outputs*.

    The runner is kept under *token* until the next load, since it has copied the data *given* to all parts of the load
    to the GPU.
    """
    if token not in here.kept or here.kept[token].number != load:
        here.kept[token] = runner = _LentRunner(here, kernel, given, load)
        runner.begin(None, outputs)
    here.kept[token].compute_to(outputs, pieces)
