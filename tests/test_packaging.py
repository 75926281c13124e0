"""What users install and read: the wheel without the checkout; commands, figures, links and the demo of pages."""

import json
import os
import re
import shlex
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

from clgraph.algorithms.table import MODULES, find_algorithm
from clgraph.cli.main import build_parser


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
    assert tops == {"clgraph", "clgraph_opencl", "_clgraph_nx.py"}


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
        "import json, clgraph; from clgraph.runtime.programs.source import kernel_root\n"
        "print(json.dumps([clgraph.__file__, str(kernel_root())]))"
    )
    package, kernels = json.loads(run(str(installed / "bin" / "python"), "-c", code, cwd=installed))
    assert package.startswith(str(installed)) and kernels.startswith(str(installed))


def test_networkx_finds_the_installed_backend(installed: Path) -> None:
    code = (
        "import networkx as nx; G = nx.path_graph(4)\n"
        "print(nx.number_connected_components(G, backend='clgraph'), nx.config.backends.clgraph.strategy)"
    )
    assert run(str(installed / "bin" / "python"), "-c", code, cwd=installed).split() == ["1", "auto"]


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
        ("darwin", "arm64", []),  # PyPI has no runtime
        ("linux", "aarch64", []),
    ],
)
def test_the_extra_cpu_brings_the_runtime_of_the_platform(system: str, machine: str, runtimes: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = map(Requirement, project["optional-dependencies"]["cpu"])
    here = {"sys_platform": system, "platform_machine": machine}
    assert [each.name for each in wanted if each.marker and each.marker.evaluate(here)] == runtimes


def test_the_description_for_package_indexes_has_no_local_link(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = [name for name in files.namelist() if name.endswith(".dist-info/METADATA")]
        head, _, text = files.read(name).decode().partition("\n\n")
    assert "Description-Content-Type: text/markdown" in head
    assert text.startswith("# clgraph") and "[devices.md]" not in text and "devices.md describes" in text
    assert not re.findall(r"\]\((?!https?://)[^)]*\)", text)
    assert {f"Classifier: Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)} <= {
        *head.split("\n")
    }


def test_the_recipe_for_conda_names_the_dependencies_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "tools/conda/recipe.yaml").read_text(encoding="utf-8")
    run_section = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    named = {line.strip().removeprefix("- ").replace(" ", "") for line in run_section.splitlines()}
    assert named == {*project["dependencies"], f"python{project['requires-python']}", "pocl"}
    assert f'version: "{project["version"]}"' in recipe


# ---- pages for users

# Only Sphinx uses the pages of docs/site, and tests/test_site.py reads them.
PAGES_OF_DOCS = [path for path in (ROOT / "docs").rglob("*.md") if ROOT / "docs/site" not in path.parents]

README, COMMANDS, STRATEGY_TABLES, RESULTS = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/command_line.md", "docs/strategies.md", "docs/results.md")
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_every_command_line_parses() -> None:
    lines = [line for page in (README, COMMANDS) for block in blocks(page, "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("clgraph ")] + re.findall(r"`(clgraph explain .*?)`", README)
    assert len(commands) >= 10
    parser = build_parser()
    for line in commands:
        parser.parse_args(shlex.split(line, comments=True)[1:])


def test_the_times_in_the_readme_are_those_of_the_results() -> None:
    def times(page: str) -> dict[str, list[str]]:
        lines = [[cell.strip() for cell in line.split("|")] for line in page.splitlines() if line.startswith("|")]
        head = next(line for line in lines if "R-MAT 22" in line)
        places = [head.index(graph) for graph in ("R-MAT 22", "Delaunay", "road-like")]
        pages = [(re.search(r"algorithms/(\w+)\.md", cells[1]), cells) for cells in lines]
        return {page[1]: [cells[place] for place in places] for page, cells in pages if page}

    assert times(README) == times(RESULTS) and len(times(README)) == 5


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), ROOT / "cl" / "README.md", *PAGES_OF_DOCS]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    links = [(page, link) for page, text in texts.items() for link in re.findall(r"\]\(([^)\s]+)\)", text)]
    assert len(links) >= 20
    for page, link in links:
        path, _, anchor = link.partition("#")
        if "://" not in link:
            target = page.parent / path if path else page
            assert target.exists(), f"{page} links to {link}"
            assert not anchor or anchor in anchors(target), f"{page} links to {link}"


def test_kernels_and_modules_that_pages_name_are_there() -> None:
    """CONTRIBUTING.md may name others, which its readers write."""
    there = [f"/{path.relative_to(ROOT)}" for folder in ("cl", "clgraph", "tests", "benchmarks", "tools")
             for path in (ROOT / folder).rglob("*")]  # fmt: skip
    there += [f"/{path.name}" for path in ROOT.glob("*.py")]
    for page in [ROOT / "README.md", ROOT / "cl" / "README.md", *PAGES_OF_DOCS]:
        for name in set(re.findall(r"[\w./]*\w\.(?:cl|h|py)\b", page.read_text(encoding="utf-8"))):
            assert any(path.endswith("/" + name.removeprefix("../")) for path in there), f"{page} names {name}"


@pytest.mark.parametrize("algorithm", sorted(MODULES))
def test_the_table_names_every_strategy(algorithm: str) -> None:
    strategies = find_algorithm(algorithm).strategies
    _, _, table = STRATEGY_TABLES.partition(f"| strategy of `{algorithm}` |")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", table.partition("\n\n")[0], re.MULTILINE)
    assert rows == [(name, strategy.kind) for name, strategy in strategies.items()]


def test_the_demo_shows_every_strategy_on_a_file(tmp_path: Path) -> None:
    from clgraph.algorithms.connected_components import STRATEGIES

    session_on("pocl")
    graph = tmp_path / "graph.txt"
    graph.write_text("".join(f"{v} {v + 1}\n" for v in range(3000)), encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "demo.py"), "-d", "pocl"]
    shown = subprocess.run([*command, str(graph)], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    assert re.search("n_vertices +3,001", shown.stdout) and "every result was checked" in shown.stdout
    assert all(f" {name} " in shown.stdout for name in STRATEGIES)
    missing = subprocess.run([*command, "absent.mtx"], capture_output=True, text=True, check=False)
    assert missing.returncode == 4 and "absent.mtx" in missing.stderr


def test_scripts_with_an_interpreter_in_their_first_line_can_be_run() -> None:
    for path in [*(ROOT / "tools").iterdir(), *(ROOT / "benchmarks").glob("*.py")]:
        if path.is_file():
            assert path.read_bytes().startswith(b"#!") == os.access(path, os.X_OK), path


@pytest.mark.parametrize("script", ["tools/demo", "tools/test", ".ci/run", "tools/environment.sh"])
def test_a_shell_script_parses(script: str) -> None:
    subprocess.run(["bash", "-n", str(ROOT / script)], check=True)
    assert os.access(ROOT / script, os.X_OK) == (not script.endswith(".sh"))
