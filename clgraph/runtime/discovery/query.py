"""A list of all OpenCL devices, and queries of their properties."""

from __future__ import annotations

import contextlib

from clgraph.device.facts import DeviceFacts
from clgraph.runtime.discovery.drivers import prepare_environment
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import mark_opencl_used
from clgraph.runtime.driver.quirks import dialect_of
from clgraph.runtime.programs.pocl_cpu import name_processor


def platforms() -> list[cl.Platform]:
    """Return the OpenCL platforms, also those in wheels.

    Drivers that crash a process that loads them are left out.
    """
    prepare_environment()
    mark_opencl_used()
    try:
        found = cl.get_platforms()
    except cl.Error:  # The loader of OpenCL drivers reports "no platform" as an error.
        return []
    unique = {_identity(p): p for p in reversed(found)}
    for platform in unique.values():
        with contextlib.suppress(cl.Error, OSError):
            if "Portable Computing Language" in platform.name:
                for device in platform.get_devices():
                    name_processor(device)
    return list(reversed(unique.values()))


def _identity(platform: cl.Platform) -> object:
    try:
        return platform.name, platform.version
    except cl.Error:  # The driver is broken, and devices() shows the reason.
        return platform.int_ptr


def query_facts(device: cl.Device) -> DeviceFacts:
    """Return the :class:`DeviceFacts` of *device*, which its driver reports."""
    (dialect, width), extensions = dialect_of(device), {*device.extensions.split()}
    return DeviceFacts(
        name=device.name.strip(),
        vendor=device.vendor.strip(),
        platform=device.platform.name.strip(),
        platform_version=device.platform.version.strip(),
        driver_version=device.driver_version.strip(),
        is_cpu=bool(device.type & cl.device_type.CPU),
        compute_units=int(device.max_compute_units),
        sub_group_size=width,
        max_work_group_size=int(device.max_work_group_size),
        local_mem_bytes=int(device.local_mem_size),
        global_mem_bytes=int(device.global_mem_size),
        max_alloc_bytes=int(device.max_mem_alloc_size),
        has_int64_atomics=extensions >= {"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"},
        has_fp64="cl_khr_fp64" in extensions or bool(device.double_fp_config),
        dialect=dialect,
    )


def enumerate_devices() -> list[tuple[str, cl.Device]]:
    """Return every OpenCL device with its ``"platform:device"`` id."""
    found = []
    for i, platform in enumerate(platforms()):
        try:
            found += [(f"{i}:{j}", device) for j, device in enumerate(platform.get_devices())]
        except cl.Error:
            continue
    return found
