"""How results, explanations, devices and progress are shown, and what pickles of results carry."""

import copy
import gzip
import io
import json
import lzma
import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from conftest import session_on

import clgraph as cg
from clgraph import progress
from clgraph.algorithms.factorization.training.learning_rates import make_schedule
from clgraph.algorithms.factorization.training.training import Factorization
from clgraph.cli.main import main
from clgraph.cli.terminal import busy
from clgraph.data.graphs.vertices import Vertices
from clgraph.errors import MissingEdgesError
from clgraph.io.ratings import read_ratings
from clgraph.progress import Progress
from clgraph.runtime.session import Session

NAMES = np.array([f"v{v}" for v in range(1024)])
RUNS: dict[str, Callable[[cg.Graph], Any]] = {
    "bfs": lambda graph: cg.bfs(graph, ids_of(graph)[3], session="pocl"),
    "sssp": lambda graph: cg.sssp(graph, ids_of(graph)[3], predecessors=True, session="pocl"),
    "connected_components": lambda graph: cg.connected_components(graph, session="pocl"),
    "minimum_spanning_forest": lambda graph: cg.minimum_spanning_forest(graph, session="pocl"),
    "color": lambda graph: cg.color(graph, session="pocl"),
    "color_columns": lambda graph: cg.color_columns(graph, session="pocl"),
    "partition": lambda graph: cg.partition(graph, 4, session="pocl"),
    "hash_collisions": lambda graph: cg.hash_collisions(graph, session="pocl"),
}


def ids_of(graph: Any) -> Any:
    ids = getattr(graph, "ids", None)  # a matrix has none
    return range(1024) if ids is None else ids


@pytest.fixture(scope="module", params=["host", "ids", "device", "matrix"])
def graph(request: pytest.FixtureRequest) -> Any:
    session_on("pocl")
    made = cg.generators.random_weights(cg.generators.rmat(10, 16), high=100)
    if request.param == "ids":
        return cg.Graph(made.row_offsets, made.column_indices, made.edge_weights, ids=NAMES)
    if request.param == "device":
        return cg.DeviceGraph.from_graph(made, session="pocl")
    return made.to_scipy() if request.param == "matrix" else made


def answer_bytes(result: Any) -> int:
    """Return the bytes of the arrays of a result, of the ends of a forest, and of the ids."""
    arrays = [value for value in (*result, *vars(result).values()) if isinstance(value, np.ndarray)]
    if isinstance(result, cg.SpanningForest):
        arrays = [result.edges, result.sources, result.targets, result.weights]
    ids = getattr(getattr(result, "graph", None), "ids", None)
    return sum(array.nbytes for array in arrays) + (0 if ids is None else ids.nbytes)


@pytest.mark.parametrize("name", RUNS)
def test_a_pickle_has_the_answer_and_not_the_graph(graph: Any, name: str) -> None:
    result = RUNS[name](graph)
    written = pickle.dumps(result)
    assert len(written) <= answer_bytes(result) + 4000 < 100_000  # the graph has 250,000
    read = pickle.loads(written)
    assert type(read) is type(result) and str(read.info) == str(result.info)
    for ours, theirs in zip(read, result, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(pickle.dumps(read)) <= len(written) + 100
    if not hasattr(result, "graph"):
        return
    assert (read.graph.n_vertices == 1024 and read.graph.ids is None) or list(read.graph.ids) == list(NAMES)
    for needs_edges in (lambda: read.graph.row_offsets, lambda: cg.bfs(read.graph, 0), lambda: read.graph.stats):
        with pytest.raises(MissingEdgesError, match="a pickled result has no edges"):
            needs_edges()


def test_unpickled_paths_and_forests_work(graph: Any) -> None:
    for name in ("bfs", "sssp"):
        result = RUNS[name](graph)
        read, ids = pickle.loads(pickle.dumps(result)), ids_of(result.graph)
        reached = np.flatnonzero(result.predecessors >= 0)[-1]
        assert read.path_to(ids[reached]) == result.path_to(ids[reached]) != []
    forest = RUNS["minimum_spanning_forest"](graph)
    read = pickle.loads(pickle.dumps(forest))
    assert (read.to_scipy() != forest.to_scipy()).nnz == 0
    assert nx.utils.graphs_equal(read.to_networkx(), forest.to_networkx())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_the_graph(copied: Callable[[Any], Any]) -> None:
    result = cg.bfs(cg.generators.path(5), 0)
    again = copied(result)
    assert type(again) is cg.BFS and again.graph is result.graph and again.path_to(3) == [0, 1, 2, 3]
    assert (again.distances is result.distances) == (copied is copy.copy)


def test_a_graph_without_edges_at_hand_says_so() -> None:
    assert repr(Vertices(3, None)) == "Graph(n_vertices=3, without its edges)"
    assert not hasattr(Vertices(3, None), "row_offsets")


@pytest.mark.parametrize("name", RUNS)
def test_info_is_json_and_is_shown_in_short(name: str) -> None:
    session_on("pocl")
    result = RUNS[name](cg.generators.rmat(10, 16))
    info = result.info
    document = json.loads(json.dumps(info.as_dict(), allow_nan=False))
    assert document["strategy"] == info.strategy and document["seconds"]["host"] == info.seconds.host
    assert document["kernels"] == {kernel: list(times) for kernel, times in info.kernels.items()}
    assert len(repr(info)) < 100 and info.strategy in repr(info)
    lines = str(info).splitlines()
    assert lines[0] == f"strategy   {info.strategy} ({info.kind})" or lines[0].split()[1] == info.strategy
    assert all(any(line.startswith(kernel) for line in lines) for kernel in info.kernels)
    page = result._repr_html_()
    assert page.count("<table>") >= 2 and info.strategy in page and "array(" not in page


def test_info_without_times_is_json() -> None:
    from clgraph.runtime.driver.timing import RunInfo, Seconds

    seconds = Seconds(1.0, 0.0, *[float("nan")] * 3)
    info = RunInfo("rem", "online", "x", "y", seconds, {}, {}, {"rounds": np.int64(3), "sizes": np.arange(2)})
    document = json.loads(json.dumps(info.as_dict(), allow_nan=False))
    assert document["seconds"]["kernel"] is None and document["details"] == {"rounds": 3, "sizes": [0, 1]}


def test_an_explanation_prints_the_tables_of_the_command_line(tmp_path: Any, capsys: Any) -> None:
    from clgraph.cli.main import main

    session_on("pocl")
    file = tmp_path / "graph.npz"
    cg.write(cg.generators.rmat(10, 16), file)
    # As new as the command's: a session keeps its rates, and other tests measure some meanwhile.
    choice = cg.explain("connected_components", cg.read(file), strategy="rem", session=cg.Session("pocl"))
    assert main(["explain", "connected_components", str(file), "--strategy", "rem", "-d", "pocl"]) == 0
    assert capsys.readouterr().out == f"{choice}\n"
    assert len(repr(choice)) < 150 and choice.strategy in repr(choice) and "\n" not in repr(choice)
    assert "\n->  rem " in str(choice) and "Kernels" not in str(choice)
    assert choice._repr_html_().count("<table>") == 1 and choice.strategy in choice._repr_html_()
    measured = cg.explain("connected_components", cg.read(file), strategy="rem", session="pocl", measure=True)
    assert "\nKernels of rem\n" in str(measured) and measured._repr_html_().count("<table>") == 2


def test_devices_are_shown_as_a_table() -> None:
    session_on("pocl")
    found = cg.devices()
    assert isinstance(found, list) and all(len(repr(device)) < 200 for device in found)
    for device in found:
        assert any(line.split()[0] == device.id for line in str(found).splitlines())
    assert found._repr_html_().count("<tr>") == 1 + len(found)


def test_a_mesh_shows_its_size_and_its_run() -> None:
    session_on("pocl")
    square = cg.TriangleMesh.from_arrays([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]])
    refined = cg.refine_mesh(square, max_area=0.1, strategy="priority", session="pocl")
    assert f"n_points={refined.n_points}" in refined._repr_html_() and "priority" in refined._repr_html_()
    json.dumps(refined.info.as_dict(), allow_nan=False)
    assert pickle.loads(pickle.dumps(refined)).n_points == refined.n_points


# ---- progress


LINES = b"".join(b"%d %d\n" % (v, v + 1) for v in range(150_000))  # in several blocks


@pytest.mark.parametrize(("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".xz", lzma.compress)])
def test_reading_and_building_are_told(tmp_path: Path, suffix: str, pack: type[bytes]) -> None:
    path, seen = tmp_path / f"graph.txt{suffix}", list[Progress]()
    path.write_bytes(pack(LINES))
    with progress.listening(seen.append):
        cg.read(path, base=0)
    cg.read(path, base=0)  # No listener is left.
    reading = [state for state in seen if state.what == f"reading {path.name}"]
    building = seen[len(reading) :]
    assert {state.total for state in reading} == {None if suffix == ".xz" else len(LINES)}
    assert reading[0].done == 0 and reading[-1].done == len(LINES) and reading[-1].unit == "bytes"
    assert len(reading) > 3 and {state.what for state in building} == {"building"}
    assert building[-1].done == building[-1].total == 300_000


def test_generating_is_told() -> None:
    def steps(call: object) -> list[str]:
        seen = list[Progress]()
        with progress.listening(seen.append):
            call()  # type: ignore[operator]
        last = {state.what: state for state in seen}
        assert all(state.done == state.total for state in last.values())
        assert [state.done for state in seen if state.what == seen[0].what] == sorted(
            state.done for state in seen if state.what == seen[0].what
        )
        return list(last)

    graph = cg.generators.grid(5, 5)
    assert steps(lambda: cg.generators.rmat(9)) == ["generating edges", "building"]
    assert steps(lambda: cg.generators.random_geometric(9)) == ["joining near points", "building"]
    assert steps(lambda: cg.generators.delaunay_points(9)) == ["triangulating", "building"]
    assert steps(lambda: cg.generators.road_like(9)) == ["generating roads", "building"]
    assert steps(lambda: cg.generators.planted_ratings(9, 9, 20)) == ["generating ratings"]
    assert steps(lambda: cg.generators.random_weights(graph)) == ["generating weights"]
    assert steps(lambda: cg.generators.power_law_ratings(50, 40, 500)) == ["generating ratings"]


def test_fitting_is_told(pocl: Session, tmp_path: Path) -> None:
    path, seen = tmp_path / "ratings.txt", list[Progress]()
    path.write_text("1 1 4.0\n1 2 3.0\n2 2 5.0\n", encoding="utf-8")
    with progress.listening(seen.append):
        engine = Factorization(pocl, read_ratings(path), rank=2, strategy="diagonal")
        epochs = engine.train(3, schedule=make_schedule("constant", 0.01))
    assert [state.done for state in seen if state.what == "reading ratings.txt"][-1] == path.stat().st_size
    fitting = [state for state in seen if state.what == "fitting"]
    assert [(state.done, state.total, state.unit) for state in fitting] == [(k, 3, "epochs") for k in range(4)]
    assert fitting[-1].note == f"RMSE {epochs[-1].loss:.4f}"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_on_stderr(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with busy("[waiting]") as listener, busy("inside"):
        assert "[waiting]" in terminal.getvalue() and "inside" not in terminal.getvalue()
        tell = progress.begin("reading", 64 << 20, "bytes")
        for k in range(1, 4):
            tell(k << 24)
            until = time.monotonic() + 60  # it is drawn ten times a second, and later where the machine is busy
            while f"{16 * k} of 64 MiB" not in terminal.getvalue() and time.monotonic() < until:
                time.sleep(0.01)
        listener(Progress("fitting", 2, 3, "epochs", "RMSE 0.5"))
    text = terminal.getvalue()
    assert "48 of 64 MiB" in text and " MiB/s" in text and " left" in text
    assert "fitting, RMSE 0.5" in text and "2 of 3 epochs" in text and capsys.readouterr().out == ""


def test_a_file_gets_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n", encoding="utf-8")
    assert main(["info", str(path)]) == 0
    assert capsys.readouterr().err == ""
