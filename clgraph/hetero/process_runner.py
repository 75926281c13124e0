"""Runs parts of loads in the processes of several GPUs, each of which has a process of its own."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.device.facts import DeviceFacts
from clgraph.errors import DeviceError, HostMemoryError, InputError
from clgraph.hetero import process_parts
from clgraph.hetero.policies import Member as PolicyMember
from clgraph.hetero.process_parts import SentArray
from clgraph.hetero.runner import Piece, Runner
from clgraph.hetero.work import Values, Work
from clgraph.multi_device.member import drop
from clgraph.multi_device.processes import Processes, names_of, processes_of
from clgraph.runtime.devices import beside_gpus, sessions_of
from clgraph.runtime.discovery.selection import select_device
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.memory.arrays import number_type
from clgraph.runtime.memory.chunks import ChunkedCopies
from clgraph.runtime.session import as_session

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
        self.name, self.processes = name, processes
        self.facts: DeviceFacts
        self.member: PolicyMember
        self.facts, self.member = self.call(process_parts.described)
        self.chunks = _SharedChunks(self)
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


class _SharedChunks(ChunkedCopies):
    """Copies to and from the GPU of a process, in chunks of shared memory.

    The threads of this process copy between the user's arrays and the chunks. The process of the GPU, which has pinned
    the chunks, begins the transfers. A transfer is its number, and transfers end in the order of their numbers.
    """

    def __init__(self, device: ProcessDevice) -> None:
        super().__init__()
        self._device = device
        self._key = device.processes.new_key(device)
        self._n_done = 0  # Number of transfers that are known to have ended.

    def upload(self, runner: ProcessRunner, sent: SentArray, host: NDArray[Any]) -> None:
        """Copy *host* to the process's array *sent*. *host* may change afterwards."""
        self._upload([((runner, sent), 0, host)])

    def _new_chunks(self, n_chunks: int, n_bytes: int) -> list[NDArray[np.uint8]]:
        return [*shared_memory.empty(n_chunks * n_bytes, np.uint8).reshape(n_chunks, n_bytes)]

    def _send(self, target: Any, first_byte: int, chunk: NDArray[np.uint8]) -> int:
        return self._begun(process_parts.write, *target, first_byte, chunk)

    def _fetch(self, chunk: NDArray[np.uint8], source: Any, first_byte: int) -> int:
        return self._begun(process_parts.read, *source, first_byte, chunk)

    def _begun(self, function: Any, runner: ProcessRunner, *arguments: Any) -> int:
        number, self._n_done = runner.call(function, self._key, *arguments)
        return int(number)

    def _wait(self, transfer: int) -> None:
        if transfer >= self._n_done:
            self._n_done = self._device.call(process_parts.wait, self._key, transfer)

    def _is_done(self, transfer: int) -> bool:
        if transfer >= self._n_done:
            self._n_done = self._device.call(process_parts.n_done, self._key)
        return transfer < self._n_done


class ProcessRunner(Runner):
    """A runner that computes parts of loads in the process of one GPU.

    This process cuts the load, because users' functions may not be sent to other processes. The arrays of parts go
    through chunks of shared memory. A load that is a single part runs in this process.
    """

    def __init__(self, device: ProcessDevice, work: Work, *, is_warm: bool) -> None:
        self.session, self.work, self.is_warm = device, work, is_warm  # type: ignore[assignment]
        self.device, self.key = device, device.name
        self.name = f"{device.facts.name} ({device.facts.compute_units} units)"
        self.member = device.member
        self._kernel = work.kernel(device.facts.is_cpu)
        self._sent_kernel = replace(self._kernel, work_items=None)
        self.names = device.call(process_parts.parameters, self._sent_kernel)
        self._token, self._keys = device.processes.new_key(self), itertools.count()
        self._here: Runner | None = None
        self._generation: int | None = None  # The process's generation that has a runner of this work.
        self._is_shared = False  # True after the process has got the values that all parts of the load share.

    def begin(self, load: Any, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Keep *load* and *outputs*; the process gets the data that all parts share with its first part."""
        self.check_outputs(outputs)
        self._load, self._outputs, self._is_shared = load, outputs, False
        self._n_items = len(next(iter(outputs.values())))

    def prepare(self, start: int, stop: int) -> None:
        """Make a runner of this process, and warm it up, if the part is the whole load."""
        if self._is_whole(start, stop):
            self._warm_here()

    def run(self, start: int, stop: int) -> None:
        """Compute the items *start* … *stop* − 1 of the load, and write the results into the output arrays."""
        if not self._is_whole(start, stop):
            with contextlib.suppress(HostMemoryError):
                super().run(start, stop)
                return
            self._warm_here()  # Without shared memory, the threads of this process take turns in the driver.
        assert self._here is not None
        self._here.begin(self._load, self._outputs)
        try:
            self._here.run(start, stop)
        finally:
            self._here.end()

    def interrupt(self) -> None:
        """End the process."""
        self.device.processes.interrupt()

    def close(self) -> None:
        """Let the process drop what it has of the loads."""
        if self._generation is not None:
            with contextlib.suppress(DeviceError):  # The process may have ended.
                self.device.call(drop, [self._token], needs=self._generation)
        self._generation = None

    def call(self, function: Any, *arguments: Any) -> Any:
        """Return the result of ``function(member, token, *arguments)`` from the process, which has the token."""
        return self.device.call(function, self._token, *arguments, needs=self._generation)

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

    def _begin_there(self) -> None:
        if self._generation is None:
            self.device.call(process_parts.begin, self._token, self._sent_kernel)
            self._generation = self.device.processes.generation
        if not self._is_shared:
            self._shared = {} if self.work.shared is None else dict(self.work.shared(self._load))
            if self._shared:
                self.call(process_parts.share, self._sent(self._shared))
            self._is_shared = True

    def _launch(self, start: int, stop: int, values: Values) -> Piece:
        self._begin_there()
        n, key = stop - start, next(self._keys)
        written = {name: array[start:stop].reshape(-1) for name, array in self._outputs.items()}
        n_work_items = self._n_work_items(n, {"n": n, "first": start, **self._shared, **values, **written})
        sizes = self._sizes(start, stop)
        self.call(process_parts.launch, key, (start, stop), self._sent(values), sizes, n_work_items)
        return Piece(start, stop, key, {}, {})

    def _read(self, piece: Piece) -> None:
        key = piece.event
        for name, array in self._outputs.items():
            self.device.chunks.read((self, (key, name)), 0, array[piece.start : piece.stop].reshape(-1))
        self.call(process_parts.end_piece, key)

    def _finish(self) -> None:
        """Do nothing, because the kernels of the process do not use the arrays of this process."""

    def _sent(self, values: Values) -> dict[str, Any]:
        """Send the large arrays of *values* to the process, and return the arguments of its kernel."""
        return {name: self._argument(name, v) if isinstance(v, np.ndarray) else v for name, v in values.items()}

    def _argument(self, name: str, host: NDArray[Any]) -> NDArray[Any] | SentArray:
        if host.ndim != 1 or not host.flags.c_contiguous:
            raise InputError(f"{name} of a part has shape {host.shape}; allowed: contiguous arrays of one dimension")
        if host.nbytes < _LEAST_BYTES or shared_memory.place_of(host) is not None:
            return host
        sent = SentArray(next(self._keys), host.size, number_type(host.dtype))
        self.device.chunks.upload(self, sent, host)
        return sent
