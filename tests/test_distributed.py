"""Components and forests over Dask's workers: the answers of one machine, chunks, and sizes of messages."""

import contextlib
import pickle
import sys
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest
from conftest import session_on
from dask_clusters import (
    N_WORKERS,
    client_fixture,  # noqa: F401
    random_graph,
)

import clgraph as cg
import clgraph.distributed as cgd
from clgraph import generators
from clgraph.algorithms.minimum_spanning_forest.on_devices import forest_of_edges
from clgraph.distributed import chunks, fold, forest
from clgraph.distributed.fold import Part
from clgraph.distributed.forest import Forest, ForestFilter
from clgraph.errors import GraphError, GraphFileError, InputError, MissingExtraError
from clgraph.progress import Progress, listening

pytestmark = pytest.mark.xdist_group("distributed")


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
    graph = random_graph(100, 2000, dtype)
    whole = cg.minimum_spanning_forest(graph, maximum=maximum, session=session_on("pocl"))
    for module in (forest, chunks):
        monkeypatch.setattr(module, "SEGMENT_EDGES", 50)
    part = None
    for place, chunk in enumerate(cgd.edge_chunks(graph, 3)):
        part = forest.absorb(part, [place], chunk, n=None, base=0, maximum=maximum)
        assert pickle.loads(pickle.dumps(part)).aside is None
    assert part is not None and part.n_edges == graph.edge_list()[0].size
    part = forest.finish(part, maximum=maximum)
    assert np.array_equal(part.value.sources, whole.sources) and np.array_equal(part.value.targets, whole.targets)
    assert np.array_equal(part.value.weights, whole.weights)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 200, 257, 70_000])
def test_a_forest_comes_whole_in_a_message(n: int) -> None:
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
    """The kept and the known edges have the same forest as all edges, for any known forest."""
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
def test_wrong_parquet_chunks_are_refused(tmp_path: Path, columns: dict[str, list[Any]] | None, message: str) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the tests do not install pyarrow, which has 170 MB")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1, or so it says")
    if columns is not None:
        parquet.write_table(arrow.table(columns), path)
    with pytest.raises(InputError, match=message):
        list(chunks.segments(path, n=300))


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
def test_bad_chunks_are_named(client: distributed.Client, given: Any, error: type[Exception], message: str) -> None:
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


def test_parquet_names_the_package_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"a\.parquet: parquet files need pyarrow: pip install pyarrow"):
        list(chunks.segments(tmp_path / "a.parquet", n=None))
