"""Fixtures: a session on each OpenCL device the tests know, and a cache directory of their own."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from clgraph.runtime.session import Session

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("CLGRAPH_DATA", ROOT.parent / "shared" / "data"))  # files that only some machines have
DEVICES = os.environ.get("CLGRAPH_TEST_DEVICES", "pocl,intel").split(",")
MAX_GROUP_TESTS = 40  # in turn on one of many workers: 15 workers waited for the file with the most tests, 900
FEW_WORKERS = 4  # Up to this many get whole files, since a worker compiles every program that it meets.
EXECUTED = ("gfx90a", "gfx1100")  # AMD GPUs whose machine code tests/amd runs
PLATFORMS = {"intel": "intel(r) opencl"}  # PoCL's name of an Intel processor has the word, too

sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

import selection  # noqa: E402
from kept_caches import claim_folder  # noqa: E402

if "CLGRAPH_TEST_CACHES" not in os.environ:  # not in child processes, of which some are pinned to a device
    for name in ("CLGRAPH_DEVICE", "PYOPENCL_CTX"):  # a user's choice of device is not the tests'
        os.environ.pop(name, None)
    os.environ["CLGRAPH_TEST_CACHES"] = tempfile.mkdtemp(prefix="clgraph-tests-")
    os.environ["CLGRAPH_TEST_PROGRAMS"] = str(claim_folder(user_cache_path("clgraph-tests") / "pocl"))
    atexit.register(shutil.rmtree, os.environ["CLGRAPH_TEST_CACHES"], ignore_errors=True)
# Workers of pytest-xdist have a cache each: programs are compiled under its lock, for which others would wait.
_caches, _worker = os.environ["CLGRAPH_TEST_CACHES"], os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ["CLGRAPH_CACHE_DIR"] = os.path.join(_caches, _worker)
# All workers and later runs share the binaries of Intel's runtime and of GPU drivers, which lock their caches. Kernels
# that PoCL compiled stay for the worker of the same name in a later run.
_kept = {name: user_cache_path("clgraph-tests") / name for name in ("pyopencl", "gpu")}
for _name, _path in {**_kept, "pocl": Path(os.environ["CLGRAPH_TEST_PROGRAMS"], _worker)}.items():
    Path(os.environ["CLGRAPH_CACHE_DIR"]).mkdir(parents=True, exist_ok=True)
    _path.mkdir(parents=True, exist_ok=True)
    if not (_link := Path(os.environ["CLGRAPH_CACHE_DIR"], _name)).is_symlink():
        _link.symlink_to(_path)

# Drawn examples are the same in every run of CI, and a machine may be slow.
hypothesis.settings.register_profile(
    "clgraph", deadline=None, derandomize="CLGRAPH_REQUIRE_TOOLS" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.function_scoped_fixture],
)  # fmt: skip
hypothesis.settings.load_profile("clgraph")


@pytest.fixture(scope="session", autouse=True)
def _shipped_rates() -> None:
    """Give sessions the shipped rates: atomics timed on a busy machine would change picks from run to run."""
    from clgraph.device.profile_files import load_profile
    from clgraph.runtime import session

    session.profile_of = lambda _device, facts: load_profile(facts)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lane", choices=selection.SELECTIONS, default="complete", help="the part of the suite to run")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave files of other lanes unread: to read all takes some seconds in each worker."""
    return True if selection.is_elsewhere(collection_path, config.getoption("lane")) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select the lane, and give neighbouring tests of a file to one worker of pytest-xdist if they need a device.

    A worker compiles each program once, so a file stays together as far as the others then have enough to do. Lanes of
    long tests begin first and single tests come last, so that no worker is alone at the end.
    """
    kept = selection.select(items, config.getoption("lane"), DEVICES[0])
    config.hook.pytest_deselected(items=[*{*items} - {*kept}])
    items[:] = kept
    most = MAX_GROUP_TESTS if int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) > FEW_WORKERS else len(items) + 1
    with_sessions = {item.path for item in items if {"session", "pocl"} & {*getattr(item, "fixturenames", ())}}
    seen, places = Counter[Path](), dict[pytest.Item, int]()
    for item in items:
        lane = selection.lane_of(item)
        item.user_properties.append(("lane", lane))
        places[item] = 0 if lane in selection.LONG_TESTS else 2
        if lane == selection.MAIN and item.path in with_sessions and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem}-{seen[item.path] // most}"))
            seen[item.path] += 1
            places[item] = 1
    items.sort(key=places.__getitem__)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell how long the tests of each lane took in all workers together, and which lanes were left out."""
    minutes, tests = Counter[str](), Counter[str]()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        lane = dict(getattr(report, "user_properties", ())).get("lane")
        if lane is not None and isinstance(report, pytest.TestReport):
            minutes[lane] += report.duration / 60
            tests[lane] += report.when == "call"
    if len(minutes) > 1:
        terminalreporter.section("minutes of each lane, of all workers together")
        for lane, spent in minutes.most_common():
            terminalreporter.line(f"{spent:6.1f} {lane}: {tests[lane]} tests, {selection.LANES[lane].what}")
    lines = {"quick": selection.lines_about_quick(), "all": selection.lines_about_all(DEVICES[0])}
    runs = {"quick": "tools/test --all", "all": "tools/test --lane complete"}
    if (lane := config.getoption("lane")) in lines:
        terminalreporter.section(f"left out; {runs[lane]} runs it")
        for line in lines[lane]:
            terminalreporter.line(line)


@cache
def session_on(device: str) -> Session:
    """Return the one session of this test run on *device*; skip, or fail in CI, where there is none."""
    from clgraph.errors import NoDeviceError
    from clgraph.runtime.session import Session

    if device in EXECUTED:
        return executed_session(device)
    try:
        return Session(PLATFORMS.get(device, device))
    except NoDeviceError as error:
        missing = str(error)
    if os.environ.get("CLGRAPH_REQUIRE_DEVICES"):
        pytest.fail(f"CLGRAPH_REQUIRE_DEVICES is set, and {missing}", pytrace=False)
    pytest.skip(missing)


def executed_session(target: str) -> Session:
    """Return a session on an AMD GPU that ``tests/amd`` stands in for; skip, or fail in CI, without its tools."""
    require_tool("clang-15")
    give_up = pytest.fail if os.environ.get("CLGRAPH_REQUIRE_TOOLS") else pytest.skip
    try:
        import tinygrad.runtime.autogen.amd  # noqa: F401
    except ImportError:
        give_up("the extra amd is not installed: it has the tables of AMD's instructions")
    from amd.compiled import check_kernels
    from amd.session import AmdSession

    if not check_kernels.DEVICE_LIBS.is_dir():
        give_up(f"there is no {check_kernels.DEVICE_LIBS}; rocm-device-libs has it")
    return AmdSession(target)


def two_sessions() -> list[Session]:
    """Return sessions on the first two devices of the tests, on the only one and a CPU, or on the halves of a CPU."""
    from clgraph.runtime.devices import sub_devices

    first, second = session_on(DEVICES[0]), session_on([*DEVICES, "cpu"][1])
    if first.device != second.device:
        return [first, second]
    if (half := first.facts.compute_units // 2) == 0:
        pytest.skip("there is one device of one compute unit")
    return sub_devices(first.device, [half, half])


@pytest.fixture(scope="session")
def pair() -> list[Session]:
    """Sessions on two devices, for tests of several."""
    return two_sessions()


@pytest.fixture(scope="session", params=DEVICES)
def session(request: pytest.FixtureRequest) -> Session:
    """A session on each device in turn."""
    return session_on(request.param)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Let nothing that is in a circle of references be freed."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def pocl() -> Session:
    """A session on PoCL, for tests that need only one device."""
    return session_on("pocl")


def require_tool(name: str) -> str:
    """Return the path of program *name*; skip, or fail in CI, where there is none."""
    path = shutil.which(name)
    if path is not None:
        return path
    if os.environ.get("CLGRAPH_REQUIRE_TOOLS"):
        pytest.fail(f"CLGRAPH_REQUIRE_TOOLS is set, and {name} is not on the path", pytrace=False)
    pytest.skip(f"{name} is not on the path")


def intel_session() -> Session:
    """Return the session on Intel's CPU runtime; skip, or fail in CI, where there is no such runtime."""
    session = session_on("intel")
    if "Intel" not in session.facts.platform:  # a CPU of that name on another platform
        give_up = pytest.fail if os.environ.get("CLGRAPH_REQUIRE_DEVICES") else pytest.skip
        give_up("Intel's CPU runtime is not installed")
    return session


def run_at_width(width: int, script: str, *, optimised: bool = False) -> None:
    """Run *script*, whose session ``s`` is on Intel's runtime, told to make sub-groups of *width*.

    The script runs in a child, since programs are built for one width. For 64 lanes, Intel's compiler takes twenty
    times longer to optimise kernels than to translate them, so only a few kernels of fewer lanes are *optimised*.
    """
    intel_session()
    head = f"import conftest; s = conftest.session_on('intel'); assert s.facts.sub_group_size == {width};"
    options = {} if optimised else {"PYOPENCL_BUILD_OPTIONS": "-cl-opt-disable"}
    printed_by(head + script, CLGRAPH_INTEL_SUB_GROUP=str(width), **options)


def run_python(
    code: str, *arguments: str, base: Mapping[str, str] = os.environ, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run *code* in a new interpreter that finds this checkout, and has *base* and *environment* as its environment."""
    given = environment.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    path = os.pathsep.join([*filter(None, [given]), *(str(ROOT / part) for part in ("", "tests", "benchmarks"))])
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, env={**base, **environment, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=800,
    )  # fmt: skip


def printed_by(code: str, *arguments: str, **environment: str) -> str:
    """Run *code* as ``run_python`` does, and return what it prints; it must not fail."""
    done = run_python(code, *arguments, **environment)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


def copy_in_chunks(session: Session, monkeypatch: pytest.MonkeyPatch, n_bytes: int, **settings: int) -> None:
    """Make *session* copy *n_bytes* or more through pinned chunks, as on a GPU; *settings* set staging's constants."""
    from clgraph.runtime.memory.staging import Staging

    for name, value in {"N_CHUNKS": 3, "LAG": 1, **settings}.items():
        monkeypatch.setattr(f"clgraph.runtime.memory.staging.{name}", value)
    staging = Staging(session.commands)
    monkeypatch.setattr(type(session.memory), "staging_for", lambda _memory, size: staging if size >= n_bytes else None)


def crashing_driver(folder: Path, source: str) -> Path:
    """Build *source*, which calls abort(), as a driver that a file in *folder* names; return the library."""
    compiler = shutil.which("cc") or shutil.which("clang-14") or require_tool("clang-15")
    library = folder / "libcrash.so"
    (folder / "crash.c").write_text(f"#include <stdlib.h>\n{source}\n", encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(folder / "crash.c")], check=True)
    (folder / "a-crash.icd").write_text(f"{library}\n", encoding="utf-8")
    return library


@contextmanager
def memory_below(n_bytes: float) -> Iterator[None]:
    """Let the block take less than *n_bytes* of memory of Python and numpy at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < n_bytes
    finally:
        tracemalloc.stop()
