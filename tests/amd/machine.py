"""Runs kernels of a code object: sets up a launch as the runtime of HSA does, and reports where a run stopped."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from amd.code_object import CodeObject, CodeObjectError, Kernel
from amd.library import library_of
from amd.program import load

LINES = {
    "gfx90a": (64, 256),
    "gfx1100": (128, 256),
}  # bytes of a line of the first-level cache, and lines: 16 and 32 KiB
CODE_BASE = 1 << 40  # The address that instructions see as the start of the code; nothing reads memory there.
STATUS = ("finished", "too many steps", "an address outside of all arrays", "an address outside of local memory",
          "a jump out of the code", "a deadlock")  # fmt: skip
_PARTS_64 = ["ins", "places", "base", "arguments", "packet", "ranges", "report", "seed", "max_steps"]
_PARTS_32 = (
    "n_ins", "n_code", "n_ranges", "n_groups", "group_size", "n_local", "n_private", "n_vectors", "entry", "resident",
    "max_turn", "registers", "properties", "line_bytes", "n_lines", "caches",
)  # fmt: skip


class _Launch(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_uint64) for name in _PARTS_64), *((name, ctypes.c_uint32) for name in _PARTS_32)]


class _Report(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("steps", "turns", "address")),
        *((name, ctypes.c_uint32) for name in ("status", "pc", "group", "wave")),
        ("pcs", ctypes.c_uint32 * 64),
    ]


class ExecutionError(RuntimeError):
    """A kernel did not end, or used an address that it must not use. The message has program counters."""


@dataclass
class Schedule:
    """The choices of a run.

    Attributes
    ----------
    seed : int
        Waves are interleaved by it. A launch takes the seed and adds one for the next launch.
    resident : int
        The number of groups that run at the same time.
    max_turn : int
        The most instructions that a wave runs before another one may.
    max_steps : int
        The number of instructions of all waves after which a launch counts as a livelock.
    caches : bool
        Whether each group has a first-level cache that is not coherent.
    """

    seed: int = 1
    resident: int = 8
    max_turn: int = 40
    max_steps: int = 400_000_000
    caches: bool = False


class Area(NamedTuple):
    """Memory of the host that a launch may use: an address and its size in bytes."""

    address: int
    n_bytes: int


class LoadedProgram:
    """A program of one target, ready to run.

    Attributes
    ----------
    kernels : dict of str to Kernel
    """

    def __init__(self, code_object: CodeObject, target: str) -> None:
        self.target, self.kernels = target, code_object.kernels
        self._loaded = load(code_object, target)
        library = library_of(target)
        addresses = np.array(library.handlers(self._loaded.patterns), np.uint64)
        self._loaded.records["run"] = addresses[self._loaded.records["pattern"]]
        self._run = library.run

    def run(
        self, name: str, arguments: Sequence[bytes], areas: Sequence[Area], n_groups: int, group_size: int,
        schedule: Schedule, n_dynamic_bytes: int = 0,
    ) -> int:  # fmt: skip
        """Run kernel *name* and return the number of instructions that its waves took.

        Parameters
        ----------
        arguments : sequence of bytes
            Each argument as the kernel reads it; a buffer is an address of eight bytes.
        areas : sequence of Area
            All memory that the kernel may use.
        n_dynamic_bytes : int
            Bytes of local memory that the arguments ask for, besides the local memory of the kernel.
        """
        kernel, loaded, report = self.kernels[name], self._loaded, _Report()
        block = np.frombuffer(_argument_block(kernel, arguments, n_groups * group_size), np.uint8).copy()
        packet = np.frombuffer(_packet(n_groups, group_size), np.uint8).copy()
        known = [*areas, Area(block.ctypes.data, block.nbytes), Area(packet.ctypes.data, packet.nbytes)]
        ranges = np.array([(area.address, area.address + area.n_bytes) for area in known], np.uint64)
        line_bytes, n_lines = LINES[self.target]
        values: dict[str, Any] = {
            "ins": loaded.records.ctypes.data, "places": loaded.places.ctypes.data, "base": CODE_BASE,
            "arguments": block.ctypes.data, "packet": packet.ctypes.data, "ranges": ranges.ctypes.data,
            "report": ctypes.addressof(report), "seed": schedule.seed, "max_steps": schedule.max_steps,
            "n_ins": len(loaded.records), "n_code": len(loaded.places), "n_ranges": len(ranges), "n_groups": n_groups,
            "group_size": group_size, "n_local": kernel.n_local_bytes + n_dynamic_bytes,
            "n_private": _private_bytes(kernel), "n_vectors": kernel.n_vectors,
            "entry": int(loaded.places[kernel.entry // 4]), "resident": schedule.resident,
            "max_turn": schedule.max_turn, "registers": kernel.registers, "properties": kernel.properties,
            "line_bytes": line_bytes, "n_lines": n_lines, "caches": int(schedule.caches),
        }  # fmt: skip
        launch = _Launch(*(values[part] for part in (*_PARTS_64, *_PARTS_32)))
        schedule.seed += 1
        if self._run(ctypes.byref(launch)):
            raise ExecutionError(self._told(name, report, schedule.seed - 1))
        return int(report.steps)

    def _told(self, name: str, report: _Report, seed: int) -> str:
        entry = self.kernels[name].entry
        places = sorted({pc - entry for pc in report.pcs if pc not in (0, 0xFFFFFFFF)})
        return (
            f"{name} on {self.target} with seed {seed}: {STATUS[report.status]} after {report.steps:,} instructions, "
            f"at byte {report.pc - entry:#x} of group {report.group}, wave {report.wave}, address {report.address:#x}; "
            f"waves at bytes {', '.join(map(hex, places))}"
        )


def _private_bytes(kernel: Kernel) -> int:
    return kernel.n_private_bytes + (16384 if kernel.n_private_bytes else 0)  # functions that it calls have frames, too


def _argument_block(kernel: Kernel, arguments: Sequence[bytes], n_items: int) -> bytes:
    block = bytearray(kernel.n_argument_bytes + 64)
    given = iter(arguments)
    for argument in kernel.arguments:
        if argument.kind.startswith("hidden_"):
            continue  # offsets of 0, and no printing or queues
        value = next(given, None)
        if value is None or len(value) > argument.size:
            raise CodeObjectError(f"{kernel.name}: an argument of {argument.size} bytes does not get {value!r}")
        block[argument.offset : argument.offset + len(value)] = value
    return bytes(block)


def _packet(n_groups: int, group_size: int) -> bytes:
    """Return the packet of the dispatch, of which kernels read the sizes of groups and of the grid."""
    return struct.pack("<HHHHHHIII", 0, 1, group_size, 1, 1, 0, n_groups * group_size, 1, 1) + bytes(64)
