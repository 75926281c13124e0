"""Every fenced block of README.md, CONTRIBUTING.md and docs/ runs, and prints what the page shows.

A comment before a block tells how it is taken:

``<!-- not run: REASON -->``
    The block cannot be run in a test; these blocks are counted.
``<!-- not compared: REASON -->``
    The output cannot be the same on another machine.
``<!-- first: CODE -->``
    The code runs before the block; the page shows a part of a longer program.
``<!-- file: PATH -->``, ``<!-- file: PATH, before LINE -->``, ``<!-- file: PATH, after LINE -->``
    The block is the file, or goes into it before or after the first line that begins so, in a copy of the tree.
    The commands of a page with such blocks run in that copy.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import networkx_entry
import numpy as np
import pytest
from conftest import ROOT, session_on

import clgraph as cg
from clgraph.runtime.discovery.child import search_path

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if ROOT / "docs/site" not in page.parents]  # tests/test_site.py reads these.
_BLOCK = re.compile(
    r"^(?:<!-- (?P<kind>not run|not compared|first|file): ?(?P<told>(?:(?!-->).)*?)\s*-->\n)?"
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: str  # the path
    line: int  # The line of the fence, counted from 1.
    language: str
    code: str
    kind: str  # The kind of the comment before the block; empty without a comment.
    told: str  # The text of this comment after its kind.
    is_output: bool  # Whether the block shows the output of the block before it.

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return the blocks of *page* in their order."""
    text, found, end = page.read_text(encoding="utf-8"), [], 0
    for match in _BLOCK.finditer(text):
        follows = bool(found) and not text[end : match.start()].strip()
        found.append(Block(
            str(page.relative_to(ROOT)), text.count("\n", 0, match.start("language")) + 1, match["language"],
            match["code"], match["kind"] or "", match["told"] or "", follows and match["language"] == "text",
        ))  # fmt: skip
        end = match.end()
    return found


BY_PAGE = {str(page.relative_to(ROOT)): blocks(page) for page in PAGES}
BLOCKS = [block for found in BY_PAGE.values() for block in found]
NOT_RUN = {
    "README.md": 1,
    "CONTRIBUTING.md": 1,
    "docs/devices.md": 1,
    "docs/first_steps.md": 1,
    "docs/networkx.md": 1,
    "docs/amd.md": 3,
}
"""Blocks that no test runs, by page."""
REASONS = "downloads", "needs a GPU", "needs several machines", "needs root", "takes minutes"

KEEP_OLD = "old = dict(globals())"
CHECKS = {  # Assertions to run after a block, by page and number of the block.
    "README.md": {
        1: KEEP_OLD,
        2: "assert n == old['n'] and (labels == old['labels']).all()\n"
        "assert (distances == old['distances']).all() and tree.sum() == old['tree'].sum()",
        3: KEEP_OLD,
        4: "assert tree.size('weight') == old['tree'].size('weight') and path == old['path']\n"
        "assert cg.count_conflicts(G, colors) == 0 == cg.count_conflicts(G, [old['colors'][v] for v in G])",
    },
    "docs/python.md": {
        0: "assert cg.connected_components(graph, strategy='afforest').n_components == result.n_components",
        21: "assert best.shape == scores.shape == (1, 5) and factors.shape == (1, 8)",
        22: "assert 0.5 < -search.best_score_ < 0.75  # the noise is 0.5",
    },
    "docs/meshes.md": {
        0: "assert mesh.n_points == 8",
        1: "from pathlib import Path\nimport numpy as np\n"
        "assert mesh.quality().min_angle > 28 and set(mesh.region_attributes) == {1, 2}\n"
        "assert (mesh.areas() <= np.where(mesh.region_attributes == 1, 0.002, 0.01)).all()\n"
        "assert ranks.imbalance <= 0.03 and cg.count_conflicts(mesh, colors.colors) == 0\n"
        "written = [Path(f'plate.{suffix}').read_bytes() for suffix in ('vtu', 'msh')]\n"
        "assert all(name in text for name in (b'rank', b'color', b'region', b'marker') for text in written)\n"
        "assert Path('plate.png').read_bytes().startswith(b'\\x89PNG')",
        4: "assert cut == 1 and len(found.element_part) == mesh.n_triangles",
    },
    "docs/hetero.md": {1: "assert np.allclose(found, np.linalg.norm(points, axis=1))"},
    "docs/distributed.md": {0: "if __name__ == '__main__':\n    assert n_components == 1 and weight == 3 * 99 + 2"},
}


def write_chunks(folder: Path) -> None:
    """Write three paths of 100 vertices, of which each ends in the next one."""
    for k in range(3):
        sources = np.arange(100 * k, min(100 * k + 100, 299))
        weights = np.ones(sources.size, np.int32)
        np.savez(folder / f"part-{k}.npz", sources=sources, targets=sources + 1, weights=weights)


def write_inputs(folder: Path) -> None:
    """Write the files that the command lines name."""
    graph = cg.generators.random_weights(cg.generators.road_like(300), high=100)
    cg.write(graph, folder / "road-FLA.mtx.gz")
    (folder / "edges.txt").write_text("1 2\n2 3\n", encoding="utf-8")
    (folder / "edges.csv").write_text("source,target,time\n0,1,880606923\n1,5,880606924\n", encoding="utf-8")
    trains = "from,to,minutes\nUlm,Bern,140\nBern,Rome,262\n"
    (folder / "trains.csv").write_text(trains, encoding="utf-8")
    lengths = "".join(f"{v} {v + 1} {0.5 + v % 7 / 8}\n" for v in range(64))
    (folder / "lengths.txt").write_text(lengths, encoding="utf-8")
    ratings = cg.generators.planted_ratings(60, 40, 800, rank=4, noise=0.5)
    for name in ("ratings.csv", "ratings.tsv"):
        cg.write_ratings(ratings, folder / name)
    rows = zip(ratings.users, ratings.items, ratings.values, strict=True)
    timed = "".join(f"{880606923 + k}\t{user}\t{item}\t{rating}\n" for k, (user, item, rating) in enumerate(rows))
    (folder / "timed.tsv").write_text(timed, encoding="utf-8")
    lines = [[0, 1], [1, 2], [2, 3], [3, 0]]
    cg.write_planar_graph(cg.PlanarGraph.from_arrays([[0, 0], [3, 0], [3, 1], [0, 1]], lines), folder / "lake.poly")
    shutil.copy(ROOT / "benchmarks" / "results" / "end_to_end-pocl.json", folder / "end_to_end.json")


INPUTS: dict[str, Callable[[Path], None]] = {"docs/distributed.md": write_chunks, "docs/command_line.md": write_inputs}


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a reader on the best CPU, with the command and a cache directory of its own."""
    tree = folder / "tree" if (folder / "tree").exists() else ROOT
    commands = folder / ".bin"
    commands.mkdir(exist_ok=True)
    for name, call in {"clgraph": f'"{sys.executable}" -m clgraph "$@"', "python3": f'"{sys.executable}" "$@"'}.items():
        (commands / name).write_text(f"#!/bin/sh\nexec {call}\n", encoding="utf-8")
        (commands / name).chmod(0o755)
    caches = folder / ".caches"
    if not caches.exists():
        shutil.copytree(os.environ["CLGRAPH_CACHE_DIR"], caches, symlinks=True)
    return {
        **os.environ, "CLGRAPH_DEVICE": "cpu",
        "PYTHONPATH": ":".join([str(tree), *networkx_entry.folder_for_path(folder), search_path()]),
        "CLGRAPH_CACHE_DIR": str(caches), "PATH": f"{commands}:{os.environ['PATH']}",
    }  # fmt: skip


_PLACE = re.compile(r"(?P<path>.*?)(?:, (?P<side>before|after) (?P<line>.*))?")


def write_tree(tree: Path, found: list[Block]) -> None:
    """Copy the checkout to *tree*, and write the blocks into it that are files or parts of some."""
    for name in ("clgraph", "cl", "tests", "docs", "benchmarks", "tools"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tree)
    for block in found:
        if block.kind == "file":
            write_block(tree, block)


def write_block(tree: Path, block: Block) -> None:
    """Write *block* as a file of *tree*, or into one at its place."""
    place = _PLACE.fullmatch(block.told)
    assert place, block.place
    path, line = tree / place["path"], place["line"]
    if line is None:
        assert not path.exists(), f"{block.place}: {path} is there already"
        path.parent.mkdir(exist_ok=True)
        path.write_text(block.code, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    assert f"\n{line}" in text, f"{block.place}: {path} has no line that begins with {line!r}"
    at = text.index(f"\n{line}") + 1
    if place["side"] == "after":
        at = text.index("\n", at) + 1
    # A line of a list or table needs no blank lines around it.
    is_line = place["side"] == "after" or line.startswith((" ", "| `"))
    gap = "" if is_line else "\n" if path.suffix == ".md" else "\n\n"
    path.write_text(text[:at] + block.code + gap + text[at:], encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with the inputs of a page, in which the checkout's own commands are, too."""
    session_on("cpu")
    for name in ("benchmarks", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)
    page = request.getfixturevalue("page")
    if any(block.kind == "file" for block in BY_PAGE[page]):
        write_tree(tmp_path / "tree", BY_PAGE[page])
    INPUTS.get(page, lambda _: None)(tmp_path)
    return tmp_path


def with_blocks(language: str) -> list[str]:
    return [page for page, found in BY_PAGE.items() if any(is_run(b) and b.language == language for b in found)]


def is_run(block: Block) -> bool:
    return block.kind not in ("not run", "file")


@pytest.mark.parametrize("page", with_blocks("python"))
def test_python_of_a_page_runs_and_prints_what_it_shows(page: str, folder: Path) -> None:
    found = BY_PAGE[page]
    run = [block for block in found if block.language == "python" and is_run(block)]
    programs = []
    for k, block in enumerate(run):
        check = CHECKS.get(page, {}).get(k, "")
        first = f"{block.told}\n" if block.kind == "first" else ""
        code = block.code if block.code.startswith(">>>") else f"{first}{block.code}\n{check}\n"
        programs.append({"code": code, "place": block.place})
    (folder / "blocks.json").write_text(json.dumps(programs), encoding="utf-8")
    child = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "run_page.py"), "blocks.json", "outputs.json"], cwd=folder,
        env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    outputs = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))
    for before, block in pairwise(found):
        if block.is_output and before in run and block.kind != "not compared":
            assert outputs[run.index(before)] == block.code, block.place


@pytest.mark.parametrize("page", with_blocks("sh"))
def test_command_lines_of_a_page_run(page: str, folder: Path) -> None:
    variables, tree = environment(folder), folder / "tree"
    for block in BY_PAGE[page]:
        if block.language == "sh" and is_run(block):
            child = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", block.code], cwd=tree if tree.exists() else folder, env=variables,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert child.returncode == 0, f"{block.place}: {child.stdout[-4000:]}{child.stderr}"
            after = BY_PAGE[page][BY_PAGE[page].index(block) + 1 :]
            if after and after[0].is_output and after[0].kind != "not compared":
                assert child.stdout == after[0].code, after[0].place


def test_a_block_with_a_wrong_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.py").write_text("a\n    b\nc\n", encoding="utf-8")
    block = Block("page.md", 1, "python", "    x\n", "file", "list.py, after     b", False)
    write_block(tmp_path, block)
    write_block(tmp_path, replace(block, code="def y(): ...\n", told="list.py, before c"))
    text = (tmp_path / "list.py").read_text(encoding="utf-8")
    assert text == "a\n    b\n    x\ndef y(): ...\n\n\nc\n"
    for told in ("list.py", "list.py, before nothing"):
        with pytest.raises(AssertionError, match=r"page\.md:1"):
            write_block(tmp_path, replace(block, told=told))


def test_every_block_is_run_or_counted_with_a_reason() -> None:
    assert len(BLOCKS) > 40
    for block in BLOCKS:
        known = block.language in ("python", "sh", "c", "text", "markdown")
        assert known or block.page == "docs/design.md", block.place
        assert (block.language in ("c", "markdown")) <= (block.kind == "file"), f"{block.place}: name the file"
        assert (block.language == "text") <= (block.is_output or block.kind == "not compared"), block.place
        assert (block.kind == "not run") <= block.told.startswith(REASONS), block.place
    assert Counter(block.page for block in BLOCKS if block.kind == "not run") == NOT_RUN


def test_every_fence_is_found() -> None:
    for page, found in BY_PAGE.items():
        fences = re.findall(r"^ *```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == 2 * len(found), page


def test_errors_advise_to_install_what_is_published() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {requirement.partition(";")[0] for requirements in extras.values() for requirement in requirements}
    advised = Counter[str]()
    for path in (ROOT / "clgraph").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "clgraph-opencl[" not in text, path
        advised.update(re.findall(r"pip install '([^']+)'", text))
    assert set(advised) <= named and len(advised) >= 4


STUDIES = re.compile(r"\[`[\w./-]+`\]\(([\w./-]+)\): `([^`]+)`")


def test_every_name_in_the_tables_of_studies_exists() -> None:
    page = ROOT / "docs" / "studies.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = [STUDIES.findall(row) for row in rows if "](" in row]
    assert len(named) > 25 and {len(names) for names in named} == {4}
    for function, kernel, test, result in named:
        for (path, name), form in (
            (function, r"^(def|class) {}\b"), (kernel, r"^KERNEL {}\("), (test, r"^def {}\("),
        ):  # fmt: skip
            text = (page.parent / path).read_text(encoding="utf-8")
            assert re.search(form.format(name), text, re.MULTILINE), (path, name)
        measured = json.loads((page.parent / result[0]).read_text(encoding="utf-8"))["rows"]
        assert any(result[1] in (row.get("strategy"), row.get("scheduler"), row.get("asked")) for row in measured), (
            result
        )
