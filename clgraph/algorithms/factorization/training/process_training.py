"""Training on several GPUs, with a process for each GPU.

Blocks of items move from process to process through shared memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph import shared_memory
from clgraph.algorithms.factorization.problem import FactorizationProblem
from clgraph.algorithms.factorization.training.device_blocks import DeviceBlocks, in_layout
from clgraph.algorithms.factorization.training.several_devices import SeveralDevices
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import DeviceError
from clgraph.multi_device.exchange import Exchange
from clgraph.multi_device.interrupts import delayed_interrupt
from clgraph.multi_device.member import Member, drop
from clgraph.multi_device.processes import processes_of

# The factors, and biases, of the items of a block in shared memory, by the names of DeviceBlocks.arrays().
_Room = dict[str, NDArray[Any]]
_Sizes = dict[str, tuple[int, np.dtype[Any]]]  # The size and type of each array of a room.
_NOTHING = 64  # Bytes of a pickle of None, at most.


class ProcessFactorization(SeveralDevices):
    """Training of a factorisation model on several GPUs, with a process for each GPU.

    If a process ends, the factors are lost, and the training raises a :class:`DeviceError`. After Ctrl-C the processes
    complete their sweep, so that the factors of the last epoch can be restored.

    Parameters
    ----------
    names : sequence of str
        As :func:`clgraph.multi_device.processes.names_of` returns them.
    ratings, **options
        As in :class:`SeveralDevices`.
    """

    _empty = staticmethod(shared_memory.empty)

    def __init__(self, names: Sequence[str], ratings: Ratings, **options: Any) -> None:
        self._devices, self.sent_bytes = names, 0
        super().__init__(len(names), ratings, **options)

    def _make(
        self, problems: Sequence[Sequence[FactorizationProblem]], strategy: str, options: Mapping[str, Any] | None,
        deterministic: bool,
    ) -> None:  # fmt: skip
        n, self._processes = self._n, processes_of(self._devices[: self._n])
        self._keys = [self._processes.new_key(self)] * n
        self._problems = problems  # A CPU reads the ratings and weights from shared memory during the training.
        many = [[each] * n for each in (strategy, options, deterministic)]
        sizes = self._processes.each(_make, self._keys, range(n), problems, *many)
        self._generation = self._processes.generation

        # A device has two rooms: one may still be read by the device before it, while the device writes to the other.
        self._rooms = [[_rooms(of_device) for of_device in sizes] for _ in range(2)]
        self._call_all(_keep_rooms, [self._rooms] * n)

    def call(self, method: str, *arguments: Sequence[Any]) -> list[Any]:
        given = [*zip(*arguments, strict=True)] if arguments else [()] * self._n
        return self._call_all(_call, [method] * self._n, given)

    def restore(self) -> int:
        try:
            return super().restore()
        except DeviceError:  # A process has ended, so there are no factors. The caller raises the first error.
            return 0

    def close(self) -> None:
        with contextlib.suppress(DeviceError):  # A process may have ended.
            self._processes.each(drop, [self._keys[:1]] * self._n, needs=self._generation)

    def _names(self) -> list[str]:
        return self._processes.names()

    def _sweep(self, rate: float, regularization: float) -> None:
        n = self._n
        self._call_all(_sweep, [(rate, regularization)] * n, exchange_bytes=_NOTHING)
        if n > 1:
            self.sent_bytes += sum(_n_bytes(self._rooms[0][d][q]) for d in range(n) for q in range(n))

    def _squares(self, with_loss: bool, with_evaluation: bool) -> list[tuple[float, float]]:
        n = self._n
        found = self._call_all(_squares, [(with_loss, with_evaluation)] * n, exchange_bytes=_NOTHING)
        self.sent_bytes += (n - 1) * sum(_n_bytes(self._rooms[0][d][d]) for d in range(n))
        return [each for of_device in found for each in of_device]

    def _call_all(
        self, function: Callable[..., Any], *arguments: Sequence[Any], exchange_bytes: int | None = None
    ) -> list[Any]:
        with delayed_interrupt():
            return self._processes.each(
                function, self._keys, *arguments, needs=self._generation, exchange_bytes=exchange_bytes
            )


def _n_bytes(room: _Room) -> int:
    return sum(array.nbytes for array in room.values())


def _rooms(blocks: Sequence[_Sizes]) -> list[_Room]:
    """Return a room for the items of each block of a device, all in the same memory."""
    memory = {
        name: shared_memory.empty(max(block[name][0] for block in blocks), dtype)
        for name, (_, dtype) in blocks[0].items()
    }
    return [{name: memory[name][:size] for name, (size, _) in block.items()} for block in blocks]


class _ProcessBlocks(DeviceBlocks):
    """The blocks of one process's GPU, and the rooms of all devices.

    Attributes
    ----------
    rooms : list
        ``rooms[s % 2][d][q]``: where process d writes the items of its block q in stratum s. For the loss, it writes
        its own items to ``rooms[0][d][d]``.
    """

    rooms: Sequence[Sequence[Sequence[_Room]]]


def _make(
    member: Member, key: int, place: int, problems: Sequence[FactorizationProblem], strategy: str,
    options: Mapping[str, Any] | None, deterministic: bool,
) -> list[_Sizes]:  # fmt: skip
    """Keep the blocks of this process's GPU under *key*.

    Return the size and type of the arrays of each block's items.
    """
    blocks = member.kept[key] = _ProcessBlocks(member.session, place, problems, strategy, options, deterministic)
    return [
        {name: (array.size, array.dtype) for name, array in blocks.arrays(q, "item").items()}
        for q in range(len(problems))
    ]


def _call(member: Member, key: int, method: str, arguments: tuple[Any, ...]) -> Any:
    return getattr(member.kept[key], method)(*arguments)


def _keep_rooms(member: Member, key: int, rooms: Sequence[Sequence[Sequence[_Room]]]) -> None:
    member.kept[key].rooms = rooms


def _sweep(member: Member, exchange: Exchange, key: int, rates: tuple[float, float]) -> None:
    """Train the blocks of this process's GPU, one in each stratum. *rates*: the learning rate and the regularization.

    After a stratum, process d reads the items that process d + 1 has written.
    """
    blocks: _ProcessBlocks = member.kept[key]
    place, n = exchange.place, exchange.size
    for s in range(n):
        rooms, q, after = blocks.rooms[s % 2], (place + s) % n, (place + s + 1) % n
        blocks.begin_sweep(q, *rates)
        _give(member, blocks, q, rooms[place][q])
        blocks.check(q)
        exchange.all()
        if q != after:
            # Before the next stratum's exchange, _give() waits for this copy.
            _take(member, blocks, q, after, rooms[(place + 1) % n][after])
    member.session.finish()  # In the next call, other processes may change what this process reads.


def _squares(member: Member, exchange: Exchange, key: int, wanted: tuple[bool, bool]) -> list[tuple[float, float]]:
    """Return the sums of squared errors on each block of this process's GPU.

    *wanted*: whether to sum on the training ratings, and on the evaluation ratings.
    """
    blocks: _ProcessBlocks = member.kept[key]
    place, rooms, found = exchange.place, blocks.rooms[0], []
    _give(member, blocks, place, rooms[place][place])
    exchange.all()
    for q in range(exchange.size):
        if q != place:
            _take(member, blocks, place, q, rooms[q][q])
        found.append(blocks.squares(q, *wanted))
    member.session.finish()  # As after a sweep.
    return found


def _give(member: Member, blocks: DeviceBlocks, q: int, room: _Room) -> None:
    """Copy the items of the cell of block *q* to *room*, after all earlier work of this process's GPU, and wait."""
    for name, array in blocks.arrays(q, "item").items():
        member.begin_read(array, 0, room[name])
    member.finish_reads()


def _take(member: Member, blocks: DeviceBlocks, before: int, q: int, room: _Room) -> None:
    """Copy the items in *room*, and the users of the cell of block *before*, to the cell of block *q*."""
    model = blocks.cells[q].model
    for name, array in blocks.arrays(q, "item").items():
        host = room[name]
        if host.size != array.size:
            host = in_layout(host, model.n_items, model, host.size // model.n_items)
        member.set_rows(array, host)
    blocks.move_users(before, q)
