"""Sessions on several devices that work together, or on parts of one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from clgraph.arguments import checked_count, refusing, shown
from clgraph.errors import InputError, NoDeviceError
from clgraph.runtime.discovery.query import enumerate_devices
from clgraph.runtime.discovery.selection import ranked, select_device
from clgraph.runtime.discovery.self_test import verdict
from clgraph.runtime.driver import opencl as cl
from clgraph.runtime.driver.failure import typed_errors
from clgraph.runtime.session import Session, as_session


def sub_devices(device: object, counts: Sequence[int]) -> list[Session]:
    """Divide a CPU device into parts of *counts* compute units, and return a session on each part.

    Parameters
    ----------
    device : None, str or pyopencl.Device
        As in :class:`clgraph.Session`.
    counts : sequence of int
        The number of compute units of each part; the sum may be at most the device's number.

    Raises
    ------
    InputError
        The device has fewer compute units.
    NoDeviceError
        No device matches, or its driver cannot divide it (drivers of GPUs cannot).
    """
    whole, _ = select_device(device)
    units = int(whole.max_compute_units)
    with refusing("counts", counts, "a sequence of integers"):
        sizes = [checked_count(f"counts[{k}]", count, units) for k, count in enumerate(counts)]
    if not sizes or sum(sizes) > units:
        raise InputError(f"counts = {shown(counts)}; {whole.name.strip()} has {units} compute units")
    kinds = cl.device_partition_property
    try:
        equal = len({*sizes}) == 1 and units % sizes[0] == 0
        cut: Any = [kinds.EQUALLY, sizes[0]] if equal else [kinds.BY_COUNTS, *sizes, 0]
        parts = whole.create_sub_devices(cut)
    except cl.Error as error:
        raise NoDeviceError(f"{whole.name.strip()} cannot be cut into parts of {sizes} units: {error}") from error
    return [Session(part) for part in parts[: len(sizes)]]


def sessions_of(devices: object) -> list[Session]:
    """Return a session for each of the *devices*.

    ``"all"`` means all GPUs and one CPU.

    Raises
    ------
    NoDeviceError
        There is no device.
    InputError
        A device is listed twice.
    """
    if isinstance(devices, str) and devices == "all":
        found = _all()
    else:
        with refusing("devices", devices, "'all', or a list of names, sessions and pyopencl Devices"):
            if isinstance(devices, str | Session | cl.Device):
                raise TypeError("it is one device")
            if isinstance(devices, Mapping | Set):
                raise TypeError("it has no order")
            found = [as_session(each) for each in devices]  # type: ignore[attr-defined]
    if not found:
        raise NoDeviceError("no device is given; one is needed at least")
    seen: dict[Any, int] = {}
    for place, session in enumerate(found):
        if (first := seen.setdefault(session.device.int_ptr, place)) != place:
            raise InputError(f"devices[{first}] and devices[{place}] are both {session.facts.name}; name a device once")
    return found


def _working() -> list[cl.Device]:
    return ranked(device for _, device in enumerate_devices() if not verdict(device)["reason"])


def working_gpus() -> list[cl.Device]:
    """Return the GPUs that pass their self-test, the best first."""
    return [device for device in _working() if device.type & cl.device_type.GPU]


def _all() -> list[Session]:
    """Return sessions on all working GPUs and on the CPU. One CPU core per GPU stays free for the GPU's host thread."""
    gpus = [as_session(device) for device in working_gpus()]
    return gpus + beside_gpus(len(gpus))


def beside_gpus(n_gpus: int) -> list[Session]:
    """Return a list of one session on the CPU, without a core for each of the GPUs; an empty list without a CPU."""
    cpu = next((device for device in _working() if device.type & cl.device_type.CPU), None)
    if cpu is None:
        return []
    left = int(cpu.max_compute_units) - n_gpus
    try:
        return sub_devices(cpu, [left]) if n_gpus and left > 0 else [as_session(cpu)]
    except NoDeviceError:
        return [as_session(cpu)]


def speed_of(session: Session) -> float:
    """Return the memory bandwidth in the profile of the session's device, in bytes per second.

    A part of a device has a share of the bandwidth, in proportion to its compute units.
    """
    facts, share = session.facts, 1.0
    with typed_errors("asking for the whole of a sub-device"):
        parent = session.device.parent_device
        if parent is not None:
            share = facts.compute_units / int(parent.max_compute_units)
    return share * session.profile.rates.stream_bytes_per_second
