"""The site of the documentation: its pages, its reference, and the build without warnings."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from conftest import ROOT

import clgraph as cg


@pytest.fixture(scope="module")
def site_pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "tools/site_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(site_pages: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("site") / "source"
    site_pages.write_pages(folder)
    return folder


def test_every_page_is_reached_from_the_first(source: Path) -> None:
    found, waiting = set[Path](), [source / "index.md"]
    while waiting:
        page = waiting.pop()
        found.add(page)
        for block in re.findall(r"```{toctree}\n(.*?)```|\.\. toctree::\n(.*)", page.read_text(encoding="utf-8"), re.S):
            for line in "".join(block).splitlines():
                name = re.sub(r".*<(.*)>", r"\1", line.strip())
                if name and not name.startswith(":"):
                    waiting += {
                        path for path in page.parent.glob(f"{name}.*") if path.suffix in (".md", ".rst")
                    } - found
    pages = set(source.rglob("*.md")) | {*(source / "api").glob("*.rst")}
    assert pages <= found and len(pages) > 40


def test_the_reference_has_every_public_name(site_pages: ModuleType, source: Path) -> None:
    text = (source / "api/clgraph.rst").read_text(encoding="utf-8")
    assert {*cg.__all__} - {"__version__", "generators"} == {*re.findall(r"^   (\w+)$", text, re.M)}
    for name in site_pages.MODULES:
        listed = re.findall(r"^   (\w+)$", (source / f"api/{name}.rst").read_text(encoding="utf-8"), re.M)
        assert listed and all(hasattr(importlib.import_module(name), each) for each in listed)
    assert "part_graph" in (source / "api/clgraph.compat.rst").read_text(encoding="utf-8")


def test_links_lead_to_pages_of_the_site_or_become_text(site_pages: ModuleType) -> None:
    places, page = site_pages.pages(), ROOT / "docs/algorithms/bfs.md"
    text = "[a](sssp.md#x) [b](../../CHANGELOG.md) [c](../../tests/test_bfs.py) [d](https://e.org) ![e](../picks.png)\n"
    kept = "[a](sssp.md#x) [b](../whats_new.md) c [d](https://e.org) ![e](../picks.png)\n"
    assert site_pages.linked(text, page, places) == kept
    block = "```python\nf[a](b)\n```"
    assert site_pages.linked(block, page, places) == block


def test_calls_in_the_tables_of_other_packages_exist() -> None:
    page = (ROOT / "docs/coming_from.md").read_text(encoding="utf-8")
    calls = set(re.findall(r"`(?:from )?(cg|clgraph)((?:\.\w+)+)", page))
    assert len(calls) > 12
    for _, path in calls:
        value: object = cg
        for name in path.strip(".").split("."):
            if isinstance(value, ModuleType) and not hasattr(value, name):
                importlib.import_module(f"{value.__name__}.{name}")
            value = getattr(value, name)


def test_the_advice_of_doctor_has_a_row_in_the_page() -> None:
    page = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
    advice = (ROOT / "clgraph/cli/doctor.py").read_text(encoding="utf-8")
    for row in re.findall(r"^\| `([^`…]+)` \|", page.partition("## Other errors")[0], re.M):
        assert row in re.sub(r'"\s*f?"', "", advice), row
    errors = re.findall(r"`(\w+(?:Error))[:`]", page.partition("## Other errors")[2])
    assert len(errors) > 6 and all(hasattr(importlib.import_module("clgraph.errors"), name) for name in errors)


def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    """Runs the gallery, and reads every docstring of the reference."""
    done = subprocess.run(
        [str(ROOT / "tools/site")], env={**os.environ, "PYTHON": sys.executable, "CLGRAPH_SITE": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    html = tmp_path / "html"
    assert (html / "search.html").is_file() and (html / "api/generated/clgraph.bfs.html").is_file()
    pictures = {path.name.partition("_00")[0] for path in (html / "_images").glob("sphx_glr_plot_*_001.png")}
    assert len(pictures) == len([*(ROOT / "docs/site/gallery").glob("plot_*.py")]) == 6
    graph = (html / "api/generated/clgraph.Graph.html").read_text(encoding="utf-8")
    assert "from_edges" in graph and "The ends of each edge" in graph
