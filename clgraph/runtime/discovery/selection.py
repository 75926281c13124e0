"""Selection of a device: the device that a request names, or the best device."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable

from clgraph.arguments import shown
from clgraph.device.facts import DeviceFacts, DeviceInfo, DeviceList
from clgraph.device.profile import DeviceProfile
from clgraph.device.profile_files import load_profile, user_path
from clgraph.errors import DeviceMatchWarning, NoDeviceError
from clgraph.model.cost import Atomics, Gathers, Work, estimate
from clgraph.runtime.discovery.drivers import cpu_runtime_to_install, prepare_environment
from clgraph.runtime.discovery.query import enumerate_devices, platforms, query_facts
from clgraph.runtime.discovery.self_test import verdict
from clgraph.runtime.driver import opencl as cl

# Runtimes for the same processor are compared by their predicted time for ten rounds over a graph.
# The assumed graph for this comparison of runtimes has 2**18 vertices and 2**21 entries.
_TYPICAL = Work(
    launches=10, read_backs=10, streamed_bytes=2.0**24, gathers=(Gathers(2.0**21, 2.0**20),),
    atomics=(Atomics(2.0**18, 2.0**18, "min_int32"),),
)  # fmt: skip


def devices() -> DeviceList:
    """Return a list of all OpenCL devices.

    This function never raises an error.

    The first call tests each device and driver in a separate process; the verdicts are stored.

    Returns
    -------
    DeviceList
        A list of :class:`DeviceInfo`, which ``print`` shows as a table. Unusable devices have ``facts=None`` and
        a ``reason``. A platform whose devices cannot be listed is one row, such as ``"0:-"``. A driver that crashes
        the process that loads it is one row ``"-:-"``. If nothing can be listed, as in a process forked after OpenCL
        was used, the only row is ``"-:-"``.
    """
    try:
        found, left_out = platforms(), prepare_environment()
    except Exception as error:
        return DeviceList([DeviceInfo("-:-", "", "", reason=_reason(error))])
    rows = DeviceList(row for i, platform in enumerate(found) for row in _members(i, platform))
    rows += [
        DeviceInfo("-:-", file, "", reason=f"the driver is left out: a process that loads it {how}")
        for file, how in left_out.items()
    ]
    return rows


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
            facts, reason = query_facts(device), verdict(device)["reason"]
        except Exception as error:
            reason = _reason(error)
        rows.append(DeviceInfo(f"{i}:{j}", platform_name, name, None if reason else facts, reason))
    return rows


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def select_device(request: object = None) -> tuple[cl.Device, str]:
    """Return the device that *request* names, and the reason why it was chosen.

    Without a *request*, the environment variables ``CLGRAPH_DEVICE`` and ``PYOPENCL_CTX`` decide, else it is the best
    GPU, else the best CPU. If several devices match, devices that fail their self-test are skipped.
    """
    if isinstance(request, cl.Device):
        return request, "given as a pyopencl Device"
    if isinstance(request, str):
        return _matching(request, f"asked for {request!r}")
    if request is not None:
        raise NoDeviceError(f"no device can be made of {shown(request)}; pass a name: 'gpu', 'cpu' or '0:0'")
    if wanted := os.environ.get("CLGRAPH_DEVICE"):
        return _matching(wanted, f"CLGRAPH_DEVICE={wanted}")
    if wanted := os.environ.get("PYOPENCL_CTX"):
        platforms()
        try:
            return cl.choose_devices(interactive=False)[0], "PYOPENCL_CTX"
        except (cl.Error, RuntimeError, LookupError, ValueError) as error:
            raise NoDeviceError(f"PYOPENCL_CTX={wanted!r} chooses no device: {error}") from error
    failing = []
    for device in ranked(device for _, device in enumerate_devices()):
        kind = _kind(device)
        if reason := verdict(device)["reason"]:
            failing.append(f"{device.platform.name} / {device.name}: {reason}")
        elif kind != "other":
            why = "best GPU" if kind == "gpu" else "no GPU found: best CPU"
            return device, "; left out: ".join([why, *failing])
    if failing:
        raise NoDeviceError(f"no device works: {'; '.join(failing)} (`clgraph doctor` tests them again)")
    raise NoDeviceError(
        f"no OpenCL device found; for a CPU device {cpu_runtime_to_install()}; for a GPU install its vendor's OpenCL "
        "driver (see `clgraph doctor`)"
    )


def check_works(device: cl.Device) -> None:
    """Raise :class:`NoDeviceError` if *device* fails its self-test."""
    if reason := verdict(device)["reason"]:
        raise NoDeviceError(
            f"{device.platform.name} / {device.name} must not be used: {reason}. Choose another device "
            "(`clgraph devices` lists them), or mend its driver; `clgraph doctor` tests it again"
        )


def profile_of(device: cl.Device, facts: DeviceFacts) -> DeviceProfile:
    """Return the best known profile for *device*, measured or shipped.

    If the profile is of another processor, its rates of atomics are scaled by a measurement on this processor.
    """
    profile = load_profile(facts)
    if profile.origin not in ("vendor", "generic"):
        return profile
    per_second = verdict(device).get("exchanges_per_second")
    return profile if per_second is None else profile.with_exchanges(per_second)


def _kind(device: cl.Device) -> str:
    for kind in ("gpu", "cpu"):
        if device.type & getattr(cl.device_type, kind.upper()):
            return kind
    return "other"


def ranked(found: Iterable[cl.Device]) -> list[cl.Device]:
    """Return the devices, the best first: GPUs by size, then CPUs by the predicted speed of their OpenCL runtimes."""
    kinds: dict[str, list[cl.Device]] = {"gpu": [], "cpu": [], "other": []}
    for device in found:
        kinds[_kind(device)].append(device)
    for several in kinds.values():
        several.sort(key=lambda device: (device.max_compute_units, device.global_mem_size), reverse=True)
    if len(cpus := kinds["cpu"]) > 1:
        facts = [query_facts(device) for device in cpus]
        # Measured profiles are used only if each CPU has one, because rates from different machines cannot be compared.
        measured = all(user_path(each).is_file() for each in facts)
        profiles = [load_profile(each, measured=measured) for each in facts]
        seconds = {device: estimate(_TYPICAL, p.rates).seconds for device, p in zip(cpus, profiles, strict=True)}
        cpus.sort(key=seconds.__getitem__)
    return [device for several in kinds.values() for device in several]


def _matching(request: str, why: str) -> tuple[cl.Device, str]:
    text, _, number = request.strip().lower().rpartition(":")
    # The text may be a name that contains colons itself, such as gfx90a:sramecc+:xnack-.
    if not text or not number.isdecimal():
        text, number = request.strip().lower(), ""
    found = enumerate_devices()
    by_id = dict(found)
    if request.strip() in by_id:
        return by_id[request.strip()], why
    matches = ranked(device for _, device in found if _means(text, device))
    # On an Intel processor, all runtimes have "Intel" in the device name, but only Intel's has it in the platform name.
    matches.sort(key=lambda device: text not in device.platform.name.lower())
    if int(number or 0) < len(matches) and not text.isdecimal():
        working = (device for device in matches if len(matches) > 1 and not verdict(device)["reason"])
        return _told(text, matches[int(number)] if number else next(working, matches[0]), why)
    known = "; ".join(f"{key} {d.platform.name} / {d.name}" for key, d in found) or "none"
    raise NoDeviceError(f"no device matches {request!r}; devices here: {known}")


def _told(text: str, device: cl.Device, why: str) -> tuple[cl.Device, str]:
    """Return *device* and the reason *why* it is taken.

    Warn if the request *text* names its processor only.
    """
    is_meant = text in ("cpu", device.name.strip().lower()) or _word(text) in device.platform.name.lower()
    if _kind(device) == "cpu" and not is_meant:
        why += f": no platform is called {text!r}, but the processor is"
        message = f"{device.platform.name} / {device.name} was taken, {why}; `clgraph devices` lists all devices"
        warnings.warn(message, DeviceMatchWarning, stacklevel=2)
    return device, why


def _means(text: str, device: cl.Device) -> bool:
    if text in ("gpu", "cpu"):
        return _kind(device) == text
    return _word(text) in f"{device.platform.name} {device.vendor} {device.name}".lower()


def _word(text: str) -> str:
    """Return the word *text* of a request as platform names spell it: "pocl" is written out there."""
    return {"pocl": "portable computing language"}.get(text, text)
