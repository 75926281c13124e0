"""Error messages for unknown names, with a guess of the name that was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Each name that other packages use for an algorithm is mapped to clgraph's name for the algorithm.
_ELSEWHERE = {
    "cc": "connected_components",
    "components": "connected_components",
    "condensation": "strongly_connected_components",
    "coloring": "color",
    "colouring": "color",
    "conflicts": "hash_collisions",
    "cores": "core_numbers",
    "k_core": "core_numbers",
    "clustering": "triangles",
    "mis": "maximal_independent_set",
    "independent_set": "maximal_independent_set",
    "matching": "maximal_matching",
    "mst": "minimum_spanning_forest",
    "msf": "minimum_spanning_forest",
    "shortest_paths": "sssp",
}


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the error message for an unknown *name*, with a guess of the name that was meant.

    The message suggests the *known* name that was probably meant, or lists all known names.
    """
    names = list(known)
    meant = _ELSEWHERE.get(_plain(name)) or _closest(name, names)
    hint = f"did you mean {meant!r}?" if meant in names else f"known: {', '.join(names)}"
    return f"unknown {kind} {name!r}; {hint}"


def unknown_argument(function: str, names: Iterable[str], known: Iterable[str]) -> str:
    """Return the error message for a call of *function* with arguments *names* that it does not have.

    The message suggests the *known* arguments that were probably meant, or lists all known arguments.
    """
    unknown, there = sorted(map(str, names)), list(known)
    meant = [_closest(name, there) for name in unknown]
    listed = ", ".join(sorted(there)) or "none"
    hint = f"did you mean {', '.join(map(str, meant))}?" if all(meant) else f"it has {listed}"
    return f"{function} has no argument {', '.join(unknown)}; {hint}"


def _plain(name: str) -> str:
    return name.lower().replace("-", "_")


def _closest(name: str, names: list[str]) -> str | None:
    return next(iter(difflib.get_close_matches(_plain(name), names, 1)), None)
