"""What new processes load, what they do without a driver, and where nothing can be written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import DEVICES, PLATFORMS, ROOT, printed_by, run_python, session_on

HEAVY = {"numpy", "scipy", "pyopencl", "rich", "tabulate", "networkx", "pyarrow", "matplotlib", "asyncio"}
HEAVY |= {"dask", "distributed"}


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules of a fresh interpreter that ran *code*."""
    report = "import json, sys; print('\\n' + json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    return set(json.loads(printed_by(f"{code}\n{report}").splitlines()[-1]))


HELP = """from clgraph.cli.main import main
try:
    main({})
except SystemExit as stop:
    assert stop.code == 0"""


@pytest.mark.parametrize(
    "code", ["import clgraph", *map(HELP.format, (["--help"], ["bfs", "--help"], ["--version"], ["report", "--help"]))]
)
def test_import_and_help_load_nothing_heavy(code: str) -> None:
    assert loaded_by(code) & HEAVY == set()


def test_data_and_model_do_not_load_opencl() -> None:
    loaded = loaded_by("import clgraph.io, clgraph.generators, clgraph.model.strategy, clgraph.report")
    assert "numpy" in loaded  # the measurement sees imports
    assert "pyopencl" not in loaded


def test_every_public_name_exists() -> None:
    import clgraph

    missing = [name for name in clgraph.__all__ if not hasattr(clgraph, name)]
    assert missing == []


# ---- calls that the host answers ask no driver


DEVICE = PLATFORMS.get(DEVICES[0], DEVICES[0])
_SMALL = """
import json, sys
import numpy as np, scipy.sparse as sp, scipy.sparse.csgraph as csgraph
import clgraph as cg

matrix = sp.random_array((100, 100), density=0.05, format="csr", rng=np.random.default_rng(1))
symmetric = (matrix + matrix.T).tocsr()
distances = csgraph.dijkstra(matrix, indices=0)
levels = csgraph.dijkstra(matrix, indices=0, unweighted=True)
tree = csgraph.minimum_spanning_tree(symmetric).sum()
n_components = csgraph.connected_components(symmetric)[0]
infos = []
for given, undirected in ((matrix, symmetric), (cg.Graph.from_scipy(matrix), cg.Graph.from_scipy(symmetric))):
    for strategy in ("auto", "host"):
        how = {"strategy": strategy, "verify": True}
        results = [
            cg.bfs(given, 0, **how), cg.sssp(given, 0, predecessors=True, **how),
            cg.minimum_spanning_forest(undirected, **how), cg.connected_components(undirected, **how),
        ]
        assert np.array_equal(np.where(results[0].distances < 0, np.inf, results[0].distances), levels)
        assert np.array_equal(results[1].distances, distances)
        assert np.isclose(results[2].weight, tree) and results[3].n_components == n_components
        infos += [result.info for result in results]
"""
_ASK = """
print(json.dumps({
    "picked": sorted({(info.strategy, info.device) for info in infos}), "shown": len(str(infos)),
    "loaded": sorted(name for name in sys.modules if name.partition(".")[0] == "pyopencl"),
}))
"""


def test_small_graphs_are_answered_without_a_driver(tmp_path: Path) -> None:
    done = run_python(
        _SMALL + _ASK, OCL_ICD_VENDORS=str(tmp_path), HOME="/dev/null", CLGRAPH_CACHE_DIR="/dev/null/none"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["picked"] == [["host", "host"]] and found["shown"] > 0 and found["loaded"] == []


@pytest.mark.parametrize("chosen", ['strategy="frontier"', f"session={DEVICE!r}", 'strategy="frontier", delta=1.0'])
def test_a_device_or_its_strategy_that_is_named_is_asked(chosen: str) -> None:
    session_on(DEVICES[0])  # else skip
    code = f"{_SMALL}\ninfos.append(cg.sssp(given, 0, {chosen}, verify=True).info)\n{_ASK}"
    found = json.loads(printed_by(code))
    assert "pyopencl" in found["loaded"]
    assert ("frontier" in [name for name, _ in found["picked"]]) == ("frontier" in chosen)


def test_larger_graphs_go_to_the_device() -> None:
    session_on(DEVICES[0])
    code = "import clgraph as cg; print(cg.connected_components(cg.generators.rmat(16, 16), verify=True).info.device)"
    assert printed_by(code).strip() not in ("", "host")


# ---- homes and caches that cannot be written


_NOWHERE = "/dev/null/none"
_RUN = f"""
import sys, tempfile
real, made = tempfile.mkdtemp, []
def mkdtemp(suffix=None, prefix=None, dir=None):
    if "no-temporary" in sys.argv and (dir is None or "no-shared-memory" in sys.argv):
        raise OSError(30, "Read-only file system")
    made.append(real(suffix, prefix, dir))
    return made[-1]
tempfile.mkdtemp = mkdtemp
import clgraph as cg
names = {PLATFORMS!r}
graph = cg.generators.rmat(10, 8)
result = cg.connected_components(graph, strategy="afforest", session=names.get(sys.argv[1], sys.argv[1]), verify=True)
assert result.info.kernels
print(result.n_components == cg.connected_components(graph, strategy="host").n_components)
if "tell-folders" in sys.argv:
    print(*made, sep="\\n")
"""
HOMES: dict[str, dict[str, str]] = {
    "a file": {"HOME": "/dev/null"},
    "missing": {"HOME": _NOWHERE},
    "none": {},
    "no cache directory": {"HOME": _NOWHERE, "CLGRAPH_CACHE_DIR": _NOWHERE},
}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a kernel on the device that is the first argument, with nothing else in the environment."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS") if name in os.environ}
    return run_python(_RUN, *arguments, base=kept, **environment)


@pytest.fixture
def found_by_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a child find drivers by itself, not by what this process has set."""
    from clgraph.runtime.discovery.drivers import intel_wheel

    if intel_wheel() is not None:
        monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)


@pytest.mark.skipif(os.name != "posix", reason="the paths are those of POSIX")
@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("device", DEVICES)
def test_homes_that_cannot_be_written_are_done_without(found_by_wheels: None, device: str, home: str) -> None:
    done = run(device, **HOMES[home])
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    if home != "none":  # the system knows a home of each user
        assert [line[:16] for line in done.stderr.splitlines()] == ["no cache is kept"]


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no shared memory that is a folder")
@pytest.mark.parametrize("device", DEVICES)
def test_shared_memory_takes_caches_where_temporary_files_cannot_be_written(found_by_wheels: None, device: str) -> None:
    done = run(device, "no-temporary", "tell-folders", HOME=_NOWHERE)
    answer, *made = done.stdout.splitlines()
    assert (done.returncode, answer) == (0, "True"), done.stderr
    folders = [Path(folder) for folder in made if folder.startswith("/dev/shm/clgraph-")]
    assert folders and not any(folder.exists() for folder in folders)


@pytest.mark.parametrize("device", sorted({*DEVICES} - {"pocl"}))  # PoCL writes files to compile
def test_where_nothing_can_be_written_nothing_is_kept(found_by_wheels: None, device: str) -> None:
    done = run(device, "no-temporary", "no-shared-memory", HOME=_NOWHERE)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_read_only_container_gets_an_answer(found_by_wheels: None, tmp_path: Path) -> None:
    """The whole file system is read-only, as in a container started so: home, working folder, temporary files."""
    session_on("pocl")
    read_only = ["unshare", "--mount", "sh", "-c", 'mount -o remount,bind,ro / && ! touch here 2>&- && exec "$@"', "-"]
    if shutil.which("unshare") is None or subprocess.run([*read_only, "true"], cwd=tmp_path, check=False).returncode:
        pytest.skip("this user may not mount a file system read-only")
    (tmp_path / "graph.csv").write_text("source,target\n5,6\n6,7\n9,8\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "clgraph",
        "connected_components",
        "graph.csv",
        "-d",
        "pocl",
        "-s",
        "rem",
        "-o",
        "-",
    ]
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS") if name in os.environ}
    done = subprocess.run(
        [*read_only, *command], cwd=tmp_path, env={**kept, "HOME": _NOWHERE, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["5", "0", "6", "0", "7", "0", "8", "1", "9", "1"]), (
        done.stderr
    )
    assert done.stderr.startswith("no cache is kept: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.csv"]


@pytest.mark.parametrize("device", DEVICES)
def test_the_cache_directory_has_every_cache(found_by_wheels: None, device: str, tmp_path: Path) -> None:
    home, caches = tmp_path / "home", tmp_path / "caches"
    home.mkdir()
    done = run(device, HOME=str(home), CLGRAPH_CACHE_DIR=str(caches))
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
    assert not [*home.iterdir()]
    assert {"drivers", "pocl", "pyopencl", "self-tests"} <= {path.name for path in caches.iterdir()}
    assert [*(caches / "pyopencl").rglob("*.sqlite")]
    binaries = [*(caches / "pyopencl").glob("programs-*/*/binary")]
    assert binaries or device != "intel"  # other drivers have caches of their own
    times = {path: path.stat().st_mtime_ns for path in (*binaries, *(caches / "pyopencl").rglob("*.sqlite"))}
    assert run(device, HOME=str(home), CLGRAPH_CACHE_DIR=str(caches)).stdout == "True\n"
    assert {path: path.stat().st_mtime_ns for path in times} == times, "the second run found what it needs"
