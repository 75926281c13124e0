"""Sessions whose kernels run on the executor: the memory is PoCL's, the facts and the machine code are an AMD GPU's.

A launch maps its buffers as numpy arrays, runs, and unmaps them. Copies and fills go through PoCL, so everything above
programs is the package's own code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyopencl as cl

from amd.compiled import code_object, target_of
from amd.machine import Area, LoadedProgram, Schedule
from clgraph.device.facts import DeviceFacts
from clgraph.device.profile_files import load_profile
from clgraph.errors import KernelBuildError
from clgraph.runtime.discovery.query import platforms
from clgraph.runtime.discovery.selection import select_device
from clgraph.runtime.driver.commands import Commands
from clgraph.runtime.kept import Kept
from clgraph.runtime.memory.memory import Memory
from clgraph.runtime.programs.built import Programs
from clgraph.runtime.programs.declarations import read_declarations
from clgraph.runtime.programs.program import Program
from clgraph.runtime.programs.source import build_input
from clgraph.runtime.session import Session

COMPUTE_UNITS = 4  # The executed GPU has few units, so that a launch which fills it has few groups.


@cache
def _loaded(source: str, defines: tuple[tuple[str, Any], ...], target: str) -> LoadedProgram:
    return LoadedProgram(code_object(source, dict(defines), target), target)


class Handle:
    """The arguments of a kernel, in the place of ``pyopencl.Kernel``."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def set_arg(self, index: int, value: Any) -> None:
        self.values[index] = value

    _set_arg_buf = set_arg


class ExecutedProgram(Program):
    """A program of machine code that the executor runs."""

    def __init__(self, commands: Commands, source: str, defines: Mapping[str, int | str], session: AmdSession) -> None:
        values = {**commands.facts.defines(), **defines}
        self._commands, self._session = commands, session
        self._declarations = read_declarations(build_input(source, values))
        self._compiles_at_launch, self._was_kept, self._launched = False, True, set()
        self.idle: dict[str, list[Any]] = defaultdict(list)
        self.source, self.work_group_size = source, int(values["WG_SIZE"])
        try:
            self._loaded = _loaded(source, tuple(sorted(values.items())), session.target)
        except RuntimeError as error:
            raise KernelBuildError(f"{source} for {session.target}:\n{error}") from error

    def _handle(self, kernel: str) -> Any:
        return self.idle[kernel].pop() if self.idle[kernel] else Handle()

    def enqueue(self, name: str, handle: Any, groups: int) -> cl.Event:
        """Run the kernel now, after all earlier commands, and return the event of the last command."""
        self._commands.finish()
        queue, arguments, areas, maps = self._commands.queue, [], [], []
        n_local = -(-self._loaded.kernels[name].n_local_bytes // 16) * 16
        n_dynamic = n_local - self._loaded.kernels[name].n_local_bytes
        for index in range(len(handle.values)):
            value = handle.values[index]
            if isinstance(value, cl.LocalMemory):
                arguments.append((n_local).to_bytes(4, "little"))
                n_local, n_dynamic = n_local + value.size, n_dynamic + value.size
            elif isinstance(value, cl.MemoryObjectHolder):
                n_bytes = value.size
                view, _ = cl.enqueue_map_buffer(
                    queue, value, cl.map_flags.READ | cl.map_flags.WRITE, 0, (n_bytes,), np.uint8, is_blocking=False
                )
                maps.append(view)
                address = int(view.__array_interface__["data"][0])
                areas.append(Area(address, n_bytes))
                arguments.append(address.to_bytes(8, "little"))
            else:
                arguments.append(np.asarray(value).tobytes())
        queue.finish()  # waits for all maps at once
        try:
            kernel = f"{self.source}:{name}"
            self._session.steps[kernel] += self._loaded.run(
                name, arguments, areas, groups, self.work_group_size, self._session.schedule, n_dynamic
            )
            self._session.launches[kernel] += 1
        finally:
            for view in maps:
                view.base.release(queue)
        return cl.enqueue_marker(queue)


class ExecutedPrograms(Programs):
    """The programs of an :class:`AmdSession`."""

    def __init__(self, commands: Commands, session: AmdSession) -> None:
        super().__init__(commands)
        self._session = session

    def make(self, source: str, defines: Mapping[str, int | str]) -> Program:
        return ExecutedProgram(self._commands, source, defines, self._session)


class ExactPool:
    """Allocates buffers of just the size that is asked for, so that an access behind the end is found."""

    active_bytes = 0

    def __init__(self, context: cl.Context) -> None:
        self._context = context

    def allocate(self, n_bytes: int) -> cl.Buffer:
        return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, n_bytes)

    def free_held(self) -> None:
        """Do nothing: no memory is held."""


class AmdSession(Session):
    """A session on an AMD GPU that the executor stands in for.

    Attributes
    ----------
    target : str
        ``"gfx90a"`` or ``"gfx1100"``.
    schedule : Schedule
        The seed and the bounds of launches.
    steps, launches : dict of str to int
        Instructions of waves, and launches, by kernel: ``file:name``.
    """

    def __init__(self, target: str, schedule: Schedule | None = None) -> None:
        platforms()
        self.target, self.schedule = target, schedule or Schedule(resident=1 << 16)
        self.steps: dict[str, int] = defaultdict(int)
        self.launches: dict[str, int] = defaultdict(int)
        self.device, _ = select_device("pocl")
        self.context, self.why = cl.Context([self.device]), "executed"
        queue = cl.CommandQueue(self.context, self.device, properties=cl.command_queue_properties.PROFILING_ENABLE)
        self.commands = Commands(self.context, self.device, queue, facts_of(target))
        self.profile = load_profile(self.facts)
        self.kept = Kept(self.facts.global_mem_bytes)
        self.device_graphs: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.memory = Memory(self.commands, spare=self.kept.forget)
        self.memory._pool = ExactPool(self.context)  # type: ignore[assignment]
        self.programs = ExecutedPrograms(self.commands, self)
        self.transfers = self.memory.transfers


def facts_of(target: str) -> DeviceFacts:
    """Return the facts of GPU *target*, with few compute units."""
    return replace(target_of(target).facts, compute_units=COMPUTE_UNITS, platform="AMD, executed")
