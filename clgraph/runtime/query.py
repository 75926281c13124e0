"""Find devices and ask the driver for their facts."""
from __future__ import annotations

import contextlib
import os
import sys
from functools import lru_cache
from pathlib import Path

import pyopencl as cl

from clgraph.device.facts import DeviceFacts, DeviceInfo
from clgraph.errors import NoDeviceError
from clgraph.runtime.cache import cache_dir
from clgraph.runtime.fork import mark_opencl_used
from clgraph.runtime.pocl_cpu import name_unknown_cpu
from clgraph.runtime.quirks import dialect_of, has_int64_atomics
from clgraph.user_cache import write_whole

_VENDORS = Path("/etc/OpenCL/vendors")


def platforms() -> list[cl.Platform]:
    """Return the OpenCL platforms, those installed from wheels included."""
    _prepare_environment()
    mark_opencl_used()
    try:
        found = cl.get_platforms()
    except cl.Error:  # the loader reports "no platform" as an error
        return []
    unique = {_identity(p): p for p in reversed(found)}
    _repair(*unique.values())
    return list(reversed(unique.values()))


def _identity(platform: cl.Platform) -> object:
    try:
        return platform.name, platform.version
    except cl.Error:  # a broken driver; devices() gives the reason
        return platform.int_ptr


def _repair(*found: cl.Platform) -> None:
    for platform in found:
        with contextlib.suppress(cl.Error, OSError):
            if "Portable Computing Language" in platform.name:
                for device in platform.get_devices():
                    name_unknown_cpu(device)


@lru_cache(maxsize=1)
def _prepare_environment() -> None:
    """Register Intel's CPU runtime from its wheel, and give PoCL a kernel cache of its own."""
    os.environ.setdefault("POCL_CACHE_DIR", str(cache_dir("pocl")))
    os.environ.setdefault("PYOPENCL_COMPILER_OUTPUT", "0")
    intel = Path(sys.prefix) / "lib" / "libintelocl.so"
    if "OCL_ICD_VENDORS" in os.environ or not intel.exists():
        return
    registry = cache_dir(f"icd-{os.getuid()}")
    write_whole(registry / "intel-wheel.icd", f"{intel}\n")
    for icd in _VENDORS.glob("*.icd") if _VENDORS.is_dir() else ():
        write_whole(registry / icd.name, icd.read_text(encoding="utf-8"))
    os.environ["OCL_ICD_VENDORS"] = str(registry)


def query_facts(device: cl.Device) -> DeviceFacts:
    """Return the :class:`DeviceFacts` of *device*."""
    dialect, width = dialect_of(device)
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
        has_int64_atomics=has_int64_atomics(device),
        has_fp64="cl_khr_fp64" in device.extensions.split() or bool(device.double_fp_config),
        dialect=dialect,
    )


def enumerate_devices() -> list[tuple[str, cl.Device]]:
    """Return every device with its ``"platform:device"`` id."""
    found = []
    for i, platform in enumerate(platforms()):
        try:
            found += [(f"{i}:{j}", device) for j, device in enumerate(platform.get_devices())]
        except cl.Error:
            continue
    return found


def devices() -> list[DeviceInfo]:
    """List every OpenCL device; never raises.

    Returns
    -------
    list of DeviceInfo
        Unusable ones carry ``facts=None`` and the ``reason``. A platform that does not tell its
        devices is one row ``"0:-"``; where nothing can be listed, as in a process forked after
        OpenCL was used, the only row is ``"-:-"``.
    """
    try:
        found = platforms()
    except Exception as error:
        return [DeviceInfo("-:-", "", "", reason=_reason(error))]
    return [row for i, platform in enumerate(found) for row in _members(i, platform)]


def _members(i: int, platform: cl.Platform) -> list[DeviceInfo]:
    platform_name, rows = "", []
    try:
        platform_name = platform.name.strip()
        members = platform.get_devices()
    except Exception as error:
        return [DeviceInfo(f"{i}:-", platform_name, "", reason=_reason(error))]
    for j, device in enumerate(members):
        name, facts, reason = "", None, None
        try:
            name = device.name.strip()
            facts = query_facts(device)
        except Exception as error:
            reason = _reason(error)
        rows.append(DeviceInfo(f"{i}:{j}", platform_name, name, facts, reason))
    return rows


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def select_device(request: object = None) -> tuple[cl.Device, str]:
    """Return the device that *request* means, and why it was chosen.

    Order: argument, ``CLGRAPH_DEVICE``, ``PYOPENCL_CTX``, best GPU, CPU.
    """
    if isinstance(request, cl.Device):
        return request, "given as a pyopencl Device"
    if isinstance(request, str):
        return _matching(request), f"asked for {request!r}"
    if request is not None:
        raise NoDeviceError(f"no device can be made of {request!r}; pass a name: 'gpu', 'pocl' or '0:0'")
    if wanted := os.environ.get("CLGRAPH_DEVICE"):
        return _matching(wanted), f"CLGRAPH_DEVICE={wanted}"
    if wanted := os.environ.get("PYOPENCL_CTX"):
        platforms()
        try:
            return cl.choose_devices(interactive=False)[0], "PYOPENCL_CTX"
        except (cl.Error, RuntimeError, LookupError, ValueError) as error:
            raise NoDeviceError(f"PYOPENCL_CTX={wanted!r} chooses no device: {error}") from error
    found = [device for _, device in enumerate_devices()]
    for kind, why in ((cl.device_type.GPU, "best GPU"), (cl.device_type.CPU, "no GPU found: best CPU")):
        if ranked := sorted((d for d in found if d.type & kind), key=_rank):
            return ranked[-1], why
    raise NoDeviceError(
        "no OpenCL device found; for a CPU device install the 'pocl' extra, for a GPU its vendor's OpenCL "
        "driver (see `clgraph doctor`)"
    )


def _rank(device: cl.Device) -> tuple[bool, int, int]:
    # On a CPU, PoCL before Intel: its launches cost less and it is the runtime the tests run first.
    return "Portable" in device.platform.name, device.max_compute_units, device.global_mem_size


def _matching(request: str) -> cl.Device:
    text, _, number = request.strip().lower().rpartition(":")
    if not text or not number.isdecimal():  # a name may have colons of its own: gfx90a:sramecc+:xnack-
        text, number = request.strip().lower(), "0"
    found = enumerate_devices()
    by_id = dict(found)
    if request.strip() in by_id:
        return by_id[request.strip()]
    matches = sorted((d for _, d in found if _means(text, d)), key=_rank, reverse=True)
    if int(number) < len(matches) and not text.isdecimal():
        return matches[int(number)]
    known = "; ".join(f"{key} {d.platform.name} / {d.name}" for key, d in found) or "none"
    raise NoDeviceError(f"no device matches {request!r}; devices here: {known}")


def _means(text: str, device: cl.Device) -> bool:
    if text in ("gpu", "cpu"):
        return bool(device.type & getattr(cl.device_type, text.upper()))
    alias = {"pocl": "portable computing language"}.get(text, text)
    return alias in f"{device.platform.name} {device.vendor} {device.name}".lower()


def available_bytes(facts: DeviceFacts) -> int:
    """Return how much memory new buffers may take: on a CPU device, free host memory."""
    if not facts.is_cpu:
        return int(0.95 * facts.global_mem_bytes)
    try:
        pages = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        cached = _meminfo_available()
    except (ValueError, OSError):
        return facts.global_mem_bytes
    return int(0.95 * min(facts.global_mem_bytes, max(pages, cached)))


def _meminfo_available() -> int:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return 0
    rows = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    return 1024 * int(rows.get("MemAvailable", "0 kB").split()[0])
