"""The workers of a Dask client: their devices and versions, the session of each, tasks for them, and every wait."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any, TypeVar

import dask
import distributed
from dask.utils import parse_timedelta

from clgraph.arguments import shown
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
_LOOK_SECONDS = 1.0  # A wait asks the scheduler this often which workers live.
_DESCRIBE_ATTEMPTS = 3  # Dask gives a task up after as many lost workers, too.


@dataclass(frozen=True)
class WorkerDevice:
    """What a worker tells of itself."""

    address: str
    device: str  # its name; empty if there is none
    weight: float  # how fast its memory is by the device's profile, in bytes per second
    is_cpu: bool
    compute_units: int
    versions: dict[str, str] = field(hash=False)  # of the packages that must be equal everywhere
    lanes: int = 1  # work-items that run at once
    reason: str = ""  # why it has no device


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
    return WorkerDevice(address, facts.name, known.weight, facts.is_cpu, facts.compute_units, _versions(), known.lanes)


def submit(
    client: distributed.Client,
    address: str,
    function: Any,
    *arguments: Any,
    key: str | None = None,
    others: bool = True,
) -> Any:
    """Return the future of a task for the worker at *address*; with *others*, one of them takes it if that is lost.

    Arrays among the arguments go with the task, so that it can be run again.
    """
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.submit(function, *arguments, key=key, workers=[address], allow_other_workers=others, pure=False)


def given(values: Any) -> Any:
    """Return *values*: as a task, it keeps them on its worker."""
    return values


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


def living(client: distributed.Client) -> list[str]:
    """Return the addresses of the workers that the scheduler knows."""
    try:
        return sorted(client.nthreads())
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"the scheduler of {client!r} does not answer: {error}") from error


def lost_after() -> float:
    """Return the seconds without a sign after which a worker is lost: Dask's ``distributed.scheduler.worker-ttl``."""
    return float(parse_timedelta(dask.config.get("distributed.scheduler.worker-ttl") or "5 minutes"))


def _watched(client: distributed.Client, attempt: Callable[[], _T | None], address: str, ends: float) -> _T:
    """Return what *attempt* returns once that is not ``None``; look at the workers after each call of it.

    With *address* only that worker may answer, until time *ends* of ``time.monotonic``. Without, any worker may, since
    Dask gives tasks of a lost worker to others. Errors of Dask for lost workers and schedulers get our types.
    """
    seen = time.monotonic()
    while True:
        try:
            if (found := attempt()) is not None:
                return found
        except distributed.KilledWorker as error:
            if address:
                raise WorkerLostError(f"worker {address} is lost") from error
            raise ClusterError(f"a task has ended every worker that tried it: {error}") from error
        except (distributed.CancelledError, futures.CancelledError) as error:
            raise ClusterError(f"a task was cancelled, or the scheduler is lost: {error}") from error
        workers, now = living(client), time.monotonic()
        if address:
            if address not in workers:
                raise WorkerLostError(f"worker {address} is lost")
            if now > ends:
                raise WorkerLostError(f"worker {address} has not answered in time")
        elif workers:
            seen = now
        elif now - seen > lost_after():
            raise ClusterError(
                f"the cluster at {client.scheduler.address} has lost all workers, and no new one has come for "
                f"{lost_after():g} s"
            )


def wait_for(
    client: distributed.Client,
    tasks: list[distributed.Future],
    *,
    first: bool = False,
    address: str = "",
    ends: float = math.inf,
) -> list[distributed.Future]:
    """Wait until all *tasks* are done, or the first is, and return those that are, also with errors.

    They may be run by any worker, or only by the one at *address*.

    Raises
    ------
    ClusterError
        The scheduler is lost, a task has ended every worker that tried it, or there was no worker for as long as
        :func:`lost_after` says.
    WorkerLostError
        The only worker is lost, or has not answered at time *ends* of ``time.monotonic``.
    """
    until = "FIRST_COMPLETED" if first else "ALL_COMPLETED"

    def done() -> set[distributed.Future] | None:
        with contextlib.suppress(distributed.TimeoutError):
            return set(distributed.wait(tasks, timeout=_LOOK_SECONDS, return_when=until).done)
        return None

    ended = _watched(client, done, address, ends)
    return [task for task in tasks if task in ended]


def results(
    client: distributed.Client, tasks: Sequence[distributed.Future], *, address: str = "", ends: float = math.inf
) -> list[Any]:
    """Return the results of *tasks* when all are done; arguments and errors are those of :func:`wait_for`."""
    wait_for(client, list(tasks), address=address, ends=ends)
    # Future.result with a time limit would begin the transfer of a large result anew after each.
    transfer = asyncio.run_coroutine_threadsafe(client.gather(list(tasks), asynchronous=True), client.loop.asyncio_loop)

    def gathered() -> list[Any] | None:
        futures.wait([transfer], _LOOK_SECONDS)
        return transfer.result() if transfer.done() else None

    try:
        return _watched(client, gathered, address, ends)
    finally:
        transfer.cancel()


def devices_of(client: distributed.Client) -> list[WorkerDevice]:
    """Return the workers of *client*, grouped by host; those that are lost meanwhile are left out.

    Raises
    ------
    ClusterError
        There are none, all are lost, or their packages are not those of this process.
    NoDeviceError
        One has no device.

    Warns
    -----
    DeviceDroppedWarning
        A worker is lost, or does not describe its device for as long as :func:`lost_after` says.
    """
    if not living(client):
        raise ClusterError(f"the cluster at {client.scheduler.address} has no workers; add some before this call")
    found, ends = list[WorkerDevice](), time.monotonic() + lost_after()
    for _ in range(_DESCRIBE_ATTEMPTS):  # a worker that its nanny begins anew has another address
        # A task each, since a device takes seconds to begin, in which the worker must answer.
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
            client.wait_for_workers(1, timeout=max(_LOOK_SECONDS, ends - time.monotonic()))
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
