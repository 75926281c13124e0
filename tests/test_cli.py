"""The ``clgraph`` command: usage, exit codes, names, files; the doctor."""

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import (
    Cli,
    cli_fixture,  # noqa: F401
    graph_file_fixture,  # noqa: F401
    on_pocl_fixture,  # noqa: F401
)
from conftest import ROOT, crashing_driver

from clgraph import errors
from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.cli import info
from clgraph.cli.main import COMMANDS, main
from clgraph.cli.options import write_result
from clgraph.report import read_rows
from clgraph.runtime.discovery.child import Answer, run_child


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clgraph.cli.main", *arguments], cwd=ROOT, capture_output=True, text=True,
        check=False, timeout=600, env={**os.environ, **environment},
    )  # fmt: skip


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
    """Python, ``explain``, the command line, benchmarks, their files and rows use the same name."""
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
        ("cores", "core_numbers"), ("mis", "maximal_independent_set"), ("matching", "maximal_matching"),
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
    with pytest.raises(errors.InputError, match="'refine_mesh': only algorithms on graphs and ratings"):
        find_algorithm("refine_mesh")


def test_the_package_runs_as_a_module() -> None:
    child = subprocess.run([sys.executable, "-m", "clgraph", "--version"], cwd=ROOT, capture_output=True, check=True)
    assert child.stdout.startswith(b"clgraph ")


def test_info_tells_sizes_and_degrees(graph_file: str, cli: Cli) -> None:
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
        options = ["--base {0,1}", "--directed, --no-directed", "--ids {keep,compact,names}", "--columns"]
        options.append("--size-line")
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
