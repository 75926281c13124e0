"""The fenced blocks of the pages, and what stands before each: a comment that tells a test how to take it.

``<!-- not run: REASON -->``
    The block cannot be run in a test. ``tests/test_documentation.py`` counts these blocks.
``<!-- not compared: REASON -->``
    The output cannot be the same on another machine.
``<!-- first: CODE -->``
    The code runs before the block; the page shows a part of a longer program.
``<!-- file: PATH -->``, ``<!-- file: PATH, before LINE -->``
    The block is the file, or goes into it before the line that begins so, in a copy of the tree.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(
    r"^(?:<!-- (?P<kind>not run|not compared|first|file): ?(?P<told>(?:(?!-->).)*?)\s*-->\n)?"
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes
    ----------
    page : str
        The path of the page.
    line : int
        Where the block begins, counted from 1.
    language, code : str
    kind, told : str
        Of the comment before it; empty without one.
    is_output : bool
        Whether the block follows another one and shows its output.
    """

    page: str
    line: int
    language: str
    code: str
    kind: str
    told: str
    is_output: bool

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
