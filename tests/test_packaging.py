"""What users install: the wheel, in an environment without the checkout."""

import json
import os
import site
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT, session_on
from packaging.requirements import Requirement


def run(*command: str, cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    child = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=800)
    assert child.returncode == 0, child.stdout + child.stderr
    return child.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # Without --wheel it is made from the source distribution, which is thereby shown to be complete.
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel installed, which sees the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    python = str(folder / "bin" / "python")
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index",
        str(wheel), cwd=folder)  # fmt: skip
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    # A path file is not followed to another: an editable clgraph of this environment stays out of sight.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n", encoding="utf-8")
    return folder


def test_the_wheel_holds_every_kernel_and_profile_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    kernels = {
        f"clgraph/{path.relative_to(ROOT).as_posix()}"
        for pattern in ("*.cl", "*.h")
        for path in (ROOT / "cl").rglob(pattern)
    }
    profiles = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("clgraph/device/profiles/*.json")}
    assert kernels and kernels <= names
    assert profiles and profiles <= names
    assert "clgraph/py.typed" in names
    tops = {name.split("/")[0].split("-")[0] for name in names}
    assert tops <= {"clgraph", "clgraph_opencl", "_clgraph_nx.py"}


def test_the_licence_and_authors_come_with_the_package(wheel: Path) -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    assert b"Copyright (c) 2026, the clgraph developers" in licence
    with zipfile.ZipFile(wheel) as files:
        (info,) = {name.split("/")[0] for name in files.namelist() if ".dist-info/" in name}
        assert files.read(f"{info}/licenses/LICENSE") == licence
        metadata = files.read(f"{info}/METADATA").decode().partition("\n\n")[0].splitlines()
    expected = {"License-Expression: BSD-3-Clause", "License-File: LICENSE", "Author: the clgraph developers"}
    assert expected <= {*metadata}
    (source,) = wheel.parent.glob("*.tar.gz")
    with tarfile.open(source) as files:
        held = files.extractfile(f"{source.name.removesuffix('.tar.gz')}/LICENSE")
        assert held is not None and held.read() == licence


def test_the_installed_package_is_whole(installed: Path) -> None:
    code = (
        "import json, clgraph; from clgraph.runtime.source import kernel_root\n"
        "print(json.dumps([clgraph.__file__, str(kernel_root())]))"
    )
    package, kernels = json.loads(run(str(installed / "bin" / "python"), "-c", code, cwd=installed))
    assert package.startswith(str(installed)) and kernels.startswith(str(installed))


def test_the_installed_command_works_on_a_device(installed: Path, tmp_path: Path) -> None:
    session_on("pocl")
    clgraph = str(installed / "bin" / "clgraph")
    rows = json.loads(run(clgraph, "devices", "--json", cwd=tmp_path))
    assert any("Portable" in row["platform"] for row in rows)
    (tmp_path / "graph.txt").write_text("0 1\n2 3\n", encoding="utf-8")
    command = ["connected_components", "graph.txt", "-d", "pocl", "--json", "--verify"]
    result = json.loads(run(clgraph, *command, cwd=tmp_path))
    assert result["n_components"] == 2


@pytest.mark.parametrize(
    ("system", "machine", "runtimes"),
    [
        ("linux", "x86_64", ["intel-opencl-rt", "intel-cmplr-lib-rt"]),
        ("win32", "AMD64", ["intel-opencl-rt", "intel-cmplr-lib-rt"]),
        ("darwin", "arm64", ["pyopencl"]),
        ("linux", "aarch64", []),  # there is no wheel
    ],
)
def test_the_extra_cpu_brings_the_runtime_of_the_platform(system: str, machine: str, runtimes: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = map(Requirement, project["optional-dependencies"]["cpu"])
    here = {"sys_platform": system, "platform_machine": machine}
    assert [each.name for each in wanted if each.marker and each.marker.evaluate(here)] == runtimes
