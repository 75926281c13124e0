"""Functions for the workers of a Dask client: describe their devices, submit tasks, and wait for results."""

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
_LOOK_SECONDS = 1.0  # While results are awaited, Dask's scheduler is asked once per second which workers still exist.
# If all workers are lost at once, Dask never gives their tasks to new workers. A wait ends after ten idle seconds.
_IDLE_SECONDS = 10.0
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


def submit(
    client: distributed.Client,
    address: str,
    function: Any,
    *arguments: Any,
    key: str | None = None,
    others: bool = True,
) -> Any:
    """Submit a task to the Dask worker at *address*, and return the future of the task.

    If that worker is lost, another worker may run the task if *others* is true. Arrays among the arguments are sent
    with the task, so that it can be run again. A closed client is a ClusterError.
    """
    _check_open(client)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        return client.submit(function, *arguments, key=key, workers=[address], allow_other_workers=others, pure=False)


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
    _check_open(client)
    return client


def _check_open(client: distributed.Client) -> None:
    if client.status == "closed":
        raise ClusterError(f"{client!r} is closed")


def living(client: distributed.Client) -> list[str]:
    """Return the addresses of the workers that Dask's scheduler knows at present."""
    try:
        return sorted(client.nthreads())
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"the scheduler of {client!r} does not answer: {error}") from error


def lost_after() -> float:
    """Return the seconds without a heartbeat after which a Dask worker counts as lost (setting ``worker-ttl``)."""
    return float(parse_timedelta(dask.config.get("distributed.scheduler.worker-ttl") or "5 minutes"))


def _watched(client: distributed.Client, attempt: Callable[[], _T | None], address: str, ends: float) -> _T:
    """Call *attempt* until it returns a value other than ``None``, and return this value.

    Workers are checked meanwhile.

    If *address* is given, only that worker may answer, until ``time.monotonic()`` is *ends*. Otherwise any worker may
    answer, because Dask gives the tasks of a lost worker to other workers. Dask's errors for lost workers and
    schedulers are converted to clgraph's errors.
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
    """Wait until all Dask *tasks* are done (with *first*, until any is).

    Return the done tasks, failed ones included.

    Any worker may run the tasks, or only the worker at *address* if this is given.

    Raises
    ------
    ClusterError
        The scheduler is lost, a task has ended every worker that tried it, all workers were lost at once, or there was
        no worker for the time that :func:`lost_after` returns.
    WorkerLostError
        The worker at *address* is lost, or did not answer before ``time.monotonic()`` was *ends*.
    """
    until, busy = "FIRST_COMPLETED" if first else "ALL_COMPLETED", time.monotonic()

    def done() -> set[distributed.Future] | None:
        nonlocal busy
        with contextlib.suppress(distributed.TimeoutError):
            return set(distributed.wait(tasks, timeout=_LOOK_SECONDS, return_when=until).done)
        if not living(client) or any(client.processing().values()):
            busy = time.monotonic()
        elif time.monotonic() - busy > _IDLE_SECONDS:
            raise ClusterError("all workers were lost at once, and Dask keeps their tasks from new ones; call again")
        return None

    ended = _watched(client, done, address, ends)
    return [task for task in tasks if task in ended]


def results(
    client: distributed.Client, tasks: Sequence[distributed.Future], *, address: str = "", ends: float = math.inf
) -> list[Any]:
    """Wait until all Dask *tasks* are done, and return their results.

    Arguments and errors are as in :func:`wait_for`.
    """
    wait_for(client, list(tasks), address=address, ends=ends)
    # Future.result with a time limit is no option, because it restarts a large transfer after each time-out.
    transfer = asyncio.run_coroutine_threadsafe(client.gather(list(tasks), asynchronous=True), client.loop.asyncio_loop)

    def gathered() -> list[Any] | None:
        futures.wait([transfer], _LOOK_SECONDS)
        return transfer.result() if transfer.done() else None

    try:
        return _watched(client, gathered, address, ends)
    finally:
        transfer.cancel()


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
