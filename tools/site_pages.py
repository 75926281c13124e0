"""Collect the pages of the documentation's site in one folder, for tools/site.

    tools/site_pages.py FOLDER

The pages are Markdown that also reads well in a checkout. A link to a file that is not a page of the site becomes
plain text. Pages of the Python reference are made from the package's lists of public names.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import shutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import clgraph

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Pages outside of docs/, and the files that they become.
ELSEWHERE = {"CHANGELOG.md": "whats_new.md", "CONTRIBUTING.md": "contributing.md", "cl/README.md": "kernels.md"}
# Modules with pages of their own in the reference, beside the names of clgraph itself.
MODULES = (
    "clgraph.generators", "clgraph.csgraph", "clgraph.compat", "clgraph.hetero", "clgraph.distributed",
    "clgraph.progress", "clgraph.errors",
)  # fmt: skip
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def pages() -> dict[Path, str]:
    """Return the files of the site's source: their paths in the repository, and in the source."""
    own = {
        path: path.relative_to(DOCS).as_posix()
        for path in sorted(DOCS.rglob("*"))
        if path.suffix in (".md", ".png") and DOCS / "site" not in path.parents
    }
    site = {path: path.name for path in sorted((DOCS / "site").iterdir()) if path.is_file()}
    return {**own, **site, **{ROOT / name: target for name, target in ELSEWHERE.items()}}


def linked(text: str, path: Path, places: dict[Path, str]) -> str:
    """Return the Markdown *text* of the page *path* with links that are right in the site's source."""
    here = Path(places[path]).parent

    def change(found: re.Match[str]) -> str:
        picture, label, address = found.groups()
        name, mark, anchor = address.partition("#")
        if "://" in address or not name or path.parent == DOCS / "site":
            return found[0]
        target = places.get((path.parent / name).resolve())
        if target is None:
            return label
        return f"{picture}[{label}]({Path(os.path.relpath(target, here)).as_posix()}{mark}{anchor})"

    parts = _FENCE.split(text)  # Blocks of code stay as they are.
    return "".join(part if part.startswith("```") else _LINK.sub(change, part) for part in parts)


def write_pages(folder: Path) -> None:
    """Write the source of the site into *folder*, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    places = pages()
    for path, name in places.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(linked(path.read_text(encoding="utf-8"), path, places), encoding="utf-8")
        else:
            shutil.copy(path, target)
    for name, target in (("gallery", "gallery_sources"), ("templates", "templates"), ("static", "static")):
        shutil.copytree(DOCS / "site" / name, folder / target)
    write_reference(folder / "api")


def write_reference(folder: Path) -> None:
    """Write a page for the names of ``clgraph``, and one for each of ``MODULES``."""
    folder.mkdir(parents=True)
    top = sorted(name for name in clgraph.__all__ if not isinstance(getattr(clgraph, name), ModuleType | str))
    (folder / "clgraph.rst").write_text(_page("clgraph", top), encoding="utf-8")
    for name in MODULES:
        (folder / f"{name}.rst").write_text(_page(name, public_names(import_module(name))), encoding="utf-8")
    listed = "\n".join(f"   {name}" for name in ("clgraph", *MODULES))
    title = "Python reference\n================\n\n"
    text = f"{title}.. toctree::\n   :maxdepth: 2\n\n{listed}\n"
    (folder / "index.rst").write_text(text, encoding="utf-8")


def public_names(module: ModuleType) -> list[str]:
    """Return the documented names of *module*: ``__all__``, or else classes and functions of it and its submodules.

    Names of clgraph itself are left out, since the page of clgraph has them.
    """
    if hasattr(module, "__all__"):
        found = {name: getattr(module, name) for name in module.__all__}
        own = {name: value for name, value in found.items() if value is not getattr(clgraph, name, None)}
        return sorted(name for name, value in own.items() if getattr(value, "__module__", "").startswith("clgraph"))
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and callable(value)
        and f"{getattr(value, '__module__', '')}.".startswith(f"{module.__name__}.")
    )


def _page(module: str, names: Iterable[str]) -> str:
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": []}
    for name in names:
        value = getattr(import_module(module), name)
        kinds["Classes" if inspect.isclass(value) else "Functions"].append(name)
    text = (
        f"{module}\n{'=' * len(module)}\n\n.. automodule:: {module}\n   :no-members:\n\n.. currentmodule:: {module}\n"
    )
    for title, group in kinds.items():
        if group:
            listed = "\n".join(f"   {name}" for name in group)
            text += f"\n{title}\n{'-' * len(title)}\n\n.. autosummary::\n   :toctree: generated\n\n{listed}\n"
    return text


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    write_pages(parser.parse_args().folder)
