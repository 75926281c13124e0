"""The distributed HeteroScheduler, which divides loads of independent items among the workers of a Dask client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import distributed
from numpy.typing import NDArray

from clgraph.distributed.waiting import results, submit
from clgraph.distributed.workers import WorkerDevice, as_client, devices_of, given, on_device, worker_session
from clgraph.hetero import HeteroScheduler as _OnOneMachine
from clgraph.hetero import Kernel, Output, Work
from clgraph.hetero.policies import Member
from clgraph.hetero.runner import Runner


def _computed(
    kernels: Kernel | Mapping[str, Kernel],
    declared: Mapping[str, Output],
    values: Mapping[str, Any],
    start: int,
    n_items: int,
    shared: Mapping[str, Any] | None,
) -> dict[str, NDArray[Any]]:
    """Compute *n_items* items of a load from *start* on, on this Dask worker, and return the kernel's outputs.

    *values* are the kernel's arguments for these items, which the client has cut out of the load.
    """
    part = Work(
        kernels,
        count=lambda _load: n_items,
        cut=lambda _load, _start, _stop: values,
        outputs=declared,
        shared=None if shared is None else (lambda _load: shared),
        grain=n_items,
    )
    with on_device():
        outputs = part.new_outputs(None, n_items)
        runner = Runner(worker_session(), part, is_warm=True)
        runner.first = start
        runner.begin(None, outputs)
        try:
            runner.run(0, n_items)
        finally:
            runner.end()
    return outputs


class RemoteRunner(Runner):
    """A runner that computes parts of loads on one Dask worker.

    If this worker is lost, other runners take over.
    """

    def __init__(self, client: distributed.Client, worker: WorkerDevice, work: Work, *, is_warm: bool) -> None:
        self.client, self.work, self.is_warm = client, work, is_warm
        self.session = worker  # type: ignore[assignment]
        self.key, self.name = worker.address, f"{worker.address} {worker.device} ({worker.compute_units} units)"
        kernels = work.kernels
        self._kernels = (
            kernels.sent() if isinstance(kernels, Kernel) else {kind: kernel.sent() for kind, kernel in kernels.items()}
        )
        self.member = Member(worker.weight, worker.lanes, worker.is_cpu)
        self._task: distributed.Future | None = None

    def begin(self, load: Any, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Send the data that all parts of *load* share to the Dask worker."""
        self._load, self._outputs, self._shared = load, outputs, None
        shared = self._shared_values()
        if self.work.shared is not None:
            self._shared = submit(self.client, self.key, given, shared, others=False)

    def run(self, start: int, stop: int) -> None:
        """Compute the items *start* … *stop* − 1 of the load on the worker,
        and write the results into the output arrays.
        """
        values = self._part(start, stop)
        declared = {name: Output(array.dtype, array.shape[1:]) for name, array in self._outputs.items()}
        arguments = self._kernels, declared, values, start, stop - start, self._shared
        self._task = submit(self.client, self.key, _computed, *arguments, others=False)
        (found,) = results(self.client, [self._task], address=self.key)
        for name, array in found.items():
            self._outputs[name][start:stop] = array

    def interrupt(self) -> None:
        """Stop waiting for the worker, which may still compute its part."""
        if self._task is not None:
            self._task.cancel()


class HeteroScheduler(_OnOneMachine):
    """A scheduler that divides loads of items among a Dask client's workers, such that all workers finish together.

    The client cuts loads into parts, sends the parts to the workers, and gets the results back. The policies are as in
    :class:`clgraph.HeteroScheduler`. Before anything is measured, policies use the profile of each worker's device. A
    worker that is lost, or whose device fails, is dropped with a warning, and the other workers take over.

    Parameters
    ----------
    client : distributed.Client, optional
        By default, the client that was created last.
    policy, sub_loads, training, ratios
        As in :class:`clgraph.HeteroScheduler`; *ratios* are in the order of the workers' addresses.

    Raises
    ------
    ClusterError
        There is no client, there is no worker, or a worker has other versions of packages.
    NoDeviceError
        A worker has no device.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        policy: str = "hass",
        sub_loads: int = 100,
        training: float = 0.2,
        ratios: Sequence[float] | None = None,
    ) -> None:
        self.client = as_client(client)
        super().__init__(policy=policy, sub_loads=sub_loads, training=training, ratios=ratios)

    def _sessions_of(self, devices: object) -> list[Any]:
        return devices_of(self.client)

    def _runner(self, session: WorkerDevice, work: Work, *, is_warm: bool) -> RemoteRunner:
        return RemoteRunner(self.client, session, work, is_warm=is_warm)
