"""The workers of a Dask client: who they are, whether they fit each other, and the session of each."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import dask
import distributed

from clgraph.arguments import shown
from clgraph.errors import ClgraphError, ClusterError, DeviceError, InputError, NoDeviceError
from clgraph.hetero.devices import member
from clgraph.runtime.session import Session, as_session

_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class WorkerDevice:
    """What a worker tells of itself.

    Attributes
    ----------
    address : str
    device : str
        Its name; empty if there is none.
    weight : float
        How fast its memory is by the device's profile, in bytes per second.
    is_cpu : bool
    compute_units, lanes : int
        Lanes are work-items that run at once.
    versions : dict of str to str
        Of the packages that must be equal everywhere.
    reason : str
        Why it has no device.
    """

    address: str
    device: str
    weight: float
    is_cpu: bool
    compute_units: int
    versions: dict[str, str] = field(hash=False)
    lanes: int = 1
    reason: str = ""


@contextlib.contextmanager
def on_device() -> Iterator[None]:
    """Let one thread of this worker use its device, and let errors name the worker.

    They lose what caused them: errors of OpenCL do not pass from process to process.
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
    """Return the session of this worker: that of ``CLGRAPH_DEVICE``, by which a worker is pinned, or the best one."""
    return as_session(None)


def own_address() -> str:
    """Return the address of the worker that runs this."""
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
    return WorkerDevice(
        address, facts.name, known.weight, facts.is_cpu, facts.compute_units, _versions(), known.lanes
    )


def submit(
    client: distributed.Client, address: str, function: Any, *arguments: Any, key: str | None = None,
    others: bool = True,
) -> Any:
    """Return the future of a task for the worker at *address*; with *others*, one of them takes it if that is lost.

    Arrays among the arguments go with the task, so that it can be run again.
    """
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.submit(
            function, *arguments, key=key, workers=[address], allow_other_workers=others, pure=False
        )


def as_client(client: Any) -> distributed.Client:
    """Return *client*, or the one that this process has made last."""
    if client is None:
        try:
            return distributed.get_client()
        except ValueError as error:
            raise ClusterError(
                "there is no Dask client; make one: Client(clgraph.distributed.LocalOpenCLCluster())"
            ) from error
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise InputError(f"client = {shown(client)}; allowed: a synchronous Client of dask.distributed")
    return client


def devices_of(client: distributed.Client) -> list[WorkerDevice]:
    """Return the workers of *client*; those of one host follow each other.

    Raises
    ------
    ClusterError
        There are none, or their packages are not those of this process.
    NoDeviceError
        One has no device.
    """
    try:  # a task each, since a device takes seconds to begin, in which the worker must answer
        futures = [submit(client, address, _described, others=False) for address in sorted(client.nthreads())]
        found: list[WorkerDevice] = client.gather(futures)
    except ImportError as error:
        raise ClusterError(f"a worker cannot import clgraph: {error}") from error
    if not found:
        raise ClusterError(f"the cluster at {client.scheduler.address} has no workers; add some before this call")
    check_versions(found)
    for worker in found:
        if not worker.device:
            raise NoDeviceError(f"worker {worker.address} has no device: {worker.reason}")
    return found


def check_versions(workers: Sequence[WorkerDevice]) -> None:
    """Raise unless all have the packages of this process."""
    here = _versions()
    for worker in workers:
        if different := [name for name in here if worker.versions[name] != here[name]]:
            name = different[0]
            raise ClusterError(
                f"worker {worker.address} has {name} {worker.versions[name]}, and this process has {here[name]}; "
                "install the same version everywhere"
            )
