"""The ``clgraph`` command: exit codes, output for people and for programs, bad input; tables of results."""

import csv
import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, crashing_driver, session_on

from clgraph import errors, report
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.cli import info
from clgraph.cli.main import COMMANDS, main
from clgraph.cli.options import write_result
from clgraph.errors import InputError
from clgraph.report import read_rows
from clgraph.runtime.discovery.child import Answer, run_child

# Two triangles, one vertex pair and an isolated vertex; ids as a user would give them.
EDGES = "# two triangles and a pair\n# Nodes: 9 Edges: 7\n0 1\n1 2\n2 0\n3 4\n4 5\n5 3\n7 8\n"


@pytest.fixture
def graph_file(tmp_path: Path) -> str:
    path = tmp_path / "graph.txt"
    path.write_text(EDGES, encoding="utf-8")
    return str(path)


@dataclass
class Cli:
    """The command line in this process."""

    capsys: pytest.CaptureFixture[str]

    def text(self, *arguments: str, code: int = 0) -> str:
        """Return what it prints to stdout."""
        assert main(arguments) == code
        return self.capsys.readouterr().out

    def document(self, *arguments: str) -> Any:
        return json.loads(self.text(*arguments, "--json"))

    def error(self, *arguments: str, code: int = 4) -> str:
        """Return what it prints to stderr, also where that is a warning."""
        assert main(arguments) == code
        return self.capsys.readouterr().err


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(capsys)


@pytest.fixture
def on_pocl(monkeypatch: pytest.MonkeyPatch) -> None:
    session_on("pocl")
    monkeypatch.setenv("CLGRAPH_DEVICE", "pocl")


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clgraph.cli.main", *arguments], cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=600, env={**os.environ, **environment},
    )  # fmt: skip


# ---- parsing and exit codes


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"clgraph {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["connected_components"], ["info", "a", "--nonsense"], ["cache", "burn"]]
)
def test_wrong_usage_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: clgraph" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (errors.NoDeviceError("nothing here"), 3, "nothing here"),
        (errors.DeviceMemoryError("too large"), 5, "too large"),
        (errors.GraphError("bad offsets"), 4, "bad offsets"),
        (errors.UnsupportedStrategyError("unknown strategy"), 2, "unknown strategy"),
        (errors.VerificationError("wrong labels"), 1, "wrong labels"),
        (errors.DeviceError("broken"), 1, "broken"),
        (FileNotFoundError(2, "No such file", "gone.mtx"), 4, "gone.mtx: No such file"),
        (ZeroDivisionError("oops"), 1, "ZeroDivisionError: oops"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_each_error_has_its_code_and_one_line(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fail(_args: object) -> int:
        raise error

    monkeypatch.setattr(info, "run", fail)
    assert main(["info", "graph.txt"]) == code
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert captured.err.startswith("clgraph: ") and message in captured.err
    for arguments in (["--debug", "info", "x"], ["info", "x", "--debug"]):
        with pytest.raises(type(error)):
            main(arguments)


def test_a_reader_that_leaves_early_is_no_error(graph_file: str) -> None:
    child = subprocess.run(
        ["bash", "-c", '"$0" -m clgraph.cli.main info "$1" | head -n 0; echo "${PIPESTATUS[0]}"',
         sys.executable, graph_file],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert (child.stdout, child.stderr) == ("0\n", "")


@pytest.mark.parametrize(
    ("text", "hint"), [("0 1\n2 x\n", "line 2"), ("%%MatrixMarket matrix coordinate real general\n2 2 9\n", "9")]
)
def test_a_damaged_file_is_4_and_says_where(
    tmp_path: Path, text: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "damaged"
    path.write_text(text, encoding="utf-8")
    assert main(["info", str(path)]) == 4
    error = capsys.readouterr().err
    assert "damaged" in error and hint in error and error.count("\n") == 1


def test_a_plot_that_cannot_be_drawn_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    commands = (
        ["hash_collisions", "absent.mtx"], ["probe", "-d", "abacus"],
        ["bfs", "absent.mtx", "--source", "0", "--profile-balance"],
    )  # fmt: skip
    for arguments in commands:
        for picture in ("picture.nonsense", "absent/picture.png"):
            assert picture in cli.error(*arguments, "--plot", picture)
        with monkeypatch.context() as context:
            context.setitem(sys.modules, "matplotlib.figure", None)
            assert "pip install 'matplotlib" in cli.error(*arguments, "--plot", "picture.png", code=1)


@pytest.mark.parametrize("algorithm", MODULES)
def test_an_algorithm_has_one_name(algorithm: str) -> None:
    """In Python, ``explain``, the command line, the benchmarks, and their files and rows."""
    import clgraph

    benchmarks = ROOT / "benchmarks"
    assert hasattr(clgraph, algorithm) or algorithm == "factorization"  # an estimator: SGDMatrixFactorization
    assert algorithm in COMMANDS and (benchmarks / f"bench_{algorithm}.py").exists()
    files = [path for path in benchmarks.glob("results/*.json") if path.stem.rpartition("-")[0] == algorithm]
    assert files and all(read_rows(path)[0]["benchmark"] == algorithm for path in files)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("cc", "connected_components"), ("conected-components", "connected_components"),
        ("msf", "minimum_spanning_forest"), ("mst", "minimum_spanning_forest"), ("conflicts", "hash_collisions"),
        ("factorize", "factorization"), ("coloring", "color"), ("sspp", "sssp"),
    ],
)  # fmt: skip
def test_a_wrong_name_says_which_is_meant(name: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--debug", name, "graph.txt"])
    assert stop.value.code == 2 and f"did you mean {meant!r}?" in capsys.readouterr().err
    assert main(["bench", name]) == main(["explain", name, "graph.txt"]) == 4
    assert capsys.readouterr().err.count(f"did you mean {meant!r}?") == 2
    with pytest.raises(errors.InputError, match=r"known: .*connected_components"):
        find_algorithm("nonsense")


def test_the_package_runs_as_a_module() -> None:
    child = subprocess.run([sys.executable, "-m", "clgraph", "--version"], cwd=ROOT, capture_output=True, check=True)
    assert child.stdout.startswith(b"clgraph ")


# ---- without a device


def test_info(graph_file: str, cli: Cli) -> None:
    document = cli.document("info", graph_file, "--diameter")
    assert (document["n_vertices"], document["max_degree"], document["n_isolated"]) == (9, 2, 1)
    assert document["diameter_bound"] == 1
    compact = cli.document("info", graph_file, "--ids", "compact")
    assert (compact["n_vertices"], compact["n_isolated"]) == (8, 0)
    text = cli.text("info", graph_file)
    assert f"n_edges{'':22}{document['n_edges']}\n" in text


def test_options_say_how_a_file_is_to_be_read(
    cli: Cli, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from clgraph.io import FORMATS

    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    path = str(tmp_path / "from-one.graph")  # as METIS names its files
    Path(path).write_text("1 2\n2 3\n", encoding="utf-8")
    options = ["--format", "edge_list"]
    assert cli.document("info", path, *options)["n_vertices"] == 3
    assert main(["info", path, *options, "--no-directed"]) == 0
    assert main(["info", path, *options, "--ids", "keep"]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith(f"clgraph: warning: {path}: the smallest id is 1") and captured.err.count("\n") == 1
    assert ".py" not in captured.err
    size = str(tmp_path / "size.txt")
    Path(size).write_text("4 2 1217567877\n1 2 1217567878\n", encoding="utf-8")
    for more in ([], ["--columns", "source,target,time"]):
        assert main(["info", size, *more]) == 0
        assert ("looks like times" in capsys.readouterr().err) == (not more)
    Path(size).write_text("4 2\n1 2\n2 3\n", encoding="utf-8")
    for more, n in (([], 4), (["--size-line"], 4), (["--no-size-line"], 4), (["--no-size-line", "--base", "0"], 5)):
        assert main(["info", size, *more, "--json"]) == 0
        captured = capsys.readouterr()
        assert json.loads(captured.out)["n_vertices"] == n and ("--no-size-line" in captured.err) == (not more)
    for base, n in (("0", 4), ("1", 3)):
        assert main(["info", path, *options, "--base", base, "--json"]) == 0
        captured = capsys.readouterr()
        assert json.loads(captured.out)["n_vertices"] == n and captured.err == ""
    assert cli.document("info", path, *options, "--base", "1", "--directed")["n_edges"] == 2
    cli.text("convert", path, str(tmp_path / "out.mtx"), *options, "--base", "1", "--directed")
    assert cli.document("info", str(tmp_path / "out.mtx"))["directed"] is True
    for name in set(COMMANDS) & {*MODULES, "info", "convert", "explain"} - {"factorization"}:
        with pytest.raises(SystemExit):
            main([name, "--help"])
        text = " ".join(capsys.readouterr().out.split())
        options = ["--base {0,1}", "--directed, --no-directed", "--ids {keep,compact}", "--columns", "--size-line"]
        assert all(word in text for word in (*FORMATS, *options))
    assert "--base, --size-line" in cli.error("explain", "factorization", path, "--base", "1", "--no-size-line")


def test_the_suffix_of_an_output_decides_what_stands_between(tmp_path: Path) -> None:
    rows = [("a,b", 1.5), ("c", 2.0)]
    commas, tabs = b'"a,b",1.5\nc,2.0\n', b"a,b\t1.5\nc\t2.0\n"
    for name, expected in (("x.csv", commas), ("x.tsv", tabs), ("x", tabs), ("x.csv.gz", commas)):
        write_result(str(tmp_path / name), np.zeros(2), rows)
        written = (tmp_path / name).read_bytes()
        assert (gzip.decompress(written) if name.endswith(".gz") else written) == expected


def test_convert_keeps_the_graph(graph_file: str, tmp_path: Path, cli: Cli) -> None:
    from clgraph.io import read

    target = str(tmp_path / "graph.mtx")
    assert "9 vertices" in cli.text("convert", graph_file, target)
    before, after = read(graph_file), read(target)
    np.testing.assert_array_equal(before.column_indices, after.column_indices)
    np.testing.assert_array_equal(before.row_offsets, after.row_offsets)
    for name in ("again.csv", "again.npz"):
        cli.text("convert", graph_file, str(tmp_path / name), "--ids", "compact")
        assert read(tmp_path / name).ids.tolist() == [0, 1, 2, 3, 4, 5, 7, 8]  # type: ignore[union-attr]
    assert main(["convert", graph_file, str(tmp_path / "absent" / "graph.mtx")]) == 4


def test_cache_clear_removes_only_what_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    for name in ("profiles/a.json", "pocl/x/kernel", "graphs/g.npz", "h.clgraph", "mine.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("12345", encoding="utf-8")
    document = cli.document("cache")
    assert document["graphs"] == {"files": 2, "bytes": 10} and document["kernels"] == {"files": 1, "bytes": 5}
    assert cli.document("cache", "clear", "graphs")["profiles"]["files"] == 1
    assert not (tmp_path / "h.clgraph").exists()
    cli.text("cache", "clear")
    assert not (tmp_path / "profiles/a.json").exists() and (tmp_path / "mine.txt").exists()
    assert not (tmp_path / "pocl/x").exists()


def test_a_text_file_is_parsed_once(graph_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli) -> None:
    from clgraph.io import edge_list

    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    first = cli.text("info", graph_file)
    with monkeypatch.context() as context:
        context.setattr(edge_list, "separated", None)  # parsing would fail now
        assert cli.text("info", graph_file) == first
    cli.text("convert", graph_file, str(tmp_path / "graph.npz"))
    cli.text("info", str(tmp_path / "graph.npz"))
    assert cli.document("cache")["graphs"]["files"] == 1, "an .npz file is not copied"
    for unwritable in (tmp_path / "read-only", Path(graph_file) / "below"):
        if unwritable.name == "read-only":
            unwritable.mkdir(mode=0o500)
        monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(unwritable))
        assert cli.text("info", graph_file) == first


def test_bench_lists_and_refuses(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from clgraph.cli import bench

    assert {"connected_components", "cost_model"} <= set(cli.text("bench").split())
    assert main(["bench", "nonsense"]) == 4
    monkeypatch.setattr(bench, "_FOLDER", Path("/nowhere"))
    assert "checkout" in cli.error("bench", "connected_components")


# ---- devices


def test_devices(cli: Cli, on_pocl: None) -> None:
    rows = cli.document("devices")
    assert any("Portable" in row["platform"] and row["facts"]["compute_units"] > 0 for row in rows)
    assert sum(row["default"] for row in rows) == 1
    assert "Portable Computing Language" in cli.text("devices")


def test_no_device_at_all_is_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from clgraph.runtime.discovery import query, selection

    for module in (query, selection):
        monkeypatch.setattr(module, "platforms", list)
    assert main(["devices", "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out) == [] and "clgraph doctor" in captured.err


def test_an_unknown_device_is_3(graph_file: str, cli: Cli) -> None:
    assert "abacus" in cli.error("connected_components", graph_file, "-d", "abacus", code=3)


def test_connected_components(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("connected_components", graph_file, "--verify")
    assert (document["n_components"], document["largest"]) == (4, [3, 3, 2, 1])
    assert document["verified"] is True and document["seconds"]["total"] > 0
    assert document["strategy"] == min(document["predicted_seconds"], key=document["predicted_seconds"].get)
    array = str(tmp_path / "labels.npy")
    text = cli.text("connected_components", graph_file, "--largest", "2", "-o", array)
    assert "components  4\n" in text and "3, 3\n" in text and "picked" in text
    assert np.load(array).tolist() == [0, 0, 0, 1, 1, 1, 2, 3, 3]
    assert "known: auto" in cli.error("connected_components", graph_file, "--strategy", "nonsense", code=2)


def test_labels_that_cannot_be_written_leave_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "labels.txt"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_result(str(target), np.zeros(2), [("a", 0), ("\ud800", 0)])  # half a character has no bytes in UTF-8
    assert target.read_text(encoding="utf-8") == "old" and len(list(tmp_path.iterdir())) == 1


def test_connected_components_verify_fails_on_a_wrong_result(
    graph_file: str, on_pocl: None, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clgraph.algorithms.connected_components import ComponentsPlan

    right = ComponentsPlan.run

    def wrong(plan: ComponentsPlan) -> None:
        right(plan)
        plan.labels.set(np.array([8], np.int32), offset=8)  # parts vertex 8 from its neighbour 7

    monkeypatch.setattr(ComponentsPlan, "run", wrong)
    assert main(["connected_components", graph_file, "--strategy", "rem"]) == 0
    assert "clgraph: " in cli.error("connected_components", graph_file, "--strategy", "rem", "--verify", code=1)


@pytest.fixture
def weighted_file(tmp_path: Path) -> str:
    path = tmp_path / "weighted.txt"
    path.write_text("0 1 5\n1 2 -3\n0 2 4\n3 4 7\n", encoding="utf-8")
    return str(path)


def test_minimum_spanning_forest(weighted_file: str, on_pocl: None, cli: Cli) -> None:
    document = cli.document("minimum_spanning_forest", weighted_file, "--verify")
    assert (document["weight"], document["n_forest_edges"], document["n_trees"]) == (8, 3, 2)
    assert document["verified"] is True and document["strategy"] in document["predicted_seconds"]
    strategy = document["strategy"]
    text = cli.text("minimum_spanning_forest", weighted_file, "--maximum", "--strategy", strategy)
    assert "weight     16\n" in text and "trees      2\n" in text and f"{strategy} ({document['kind']}, forced)" in text


def test_minimum_spanning_forest_writes_edges(weighted_file: str, on_pocl: None, tmp_path: Path, cli: Cli) -> None:
    from clgraph.io import read

    edges = ["0\t2\t4\n", "1\t2\t-3\n", "3\t4\t7\n"]
    assert cli.text("minimum_spanning_forest", weighted_file, "-o", "-") == "".join(edges)
    array, matrix = str(tmp_path / "forest.npy"), str(tmp_path / "forest.mtx.gz")
    cli.text("minimum_spanning_forest", weighted_file, "-o", array)
    graph = read(weighted_file)
    assert np.load(array).dtype == np.int64 and graph.column_indices[np.load(array)].tolist() == [2, 2, 4]
    cli.text("minimum_spanning_forest", weighted_file, "-o", matrix)
    forest = read(matrix)
    assert not forest.directed and forest.n_vertices == 5
    assert ["{}\t{}\t{}\n".format(*edge) for edge in zip(*forest.edge_list(), strict=True)] == edges


def test_bfs(graph_file: str, on_pocl: None, tmp_path: Path, cli: Cli) -> None:
    document = cli.document("bfs", graph_file, "--source", "0", "--source=4", "--verify")
    assert (document["n_reached"], document["greatest_distance"], document["sources"]) == (6, 1, ["0", "4"])
    assert document["verified"] is True and document["strategy"] in document["predicted_seconds"]
    strategy = document["strategy"]
    text = cli.text("bfs", "--source", "7", graph_file, "--strategy", strategy)
    assert "2 of 9 vertices\n" in text and "greatest distance  1\n" in text and "forced)" in text
    options = ["bfs", graph_file, "--source", "1"]
    text = cli.text(*options, "-o", "-", "--predecessors", "--max-depth", "1")
    assert text.startswith("0\t1\t1\n1\t0\t-\n2\t1\t1\n3\t-1\t-\n")
    array = str(tmp_path / "distances.npy")
    assert "reached" in cli.text(*options, "--max-depth", "0", "-o", array)
    assert np.load(array).dtype == np.int32 and np.load(array).tolist() == [-1, 0, *[-1] * 7]


def test_sssp(tmp_path: Path, on_pocl: None, cli: Cli) -> None:
    from clgraph.data.graphs.graph import Graph
    from clgraph.io import write

    path = tmp_path / "weighted.txt"
    path.write_text("0 1 5\n1 2 3\n0 2 9\n3 4 7\n", encoding="utf-8")
    options = ["sssp", str(path), "--source", "0"]
    document = cli.document(*options, "--verify")
    assert (document["n_reached"], document["greatest_distance"], document["verified"]) == (3, 8, True)
    assert cli.document(*options, "--limit", "7.5")["greatest_distance"] == 5
    text = cli.text(*options, "--predecessors", "--verify", "-o", "-")
    assert text == "0\t0\t-\n1\t5\t0\n2\t8\t1\n3\t-1\t-\n4\t-1\t-\n"
    array = str(tmp_path / "distances.npy")
    cli.text(*options, "--source", "3", "-o", array)
    assert np.load(array).dtype == np.int64 and np.load(array).tolist() == [0, 5, 8, 0, 7]
    path.write_text("0 1 0.1\n", encoding="utf-8")
    assert cli.text(*options, "-o", "-") == "0\t0.0\n1\t0.1\n"
    assert "dtype = 'float32'; allowed: float64 by weights of float64" in cli.error(*options, "--dtype", "float32")
    narrow = str(tmp_path / "narrow.npz")
    write(Graph.from_edges([0, 1], [1, 2], np.array([1, 2**-24], np.float32)), narrow)
    for dtype, expected in (("float64", 1 + 2**-24), ("float32", 1)):
        cli.text("sssp", narrow, "--source", "0", "--dtype", dtype, "-o", array)
        assert np.load(array).dtype == dtype and np.load(array)[2] == expected
    path.write_text("0 1 5\n1 2 -3\n", encoding="utf-8")
    assert "-3" in cli.error(*options)


def test_sources_are_ids_of_the_file(graph_file: str, tmp_path: Path, on_pocl: None, cli: Cli) -> None:
    from clgraph.data.graphs.graph import Graph
    from clgraph.io import write

    for name in ("bfs", "sssp"):
        for unknown in ("9", "-1", "1.5", "a", str(2**64)):
            assert unknown in cli.error(name, graph_file, "--source", "0", f"--source={unknown}")
        for ids, unknown in ((["10", "7", "20"], "0"), (["b", "a", "01"], "1")):
            array = np.array(ids) if ids[0] == "b" else np.array(ids, np.int64)
            path = str(tmp_path / "named.npz")
            write(Graph.from_edges(array[:2], array[1:], ids=array), path)
            text = cli.text(name, path, "--source", ids[2], "--predecessors", "-o", "-")
            assert text == f"{ids[0]}\t2\t{ids[1]}\n{ids[1]}\t1\t{ids[2]}\n{ids[2]}\t0\t-\n"
            assert unknown in cli.error(name, path, "--source", unknown)


ONE_BASED = {
    "a.gr": "p sp 4 4\na 1 2 5\na 2 1 5\na 2 3 7\na 3 2 7\n",
    "a.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n4 4 2\n2 1 5\n3 2 7\n",
    "a.graph": "4 2 1\n2 5\n1 5 3 7\n2 7\n\n",
    "a.txt": "# Nodes: 4 Edges: 2\n1 2 5\n2 3 7\n4 4 0\n",
    "out.a": "% sym weighted\n% 2 4 4\n1 2 5\n2 3 7\n",
    "list.txt": "1 2 5\n2 3 7\n4 4 0\n",
}


@pytest.mark.parametrize("name", ONE_BASED)
def test_ids_that_a_person_types_and_reads_are_those_of_the_file(
    name: str, tmp_path: Path, on_pocl: None, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / name
    path.write_text(ONE_BASED[name], encoding="utf-8")
    files = [str(path)]
    for other in ("b.npz", "b.txt", "b.csv", "b.mtx", "b.gr"):
        cli.text("convert", str(path), str(tmp_path / other))
        files.append(str(tmp_path / other))
    for file in [*files, str(path)]:  # the last one comes from the cache
        text = cli.text("sssp", file, "--source", "1", "--predecessors", "-o", "-")
        assert text.splitlines() == ["1\t0\t-", "2\t5\t1", "3\t12\t2", "4\t-1\t-"], file
    text = cli.text("bfs", str(path), "--source", "3", "-o", "-")
    assert text.startswith("1\t2\n2\t1\n3\t0\n")
    for command in ("connected_components", "color"):
        lines = cli.text(command, str(path), "-o", "-").splitlines()
        assert [line.split("\t")[0] for line in lines] == ["1", "2", "3", "4"]
    assert cli.text("minimum_spanning_forest", str(path), "-o", "-") == "1\t2\t5\n2\t3\t7\n"
    assert "source 0 is not among" in cli.error("bfs", str(path), "--source", "0")


def test_rows_and_json_are_not_mixed(graph_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        ["connected_components"], ["minimum_spanning_forest"], ["bfs", "--source", "0"], ["sssp", "--source", "0"],
        ["color"], ["partition", "-k", "2"],
    ]  # fmt: skip
    for arguments in commands:
        assert main([*arguments, graph_file, "--json", "-o", "-"]) == 4
        captured = capsys.readouterr()
        assert captured.out == "" and "both write to stdout" in captured.err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        (">&-", 4, "clgraph: stdout is closed: redirect it to a file or to /dev/null\n"),
        (">/dev/full", 4, "clgraph: stdout: No space left on device\n"),
        ("2>&- >/dev/null", 0, ""),
        ("2>&- --base 7 >/dev/null", 2, ""),
        ("--debug 2>&- >/dev/null", 0, ""),
    ],
)
def test_a_stdout_that_is_closed_or_full_is_one_line(
    graph_file: str, redirection: str, code: int, message: str, unbuffered: str
) -> None:
    child = subprocess.run(
        ["bash", "-c", f'"$0" -m clgraph.cli.main info "$1" {redirection}', sys.executable, graph_file],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert (child.returncode, child.stdout, child.stderr) == (code, "", message)


def test_explain(graph_file: str, on_pocl: None, tmp_path: Path, cli: Cli) -> None:
    document = cli.document("explain", "connected_components", graph_file)
    seconds = {name: predicted["seconds"] for name, predicted in document["predicted"].items()}
    assert document["strategy"] == min(seconds, key=seconds.__getitem__)
    assert cli.text("explain", "connected_components", graph_file).count(" x, ") == len(seconds) - 1
    assert main(["explain", "nonsense", graph_file]) == 4
    assert main(["explain", "connected_components", graph_file, "--distance", "2"]) == 4
    document = cli.document("explain", "color", graph_file, "--distance", "2")
    assert document["strategy"] == "best_of_two" and "jones_plassmann" in document["predicted"]
    (tmp_path / "ratings.txt").write_text("1 1 4.0\n1 2 3.0\n2 2 5.0\n")
    document = cli.document("explain", "factorization", str(tmp_path / "ratings.txt"))
    assert document["ratings"].endswith("ratings.txt") and document["strategy"] in document["predicted"]
    arguments = "explain", "connected_components", graph_file, "--strategy", "rem"
    assert cli.document(*arguments)["kernels"] == []
    measured = cli.document(*arguments, "--measure")["kernels"]
    assert {"initialize", "unite", "compress", "mark_roots"} <= {kernel["kernel"] for kernel in measured}
    assert all(kernel["launches"] > 0 and kernel["seconds"] > 0 for kernel in measured)
    text = cli.text(*arguments, "--measure")
    assert "Kernels of rem" in text and "unite" in text


# ---- the doctor


def test_the_doctor_finds_pocl_at_work(capsys: pytest.CaptureFixture[str], on_pocl: None) -> None:
    report = json.loads(command("doctor", "--json").stdout)
    works = {device["platform"]: device["works"] for device in report["devices"]}
    assert works["Portable Computing Language"] is True
    assert report["versions"]["pyopencl"][0].isdigit()


def test_the_doctor_survives_a_driver_that_kills_its_process(tmp_path: Path, on_pocl: None) -> None:
    library = crashing_driver(tmp_path, "__attribute__((constructor)) static void crash(void) { abort(); }")
    child = command("doctor", "--json", OCL_ICD_VENDORS=str(tmp_path))
    report = json.loads(child.stdout)
    assert child.returncode in (1, 3) and report["error"] == "died of SIGABRT"
    assert any(str(library) in f"{driver['library']}" and driver["error"] for driver in report["drivers"])
    assert any("a-crash.icd" in line for line in report["advice"])


def test_a_child_that_hangs_or_dies_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def child(name: str, code: str) -> Answer:
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        return run_child(name, timeout=60.0 if name != "hangs" else 0.3)

    assert child("answers", "print('noise'); print('[1]')") == ([1], None, False)
    assert child("hangs", "import time; time.sleep(60)") == (None, "did not answer within 0.3 s", True)
    assert child("dies", f"import os; os.kill(os.getpid(), {signal.SIGSEGV:d})") == (None, "died of SIGSEGV", True)
    assert child("raises", "raise ValueError('no platform')") == (None, "ValueError: no platform", False)
    assert child("gives_up", "print('started'); raise SystemExit('LLVM ERROR')") == (None, "LLVM ERROR", True)
    assert child("babbles", "print('hello')") == (None, "unexpected output: 'hello'", False)


def test_no_child_starts_where_there_is_no_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen application would start itself again."""
    for name, value in (("frozen", True), ("executable", None)):
        with monkeypatch.context() as patch:
            patch.setattr(sys, name, value, raising=False)
            with pytest.raises(OSError, match="there is no Python interpreter to start"):
                run_child("clgraph", timeout=60.0)


def test_color(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("color", graph_file, "--balanced", "--seed", "3", "--verify")
    assert document["verified"] and document["distance"] == 1 and len(document["class_sizes"]) == document["n_colors"]
    path = tmp_path / "colors.npy"
    text = cli.text("color", graph_file, "--strategy", "speculative", "--order", "natural", "-o", str(path))
    assert "class sizes" in text and np.load(path).dtype == np.int32
    lines = cli.text("color", graph_file, "--distance", "2", "--deterministic", "-o", "-")
    assert len(lines.splitlines()) == document["n_vertices"]
    assert main(["color", graph_file, "--order", "alphabetical"]) == 4
    assert main(["color", graph_file, "--order", "natural", "--strategy", "best_of_orders"]) == 2


def test_partition(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("partition", graph_file, "-k", "3", "--seed", "2", "--verify")
    assert document["verified"] and sum(document["part_weights"]) == document["n_vertices"] and document["levels"]
    path = tmp_path / "graph.part.3"
    assert "edge cut" in cli.text("partition", graph_file, "-k", "3", "--seed", "2", "-o", str(path))
    assert np.bincount(np.loadtxt(path, int)).tolist() == document["part_weights"]
    assert main(["partition", graph_file, "-k", "0"]) == 4


def test_partition_of_real_weights(cli: Cli, on_pocl: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "real.txt"
    path.write_text("1 2 0.5\n2 3 0.25\n3 4 0.5\n4 1 1e-9\n", encoding="utf-8")
    command = ["partition", str(path), "-k", "2"]
    assert "--scale-weights FACTOR multiplies and rounds them; at most 8.55e+08 here" in cli.error(*command)
    document = cli.document(*command, "--scale-weights", "100", "--verify")
    assert document["edge_cut"] == 25 and document["part_weights"] == [2, 2] and document["scale_weights"] == 100
    assert main([*command, "--scale-weights", "100"]) == 0
    captured = capsys.readouterr()
    assert "edge cut      25 (0.25 before scaling)" in captured.out
    assert "--scale-weights 100: 2 entries round to 0" in captured.err
    assert cli.document(*command, "--scale-weights", "8.55e8")["edge_cut"] == 213750001
    for factor, message in (("9e8", "edges weigh 1125000001 together"), ("1e30", "beyond 64 bits"), ("0", "above 0")):
        assert message in cli.error(*command, "--scale-weights", factor)
    path.write_text("1 2\n", encoding="utf-8")
    assert "has no weights" in cli.error(*command, "--scale-weights", "2")


def test_refine(on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    poly, mesh, picture = tmp_path / "lake.poly", tmp_path / "lake.1.ele", tmp_path / "lake.png"
    poly.write_text("4 2\n1 0 0\n2 3 0\n3 3 1\n4 0 1\n4\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n1\n1 1 .5 7 .05\n")
    document = cli.document(
        "refine", str(poly), "-o", str(mesh), "--min-angle", "25", "--plot", str(picture), "--verify"
    )
    assert document["before"]["n_triangles"] == 2
    assert document["after"]["min_angle"] >= 25 and document["after"]["max_area"] <= 0.05
    assert document["run"]["strategy"] and picture.stat().st_size > 1000
    node = str(tmp_path / "lake.1.node")
    text = cli.text("refine", node, "--max-area", "0.01", "--max-points", "9999")
    assert "areas" in text and str(document["after"]["n_triangles"]) in text
    assert "excused" not in text and "stopped" not in text
    wedge = tmp_path / "wedge.poly"
    wedge.write_text("3 2\n1 0 0\n2 1 0\n3 1.3 .1\n3\n1 1 2\n2 2 3\n3 3 1\n0\n")
    text = cli.text("refine", str(wedge), "--conforming")
    assert "thin triangles between segments that meet at small angles" in text
    assert main(["refine", str(tmp_path / "none.poly")]) == 4
    assert main(["refine", str(poly), "--plot", "a.txt"]) == 4
    assert main(["refine", str(poly), "--min-angle", "60"]) == 4


def test_hash_collisions(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document(
        "hash_collisions", graph_file, "--distance", "2", "--hashes", "gray,murmur3", "--bits", "1-3,6", "--verify"
    )
    assert document["hashes"] == ["gray", "murmur3"] and document["bit_widths"] == [1, 2, 3, 6]
    assert document["verified"] and len(document["total"]) == 2 and len(document["maximum"][0]) == 4
    assert document["best"]["bits"] in (1, 2, 3, 6)
    picture = str(tmp_path / "collisions.png")
    text = cli.text(
        "hash_collisions", graph_file, "--hashes", "2", "--bits", "2", "--max-colors", "4", "--plot", picture
    )
    assert "murmur3" in text and "of 2 bits" in text and Path(picture).stat().st_size > 1000
    assert main(["hash_collisions", graph_file, "--max-colors", "1"]) == 4
    assert main(["hash_collisions", graph_file, "--hashes", "md5"]) == 4


# ---- tables of benchmark results


def row(graph: str, strategy: str, seconds: float, **fields: Any) -> dict[str, Any]:
    return {
        "benchmark": "connected_components", "device": "Test 1", "graph": graph, "strategy": strategy, "kind": "online",
        "wall_seconds": seconds, "predicted_seconds": 2 * seconds, "kernel_seconds": seconds / 2, **fields,
    }  # fmt: skip


OPENING, CLOSING = "<!-- report connected_components -->", "<!-- /report connected_components -->"
INTO = ("--benchmark", "connected_components", "--into")
ROWS = [
    row("road", "rem", 0.004, picked=True),
    row("road", "afforest", 0.001),
    row("road", "scipy", 0.0001, kind=None),
    row("rmat", "rem", 0.002),
    row("rmat", "afforest", 0.002, picked=True),
]


def test_strategies_marks_the_pick_and_the_fastest_strategy() -> None:
    lines = report.tabulate_rows(ROWS, "strategies", "github").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["device", "graph", "rem", "afforest", "scipy"]
    assert cells[2] == ["Test 1", "road", "4 *", "**1**", "0.1"]  # scipy is no strategy: never the fastest
    assert cells[3] == ["Test 1", "rmat", "**2**", "**2** *", ""]


def test_calls_have_tables_of_their_parts_and_of_how_they_compare() -> None:
    def call(graph: str, name: str, seconds: float, **fields: Any) -> dict[str, Any]:
        about = {"algorithm": "bfs", "input": "Graph", "call": name, "ran": "frontier", "least_wall_seconds": seconds}
        return row(graph, f"Graph, {name}", seconds, **about, **fields)

    calls = [
        call("road: bfs", "first call", 0.004, scipy_seconds=0.008, upload_seconds=0.001, read_seconds=0.0),
        call("road: bfs", "later call", 0.002, scipy_seconds=0.008),
        call("rmat: bfs", "later call", 0.002, scipy_seconds=0.002, networkx_seconds=0.02),
        row("road: bfs", "scipy", 0.008),
    ]
    parts = list(csv.reader(report.tabulate_rows(calls, "parts", "csv").splitlines()))
    columns = ["device", "graph", "input", "call", "strategy", "ms", "upload", "kernel"]
    assert parts[0] == [*columns, "scipy / ours", "networkx / ours"]
    assert parts[1] == ["Test 1", "road: bfs", "Graph", "first call", "frontier", "4", "1", "2", "2.00", ""]
    assert len(parts) == 4 and parts[3][-2:] == ["1.00", "10.00"]
    ratios = list(csv.reader(report.tabulate_rows(calls, "ratios", "csv").splitlines()))
    assert ratios == [
        ["device", "algorithm", "Graph, first call", "Graph, later call"],
        ["Test 1", "bfs", "2.00 (2.00)", "2.00 (1.00)"],
    ]
    given = [{**call, "input": "networkx"} for call in calls[:3]]
    assert report.tabulate_rows(given, "ratios", "csv").endswith("\nTest 1,bfs,10.00 (10.00)")
    for table in ("parts", "ratios"):
        with pytest.raises(InputError, match="no row"):
            report.tabulate_rows(ROWS, table, "csv")


def test_csv_holds_plain_numbers_and_quotes_commas() -> None:
    text = report.tabulate_rows([row("a,b", "rem", 0.0125)], "strategies", "csv")
    assert list(csv.reader(text.splitlines())) == [["device", "graph", "rem"], ["Test 1", "a,b", "12.5"]]


def test_latex_is_a_tabular_with_escapes() -> None:
    text = report.tabulate_rows([row("a_b", "rem", 1.5)], "rows", "latex")
    assert text.startswith(r"\begin{tabular}") and text.endswith(r"\end{tabular}")
    assert r"a\_b" in text and "1500" in text and "3000" in text and "750" in text


def test_regrets_divide_the_pick_by_the_best() -> None:
    assert report.regrets(ROWS) == {
        ("Test 1", "road"): ("rem", "afforest", pytest.approx(4)),
        ("Test 1", "rmat"): ("afforest", "rem", pytest.approx(1)),
    }
    text = report.tabulate_rows(ROWS, "regret", "csv")
    assert "Test 1,geometric mean,,,2.00" in text and "Test 1,worst,,,4.00" in text


def test_kernel_times_leave_out_what_has_none() -> None:
    rows = [*ROWS[:2], row("road", "scipy", 0.0001, kind=None, kernel_seconds=None)]
    rows[1] = {**rows[1], "kernel_seconds": 0.003}
    text = report.tabulate_rows(rows, "strategies", "github", "kernel")
    assert "**2** *" in text and " 3 |" in text and "scipy" not in text
    assert report.regrets(rows[:2], "kernel") == {("Test 1", "road"): ("rem", "rem", 1.0)}


def test_written_rows_replace_those_of_the_same_measurement(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.json"
    report.write_rows(path, ROWS)
    report.write_rows(path, [row("rmat", "rem", 7.0), row("grid", "rem", 8.0)])
    seconds = {(r["graph"], r["strategy"]): r["wall_seconds"] for r in report.read_rows(path)}
    assert len(seconds) == len(ROWS) + 1
    report.write_rows(path, [row("grid", "rem", 9.0, platform="Another")])  # the same processor
    assert len(report.read_rows(path)) == len(ROWS) + 2
    assert seconds["rmat", "rem"] == 7.0 and seconds["road", "rem"] == 0.004


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "not JSON"),
        ("[]", "schema"),
        ('{"schema": 99, "rows": []}', "schema"),
        ('{"schema": 1, "rows": [{"benchmark": "connected_components"}]}', "row 0 lacks device, graph"),
    ],
)
def test_a_file_that_holds_no_results_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        report.read_rows(path)


def test_the_command_fills_the_place_in_a_file(tmp_path: Path) -> None:
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(json.dumps({"schema": 1, "rows": ROWS}), encoding="utf-8")
    page.write_text(f"above\n{OPENING}\nold\n{CLOSING}\nbelow\n", encoding="utf-8")
    for _ in range(2):  # the second time changes nothing
        assert main(["report", str(results), "--table", "regret", *INTO, str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"above\n{OPENING}\n| device") and text.endswith(f"{CLOSING}\nbelow\n")
    assert "old" not in text and text.count("geometric mean") == 1


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    old = f"{OPENING}\nold\n{CLOSING}\n"
    page.write_text(old, encoding="utf-8")
    report.write_rows(results, ROWS)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match=r"results\.json: cannot be written: No space"):
        report.write_rows(results, [row("grid", "rem", 8.0)])
    assert main(["report", str(results), *INTO, str(page)]) == 4
    assert len(report.read_rows(results)) == len(ROWS) and page.read_text(encoding="utf-8") == old
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", "page.md"}


def test_a_page_without_a_place_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, page = tmp_path / "results.json", tmp_path / "page.md"
    results.write_text(json.dumps({"schema": 1, "rows": ROWS}), encoding="utf-8")
    page.write_text("no marks", encoding="utf-8")
    assert main(["report", str(results), *INTO, str(page)]) == 4
    assert OPENING in capsys.readouterr().err
    assert main(["report", str(results), "--into", str(page)]) == 4
    assert "--benchmark" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "no marks"
    assert main(["report", str(results), "--benchmark", "sssp"]) == 4


@pytest.mark.parametrize("table", report.TABLES)
def test_all_of_the_projects_own_results_have_tables(
    table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / "benchmarks" / "results")
    files = sorted(os.listdir())
    assert main(["report", *files, "--table", table]) == 0
    captured = capsys.readouterr()
    without_rows = {line.split(":")[1].strip() for line in captured.err.splitlines() if "no times" in line}
    benchmarks = set(report.by_benchmark(row for f in {*files} - without_rows for row in report.read_rows(f)))
    without_calls = {"first_call", "host_mutations", "io", "primitives", "probe"}
    assert {name.partition("-")[0] for name in without_rows} == without_calls
    n_tables = captured.out.count("### ")
    assert {*MODULES} < benchmarks and n_tables == captured.out.count("\n| device")
    assert n_tables >= (0 if table in ("parts", "ratios") else len(MODULES))  # these are of calls, not of strategies
    assert n_tables + captured.err.count(": left out: ") == len(benchmarks)


@pytest.mark.parametrize(
    ("algorithm", "machines", "options"),
    [("connected_components", ["h200", "pocl"], ["--time", "kernel"]), ("factorization", ["h200"], [])],
)
def test_the_page_of_results_holds_what_the_files_say(
    tmp_path: Path, algorithm: str, machines: list[str], options: list[str]
) -> None:
    page = tmp_path / "results.md"
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    files = [str(ROOT / "benchmarks" / "results" / f"{algorithm}-{machine}.json") for machine in machines]
    assert main(["report", *files, *options, "--benchmark", algorithm, "--into", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == text
