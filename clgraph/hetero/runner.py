"""The Runner class. It runs parts of a load on one device, and copies inputs to the device and results back."""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_count
from clgraph.errors import KernelSourceError
from clgraph.hetero.checks import POSITION_NAMES, Values, check_kinds, checked_values, users_errors
from clgraph.hetero.policies import Member
from clgraph.hetero.work import Work
from clgraph.lent_memory import LentArray
from clgraph.runtime.devices import speed_of
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.memory.arrays import DeviceArray, enqueue_copies, number_type
from clgraph.runtime.memory.copiers import HostArray
from clgraph.runtime.memory.staging import LEAST_BYTES, hold
from clgraph.runtime.session import Session

# Least size of a piece of a part, in bytes. Smaller pieces do not use the whole bandwidth of the bus.
PIECE_BYTES = 32 << 20
# A part is cut into at most 4 pieces, unless a piece would be too large. At most 4 pieces are in flight.
_MOST_PIECES = 4
# Pieces have equal numbers of items, unless one of them would have over 1.25 times the bytes of the average piece.
_MOST_UNEVEN = 1.25
_LARGEST_SHARE = 8  # A piece takes at most 1/8 of the largest buffer that the device allows.
_ALIGNMENT = 16  # A CPU reads an array in place only if the array's address is a multiple of 16 bytes.
_LANES_OF_A_GPU_UNIT = 128
_MAX_WORK_ITEMS = 1 << 62


def member(session: Session) -> Member:
    """Return the properties of the session's device that scheduling policies use."""
    facts = session.facts
    lanes = facts.compute_units * (1 if facts.is_cpu else _LANES_OF_A_GPU_UNIT)
    return Member(speed_of(session), lanes, facts.is_cpu)


@dataclass
class _Piece:
    """A piece of a load's part that is being computed.

    It keeps the arrays of its kernel alive.
    """

    start: int
    stop: int
    event: cl.Event
    outputs: dict[str, DeviceArray]
    values: dict[str, Any]


class Runner:
    """A runner, which computes parts of loads on the device of one session.

    On a GPU, a large part is cut into pieces: while one piece is computed, the next one is copied. A CPU reads the
    arrays in place. The thread waits for kernels without holding the driver, so other threads can use the driver.

    Attributes
    ----------
    first : int
        The position in the whole load of the first item that this runner knows.
    """

    first = 0

    def __init__(self, session: Session, work: Work, *, is_warm: bool = False) -> None:
        self.session, self.work, self.is_warm = session, work, is_warm
        self.key: Any = session.device.int_ptr  # identifies the device
        self.name = f"{session.facts.name} ({session.facts.compute_units} units)"
        self.member = member(session)
        self._kernel = work.kernel(session.facts.is_cpu)
        with session.driver:
            self._program = session.program(
                self._kernel.file, self._kernel.defines, work_group_size=self._kernel.work_group_size
            )
            self._parameters = self._program.declared(self._kernel.name)
        self._names = tuple(parameter.name for parameter in self._parameters)

    def begin(self, load: Any, outputs: Mapping[str, Any]) -> None:
        """Copy to the device the data that all parts of *load* share.

        Results will be written into *outputs*.
        """
        self.check_outputs(outputs)
        self._load, self._outputs = load, outputs
        shared = self._shared_values()
        with self.session.driver:
            self._shared: Any = self._on_device(shared)

    def check_outputs(self, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Raise a KernelSourceError unless the kernel has a parameter for each of the *outputs*."""
        if missing := outputs.keys() - {*self._names}:
            raise KernelSourceError(
                f"{self._kernel.file}: kernel {self._kernel.name} has no parameter {', '.join(sorted(missing))} "
                f"for what the work says it writes; it takes {', '.join(self._names)}"
            )

    def warm_up(self, n_items: int) -> None:
        """Compute the first items of a load before one is timed, because some drivers compile at the first launch."""
        if not self.is_warm:
            self.compute_and_drop(n_items)
            self.is_warm = True

    def compute_and_drop(self, n_items: int, times: int = 1) -> None:
        """Compute the first items of a load some *times*.

        The results are dropped, since another device may be writing these items.
        """
        outputs = self._outputs
        self._outputs = {name: np.empty_like(array[:n_items]) for name, array in outputs.items()}
        for _ in range(times):
            self.run(0, n_items)
        self._outputs = outputs

    def prepare(self, start: int, stop: int) -> None:
        """Do what must happen once before the items *start* … *stop* − 1 are computed and timed."""

    def run(self, start: int, stop: int) -> None:
        """Compute the items *start* … *stop* − 1 of the load, and write the results into the output arrays."""
        self.compute(self._pieces(start, stop))

    def compute(self, pieces: Iterable[tuple[Any, ...]]) -> None:
        """Compute *pieces* of the load.

        A piece is its first item, the item after its last, the values of the kernel's parameters, and perhaps the
        number of work-items.
        """
        in_flight = deque[_Piece]()
        try:
            for piece in pieces:
                if len(in_flight) == _MOST_PIECES:
                    self._read(in_flight.popleft())
                in_flight.append(self._launch(*piece))
            while in_flight:
                self._read(in_flight.popleft())
        except BaseException:
            # The kernels must end first, because they still use the arrays, and another device will compute the items.
            with contextlib.suppress(Exception):
                self.session.finish()
            raise

    def end(self) -> None:
        """Drop the runner's references to the load and the load's arrays."""
        self._shared, self._load, self._outputs = {}, None, {}

    def interrupt(self) -> None:
        """End the part that another thread computes, if this is possible."""

    def close(self) -> None:
        """Drop what the runner has on its device, after the last load."""

    # ---- the user's functions

    def _shared_values(self) -> dict[str, Any]:
        """Return the values that all parts of the load share."""
        self._taken = POSITION_NAMES | self._outputs.keys()  # Names that a part of the load may not have.
        if self.work.shared is None:
            return {}
        shared = checked_values("shared(load)", self.work.shared, [self._load], self._taken)
        self._taken |= shared.keys()
        return shared

    def _part(self, start: int, stop: int) -> dict[str, Any]:
        """Return the values of the items *start* … *stop* − 1."""
        return checked_values(f"cut(load, {start}, {stop})", self.work.cut, [self._load, start, stop], self._taken)

    def _n_work_items(self, n: int, scope: Mapping[str, Any]) -> int:
        if self._kernel.work_items is None:
            return n
        with users_errors():
            count = self._kernel.work_items(n, scope)
        return checked_count("work_items(n, values)", count, _MAX_WORK_ITEMS)

    # ---- pieces

    def _pieces(self, start: int, stop: int) -> Iterator[tuple[int, int, Values]]:
        values, n_bytes = self._cut(start, stop)
        facts = self.session.facts
        count = max(min(_MOST_PIECES, n_bytes // PIECE_BYTES), -(-n_bytes * _LARGEST_SHARE // facts.max_alloc_bytes))
        if facts.is_cpu or count == 1:
            yield start, stop, values
            return
        del values  # If a cut copies, the whole part and its pieces would exist at the same time.
        yield from self._divided(start, stop, n_bytes, count)

    def _cut(self, start: int, stop: int) -> tuple[Values, int]:
        """Return the values of these items, and the bytes of their arrays and results."""
        values = self._part(start, stop)
        n_bytes = sum(array.nbytes for array in values.values() if isinstance(array, np.ndarray))
        return values, n_bytes + sum(array[start:stop].nbytes for array in self._outputs.values())

    def _divided(self, start: int, stop: int, n_bytes: int, count: int) -> Iterator[tuple[int, int, Values]]:
        """Cut the items into *count* pieces of about *n_bytes* / *count* bytes each."""
        grain = self.work.grain
        step = -(-(stop - start) // count // grain) * grain
        bounds = [*pairwise([*range(start, stop, step), stop])]
        cuts, sizes = map(list, zip(*(self._cut(first, last) for first, last in bounds), strict=True))
        if len(sizes) == 1 or max(sizes) <= _MOST_UNEVEN * sum(sizes) / len(sizes):
            for first, last in bounds:
                yield first, last, cuts.pop(0)
            return
        del cuts
        each = (sum(sizes) - n_bytes) / (len(sizes) - 1)  # bytes of arrays that each piece has whole
        starts = range(start, stop, grain)
        wanted = [each + (n_bytes - each) * k / count for k in range(1, count)]
        places = [bisect_left(starts, least, lo=1, key=lambda item: self._cut(start, item)[1]) for least in wanted]
        for first, last in pairwise(sorted({start, *(starts[k] for k in places if k < len(starts)), stop})):
            yield first, last, self._part(first, last)

    def _launch(self, start: int, stop: int, values: Values, n_work_items: int | None = None) -> _Piece:
        session, n = self.session, stop - start
        with session.driver, typed_errors(f"computing items {start}:{stop}"):
            targets = self._targets(start, stop)
            outputs = {name: session.empty(target.size, target.dtype) for name, target in targets.items()}
            scope = {"n": n, "first": self.first + start, **self._shared, **self._on_device(values), **outputs}
            if missing := {*self._names} - scope.keys():
                raise KernelSourceError(
                    f"{self._kernel.file}: {', '.join(sorted(missing))} of kernel {self._kernel.name} is in no part "
                    f"of the load; there are {', '.join(scope)}"
                )
            check_kinds(self._kernel.name, self._parameters, scope)
            count = self._n_work_items(n, scope) if n_work_items is None else n_work_items
            event = self._program.bind(self._kernel.name, count, scope)()
            session.queue.flush()
        return _Piece(start, stop, event, outputs, scope)

    def _on_device(self, values: Values) -> dict[str, Any]:
        return {
            name: self._upload(name, value) if isinstance(value, np.ndarray | LentArray) else value
            for name, value in values.items()
        }

    def _targets(self, start: int, stop: int) -> Mapping[str, HostArray]:
        """Return the parts of the output arrays for these items."""
        return {name: array[start:stop].reshape(-1) for name, array in self._outputs.items()}

    def _upload(self, name: str, host: HostArray) -> DeviceArray:
        """Begin to copy *host* to the device.

        *host* must not change until the part is done.

        Later kernels wait for the copy.
        """
        session = self.session
        is_small = session.facts.is_cpu or host.nbytes < LEAST_BYTES
        own = host if isinstance(host, np.ndarray) else host.copy() if is_small else None
        if own is not None and session.facts.is_cpu and own.ctypes.data % _ALIGNMENT == 0:
            return session.upload(own, in_place=True)
        if own is not None and is_small:
            return session.transfers.upload(own).before_kernels()
        n_bytes, dtype = host.nbytes, number_type(host.dtype)
        session.check_memory({f"{name} of {host.size} {dtype}": n_bytes})
        # The buffer is not from the pool, because kernels that still run may use the pool's memory.
        # The queue for transfers does not wait for kernels that still run.
        buffer = cl.Buffer(session.context, cl.mem_flags.READ_WRITE, n_bytes)
        session.memory.staging_aside.upload(buffer, 0, host)
        hold(session.commands, session.queue, session.transfers.queue)
        return DeviceArray(session.memory, buffer, dtype, host.size)

    def _read(self, piece: _Piece) -> None:
        """Wait for a *piece* of a load, and copy its results to their place in the output arrays."""
        session = self.session
        session.commands.wait_aside(piece.event)
        with session.driver, typed_errors(f"reading items {piece.start}:{piece.stop}"):
            for name, target in self._targets(piece.start, piece.stop).items():
                self._read_array(piece.outputs[name], target)

    def _read_array(self, array: DeviceArray, target: HostArray) -> None:
        """Copy *array*, which no kernel will change, to the host array *target*."""
        session, queue = self.session, self.session.transfers.queue
        if not session.facts.is_cpu and target.nbytes >= LEAST_BYTES:
            session.memory.staging_aside.read(array.buffer, 0, target)
            return
        own = np.empty(target.size, target.dtype) if isinstance(target, LentArray) else target
        events = enqueue_copies(session.memory, queue, array.buffer, 0, own, to_host=True)
        queue.flush()
        for event in events:
            event.wait()
        if isinstance(target, LentArray):
            target.write(own)
