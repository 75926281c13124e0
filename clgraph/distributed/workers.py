"""Functions for the workers of a Dask client: describe their devices, submit tasks, and wait for results."""

from __future__ import annotations

import contextlib
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import distributed

from clgraph.arguments import shown
from clgraph.distributed.waiting import LOOK_SECONDS, check_open, living, lost_after, results, submit
from clgraph.errors import (
    ClgraphError,
    ClusterError,
    DeviceDroppedWarning,
    DeviceError,
    InputError,
    NoDeviceError,
    WorkerLostError,
)
from clgraph.hetero.runner import member
from clgraph.runtime.session import Session, as_session

_T = TypeVar("_T")
_one_at_a_time = threading.Lock()
# Number of attempts to describe the workers. Dask, too, gives up a task after it has lost 3 workers.
_DESCRIBE_ATTEMPTS = 3


@dataclass(frozen=True)
class WorkerDevice:
    """A Dask worker's address, its device, and the versions of its packages."""

    address: str
    device: str  # Name of the worker's OpenCL device; empty if the worker has none.
    weight: float  # Memory bandwidth of the device, from its profile, in bytes per second.
    is_cpu: bool
    compute_units: int
    # Package versions of the worker, which must equal the client's versions.
    versions: dict[str, str] = field(hash=False)
    lanes: int = 1  # Number of work-items that the device runs at the same time.
    reason: str = ""  # The reason why the worker has no device; empty if it has one.


@contextlib.contextmanager
def on_device() -> Iterator[None]:
    """Let only one thread at a time use this worker's device, and add the worker's address to error messages.

    The cause of each error is removed, because OpenCL's errors cannot be sent to other processes.
    """
    with _one_at_a_time:
        try:
            yield
        except ClgraphError as error:
            if isinstance(error, DeviceError):
                error.args = (f"worker {own_address()}: {error}",)
            error.__cause__ = error.__context__ = None
            raise


def worker_session() -> Session:
    """Return a session on this Dask worker's device: ``CLGRAPH_DEVICE`` if that is set, else the best device."""
    return as_session(None)


def own_address() -> str:
    """Return the address of the Dask worker that runs this code."""
    return str(distributed.get_worker().address)


def _versions() -> dict[str, str]:
    from clgraph import __version__

    return {"clgraph": __version__, "distributed": distributed.__version__}


def _described() -> WorkerDevice:
    address = own_address()
    try:
        session = worker_session()
    except NoDeviceError as error:
        return WorkerDevice(address, "", 0.0, True, 0, _versions(), reason=str(error))
    facts, known = session.facts, member(session)
    return WorkerDevice(address, facts.name, known.weight, facts.is_cpu, facts.compute_units, _versions(), known.lanes)


def given(values: Any) -> Any:
    """Return *values* unchanged.

    As a task of a Dask worker, this function stores *values* on the worker.
    """
    return values


def as_client(client: Any) -> distributed.Client:
    """Return *client*; if it is ``None``, the Dask client that this process has created last."""
    if client is None:
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ClusterError(
                "there is no Dask client; make one: Client(clgraph.distributed.LocalOpenCLCluster())"
            ) from error
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise InputError(f"client = {shown(client)}; allowed: a synchronous Client of dask.distributed")
    check_open(client)
    return client


def devices_of(client: distributed.Client) -> list[WorkerDevice]:
    """Return the workers of a Dask *client*, grouped by host.

    Workers that are lost meanwhile are left out.

    Raises
    ------
    ClusterError
        There are no workers, all are lost, or a worker's packages have other versions than this process's.
    NoDeviceError
        A worker has no device.

    Warns
    -----
    DeviceDroppedWarning
        A worker is lost, or does not describe its device within the time that :func:`lost_after` returns.
    """
    if not living(client):
        raise ClusterError(f"the cluster at {client.scheduler.address} has no workers; add some before this call")
    found, ends = list[WorkerDevice](), time.monotonic() + lost_after()
    for _ in range(_DESCRIBE_ATTEMPTS):  # A lost worker may return, because its nanny restarts it under a new address.
        # A task opens each device, because that takes seconds, in which Client.run would make the worker unresponsive.
        tasks = {address: submit(client, address, _described, others=False) for address in living(client)}
        for address, task in tasks.items():
            try:
                found += results(client, [task], address=address, ends=ends)
            except ImportError as error:
                raise ClusterError(f"a worker cannot import clgraph: {error}") from error
            except WorkerLostError as error:
                reason = f"{error}: it did not describe its device, and is left out"
                warnings.warn(reason, DeviceDroppedWarning, stacklevel=3)
        if found or time.monotonic() > ends:
            break
        with contextlib.suppress(distributed.TimeoutError):
            client.wait_for_workers(1, timeout=max(LOOK_SECONDS, ends - time.monotonic()))
    if not found:
        raise ClusterError(f"the cluster at {client.scheduler.address} lost all workers before they described a device")
    for worker in found:
        for name, version in _versions().items():
            if worker.versions[name] != version:
                raise ClusterError(
                    f"worker {worker.address} has {name} {worker.versions[name]}, and this process has {version}; "
                    "install the same version everywhere"
                )
    for worker in found:
        if not worker.device:
            raise NoDeviceError(f"worker {worker.address} has no device: {worker.reason}")
    return found
