"""The names of the files of one mesh in Triangle's formats, such as lake.1.node, lake.1.ele and lake.1.poly."""

from __future__ import annotations

from pathlib import Path

SUFFIXES = (".node", ".ele", ".poly", ".area")
_PACKINGS = (".gz", ".xz", ".bz2", ".zst")


def packing_of(path: Path) -> str:
    """Return the compression suffix of *path*, or an empty string if it has none."""
    return path.suffix if path.suffix in _PACKINGS else ""


def stem_of(path: Path) -> Path:
    """Return *path* without its compression suffix, if it has one."""
    return path.with_suffix("") if packing_of(path) else path


def written_files(path: Path) -> list[Path]:
    """Return the .node, .ele, .poly and .area files with the stem and the compression of *path*."""
    return [stem_of(path).with_suffix(suffix + packing_of(path)) for suffix in SUFFIXES]


def beside(path: Path, suffix: str) -> Path | None:
    """Return the path of the file that differs only in its *suffix*, compressed or not, or ``None`` without one."""
    return next((file for file in _candidates(path, suffix) if file.exists()), None)


def needed(path: Path, suffix: str) -> Path:
    """Return the path that :func:`beside` finds, or if the file is missing, the path that it should have."""
    return beside(path, suffix) or stem_of(path).with_suffix(suffix)


def companion(path: Path, suffix: str) -> Path | None:
    """Return the .poly or .area file of the mesh *path*, or ``None`` without one.

    A file of another compression is taken only if no .node file has this compression: m.area.gz belongs to m.node.gz,
    and to m.node if there is no m.node.gz.
    """
    node = beside(path, ".node")
    for file in _candidates(path, suffix):
        own = stem_of(path).with_suffix(".node" + packing_of(file))
        if file.exists() and (own == node or not own.exists()):
            return file
    return None


def _candidates(path: Path, suffix: str) -> list[Path]:
    whole = stem_of(path).with_suffix(suffix)
    return [whole.with_name(whole.name + packing) for packing in (packing_of(path), "", *_PACKINGS)]
