"""A workaround for PoCL wheels: kernels must be compiled for the processor that PoCL's built-ins were compiled for.

A PoCL made for distribution ("DISTRO" in its version) contains its built-ins (built-in functions) compiled for several
processors, and picks among them by features. Versions before 5 nevertheless compile kernels for
the processor that LLVM names. If that processor has other features (znver3 on Zen 4, without AVX-512),
caller and built-in pass wide vectors in different ways, and the process crashes. If LLVM knows no
name ("generic"), every build fails (PoCL issues 512 and 1049). So this module sets the name of the
built-ins' processor, as PoCL 5 does. The name is a ``char *`` in PoCL's device structure. The structure is
read through ``/proc/self/mem``, so an unexpected layout leads to no change instead of a crash.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
from functools import lru_cache
from itertools import takewhile

from clgraph.runtime.driver import opencl as cl

_DEVICE_BYTES = 2048  # Bytes of PoCL's structure _cl_device_id that are searched for the processor's name.
_AVX = {"avx", "cx16", "popcnt"}
# Processors and the features that they need, named as in /proc/cpuinfo. PoCL takes the last one that has them all.
_PROCESSORS: tuple[tuple[str, set[str]], ...] = (
    ("athlon64", set()),
    ("core2", {"ssse3", "cx16"}),
    ("penryn", {"sse4_1", "cx16"}),
    ("sandybridge", _AVX),
    ("ivybridge", _AVX | {"f16c"}),
    ("bdver1", _AVX | {"xop", "fma4"}),
    ("haswell", _AVX | {"avx2", "abm", "f16c", "fma", "bmi1", "bmi2"}),
    ("skylake-avx512", {"avx512f"}),
)
_names: list[ctypes.Array[ctypes.c_char]] = []  # Strings that must stay alive, because PoCL keeps pointers to them.


@lru_cache(maxsize=1)
def processor() -> dict[str, str]:
    """Return the fields of the first processor in ``/proc/cpuinfo``; on other systems, only a ``model name``."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            fields = (line.partition(":") for line in takewhile(str.strip, lines))
            return {name.strip(): value.strip() for name, _, value in fields}
    except OSError:
        return {"model name": platform.processor()}


def processor_features() -> frozenset[str]:
    """Return the features of the host's processor, as the Linux kernel names them; empty if they are not known."""
    return frozenset(processor().get("flags", "").split())


def processor_of_builtins() -> str | None:
    """Return LLVM's name of the processor whose built-ins PoCL picks; ``None`` if it is unknown or not x86-64."""
    features = processor_features()
    if platform.machine() != "x86_64" or not features:
        return None
    return [name for name, needed in _PROCESSORS if features >= needed][-1]


def needs_name(device: cl.Device) -> bool:
    """Return whether PoCL's *device* may compile kernels for another processor than its built-ins' processor."""
    version = re.search(r"PoCL (\d+).*\bDISTRO\b", device.platform.version)
    return version is not None and int(version[1]) < 5


def name_processor(device: cl.Device) -> str | None:
    """Let PoCL's *device* compile for the processor of its built-ins.

    Return the replaced processor name, if any.
    """
    target = processor_of_builtins()
    if target is None or not needs_name(device):
        return None
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        structure = _read(memory.fileno(), device.int_ptr, _DEVICE_BYTES)
        for at in range(8, len(structure) - 8, 8):
            # The pointer to the target triple is directly before the pointer to the processor's name.
            if not _text(memory.fileno(), structure[at - 8 : at]).startswith(b"x86_64-"):
                continue
            if found := re.match(rb"([\w.+-]+)\0", _text(memory.fileno(), structure[at : at + 8])):
                given = ctypes.create_string_buffer(target.encode())
                _names.append(given)
                ctypes.c_void_p.from_address(device.int_ptr + at).value = ctypes.addressof(given)
                return found[1].decode()
    return None


def _text(handle: int, pointer: bytes) -> bytes:
    return _read(handle, int.from_bytes(pointer, "little"), 32)


def _read(handle: int, address: int, size: int) -> bytes:
    try:
        return os.pread(handle, size, address) if 4096 < address < 1 << 47 else b""
    except OSError:
        return b""
