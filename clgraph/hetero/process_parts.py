"""Parts of a load in the process that drives a GPU: the functions that the caller's process calls there."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.device.facts import DeviceFacts
from clgraph.hetero.policies import Member as PolicyMember
from clgraph.hetero.runner import Piece, Runner, Sizes, member
from clgraph.hetero.work import Kernel, Values, Work
from clgraph.multi_device.member import Member
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.arrays import DeviceArray
from clgraph.runtime.memory.staging import hold


@dataclass(frozen=True)
class SentArray:
    """An array that has been sent to the process in chunks, in the place of a kernel's argument."""

    key: int
    size: int
    dtype: np.dtype[Any]


class _Transfers:
    """Copies between chunks of shared memory and a GPU, numbered from 0 on.

    All are in one queue, so they end in the order of their numbers.
    """

    def __init__(self) -> None:
        self._running = deque[cl.Event]()
        self._n_done = 0

    def add(self, event: cl.Event) -> tuple[int, int]:
        """Return the number of the copy that ends with *event*, and the number of copies that have ended."""
        self._running.append(event)
        return self._n_done + len(self._running) - 1, self.n_done()

    def n_done(self) -> int:
        while self._running and self._running[0].command_execution_status <= cl.command_execution_status.COMPLETE:
            self._ended()
        return self._n_done

    def wait(self, number: int) -> int:
        """Wait until the copy *number* has ended, and return the number of copies that have ended."""
        while self._running and self._n_done <= number:
            self._running[0].wait()
            self._ended()
        return self.n_done()

    def _ended(self) -> None:
        self._running.popleft()
        self._n_done += 1


class _PartRunner(Runner):
    """A runner whose load is in another process, which sends the arrays of each part."""

    def __init__(self, here: Member, kernel: Kernel) -> None:
        work = Work(kernel, count=len, cut=lambda *_: {}, outputs={})
        super().__init__(here.session, work)
        self._here = here
        self._shared: dict[str, Any] = {}
        self.arrays: dict[int, DeviceArray] = {}
        self.pieces: dict[int, Piece] = {}

    def share(self, values: Values) -> None:
        """Keep the *values* that all parts of the load share."""
        self._shared = self._on_device(values)

    def array(self, sent: SentArray) -> DeviceArray:
        """Return the array on the device to which chunks of *sent* are copied."""
        if sent.key not in self.arrays:
            session, n_bytes = self.session, sent.size * sent.dtype.itemsize
            session.check_memory({f"an array of {sent.size} {sent.dtype}": n_bytes})
            room = self._here.room(session, None, n_bytes)
            self.arrays[sent.key] = DeviceArray(session.memory, room, sent.dtype, sent.size)
        return self.arrays[sent.key]

    def _on_device(self, values: Values) -> dict[str, Any]:
        sent = {name: self._taken(value) for name, value in values.items() if isinstance(value, SentArray)}
        return {**super()._on_device({name: value for name, value in values.items() if name not in sent}), **sent}

    def _taken(self, sent: SentArray) -> DeviceArray:
        array = self.array(sent)
        del self.arrays[sent.key]  # From now on, only a piece or the load keeps the array alive.
        return array

    def _upload(self, name: str, host: NDArray[Any]) -> DeviceArray:
        if shared_memory.place_of(host) is None:
            return super()._upload(name, host)
        room = self._here.room(self.session, None, host.nbytes)
        array = DeviceArray(self.session.memory, room, host.dtype, host.size)
        self._here.write(array, 0, host)
        return array


def described(here: Member) -> tuple[DeviceFacts, PolicyMember]:
    """Return the facts of the device and its properties for policies."""
    return here.session.facts, member(here.session)


def parameters(here: Member, kernel: Kernel) -> tuple[str, ...]:
    """Build *kernel* on this process's GPU, and return the names of its parameters."""
    return tuple(_PartRunner(here, kernel).names)


def begin(here: Member, token: int, kernel: Kernel) -> None:
    """Keep a runner of *kernel* under *token*."""
    here.kept[token] = _PartRunner(here, kernel)


def share(here: Member, token: int, values: Values) -> None:
    """Begin a load whose parts share *values*."""
    here.kept[token].share(values)


def write(
    here: Member, token: int, transfers: int, sent: SentArray, first_byte: int, chunk: NDArray[np.uint8]
) -> tuple[int, int]:
    """Begin to copy *chunk* to the array *sent* from *first_byte* on.

    Return the number of this copy, and the number of copies that have ended.
    """
    array, queue = here.kept[token].array(sent), here.session.transfers.queue
    here.is_pinned(chunk)  # Pins all chunks, which are one block.
    with typed_errors("copying to the device"):
        event = cl.enqueue_copy(queue, array.buffer, chunk, dst_offset=first_byte, is_blocking=False)
        queue.flush()
    return _transfers(here, transfers).add(event)


def launch(
    here: Member, token: int, key: int, part: tuple[int, int], values: Values, sizes: Sizes, n_work_items: int
) -> None:
    """Launch the kernel for the items of *part* on the arrays that were sent, and keep the piece under *key*."""
    runner = here.kept[token]
    session = here.session
    hold(session.commands, session.queue, session.transfers.queue)
    runner.pieces[key] = runner.launch(*part, values, sizes, n_work_items)


def read(
    here: Member, token: int, transfers: int, output: tuple[int, str], first_byte: int, chunk: NDArray[np.uint8]
) -> tuple[int, int]:
    """Begin to copy bytes of an *output* of a piece to *chunk*. Return as :func:`write` does."""
    key, name = output
    piece, queue = here.kept[token].pieces[key], here.session.transfers.queue
    here.is_pinned(chunk)  # Pins all chunks, which are one block.
    with typed_errors("copying from the device"):
        event = cl.enqueue_copy(
            queue, chunk, piece.outputs[name].buffer, src_offset=first_byte, is_blocking=False, wait_for=[piece.event]
        )
        queue.flush()
    return _transfers(here, transfers).add(event)


def end_piece(here: Member, token: int, key: int) -> None:
    """Drop a piece and its arrays."""
    del here.kept[token].pieces[key]


def _transfers(here: Member, key: int) -> _Transfers:
    found: _Transfers = here.kept.setdefault(key, _Transfers())
    return found


def wait(here: Member, transfers: int, number: int) -> int:
    """Wait for a copy, and return the number of copies that have ended."""
    with typed_errors("copying between the host and the device"):
        return _transfers(here, transfers).wait(number)


def n_done(here: Member, transfers: int) -> int:
    """Return the number of copies that have ended."""
    return _transfers(here, transfers).n_done()
