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
    plain = name.lower().replace("-", "_")
    meant = _ELSEWHERE.get(plain) or next(iter(difflib.get_close_matches(plain, names, 1)), None)
    hint = f"did you mean {meant!r}?" if meant in names else f"known: {', '.join(names)}"
    return f"unknown {kind} {name!r}; {hint}"
