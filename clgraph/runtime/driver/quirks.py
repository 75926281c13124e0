"""What differs between vendors, in one place.

Each rule was measured: see ``docs/lessons`` and the table in ``cl/README.md``.
"""

from __future__ import annotations

import os
import re
from platform import machine
from typing import Any

from clgraph.device.facts import Dialect
from clgraph.runtime.driver import opencl as cl


def dialect_of(device: cl.Device) -> tuple[Dialect, int]:
    """Return how to write kernels for *device*, and its sub-group width."""
    platform, extensions = device.platform.name, device.extensions.split()
    is_gpu = bool(device.type & cl.device_type.GPU)
    if _is_nvidia(device):
        return nvidia_dialect(10 * device.compute_capability_major_nv + device.compute_capability_minor_nv)
    if "AMD" in platform and is_gpu:
        return amd_dialect(device.name, int(device.wavefront_width_amd))
    if "Intel" in platform and is_gpu:
        return Dialect(
            standard="CL3.0",
            sub_group="SUB_GROUP_KHR",
            atomics="ATOMICS_C11",
            loads="LOADS_C11",
            kernel_attribute="__attribute__((intel_reqd_sub_group_size(16)))",
        ), 16
    if "Intel" in platform:
        return _intel_cpu(extensions)
    if "Oclgrind" in platform:
        # An intended race must be an atomic there, or its race detector reports it.
        return Dialect(loads="LOADS_ATOMIC"), 1
    if "Portable Computing" in platform:
        return Dialect(spin_pause="" if is_gpu else _spin_pause()), 1
    return Dialect(), 1  # rusticl, unknown: legal everywhere


def nvidia_dialect(sm: int) -> tuple[Dialect, int]:
    """Return the dialect and sub-group width of compute capability *sm* (70 for 7.0)."""
    # No cl_khr_subgroups there: warps are reached through inline PTX.
    modern = sm >= 70  # scoped loads, independent thread scheduling
    return Dialect(
        sub_group="SUB_GROUP_PTX" if modern else "SUB_GROUP_SINGLE",
        loads="LOADS_PTX" if modern else "LOADS_VOLATILE",
        float_add="FLOAT_ADD_PTX",
        nvidia_sm=sm,
        has_grid_barrier=modern,
    ), (32 if modern else 1)


def amd_dialect(name: str, wave_width: int) -> tuple[Dialect, int]:
    """Return the dialect and sub-group width of the AMD GPU *name* (``gfx90a:sramecc+``) and its waves."""
    # ds_bpermute reaches only half of a wave64 on gfx10 and gfx11: the halves are the sub-groups there.
    halves = wave_width == 64 and name.startswith(("gfx10", "gfx11"))
    native_add = name.startswith(("gfx90a", "gfx94", "gfx95"))
    return Dialect(
        standard="CL2.0",  # mem_fence of OpenCL C 1.2 is unsound there; C11 atomics are not
        sub_group="SUB_GROUP_AMDGCN",
        atomics="ATOMICS_C11",
        loads="LOADS_C11",
        float_add="FLOAT_ADD_AMDGCN" if native_add else "FLOAT_ADD_CAS",
        has_grid_barrier=True,
    ), (32 if halves else wave_width)


def _intel_cpu(extensions: list[str]) -> tuple[Dialect, int]:
    """Width 1 unless CLGRAPH_INTEL_SUB_GROUP asks for 4 ... 64 (the portability tests do)."""
    float_add = "FLOAT_ADD_EXT" if "cl_ext_float_atomics" in extensions else "FLOAT_ADD_CAS"
    width = int(os.environ.get("CLGRAPH_INTEL_SUB_GROUP", "1"))
    if width > 1:
        return Dialect(
            standard="CL3.0",
            sub_group="SUB_GROUP_KHR",
            float_add=float_add,
            spin_pause=_spin_pause(),
            kernel_attribute=f"__attribute__((intel_reqd_sub_group_size({width})))",
        ), width
    # Its implicit vectoriser makes irregular kernels 2-10 times slower.
    hint = "__attribute__((intel_vec_len_hint(1)))" if "cl_intel_vec_len_hint" in extensions else ""
    return Dialect(standard="CL3.0", float_add=float_add, kernel_attribute=hint, spin_pause=_spin_pause()), 1


def _spin_pause() -> str:
    """Return what lets the other thread of a core run while one looks at a word, if this processor has it."""
    return "pause" if machine() in ("x86_64", "AMD64") else ""


def compiles_at_launch(device: cl.Device) -> bool:
    """PoCL compiles a kernel at its first launch, too, and its cache races between processes."""
    return "Portable Computing Language" in device.platform.name


def _is_nvidia(device: cl.Device) -> bool:
    return "NVIDIA" in device.platform.name


def copies_faster_over_the_host(device: cl.Device) -> bool:
    """Return whether arrays should go to another device of the same context by way of the host.

    NVIDIA's driver copied between two H200 of one context at 1 GB/s, and by way of pinned memory it is 9.
    """
    return _is_nvidia(device)


def copies_to_pinned_memory(device: cl.Device) -> bool:
    """Return whether a copy to memory of which a buffer was made leaves out the driver's own chunks.

    NVIDIA's driver on an H200 takes 0.32 ms for 16 MiB to such memory, and 0.65 … 1.0 by way of pinned chunks; 0.02
    for 256 KiB, and 0.05 by way of its own.
    """
    return _is_nvidia(device)


def wants_one_thread(device: cl.Device) -> bool:
    """Return whether its driver crashes if one thread enqueues while another one enqueues or waits.

    NVIDIA's 580.159 did so in 1 of 10 processes of two threads that launched 1,000 kernels each and read what they
    wrote, in a thread of its own; with one thread at a time in the driver, in none of 36.
    """
    return _is_nvidia(device)


def assembled(program: cl.Program, context: cl.Context, device: cl.Device, options: list[str]) -> cl.Program:
    """Return *program*; where NVIDIA's assembler may have spared registers in vain, return it assembled again."""
    if not _is_nvidia(device):
        return program
    binaries: Any = program.get_info(cl.program_info.BINARIES)
    ptx: bytes = binaries[0]
    alone = alone_on_units(ptx)
    return program if alone == ptx else cl.Program(context, [device], [alone]).build(options, [device])


def alone_on_units(ptx: bytes) -> bytes:
    """Say in *ptx* that a unit gets one group of each kernel with groups of 1,024 work-items.

    Otherwise the assembler may give a work-item 32 registers of the 64 that there are, and spill, so that two groups
    fit on a unit. Kernels with such groups run many levels in one launch and have one group a unit.
    """
    return re.sub(rb"^\.reqntid 1024, 1, 1$", rb"\g<0>\n.minnctapersm 1", ptx, flags=re.MULTILINE)


def copies_whole_lines_faster(device: cl.Device) -> bool:
    """Return whether a copy should be of whole cache lines, and what is left over a copy of its own.

    Intel's CPU runtime cuts copies into parts of equal size. It takes 0.09 ms for 1,302,912 bytes and 2.6 ms for
    1,302,916, which it can only cut into words.
    """
    return works_while_waiting(device)


def works_while_waiting(device: cl.Device) -> bool:
    """Intel's CPU runtime counts on the host thread: one core idles unless it waits inside the runtime."""
    return "Intel" in device.platform.name and bool(device.type & cl.device_type.CPU)
