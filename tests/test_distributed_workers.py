"""Workers of Dask: lost, killed, pinned, without a device or of another version; loads spread over them."""

import contextlib
import os
import signal
import threading
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import distributed
import hetero_loads
import numpy as np
import pytest
from conftest import printed_by, session_on
from dask_clusters import (
    N_WORKERS,
    client_fixture,  # noqa: F401
    on_pocl,
    plain,
    random_graph,
)
from scipy.sparse import random_array

import clgraph as cg
import clgraph.distributed as cgd
from clgraph.distributed import waiting, workers
from clgraph.distributed.cluster import _named
from clgraph.errors import (
    ClusterError,
    DeviceDroppedWarning,
    InputError,
    KernelBuildError,
    NoDeviceError,
    WorkerLostError,
)
from clgraph.hetero import Kernel, Output, Work, elementwise

pytestmark = pytest.mark.xdist_group("distributed")


class Killer:
    """A chunk that ends its worker the first time it is read."""

    def __init__(self, marker: Path, chunk: Any) -> None:
        self.marker, self.chunk = marker, chunk

    def __call__(self) -> Any:
        if not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.chunk


@pytest.mark.parametrize("place", [0, 4])
def test_a_killed_worker_changes_nothing(tmp_path: Path, place: int) -> None:
    graph = random_graph(400, 500)
    parts: list[Any] = cgd.edge_chunks(graph, 6)
    with on_pocl() as client:
        found: dict[str, Any] = {}
        for function in (cgd.connected_components, cgd.minimum_spanning_forest):
            client.wait_for_workers(N_WORKERS)
            marker = tmp_path / function.__name__
            deadly = [Killer(marker, part) if k == place else part for k, part in enumerate(parts)]
            found[function.__name__] = function(deadly, n_vertices=400, client=client)
            assert marker.exists()
    components = cg.connected_components(graph, session=session_on("pocl"))
    assert np.array_equal(found["connected_components"].labels, components.labels)
    forest = cg.minimum_spanning_forest(graph, session=session_on("pocl"))
    for name in ("sources", "targets", "weights"):
        assert np.array_equal(getattr(found["minimum_spanning_forest"], name), getattr(forest, name))


@pytest.mark.parametrize(("sign", "message"), [(signal.SIGKILL, "is lost"), (signal.SIGSTOP, "has not answered")])
def test_a_worker_that_is_lost_before_it_describes_its_device_is_left_out(sign: signal.Signals, message: str) -> None:
    with on_pocl() as client:
        workers.devices_of(client)  # devices have begun, so that the other worker answers at once
        pids = client.run(os.getpid)
        first = pids[min(pids)]
        os.kill(first, signal.SIGSTOP)  # before its task comes, in any case
        timer = threading.Timer(1.0, os.kill, (first, sign))
        timer.start()
        try:
            limit = dask.config.set({"distributed.scheduler.worker-ttl": "5s"})
            with limit, pytest.warns(DeviceDroppedWarning, match=f"worker {min(pids)} {message}"):
                n_components, _ = cgd.connected_components([([0, 1], [1, 2])], n_vertices=4, client=client)
        finally:
            timer.join()
            with contextlib.suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)
    assert n_components == 2


def test_the_only_worker_may_be_lost_before_it_describes_its_device(monkeypatch: pytest.MonkeyPatch) -> None:
    submit = workers.submit
    lost: list[int] = []

    def killing(client: distributed.Client, address: str, *arguments: Any, **options: Any) -> Any:
        if not lost:
            lost.append(client.run(os.getpid)[address])
            os.kill(lost[0], signal.SIGKILL)
        return submit(client, address, *arguments, **options)

    monkeypatch.setattr(workers, "submit", killing)
    with on_pocl(1) as client:
        with pytest.warns(DeviceDroppedWarning, match="is lost"):
            assert cgd.connected_components([([0], [1])], client=client).n_components == 1
        assert lost[0] not in client.run(os.getpid).values()


def test_waits_end_when_no_worker_is_left() -> None:
    with plain() as client, dask.config.set({"distributed.scheduler.worker-ttl": "1s"}):
        future = client.submit(pow, 2, 3)
        with pytest.raises(ClusterError, match="has lost all workers"):
            waiting.wait_for(client, [future])
        with pytest.raises(ClusterError, match="has lost all workers"):
            waiting.results(client, [future])
        with pytest.raises(WorkerLostError, match=r"worker tcp://127\.0\.0\.1:1 is lost"):
            waiting.results(client, [future], address="tcp://127.0.0.1:1")


def test_a_result_may_take_longer_than_a_look(client: distributed.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 1e-3)
    (found,) = waiting.results(client, [client.submit(np.ones, 1 << 22, pure=False)], address=min(client.nthreads()))
    assert found.sum() == 1 << 22
    with pytest.raises(TimeoutError, match="of the task"):
        waiting.results(client, [client.submit(_late)])


def _late() -> None:
    raise TimeoutError("of the task")


def test_workers_are_pinned_and_on_the_loopback_interface(client: distributed.Client) -> None:
    pocl_name = session_on("pocl").facts.name
    pinned = client.run(lambda: os.environ["CLGRAPH_DEVICE"])
    assert len(pinned) == N_WORKERS and len({*pinned.values()}) == 1
    assert all(address.startswith("tcp://127.0.0.1:") for address in (*pinned, client.scheduler.address))
    found = workers.devices_of(client)
    assert all(worker.device == pocl_name and worker.is_cpu and worker.weight > 0 for worker in found)
    link = client.dashboard_link.rpartition("/")[0]
    assert link.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{link}/health", timeout=60) as answer:
        assert answer.read() == b"ok"


def test_a_client_without_workers_is_refused() -> None:
    with plain() as client, pytest.raises(ClusterError, match="has no workers"):
        cgd.connected_components([([0], [1])], client=client)
    with pytest.raises(InputError, match="client = 'here'"):
        cgd.connected_components([([0], [1])], client="here")


def test_workers_with_other_versions_are_refused(client: distributed.Client) -> None:
    def become(version: str) -> str:
        import clgraph

        before, clgraph.__version__ = clgraph.__version__, version
        return before

    address = min(client.nthreads())
    before = client.run(become, "0.0.1", workers=[address])[address]
    try:
        with pytest.raises(ClusterError, match=rf"worker {address} has clgraph 0\.0\.1, and this process has"):
            cgd.connected_components([([0], [1])], client=client)
    finally:
        client.run(become, before, workers=[address])


def test_a_worker_without_a_device_is_an_error() -> None:
    options: dict[str, Any] = {
        "threads_per_worker": 1,
        "memory_limit": None,
        "env": {"CLGRAPH_DEVICE": "no such device"},
    }
    with plain(1, **options) as client, pytest.raises(NoDeviceError, match="no device matches"):
        cgd.connected_components([([0], [1])], client=client)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"devices": ["no such"]}, NoDeviceError, "no device matches"),
        ({"devices": []}, NoDeviceError, "no device is given"),
        ({"devices": ["pocl", "pocl"]}, InputError, r"devices\[0\] and devices\[1\] are both"),
        ({"devices": "pocl"}, InputError, "allowed: 'all'"),
        ({"devices": ["pocl"], "workers_per_device": 0}, InputError, "workers_per_device = 0"),
    ],
)
def test_bad_clusters_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    session_on("pocl")
    with pytest.raises(error, match=message):
        cgd.LocalOpenCLCluster(**arguments)


def test_without_dask_the_package_says_what_to_install() -> None:
    code = (
        "import sys\nsys.modules['distributed'] = None\n"
        "import clgraph\nfrom clgraph.errors import MissingExtraError\n"
        "try:\n    import clgraph.distributed\n"
        'except MissingExtraError as error:\n    assert "pip install \'distributed" in str(error)\n'
        "else:\n    raise SystemExit('no error')"
    )
    printed_by(code)


SQUARE = elementwise("x * x + i", inputs={"x": np.float32}, dtype=np.float32)


@pytest.mark.parametrize("policy", ["hass", "static", "greedy", "guided"])
def test_loads_are_spread_over_workers(client: distributed.Client, policy: str) -> None:
    scheduler = cgd.HeteroScheduler(client, policy=policy, sub_loads=10)
    x = np.random.default_rng(0).random(50_000, np.float32)
    results, report = scheduler.run(SQUARE, [x] * 3)
    assert all(np.array_equal(found, results[0]) for found in results) and len(report.devices) == N_WORKERS
    matrix = random_array((400, 300), density=0.1, rng=np.random.default_rng(1), dtype=np.float32).tocsr()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    vector = np.random.default_rng(2).random(300, np.float32)
    (product,), _ = scheduler.run(hetero_loads.sparse_product(vector), [matrix])
    assert np.allclose(product, matrix @ vector, rtol=1e-5)
    text = hetero_loads.text_with([b"ab", b"abc"], 100_000)
    (counts,), _ = scheduler.run(hetero_loads.string_search([b"ab", b"abc"]), [text])
    assert counts.tolist() == hetero_loads.count_in(text, [b"ab", b"abc"])
    for done in report.rounds:
        assert sum(done.items) == x.size and done.dropped == ()
    (alone,), _ = cg.HeteroScheduler([session_on("pocl")], policy="static").run(SQUARE, [x])
    assert np.array_equal(results[0], alone)  # also where a part does not begin at 0


def test_chunk_sizes_are_those_of_the_profiles(client: distributed.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [replace(worker, weight=weight) for worker, weight in zip(workers.devices_of(client), (3, 1), strict=True)]
    monkeypatch.setattr("clgraph.distributed.scheduler.devices_of", lambda _client: found)
    _, report = cgd.HeteroScheduler(client, policy="static").run(SQUARE, [np.ones(4000, np.float32)])
    assert report.rounds[0].items == (3000, 1000)


def test_a_lost_worker_is_dropped() -> None:
    x = np.arange(20_000, dtype=np.float32)
    with on_pocl() as client:
        scheduler = cgd.HeteroScheduler(client)
        pids = client.run(os.getpid)
        os.kill(pids[min(pids)], signal.SIGKILL)
        with pytest.warns(DeviceDroppedWarning, match=f"{min(pids)}.* is lost"):
            (found,), report = scheduler.run(elementwise("x + 1", inputs={"x": np.float32}, dtype=np.float32), [x])
        assert np.array_equal(found, x + 1) and len(report.rounds[0].dropped) == 1
        assert [worker.address for worker in scheduler.sessions] == [max(pids)]


def test_a_run_after_the_client_was_closed_is_refused() -> None:
    with on_pocl(1) as client:
        scheduler = cgd.HeteroScheduler(client)
    with pytest.raises(ClusterError, match="is closed"):
        scheduler.run(SQUARE, [np.ones(100, np.float32)])
    assert len(scheduler.sessions) == 1


def test_workers_read_own_files_of_the_callers_directory(
    client: distributed.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.cl").write_text(
        '#include "common/types.h"\n'
        "KERNEL place(long n, long first, __global long *y) "
        "{ const long k = get_global_id(0); if (k < n) y[k] = first + k; }\n"
    )
    kernel = Kernel("own.cl", "place")
    places = Work({"cpu": kernel, "gpu": kernel}, len, lambda *_: {}, {"y": Output(np.int64)})
    (found,), _ = cgd.HeteroScheduler(client, policy="static").run(places, [range(1000)])
    assert np.array_equal(found, np.arange(1000))


def test_a_kernel_that_does_not_build_is_an_error(client: distributed.Client) -> None:
    broken = elementwise("no such name", inputs={"x": np.float32}, dtype=np.float32)
    with pytest.warns(DeviceDroppedWarning), pytest.raises(KernelBuildError, match=r"(?s)worker tcp.*undeclared"):
        cgd.HeteroScheduler(client).run(broken, [np.ones(100, np.float32)])


def test_a_chunk_that_ends_every_worker_is_an_error() -> None:
    deadly = [lambda: os.kill(os.getpid(), signal.SIGKILL)]
    once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with once, on_pocl(1) as client, pytest.raises(ClusterError, match="has ended every worker"):
        cgd.connected_components(deadly, client=client)


def test_a_call_ends_if_all_workers_are_lost_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask keeps the task for the old worker, although the nanny has started another one."""
    monkeypatch.setattr(waiting, "_IDLE_SECONDS", 2.0)
    graph = random_graph(400, 500)
    (part,) = cgd.edge_chunks(graph, 1)
    with on_pocl(1) as client:
        with pytest.raises(ClusterError, match="all workers were lost at once"):
            cgd.connected_components([Killer(tmp_path / "marker", part)], n_vertices=400, client=client)
        client.wait_for_workers(1)
        labels = cgd.connected_components([part], n_vertices=400, client=client).labels
    assert np.array_equal(labels, cg.connected_components(graph, session=session_on("pocl")).labels)


def test_all_devices_are_gpus_and_one_cpu() -> None:
    session_on("pocl")
    found = _named("all")
    assert sum(row.facts is not None and row.facts.is_cpu for row in found) == 1
    assert len({row.id for row in found}) == len(found)
