"""Components, forests, factors and loads over Dask's workers: the same as on one machine, whoever of them is lost."""

import contextlib
import os
import pickle
import signal
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import distributed
import hetero_loads
import numpy as np
import pytest
from conftest import printed_by, session_on
from scipy.sparse import random_array
from sklearn.base import clone
from test_factorization import random_ratings

import clgraph as cg
import clgraph.distributed as cgd
from clgraph import Ratings, generators
from clgraph.algorithms.factorization.training.epochs import Epoch
from clgraph.algorithms.minimum_spanning_forest.on_devices import forest_of_edges
from clgraph.distributed import LocalOpenCLCluster, chunks, fold, forest, workers
from clgraph.distributed.cluster import _named
from clgraph.distributed.fold import Part
from clgraph.distributed.forest import Forest, ForestFilter
from clgraph.errors import (
    ClusterError,
    DeviceDroppedWarning,
    GraphError,
    GraphFileError,
    InputError,
    KernelBuildError,
    MissingExtraError,
    NoDeviceError,
    WorkerLostError,
)
from clgraph.hetero import elementwise
from clgraph.progress import Progress, listening

pytestmark = pytest.mark.xdist_group("distributed")


N_WORKERS = 2


@contextmanager
def on_pocl(n_workers: int = N_WORKERS) -> Iterator[distributed.Client]:
    """A client of workers that share PoCL's CPU."""
    session_on("pocl")
    with (
        LocalOpenCLCluster(["pocl"], workers_per_device=n_workers, memory_limit=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        yield client


@contextmanager
def plain(n_workers: int = 0, **options: Any) -> Iterator[distributed.Client]:
    """A client of Dask's own workers, which know of no device."""
    address = "127.0.0.1"
    with (
        distributed.LocalCluster(
            n_workers=n_workers, host=address, dashboard_address=f"{address}:0", **options
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    with on_pocl() as client:
        yield client


def random_graph(n: int, m: int, dtype: Any = np.int32) -> cg.Graph:
    rng = np.random.default_rng(n + m)
    return cg.Graph.from_edges(
        rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(0, 50, m).astype(dtype), n=n, duplicates="min"
    )


def graphs() -> dict[str, cg.Graph]:
    nothing = np.zeros(0, np.int32)
    return {
        "path": generators.path(50),
        "star": generators.star(50),
        "one edge": cg.Graph.from_edges([0], [1], [7], n=2),
        "no edge": cg.Graph.from_edges(nothing, nothing, n=3),
        "random": random_graph(500, 400),
        "floats": random_graph(300, 900, np.float64),
        "unweighted": cg.generators.rmat(8, 4, seed=1),
    }


@pytest.mark.parametrize("n_chunks", [1, 5])
@pytest.mark.parametrize("name", graphs())
def test_answers_are_those_of_one_device(client: distributed.Client, name: str, n_chunks: int) -> None:
    graph, one = graphs()[name], session_on("pocl")
    parts = cgd.edge_chunks(graph, n_chunks)
    count, labels = cgd.connected_components(parts, n_vertices=graph.n_vertices, client=client)
    wanted = cg.connected_components(graph, session=one)
    assert count == wanted.n_components and np.array_equal(labels, wanted.labels)
    for maximum in (False, True):
        found = cgd.minimum_spanning_forest(parts, n_vertices=graph.n_vertices, maximum=maximum, client=client)
        tree = cg.minimum_spanning_forest(graph, maximum=maximum, session=one)
        assert found.weight == tree.weight
        assert np.array_equal(found.sources, tree.sources) and np.array_equal(found.targets, tree.targets)
        assert (found.weights is None) == (tree.weights is None or not found.sources.size)
        assert found.weights is None or np.array_equal(found.weights, tree.weights)
        assert found.to_graph().n_vertices == graph.n_vertices


def test_ids_may_grow_from_chunk_to_chunk(client: distributed.Client) -> None:
    parts = [([0], [k]) for k in (3, 1, 40, 17, 900)]
    count, labels = cgd.connected_components(parts, client=client)
    assert labels.size == 901 and count == 896 and len({*labels[[0, 1, 3, 17, 40, 900]]}) == 1
    assert cgd.connected_components([], client=client).labels.size == 0
    assert cgd.minimum_spanning_forest([], client=client).weight == 0


def test_many_files_go_together_in_a_task(client: distributed.Client, tmp_path: Path) -> None:
    graph, paths = random_graph(200, 300), []
    for k, (sources, targets, weights) in enumerate(cgd.edge_chunks(graph, 40)):
        paths.append(tmp_path / f"{k}.npz")
        np.savez(paths[-1], sources=sources, targets=targets, weights=weights)
    told: list[Progress] = []
    with listening(told.append):
        found = cgd.minimum_spanning_forest(paths, n_vertices=200, client=client)
    assert found.weight == cg.minimum_spanning_forest(graph, session=session_on("pocl")).weight
    ours = [state for state in told if state.what == "minimum spanning forest"]
    assert [state.done for state in ours] == list(range(0, 41, 40 // (8 * N_WORKERS)))
    assert {(state.total, state.unit) for state in ours} == {(40, "chunks")}
    assert fold.grouped(["a", Path("b"), [1], "c", "d", "e"], 2) == [[0, 1], [2], [3, 4], [5]]
    np.savez(paths[3], sources=[0], targets=[500])
    with pytest.raises(GraphError, match=r"chunks\[3\]: targets\[0\] = 500"):
        cgd.connected_components(paths, n_vertices=200, client=client)


def test_messages_take_four_bytes_a_vertex(client: distributed.Client) -> None:
    graph = random_graph(20_000, 30_000)

    def incoming(dask_worker: Any) -> list[int]:
        """Return the sizes of our results that came from another worker."""
        keys = [item for entry in dask_worker.transfer_incoming_log for item in entry["keys"].items()]
        return [n_bytes for key, n_bytes in keys if key.startswith("clgraph-")]

    before = client.run(incoming)
    found = cgd.connected_components(cgd.edge_chunks(graph, 7), n_vertices=graph.n_vertices, client=client)
    info = found.info
    assert (info.n_messages, info.largest_message_bytes, info.n_chunks) == (N_WORKERS - 1, 4 * graph.n_vertices, 7)
    assert info.bytes_sent == info.n_messages * info.largest_message_bytes <= 8 * graph.n_vertices
    assert info.n_edges == graph.edge_list()[0].size
    sent = [size for address, sizes in client.run(incoming).items() for size in sizes[len(before[address]) :]]
    assert len(sent) == info.n_messages and info.bytes_sent <= sum(sent) < info.bytes_sent + 1000
    whole = pickle.dumps(Part(found.labels, found.labels.nbytes, "tcp://127.0.0.1:40000", 30_000))
    assert len(whole) < info.largest_message_bytes + 1000


def test_chunks_of_every_kind_are_read_in_segments(
    client: distributed.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(300, 600)
    sources, targets, weights = graph.edge_list()
    np.savez(tmp_path / "a.npz", sources=sources, targets=targets, weights=weights)
    (tmp_path / "b.txt").write_text(
        "# a comment\n" + "".join(f"{u + 1} {v + 1} {w}\n" for u, v, w in zip(sources, targets, weights, strict=True))
    )
    arrays = (sources, targets, weights)
    monkeypatch.setattr(chunks, "SEGMENT_EDGES", 100)
    kinds: dict[str, tuple[Any, int]] = {
        "arrays": (arrays, 0),
        "npz": (tmp_path / "a.npz", 0),
        "text": (str(tmp_path / "b.txt"), 1),
        "function": (lambda: arrays, 0),
        "from 1": ((sources + 1, targets + 1, weights), 1),
    }
    with contextlib.suppress(ImportError):  # the tests do not install pyarrow, which has 170 MB
        from pyarrow import parquet, table

        columns = {"u": sources, "v": targets, "w": weights}  # taken in their order
        parquet.write_table(table(columns), tmp_path / "c.parquet", row_group_size=270)
        kinds["parquet"] = tmp_path / "c.parquet", 0
    for name, (chunk, base) in kinds.items():
        parts = list(chunks.segments(chunk, n=300, base=base))
        assert name == "text" or max(part[0].size for part in parts) == 100
        for column, wanted in enumerate(arrays):
            assert np.array_equal(np.concatenate([part[column] for part in parts]), wanted), name
        tree = cgd.minimum_spanning_forest([chunk], n_vertices=300, base=base, client=client)
        assert tree.weight == cg.minimum_spanning_forest(graph, session=session_on("pocl")).weight
    pairs = np.stack([sources, targets], 1)
    assert sum(part[0].size for part in chunks.segments(pairs, n=None)) == sources.size
    future = client.submit(lambda: arrays[:2], pure=False)
    assert cgd.connected_components([future], n_vertices=300, client=client).info.n_edges == sources.size


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "3 2\n0 1\n1 2\n", "line 1: '3 2'; expected no size line, though it fits"),
        ("a.txt", "0 1\n1 x\n", "line 2"),
        ("a.txt", "3 5\n0 1 0.5\n1 2 0.5\n", "line 1: '3 5'; expected 'source target'"),
        ("a.txt", "% bip unweighted\n1 1\n", "two sets of ids"),
        ("a.csv", "source,target,capacity\n1,1,5\n", "line 1: 'source,target,capacity'"),
        ("a.npz", {"sources": np.array(3), "targets": np.zeros(1, int)}, r"sources has shape \(\)"),
        ("a.npz", {"sources": np.zeros(1), "targets": np.zeros(1), "weights": np.array(1.5)}, "weights has shape"),
    ],
)
def test_chunks_that_are_no_list_of_edges_are_refused(tmp_path: Path, name: str, content: Any, message: str) -> None:
    if isinstance(content, str):
        (tmp_path / name).write_text(content)
    else:
        np.savez(tmp_path / name, **content)
    with pytest.raises(GraphFileError, match=message):
        list(chunks.segments(tmp_path / name, n=None))


def test_chunks_of_text_have_size_lines_and_names_of_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("4 2\n0 1 0.5\n1 2 1.5\n")
    (tmp_path / "b.csv").write_text("weight,target,source\n0.5,1,0\n1.5,2,1\n")
    for name in ("a.txt", "b.csv"):
        ((sources, targets, weights),) = chunks.segments(tmp_path / name, n=None)
        assert (sources.tolist(), targets.tolist()) == ([0, 1], [1, 2])
        assert weights is not None and weights.tolist() == [0.5, 1.5]
    (tmp_path / "c.txt").write_text("5 9\n0 1\n1 2\n")
    ((sources, targets, _),) = chunks.segments(tmp_path / "c.txt", n=None)
    assert (sources.tolist(), targets.tolist()) == ([5, 0, 1], [9, 1, 2])


@pytest.fixture
def as_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process takes itself for a worker."""
    for module in (fold, forest):
        monkeypatch.setattr(module, "own_address", lambda: "here")
    monkeypatch.setattr(forest, "worker_session", lambda: session_on("pocl"))


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_a_forest_grows_by_segments(
    monkeypatch: pytest.MonkeyPatch, as_worker: None, dtype: Any, maximum: bool
) -> None:
    graph, contracted = random_graph(100, 2000, dtype), []
    whole = cg.minimum_spanning_forest(graph, maximum=maximum, session=session_on("pocl"))
    lightest = forest.lightest

    def counted(n: int, maximum: bool, *parts: Any) -> Any:
        contracted.append(sum(part[0].size for part in parts))
        return lightest(n, maximum, *parts)

    for module in (forest, chunks):
        monkeypatch.setattr(module, "SEGMENT_EDGES", 50)
    monkeypatch.setattr(forest, "lightest", counted)
    part = None
    for place, chunk in enumerate(cgd.edge_chunks(graph, 3)):
        part = forest.absorb(part, [place], chunk, n=None, base=0, maximum=maximum)
        assert pickle.loads(pickle.dumps(part)).aside is None
    assert part is not None and part.n_edges == graph.edge_list()[0].size
    part = forest.finish(part, maximum=maximum)
    assert np.array_equal(part.value.sources, whole.sources) and np.array_equal(part.value.targets, whole.targets)
    assert np.array_equal(part.value.weights, whole.weights)
    # The filter drops most edges, so the forest is looked at again only a few times.
    assert len(contracted) < 12 and max(contracted) < 350


@pytest.mark.parametrize("n", [0, 1, 2, 3, 200, 257, 70_000])
def test_a_forest_as_a_message(n: int) -> None:
    """A message has 8 bytes a vertex at most if weights have 4, and everything is in it."""
    graph = random_graph(max(n, 1), 3 * n)
    found = cg.minimum_spanning_forest(graph, session=session_on("pocl"))
    waiting = ((found.targets[:3], found.sources[:3], None),)
    sent = Forest(found.sources, found.targets, found.weights, n, waiting)
    came = pickle.loads(pickle.dumps(sent))
    for one, other in zip((*sent.edges, *waiting[0][:2]), (*came.edges, *came.waiting[0][:2]), strict=True):
        assert np.array_equal(one, other)
    assert came.n_vertices == n and came.targets.dtype == came.sources.dtype == np.int32
    alone = sent._replace(waiting=())
    assert alone.nbytes <= 8 * n and len(pickle.dumps(alone)) <= alone.nbytes + 1000


def test_messages_of_forests_take_eight_bytes_a_vertex(client: distributed.Client) -> None:
    graph = random_graph(20_000, 60_000)
    info = cgd.minimum_spanning_forest(cgd.edge_chunks(graph, 7), n_vertices=graph.n_vertices, client=client).info
    assert info.n_messages == N_WORKERS - 1
    assert 4 * 18_000 < info.bytes_sent == info.largest_message_bytes <= 8 * graph.n_vertices


@pytest.mark.parametrize("maximum", [False, True])
def test_no_edge_of_the_forest_is_filtered_out(maximum: bool) -> None:
    """Whatever forest the filter knows, the forest of what it keeps and of the known edges is that of all edges."""
    session, rng = session_on("pocl"), np.random.default_rng(5)
    n_dropped = 0
    for trial in range(30):
        n, m = int(rng.integers(2, 60)), int(rng.integers(1, 400))
        weights = rng.integers(0, int(rng.integers(1, 40)), m).astype([np.int32, np.int64, np.float64][trial % 3])
        edges = (*rng.integers(0, n, (2, m), dtype=np.int32), weights)
        old, new = (tuple(array[part] for array in edges) for part in (slice(m // 2), slice(m // 2, m)))
        known = forest_of_edges(session, n, old, maximum=maximum)
        if not known[0].size:
            continue
        kept = ForestFilter(session, n, known, maximum=maximum).rest(new)
        n_dropped += new[0].size - kept[0].size
        both = tuple(np.concatenate(pair) for pair in zip(known, kept, strict=True))
        for found, wanted in zip(
            forest_of_edges(session, n, both, maximum=maximum), forest_of_edges(session, n, edges, maximum=maximum),
            strict=True,
        ):  # fmt: skip
            assert np.array_equal(found, wanted)
    assert n_dropped > 500


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"u": [0]}, "1 columns; expected the arrays"),
        ({"u": [0, None], "v": [1, 2]}, "a value is missing"),
        ({"u": [0], "v": [300]}, "targets.0. = 300 is not a vertex"),
        ({"u": ["a"], "v": ["b"]}, "sources"),
        (None, "no parquet file of edges"),
    ],
)
def test_parquet_chunks_that_are_refused(tmp_path: Path, columns: dict[str, list[Any]] | None, message: str) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the tests do not install pyarrow, which has 170 MB")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1, or so it says")
    if columns is not None:
        parquet.write_table(arrow.table(columns), path)
    with pytest.raises(InputError, match=message):
        list(chunks.segments(path, n=300))


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
            workers.wait_for(client, [future])
        with pytest.raises(ClusterError, match="has lost all workers"):
            workers.results(client, [future])
        with pytest.raises(WorkerLostError, match=r"worker tcp://127\.0\.0\.1:1 is lost"):
            workers.results(client, [future], address="tcp://127.0.0.1:1")


def test_a_result_may_take_longer_than_a_look(client: distributed.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_LOOK_SECONDS", 1e-3)
    (found,) = workers.results(client, [client.submit(np.ones, 1 << 22, pure=False)], address=min(client.nthreads()))
    assert found.sum() == 1 << 22
    with pytest.raises(TimeoutError, match="of the task"):
        workers.results(client, [client.submit(_late)])


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


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("a.txt", InputError, "a sequence of chunks"),
        (7, InputError, "chunks = 7"),
        ([([0], [1]), 7], GraphError, r"chunks\[1\] = 7"),
        ([([0], [1]), ([0, 1], [1])], GraphError, r"chunks\[1\]: arrays of 2, 1 elements"),
        ([([0], [1]), ([0], [9])], GraphError, r"chunks\[1\]: targets\[0\] = 9 is not a vertex"),
        ([([0.5], [1])], GraphError, r"chunks\[0\]: sources holds float64"),
        ([([0], [1], ["a"])], GraphError, r"chunks\[0\]: weights of type"),
        ([np.zeros((3, 4), int)], GraphError, r"chunks\[0\]: "),
        ([lambda: 3], GraphError, r"chunks\[0\]: 3; allowed"),
        (["missing.npz"], GraphFileError, r"chunks\[0\]: missing.npz"),
        (["missing.txt"], GraphFileError, r"chunks\[0\]: missing.txt"),
    ],
)
def test_bad_chunks(client: distributed.Client, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cgd.connected_components(given, n_vertices=5, client=client)


def test_loops_alone_leave_an_empty_forest(monkeypatch: pytest.MonkeyPatch, as_worker: None) -> None:
    monkeypatch.setattr(forest, "SEGMENT_EDGES", 1)
    part = None
    for chunk in (([2], [2], [5]), ([1, 3], [1, 3], [5, 6]), ([0], [1], [7])):
        part = forest.absorb(part, [0], tuple(map(np.array, chunk)), n=5, base=0, maximum=False)
    assert part is not None
    found = forest.finish(part, maximum=False).value
    assert (found.sources.tolist(), found.targets.tolist(), found.n_vertices) == ([0], [1], 5)


def test_weights_are_there_for_all_edges_or_for_none(client: distributed.Client) -> None:
    with pytest.raises(GraphError, match="some edges have weights"):
        cgd.minimum_spanning_forest([([0], [1], [2])] * 2 + [([1], [2])] * 2, client=client)


def test_a_client_without_workers() -> None:
    with plain() as client, pytest.raises(ClusterError, match="has no workers"):
        cgd.connected_components([([0], [1])], client=client)
    with pytest.raises(InputError, match="client = 'here'"):
        cgd.connected_components([([0], [1])], client="here")


def test_workers_with_other_versions(client: distributed.Client) -> None:
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


def test_a_worker_without_a_device() -> None:
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
def test_bad_clusters(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    session_on("pocl")
    with pytest.raises(error, match=message):
        cgd.LocalOpenCLCluster(**arguments)


def test_parquet_names_the_package_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"a\.parquet: parquet files need pyarrow: pip install pyarrow"):
        list(chunks.segments(tmp_path / "a.parquet", n=None))


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


def test_a_kernel_that_does_not_build(client: distributed.Client) -> None:
    broken = elementwise("no such name", inputs={"x": np.float32}, dtype=np.float32)
    with pytest.warns(DeviceDroppedWarning), pytest.raises(KernelBuildError, match=r"(?s)worker tcp.*undeclared"):
        cgd.HeteroScheduler(client).run(broken, [np.ones(100, np.float32)])


def test_a_chunk_that_ends_every_worker() -> None:
    deadly = [lambda: os.kill(os.getpid(), signal.SIGKILL)]
    once = dask.config.set({"distributed.scheduler.allowed-failures": 0})
    with once, on_pocl(1) as client, pytest.raises(ClusterError, match="has ended every worker"):
        cgd.connected_components(deadly, client=client)


def test_all_devices_are_gpus_and_one_cpu() -> None:
    session_on("pocl")
    found = _named("all")
    assert sum(row.facts is not None and row.facts.is_cpu for row in found) == 1
    assert len({row.id for row in found}) == len(found)


# ---- factorisation


SMALL = random_ratings(800)
OPTIONS: dict[str, Any] = {
    "n_factors": 4,
    "n_epochs": 4,
    "learning_rate": 0.03,
    "random_state": 0,
    "strategy": "matching_edge",
}


@pytest.fixture(scope="module")
def wanted() -> cg.SGDMatrixFactorization:
    """The same strata on two devices of this process."""
    devices = [session_on("pocl"), session_on("intel")]
    return cg.SGDMatrixFactorization(devices=devices, biases=True, **OPTIONS).fit(SMALL, eval_set=SMALL)


def assert_like(found: Any, wanted: Any) -> None:
    assert np.allclose(found.loss_curve_, wanted.loss_curve_, rtol=1e-4)
    assert np.allclose(found.eval_curve_, wanted.eval_curve_, rtol=1e-4, equal_nan=True)
    for name in ("user_factors_", "item_factors_", "user_biases_", "item_biases_"):
        assert np.allclose(getattr(found, name), getattr(wanted, name), rtol=1e-3, atol=1e-4), name


def test_factors_are_those_of_strata_on_one_machine(client: distributed.Client, wanted: Any) -> None:
    found = cgd.SGDMatrixFactorization(client=client, biases=True, **OPTIONS).fit(SMALL, eval_set=SMALL)
    assert_like(found, wanted)
    assert found.loss_curve_[-1] < found.loss_curve_[0] and found.info_.device.count("tcp://127.0.0.1") == 2
    local = found.to_local()
    assert type(local) is cg.SGDMatrixFactorization and local.score(SMALL) == found.score(SMALL)
    local.set_params(session=session_on("pocl")).partial_fit(SMALL)
    assert local.n_iter_ == 5 and found.n_iter_ == 4
    found.partial_fit(SMALL)
    assert found.n_iter_ == 5 and found.loss_curve_[-1] == pytest.approx(local.loss_curve_[-1], rel=0.05)


class KillerAfterTwoEpochs:
    """A callback that kills a worker after the second epoch."""

    def __init__(self, client: distributed.Client) -> None:
        self.client = client
        self.killed = 0

    def __call__(self, number: int, _epoch: Epoch) -> None:
        if number == 2:
            pids = self.client.run(os.getpid)
            self.killed = pids[min(pids)]
            os.kill(self.killed, signal.SIGKILL)


def test_a_killed_worker_changes_no_factors(wanted: Any) -> None:
    with on_pocl() as client:
        killer = KillerAfterTwoEpochs(client)
        model = cgd.SGDMatrixFactorization(client=client, biases=True, **OPTIONS)
        model.fit(SMALL, eval_set=SMALL, callback=killer)
    assert killer.killed
    assert_like(model, wanted)


def test_an_estimator_is_cloned_saved_and_refused(client: distributed.Client, tmp_path: Any) -> None:
    model = cgd.SGDMatrixFactorization(2, client=client, n_epochs=1, random_state=0)
    assert clone(model).client is client and "session" not in model.get_params()
    few = Ratings([0, 1, 2], [0, 0, 0], np.float32([1, 2, 3]), 3, 1)  # more workers than items
    model.fit(few).to_local().save(tmp_path / "model.npz")
    assert np.array_equal(cg.SGDMatrixFactorization.load(tmp_path / "model.npz").item_factors_, model.item_factors_)
    with pytest.raises(InputError, match="no ratings"):
        model.fit(Ratings([], [], np.float32([]), 3, 2))
    with plain() as empty, pytest.raises(ClusterError, match="has no workers"):
        cgd.SGDMatrixFactorization(2, client=empty).fit(few)
