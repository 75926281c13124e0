"""Other systems than Linux: nothing that they lack is imported or called without a guard."""

import ast
import platform
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, printed_by, session_on

from clgraph.runtime.discovery import drivers

POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
POSIX_FUNCTIONS = {
    "fork", "getuid", "geteuid", "getgid", "killpg", "pread", "pwrite", "register_at_fork", "sched_getaffinity",
    "sched_setaffinity", "setsid", "sysconf", "uname", "waitid", "wait4",
}  # fmt: skip
# Calls without a hasattr around them. The value tells why another system does not reach the call.
REASONS = {
    ("clgraph/host_memory.py", "sysconf"): "follows an import of resource",
    ("clgraph/runtime/programs/pocl_cpu.py", "pread"): "only if /proc/cpuinfo lists features",
}


def posix_uses(source: str) -> Iterator[tuple[str, bool]]:
    """Yield each POSIX module or function of ``os`` in *source*, and whether it is guarded."""

    def visit(node: ast.AST, guarded: bool) -> Iterator[tuple[str, bool]]:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [str(node.module)]
        yield from ((name, guarded) for name in names if name.partition(".")[0] in POSIX_MODULES)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os" and node.attr in POSIX_FUNCTIONS:
            yield node.attr, guarded
        for child in ast.iter_child_nodes(node):
            yield from visit(child, guarded or is_guard(node))

    def is_guard(node: ast.AST) -> bool:
        if isinstance(node, ast.Try):
            return any(
                handler.type is not None and "ImportError" in ast.unparse(handler.type) for handler in node.handlers
            )
        if isinstance(node, ast.With):
            return any("suppress(ImportError" in ast.unparse(item) for item in node.items)
        return isinstance(node, ast.If | ast.IfExp) and "hasattr(os" in ast.unparse(node.test)

    return visit(ast.parse(source), False)


def test_posix_modules_and_functions_are_guarded() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in (ROOT / "clgraph").rglob("*.py")
        for name, guarded in posix_uses(path.read_text(encoding="utf-8"))
        if not guarded
    }
    assert found <= {*REASONS}
    assert list(posix_uses("import fcntl\nos.fork()")) == [("fcntl", False), ("fork", False)]
    assert list(posix_uses("try:\n    import pwd\nexcept ImportError: ...")) == [("pwd", True)]


POCL = "clgraph.runtime.programs.pocl_cpu"  # reads /proc for PoCL's wheel, which is for Linux alone
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "clgraph").rglob("*.py"))
    if path.name != "__main__.py" and "distributed" not in path.parts  # Dask itself loads modules of POSIX.
]
_ELSEWHERE = f"""
import builtins, io, mmap, os, random, sys
from multiprocessing import shared_memory
import filelock, numpy, platformdirs, pyopencl, rich, scipy.sparse, tabulate
real = builtins.__import__
def without_posix(name, globals=None, *rest, **named):
    if name.partition(".")[0] in {POSIX_MODULES!r} and (globals or {{}}).get("__name__", "").startswith("clgraph"):
        raise ImportError(name)
    return real(name, globals, *rest, **named)
builtins.__import__ = without_posix
for name in ("register_at_fork", "sched_getaffinity", "sched_setaffinity"):
    delattr(os, name)
del mmap.MADV_HUGEPAGE
opened = builtins.open
def open_nothing_in_proc(file, *rest, **named):
    caller = sys._getframe(1).f_globals["__name__"]
    if str(file).startswith("/proc/") and caller.startswith(("clgraph", "pathlib")) and caller != {POCL!r}:
        raise FileNotFoundError(2, "No such file or directory", file)
    return opened(file, *rest, **named)
builtins.open = io.open = open_nothing_in_proc
for name in {MODULES!r}:
    __import__(name)
import clgraph as cg
graph = cg.generators.rmat(10, 8)
print(cg.connected_components(graph, strategy="afforest", session="pocl", verify=True).n_components)
print(cg.connected_components(graph, strategy="host").n_components)
"""


def test_the_package_works_without_the_modules_of_posix() -> None:
    session_on("pocl")
    on_device, on_host = printed_by(_ELSEWHERE).split()
    assert on_device == on_host


@pytest.mark.parametrize(
    ("system", "machine", "word"),
    [("Linux", "x86_64", "intel-opencl-rt"), ("Linux", "aarch64", "aarch64"), ("Darwin", "arm64", "conda-forge")],
)
def test_a_user_without_a_runtime_is_told_one_for_the_system(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, word: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert word in drivers.cpu_runtime_to_install()
    assert ("pip install" in drivers.cpu_runtime_to_install()) == (machine == "x86_64")


def test_the_page_of_platforms_names_every_target_of_the_compilers() -> None:
    page = (ROOT / "docs/platforms.md").read_text(encoding="utf-8")
    text = (ROOT / "tools/check_kernels.py").read_text(encoding="utf-8")
    targets = next(line for line in text.splitlines() if '"amd": [amd_target' in line)
    assert all(gpu in page for gpu in ("gfx906", "gfx90a", "gfx1030") if gpu in targets)
    rows = {path.stem.rpartition("-")[2] for path in Path(ROOT / "benchmarks/results").glob("*-h*.json")}
    assert all(device.upper() in page for device in rows)
