"""The options of Triangle: letters, some followed by a number, such as ``pq30a0.1o2``."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from clgraph.arguments import shown
from clgraph.errors import InputError

ADDS_POINTS = {"q", "a", "D", "u"}
_FORM = r"(q[\d.]*|a[\d.]*|S\d*|V+|o[12]|[prcADYjneBzQXiFlCgkNPEIuv])*"
_LEFT_OUT = {"B": "_markers$", "P": "^(segment|holes|regions)", "N": "^vert", "E": "^triangle"}
_DEFAULT_ANGLE = 20.0  # If Triangle's option q has no number, Triangle takes this least angle in degrees.
_ALLOWED = "allowed: Triangle's p r q a u A c D Y S j o1 o2 n e B P N E, and Q V z v X i F l C"


class Switches(NamedTuple):
    """The options of a call.

    Attributes
    ----------
    letters : frozenset of str
    numbers : dict of str to float
        The numbers after q, a, S and o. q and S have defaults.
    has_areas : bool
        Whether there is an ``a`` without a number, so that the areas of regions or triangles apply.
    whole : {"none", "boundary", "segments"}
        The segments that must not be split, as ``whole=`` of :func:`clgraph.refine_mesh`.
    """

    letters: frozenset[str]
    numbers: dict[str, float]
    has_areas: bool
    whole: str

    @classmethod
    def parse(cls, opts: object) -> Self:
        """Return the options in the text *opts*, or raise an :class:`InputError`."""
        if not isinstance(opts, str):
            raise InputError(f"opts = {shown(opts)}; {_ALLOWED}")
        opts = "".join(opts.split()).removeprefix("-")
        if rest := re.sub("^" + _FORM, "", opts):
            instead = "; s splits segments more than needed, use D" if rest[0] == "s" else ""
            raise InputError(f"opts = {shown(opts)}; {rest[0]!r} is unknown; {_ALLOWED}{instead}")
        numbers = {"S": 0.0, "q": _DEFAULT_ANGLE}
        found = re.findall(r"([qaSo])([\d.]*)", opts)
        for letter, digits in found:
            try:
                numbers |= {letter: float(digits)} if digits else {}
            except ValueError:
                message = f"opts = {shown(opts)}; {letter} is followed by {digits!r}, which is no number"
                raise InputError(message) from None
        letters = frozenset(re.sub(r"[\d.]", "", opts))
        whole = "segments" if opts.count("Y") > 1 else "boundary" if "Y" in letters else "none"
        return cls(letters, numbers, ("a", "") in found, whole)

    def leaves_out(self, key: str) -> bool:
        """Return whether B, P, N or E drops *key* from the result."""
        return any(re.search(_LEFT_OUT[letter], key) for letter in self.letters & set(_LEFT_OUT))
