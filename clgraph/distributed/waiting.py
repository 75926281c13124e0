"""Tasks of Dask that run on a given worker, and waits for their results that end if workers are lost."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from typing import Any, TypeVar

import dask
import distributed
from dask.utils import parse_timedelta

from clgraph.errors import ClusterError, WorkerLostError

_T = TypeVar("_T")
LOOK_SECONDS = 1.0  # While results are awaited, Dask's scheduler is asked once per second which workers still exist.
# If all workers are lost at once, Dask never gives their tasks to new workers. A wait ends after ten idle seconds.
_IDLE_SECONDS = 10.0
# The address of the worker to which a task was submitted.
_worker_of = weakref.WeakKeyDictionary[distributed.Future, str]()


def check_open(client: distributed.Client) -> None:
    """Raise a :class:`ClusterError` if *client* is closed."""
    if client.status == "closed":
        raise ClusterError(f"{client!r} is closed")


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
    check_open(client)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
        task = client.submit(function, *arguments, key=key, workers=[address], allow_other_workers=others, pure=False)
    _worker_of[task] = address
    return task


def living(client: distributed.Client) -> list[str]:
    """Return the addresses of the workers that Dask's scheduler knows at present."""
    with _scheduler_errors(client):
        return sorted(client.nthreads())


@contextlib.contextmanager
def _scheduler_errors(client: distributed.Client) -> Iterator[None]:
    try:
        yield
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


def _are_stuck(client: distributed.Client, tasks: Iterable[distributed.Future]) -> bool:
    """Return whether the workers of all waiting *tasks* are lost, and no worker runs any task."""
    present = living(client)
    if not present or any(_worker_of.get(task, present[0]) in present for task in tasks if not task.done()):
        return False
    with _scheduler_errors(client):
        return not any(client.processing().values())


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
            return set(distributed.wait(tasks, timeout=LOOK_SECONDS, return_when=until).done)
        if not _are_stuck(client, tasks):
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
        futures.wait([transfer], LOOK_SECONDS)
        return transfer.result() if transfer.done() else None

    try:
        return _watched(client, gathered, address, ends)
    finally:
        transfer.cancel()
