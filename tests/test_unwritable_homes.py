"""Runs where the home directory, the cache directory or nothing at all can be written."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import DEVICES, PLATFORMS, run_python

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
    from clgraph.runtime.drivers import intel_wheel

    if intel_wheel() is not None:
        monkeypatch.delenv("OCL_ICD_VENDORS", raising=False)


@pytest.mark.skipif(os.name != "posix", reason="the paths are those of POSIX")
@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("device", DEVICES)
def test_homes_that_cannot_be_written(found_by_wheels: None, device: str, home: str) -> None:
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
