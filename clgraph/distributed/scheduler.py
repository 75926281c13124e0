"""Loads of independent items over the workers of a Dask client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import distributed
from numpy.typing import NDArray

from clgraph.distributed.workers import (
    WorkerDevice,
    as_client,
    devices_of,
    on_device,
    results,
    submit,
    worker_session,
)
from clgraph.hetero import HeteroScheduler as _OnOneMachine
from clgraph.hetero import Kernel, Output, Work
from clgraph.hetero.policies import Member
from clgraph.hetero.runner import Runner


@dataclass(frozen=True)
class Part:
    """Some items of a load, cut by the client, with all that their kernel needs."""

    kernels: Kernel | Mapping[str, Kernel]
    outputs: Mapping[str, Output]
    values: Mapping[str, Any]
    start: int
    n_items: int

    def work(self, shared: Mapping[str, Any] | None) -> Work:
        """Return the work whose only load is this part."""
        values = {**self.values, "first": self.start}
        return Work(
            self.kernels, lambda _: self.n_items, lambda _load, _start, _stop: values, self.outputs,
            shared=None if shared is None else (lambda _: shared), grain=self.n_items,
        )  # fmt: skip


def _computed(part: Part, shared: Mapping[str, Any] | None) -> dict[str, NDArray[Any]]:
    """Return what the kernel writes for the items of *part*."""
    work = part.work(shared)
    with on_device():
        outputs = work.new_outputs(None, part.n_items)
        runner = Runner(worker_session(), work, is_warm=True)
        runner.begin(None, outputs)
        try:
            runner.run(0, part.n_items)
        finally:
            runner.end()
    return outputs


def _given(values: Any) -> Any:
    return values


class RemoteRunner:
    """Computes parts of loads on a worker; a worker that is lost has failed, and others take over."""

    def __init__(self, client: distributed.Client, worker: WorkerDevice, work: Work, *, is_warm: bool) -> None:
        self.client, self.session, self.work, self.is_warm = client, worker, work, is_warm
        self.key, self.name = worker.address, f"{worker.address} {worker.device} ({worker.compute_units} units)"
        self.member = Member(worker.weight, worker.lanes, worker.is_cpu)
        self._shared: Any = None

    def begin(self, load: Any, outputs: Mapping[str, NDArray[Any]]) -> None:
        """Send to the worker what all parts of *load* share."""
        self._load, self._outputs = load, outputs
        declared = self.work.outputs(load) if callable(self.work.outputs) else self.work.outputs
        self._declared = dict(declared)
        if self.work.shared is not None:
            self._shared = submit(self.client, self.key, _given, dict(self.work.shared(load)), others=False)

    def warm_up(self, n_items: int) -> None:
        """Compute the first items once before anything is timed; the results are dropped."""
        if not self.is_warm:
            self._result(0, n_items)
            self.is_warm = True

    def run(self, start: int, stop: int) -> None:
        """Compute these items and write them into the outputs."""
        for name, array in self._result(start, stop).items():
            self._outputs[name][start:stop] = array

    def end(self) -> None:
        """Let go of the load."""
        self._load, self._outputs, self._shared = None, {}, None

    def _result(self, start: int, stop: int) -> dict[str, NDArray[Any]]:
        values = self.work.cut(self._load, start, stop)
        part = Part(self.work.kernels, self._declared, values, start, stop - start)
        future = submit(self.client, self.key, _computed, part, self._shared, others=False)
        found: dict[str, NDArray[Any]]
        (found,) = results(self.client, [future], address=self.key)
        return found


class HeteroScheduler(_OnOneMachine):
    """Spreads loads over the workers of a Dask client, each with its device, so that all of them end at once.

    The client cuts loads, and parts go to the workers and their results back. The policies are those of
    :class:`clgraph.HeteroScheduler`; where nothing has been measured yet they go by the profile of each worker's
    device. A worker that is lost, or whose device fails, is dropped with a warning, and the others take over.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the one that was made last.
    policy, sub_loads, training, ratios
        As of :class:`clgraph.HeteroScheduler`; *ratios* are in the order of the workers' addresses.

    Raises
    ------
    ClusterError
        There is no client, no worker, or one with other packages.
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
