"""Let a PoCL wheel compile on a processor newer than the LLVM inside it.

LLVM calls a processor it does not know "generic", PoCL hands that name to clang, and clang rejects
it: every build fails with ``unknown target CPU 'generic'`` (PoCL issues 512 and 1049, still open).
The name is a ``char *`` in PoCL's device structure; this replaces it by the x86-64 level whose
features the processor has. The structure is read through ``/proc/self/mem``, so a layout
other than the expected one leads to no change, not to a fault.
"""
from __future__ import annotations

import ctypes
import os
from pathlib import Path

import pyopencl as cl

_DEVICE_BYTES = 2048  # more than PoCL's _cl_device_id up to the CPU name
_LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi2", "fma"},
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v2": {"sse4_2", "ssse3", "popcnt"},
    "x86-64": set[str](),
}
_names: list[ctypes.Array[ctypes.c_char]] = []  # PoCL keeps pointers to these


def name_unknown_cpu(device: cl.Device) -> str | None:
    """Give *device* a CPU name its clang accepts, if it has "generic"; return the new name."""
    if os.uname().machine != "x86_64" or not Path("/proc/self/mem").exists():
        return None
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        structure = _read(memory.fileno(), device.int_ptr, _DEVICE_BYTES)
        for at in range(0, len(structure) - 8, 8):
            pointer = int.from_bytes(structure[at : at + 8], "little")
            before = int.from_bytes(structure[at - 8 : at], "little") if at else 0
            # The target triple stands right before the CPU name.
            if _read(memory.fileno(), pointer, 8) == b"generic\0" and _read(
                memory.fileno(), before, 6
            ) == b"x86_64":
                level = _level()
                name = ctypes.create_string_buffer(level.encode())
                _names.append(name)
                ctypes.c_void_p.from_address(device.int_ptr + at).value = ctypes.addressof(name)
                return level
    return None


def _read(handle: int, address: int, size: int) -> bytes:
    try:
        return os.pread(handle, size, address) if 4096 < address < 1 << 47 else b""
    except OSError:
        return b""


def _level() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    flags = set(next((line for line in text.splitlines() if line.startswith("flags")), "").split())
    return next(level for level, needed in _LEVELS.items() if flags >= needed)
