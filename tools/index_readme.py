"""A hook of the build: the description for package indexes, which is README.md without links to files beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_OUTSIDE = r"(?!https?://)"  # before an address that is none of the web


def without_local_links(text: str) -> str:
    """Return Markdown *text* without pictures in files, and with the plain text of links to files and headings."""
    text = re.sub(rf"!\[[^\]]*\]\({_OUTSIDE}[^)]*\)\n*", "", text)
    return re.sub(rf"\[([^\]]+)\]\({_OUTSIDE}[^)]*\)", r"\1", text)


class IndexReadme(MetadataHookInterface):
    """Sets the project's readme."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": without_local_links(text)}
