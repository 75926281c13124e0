"""A name that is not known: which one is meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ELSEWHERE = {  # what other programs call an algorithm
    "cc": "connected_components",
    "components": "connected_components",
    "coloring": "color",
    "colouring": "color",
    "conflicts": "hash_collisions",
    "mst": "minimum_spanning_forest",
    "msf": "minimum_spanning_forest",
    "shortest_paths": "sssp",
}


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return a message that says which of the *known* names of a *kind* is meant by *name*, or lists them all."""
    names = list(known)
    meant = _ELSEWHERE.get(_plain(name)) or _closest(name, names)
    hint = f"did you mean {meant!r}?" if meant in names else f"known: {', '.join(names)}"
    return f"unknown {kind} {name!r}; {hint}"


def unknown_argument(function: str, names: Iterable[str], known: Iterable[str]) -> str:
    """Return a message that *function* does not take arguments of these *names*, and which of the *known* is meant."""
    unknown, there = sorted(map(str, names)), list(known)
    meant = [_closest(name, there) for name in unknown]
    listed = ", ".join(sorted(there)) or "none"
    hint = f"did you mean {', '.join(map(str, meant))}?" if all(meant) else f"it has {listed}"
    return f"{function} has no argument {', '.join(unknown)}; {hint}"


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _closest(name: str, names: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(_plain(name), names, 1)), None)
