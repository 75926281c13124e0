"""A place to break, a copy of the tree and a run of tests in it, for the tools that break the code place by place."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_COPIED = ("clgraph", "cl", "tests", "tools", "benchmarks", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md")


@dataclass(frozen=True)
class Mutation:
    """A change of one place: characters *begin* … *end* of *file* become *new*."""

    file: str
    line: str
    kind: str
    number: int
    begin: int
    end: int
    new: str

    @property
    def key(self) -> str:
        return f"{self.file} | {self.line} | {self.kind} {self.number}"

    def apply(self, text: str) -> str:
        """Return the text of the file with the change."""
        return text[: self.begin] + self.new + text[self.end :]


def copy_tree(folder: Path) -> Path:
    """Copy what tests need into *folder*, and return it."""
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
