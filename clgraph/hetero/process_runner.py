"""Runs parts of loads in the processes of several GPUs, each of which has a process of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.device.facts import DeviceFacts
from clgraph.errors import DeviceError, HostMemoryError
from clgraph.hetero.policies import Member as PolicyMember
from clgraph.hetero.runner import Runner, member
from clgraph.hetero.shared_loads import SharedLoads
from clgraph.hetero.work import Kernel, Work
from clgraph.multi_device.member import Member, drop
from clgraph.multi_device.processes import Processes, names_of, processes_of
from clgraph.runtime.devices import beside_gpus, sessions_of
from clgraph.runtime.discovery.selection import select_device
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.memory.arrays import DeviceArray, number_type
from clgraph.runtime.memory.staging import LEAST_BYTES
from clgraph.runtime.session import as_session


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
        self.name, self.processes = name, processes
        self.facts: DeviceFacts
        self.member: PolicyMember
        self.facts, self.member = self.call(_described)
        self.warm_here: set[Any] = set()  # Works that the caller's process has run on this GPU.

    def call(self, function: Any, *arguments: Any, needs: int | None = None) -> Any:
        """Return the result of ``function(member, *arguments)`` from the process."""
        return self.processes.each(function, *([each] for each in arguments), needs=needs)[0]


def devices_of(devices: object) -> list[Any]:
    """Return a :class:`ProcessDevice` for each of several GPUs that are named, and a session for each other device.

    A session belongs to the caller's process. A CPU reads the arrays of loads where they are, and needs no process.
    """
    if (names := names_of(devices)) is None:
        return list(sessions_of(devices))
    if devices == "all":
        return [*_in_processes(names), *beside_gpus(len(names))]
    gpus = [name for name in names if select_device(name)[0].type & cl.device_type.GPU]
    started = dict(zip(gpus, _in_processes(gpus), strict=True))
    return [started[name] if name in started else as_session(name) for name in names]


def _in_processes(names: Sequence[str]) -> list[ProcessDevice]:
    with ThreadPoolExecutor(len(names), "clgraph-start") as threads:  # A process starts in 1 to 2 seconds.
        return list(threads.map(lambda name: ProcessDevice(name, processes_of([name])), names))


class ProcessRunner(Runner):
    """A runner that computes parts of loads in the process of one GPU.

    This process cuts the load, because users' functions may not be sent to other processes. The arrays of parts go
    through shared memory. A load that is a single part runs in this process, without a copy to shared memory.
    """

    def __init__(self, device: ProcessDevice, work: Work, loads: SharedLoads, *, is_warm: bool) -> None:
        self.session, self.work, self.is_warm = device, work, is_warm  # type: ignore[assignment]
        self.device, self._loads = device, loads
        self.key = self.device.name
        self.name = f"{device.facts.name} ({device.facts.compute_units} units)"
        self.member = device.member
        self._kernel = work.kernel(device.facts.is_cpu)
        self._sent = replace(self._kernel, work_items=None)
        self._names = device.call(_parameters, self._sent)
        self._token = device.processes.new_key(self)
        self._here: Runner | None = None
        self._given: dict[str, Any] | None = None  # The values that all parts of the load share.
        self._generation: int | None = None  # The process's generation in which it has got this load.

    def begin(self, load: Any, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Keep *load* and *outputs*; the process gets the data that all parts share with its first part."""
        self.check_outputs(outputs)
        self._load, self._outputs, self._given = load, outputs, None
        self._n_items = len(next(iter(outputs.values())))

    def prepare(self, start: int, stop: int) -> None:
        """Make a runner of this process, and warm it up, if the part is the whole load."""
        if self._is_whole(start, stop):
            self._warm_here()

    def run(self, start: int, stop: int) -> None:
        """Compute the items *start* … *stop* − 1 of the load, and write the results into the output arrays."""
        if not self._is_whole(start, stop):
            with contextlib.suppress(HostMemoryError):
                self._run_there(start, stop)
                return
            self._warm_here()  # Without shared memory, the threads of this process take turns in the driver.
        assert self._here is not None
        self._here.begin(self._load, self._outputs)
        try:
            self._here.run(start, stop)
        finally:
            self._here.end()

    def end(self) -> None:
        """Let the process drop what it has of the load."""
        if self._generation is not None:
            with contextlib.suppress(DeviceError):  # The process may have ended.
                self.device.call(drop, [self._token], needs=self._generation)
        self._generation, self._given, self._load, self._outputs = None, None, None, {}

    def interrupt(self) -> None:
        """End the process."""
        self.device.processes.interrupt()

    def _is_whole(self, start: int, stop: int) -> bool:
        return stop - start == self._n_items

    def _warm_here(self) -> None:
        if self._here is None:
            is_warm = self.work.key in self.device.warm_here
            self._here = Runner(as_session(self.device.name), self.work, is_warm=is_warm)
        if not self._here.is_warm:
            self._here.begin(self._load, self._outputs)
            try:
                self._here.warm_up(1)
            finally:
                self._here.end()
            self.device.warm_here.add(self.work.key)

    def _run_there(self, start: int, stop: int) -> None:
        if self._given is None:
            self._given = self._loads.values({} if self.work.shared is None else self.work.shared(self._load))
        outputs = {name: self._output(array) for name, array in self._outputs.items()}
        pieces = []
        for first, last, values in self._pieces(start, stop):
            written = {name: array[first:last].reshape(-1) for name, array in outputs.items()}
            n = last - first
            n_work_items = self._n_work_items(n, {"n": n, "first": first, **self._given, **values, **written})
            pieces.append((first, last, self._loads.values(values), n_work_items))
        self.device.call(_compute, self._token, self._sent, self._given, pieces, outputs)
        self._generation = self.device.processes.generation
        for name, array in self._outputs.items():
            if outputs[name] is not array:
                array[start:stop] = outputs[name][start:stop]

    @staticmethod
    def _output(array: NDArray[Any]) -> NDArray[Any]:
        if shared_memory.place_of(array) is not None:
            return array
        return shared_memory.empty(array.size, array.dtype).reshape(array.shape)


class _PinnedRunner(Runner):
    """A runner in the process of a GPU. It copies large arrays directly if their shared memory is pinned."""

    def __init__(self, here: Member, work: Work) -> None:
        super().__init__(here.session, work)
        self._here = here

    def _upload(self, name: str, host: NDArray[Any]) -> DeviceArray:
        if host.nbytes < LEAST_BYTES or not self._here.is_pinned_again(host):
            return super()._upload(name, host)
        dtype = number_type(host.dtype)
        self.session.check_memory({f"{name} of {host.size} {dtype}": host.nbytes})
        array = DeviceArray(self.session.memory, self._here.room(self.session, None, host.nbytes), dtype, host.size)
        self._here.write(array, 0, host)
        return array

    def _read_array(self, array: DeviceArray, target: NDArray[Any]) -> list[cl.Event]:
        if target.nbytes < LEAST_BYTES or not self._here.is_pinned_again(target):
            return super()._read_array(array, target)
        queue = self.session.transfers.queue
        event = cl.enqueue_copy(queue, target, array.buffer, is_blocking=False)
        queue.flush()
        return [event]


def _described(here: Member) -> tuple[DeviceFacts, PolicyMember]:
    return here.session.facts, member(here.session)


def _work(kernel: Kernel, given: Mapping[str, Any]) -> Work:
    """Return a work of *kernel* whose parts were cut before."""
    return Work(kernel, count=len, cut=lambda *_: {}, outputs={}, shared=lambda _load: given)


def _parameters(here: Member, kernel: Kernel) -> tuple[str, ...]:
    """Build *kernel* on this process's GPU, and return the names of its parameters."""
    return tuple(Runner(here.session, _work(kernel, {}))._names)


def _compute(
    here: Member, token: int, kernel: Kernel, given: Mapping[str, Any], pieces: Sequence[tuple[Any, ...]],
    outputs: Mapping[str, NDArray[Any]],
) -> None:  # fmt: skip
    """Compute *pieces* of a load on this process's GPU, and write the results to *outputs*.

    The runner is kept under *token*, since it has copied the data *given* to all parts of the load to the GPU.
    """
    if token not in here.kept:
        runner = _PinnedRunner(here, _work(kernel, given))
        runner.begin(None, outputs)
        here.kept[token] = runner
    here.kept[token].write_to(outputs)
    here.kept[token].compute(pieces)
