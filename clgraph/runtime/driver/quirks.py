"""All special rules for the devices or drivers of particular vendors.

Each rule was measured; see ``docs/lessons`` and the table in ``cl/README.md``.
"""

from __future__ import annotations

import os
import re
from platform import machine
from typing import Any

from clgraph.device.facts import Dialect
from clgraph.runtime.driver import opencl as cl


def dialect_of(device: cl.Device) -> tuple[Dialect, int]:
    """Return the dialect of kernels for *device*, and the width of its sub-groups."""
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
        # Oclgrind's race detector also reports races that kernels allow on purpose, unless the accesses are atomic.
        return Dialect(loads="LOADS_ATOMIC"), 1
    if "Portable Computing" in platform:
        return Dialect(spin_pause="" if is_gpu else _spin_pause()), 1
    return Dialect(), 1  # Rusticl and unknown platforms get the default dialect, which is valid on all devices.


def nvidia_dialect(sm: int) -> tuple[Dialect, int]:
    """Return the dialect and sub-group width of NVIDIA GPUs of compute capability *sm* (70 for 7.0)."""
    # NVIDIA has no cl_khr_subgroups, so kernels use warps as sub-groups, through inline PTX.
    # From compute capability 7.0 on, NVIDIA GPUs have scoped loads and independent thread scheduling.
    modern = sm >= 70
    return Dialect(
        sub_group="SUB_GROUP_PTX" if modern else "SUB_GROUP_SINGLE",
        loads="LOADS_PTX" if modern else "LOADS_VOLATILE",
        float_add="FLOAT_ADD_PTX",
        nvidia_sm=sm,
        has_grid_barrier=modern,
    ), (32 if modern else 1)


def amd_dialect(name: str, wave_width: int) -> tuple[Dialect, int]:
    """Return the dialect and sub-group width of the AMD GPU *name*, such as
    ``gfx90a:sramecc+``, with this wave width.
    """
    # On gfx10 and gfx11, ds_bpermute reaches only half of a wave64, so the halves are the sub-groups.
    halves = wave_width == 64 and name.startswith(("gfx10", "gfx11"))
    native_add = name.startswith(("gfx90a", "gfx94", "gfx95"))
    return Dialect(
        standard="CL2.0",  # On AMD, C11 atomics work correctly, but mem_fence of OpenCL C 1.2 does not.
        sub_group="SUB_GROUP_AMDGCN",
        atomics="ATOMICS_C11",
        loads="LOADS_C11",
        float_add="FLOAT_ADD_AMDGCN" if native_add else "FLOAT_ADD_CAS",
        has_grid_barrier=True,
    ), (32 if halves else wave_width)


def _intel_cpu(extensions: list[str]) -> tuple[Dialect, int]:
    """Return the dialect of kernels for Intel's CPU runtime, and the sub-group width 1.

    For tests of portability, CLGRAPH_INTEL_SUB_GROUP sets another width, 4 … 64.
    """
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
    # Intel's implicit vectoriser makes irregular kernels 2-10 times slower, so this hint switches the vectoriser off.
    hint = "__attribute__((intel_vec_len_hint(1)))" if "cl_intel_vec_len_hint" in extensions else ""
    return Dialect(standard="CL3.0", float_add=float_add, kernel_attribute=hint, spin_pause=_spin_pause()), 1


def _spin_pause() -> str:
    """Return the instruction by which a polling thread leaves its core to the core's other thread, or "" if none."""
    return "pause" if machine() in ("x86_64", "AMD64") else ""


def compiles_at_launch(device: cl.Device) -> bool:
    """Return whether the driver of *device* also compiles at the first launch of a kernel, as PoCL does.

    PoCL's cache is not safe against several processes that compile at once.
    """
    return "Portable Computing Language" in device.platform.name


def _is_nvidia(device: cl.Device) -> bool:
    return "NVIDIA" in device.platform.name


def copies_faster_over_the_host(device: cl.Device) -> bool:
    """Return whether copies to another device of the same context are faster through host memory than direct copies.

    NVIDIA's driver copied between two H200 of one context at 1 GB/s. Through pinned host memory, the rate was 9 GB/s.
    """
    return _is_nvidia(device)


def copies_to_pinned_memory(device: cl.Device) -> bool:
    """Return whether the driver copies straight to host memory that backs a buffer, without chunks of its own.

    On an H200, NVIDIA's driver takes 0.32 ms for 16 MiB to such memory, and 0.65 … 1.0 ms through pinned chunks; for
    256 KiB, it takes 0.02 ms, and 0.05 ms through its own chunks.
    """
    return _is_nvidia(device)


def wants_one_thread(device: cl.Device) -> bool:
    """Return whether a driver may crash if one thread enqueues while another thread enqueues or waits.

    NVIDIA's 580.159 crashed in 1 of 10 processes with two threads, each of which launched 1,000 kernels and read their
    results. With one thread at a time in the driver, it crashed in none of 36 processes.
    """
    return _is_nvidia(device)


def assembled(program: cl.Program, context: cl.Context, device: cl.Device, options: list[str]) -> cl.Program:
    """Return *program*, assembled again if NVIDIA's assembler may have given its kernels too few registers."""
    if not _is_nvidia(device):
        return program
    binaries: Any = program.get_info(cl.program_info.BINARIES)
    ptx: bytes = binaries[0]
    alone = alone_on_units(ptx)
    return program if alone == ptx else cl.Program(context, [device], [alone]).build(options, [device])


def alone_on_units(ptx: bytes) -> bytes:
    """Return NVIDIA's code *ptx* with a directive that limits a compute unit to one work-group of 1,024 work-items.

    Without the directive, the assembler may use only 32 of 64 registers per work-item, and spill, so that two groups
    fit on a compute unit. Kernels with such groups run many levels in one launch, with one group per compute unit.
    """
    return re.sub(rb"^\.reqntid 1024, 1, 1$", rb"\g<0>\n.minnctapersm 1", ptx, flags=re.MULTILINE)


def copies_whole_lines_faster(device: cl.Device) -> bool:
    """Return whether the driver of *device* copies faster if whole cache lines and the rest are copied separately.

    Intel's CPU runtime divides a copy into parts of equal size. It takes 0.09 ms for 1,302,912 bytes, but 2.6 ms for
    1,302,916 bytes, which it can only divide into words.
    """
    return works_while_waiting(device)


def works_while_waiting(device: cl.Device) -> bool:
    """Return whether the host thread runs kernels while it waits in the driver, as in Intel's CPU runtime.

    If the host thread does not wait in the driver, one core is idle.
    """
    return "Intel" in device.platform.name and bool(device.type & cl.device_type.CPU)
