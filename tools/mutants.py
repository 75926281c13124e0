"""A place to break, a copy of the tree and a run of tests in it, for the tools that break the code place by place."""

from __future__ import annotations

import bisect
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_COPIED = (
    "clgraph", "cl", "tests", "tools", "benchmarks", "docs", "_clgraph_nx.py", "pyproject.toml", "README.md",
    "CONTRIBUTING.md",
)  # fmt: skip


@dataclass(frozen=True)
class Mutation:
    """A change of one place: characters *begin* … *end* of *file* become *new*.

    In a program that is built once with all mutations the place becomes *switch*, which has both texts.
    """

    file: str
    function: str
    kind: str
    number: int
    begin: int
    end: int
    new: str
    switch: str = ""

    @property
    def key(self) -> str:
        return f"{self.file} | {self.function} | {self.kind} {self.number}"

    def apply(self, text: str) -> str:
        """Return the text of the file with the change."""
        return text[: self.begin] + self.new + text[self.end :]


def numbered(file: str, text: str, places: Iterable[tuple[Any, ...]], definition: str) -> list[Mutation]:
    """Return the mutations at *places* (begin, end, kind, new text, switch) of a file.

    Mutations of one kind are numbered in each function. *definition* matches the head of a function; its first group is
    the function's name.
    """
    heads = [(found.start(), found[1]) for found in re.finditer(definition, text, re.MULTILINE)]
    result, seen = [], Counter[tuple[str, str]]()
    for begin, end, kind, *new in sorted(places, key=lambda place: (place[0], -place[1], *place[2:])):
        k = bisect.bisect_right(heads, begin, key=lambda head: head[0])
        function = heads[k - 1][1] if k else "module"
        seen[function, kind] += 1
        result.append(Mutation(file, function, kind, seen[function, kind], begin, end, *new))
    return result


def copy_tree(folder: Path) -> Path:
    """Copy the files that tests need into *folder*, and return it."""
    for part in _COPIED:
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, folder / part)
    return folder


def failing_test(tree: Path, files: Sequence[str], *, seconds: float | None, **environment: str) -> str:
    """Return the first test of *files* that fails in *tree*, ``"time"`` after *seconds*, or nothing."""
    command = [sys.executable, "-m", "pytest", "-x", "-m", "not slow", "-p", "no:cacheprovider", *files]
    path = os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))
    try:
        ran = subprocess.run(
            command, cwd=tree, env={**os.environ, **environment, "PYTHONPATH": path}, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "time"
    if not ran.returncode:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", ran.stdout, re.MULTILINE)  # names may have spaces
    return failed[1] if failed else f"exit status {ran.returncode}"
