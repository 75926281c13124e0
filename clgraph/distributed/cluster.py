"""A Dask cluster on this machine, with a worker process for each OpenCL device."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import Any

import distributed

from clgraph.arguments import checked_count, shown
from clgraph.device.facts import DeviceInfo
from clgraph.errors import InputError, NoDeviceError
from clgraph.runtime.discovery.query import enumerate_devices
from clgraph.runtime.discovery.selection import devices as listed
from clgraph.runtime.discovery.selection import select_device

_LOOPBACK = "127.0.0.1"
_QUIET = logging.WARNING
# Environment variables that limit the number of threads of PoCL and of Intel's CPU runtime.
_UNITS = ("POCL_MAX_PTHREAD_COUNT", "CL_CONFIG_CPU_TBB_NUM_WORKERS")


class LocalOpenCLCluster(distributed.SpecCluster):  # type: ignore[misc]
    """A Dask cluster on this machine.

    Each worker is a process that uses the one device in ``CLGRAPH_DEVICE``.

    It listens only on the loopback interface. Its processes are spawned, so a script must create it under
    ``if __name__ == "__main__"``.

    Parameters
    ----------
    devices : "all", or a sequence of str
        Names as :class:`clgraph.Session` takes them. ``"all"`` means all GPUs and one runtime of the CPU.
    workers_per_device : int
        The number of workers that share a CPU's cores. A GPU has one worker.
    dashboard_address : str
        The port of the dashboard on the loopback interface; by default, any free port.
    memory_limit : str, int or None
        The memory limit of each worker, as in Dask; ``None`` sets no limit.
    **options
        Other options of :class:`distributed.Nanny`.

    Raises
    ------
    NoDeviceError
        There is no device, or none matches a name.
    InputError
        Two names mean the same device, or *workers_per_device* is above 1 for a GPU.

    Examples
    --------
    >>> from clgraph.distributed import LocalOpenCLCluster, connected_components
    >>> with LocalOpenCLCluster() as cluster, cluster.get_client() as client:
    ...     n_components, labels = connected_components(["part-0.npz", "part-1.npz"], client=client)
    """

    def __init__(
        self,
        devices: str | Sequence[str] = "all",
        *,
        workers_per_device: int = 1,
        dashboard_address: str = ":0",
        memory_limit: str | int | None = "auto",
        **options: Any,
    ) -> None:
        most = os.cpu_count() or 1
        count = checked_count("workers_per_device", workers_per_device, most)
        found = _named(devices)
        options |= {"nthreads": 1, "host": _LOOPBACK, "memory_limit": memory_limit, "silence_logs": _QUIET}
        specs: dict[str, Any] = {}
        for device in found:
            environment = {"CLGRAPH_DEVICE": device.id}
            if count > 1:
                facts = device.facts
                if facts is None or not facts.is_cpu:
                    raise InputError(f"workers_per_device = {count}; {device.name} is no CPU and has one worker")
                environment |= dict.fromkeys(_UNITS, str(max(1, facts.compute_units // count)))
            for k in range(count):
                worker = {**options, "env": {**environment, **options.get("env", {})}}
                specs[f"{device.id}-{k}"] = {"cls": distributed.Nanny, "options": worker}
        port = dashboard_address.rpartition(":")[2]
        scheduler = {"host": _LOOPBACK, "dashboard_address": f"{_LOOPBACK}:{port}"}
        super().__init__(
            workers=specs, scheduler={"cls": distributed.Scheduler, "options": scheduler}, silence_logs=_QUIET
        )


def _named(names: Any) -> list[DeviceInfo]:
    if (isinstance(names, str) and names != "all") or not isinstance(names, Sequence):
        raise InputError(f"devices = {shown(names)}; allowed: 'all', or a list of names")
    rows = {row.id: row for row in listed() if row.facts is not None}
    if names == "all":
        gpus = [row for row in rows.values() if row.facts is not None and not row.facts.is_cpu]
        has_cpu = len(gpus) < len(rows)
        found = gpus + [_row("cpu", rows)] * has_cpu
    else:
        found = [_row(name, rows) for name in names]
    if not found:
        raise NoDeviceError("no device is given, or none works (`clgraph doctor` tests them)")
    for place, row in enumerate(found):
        if (first := found.index(row)) != place:
            raise InputError(
                f"devices[{first}] and devices[{place}] are both {row.name}; name a device once, and give "
                "workers_per_device for a CPU"
            )
    return found


def _row(name: str, rows: dict[str, DeviceInfo]) -> DeviceInfo:
    device, _ = select_device(name)
    key = next(key for key, each in enumerate_devices() if each == device)
    if key not in rows:
        raise NoDeviceError(f"{name!r} means {device.name.strip()}, which does not work (`clgraph doctor` tells why)")
    return rows[key]
