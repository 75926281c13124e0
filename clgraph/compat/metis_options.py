"""``Options`` and ``GType`` of pymetis."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from clgraph.arguments import shown
from clgraph.errors import InputError

_OPTIONS = (
    "ptype", "objtype", "ctype", "iptype", "rtype", "dbglvl", "niter", "ncuts", "seed", "no2hop", "minconn", "contig",
    "compress", "ccorder", "pfactor", "nseps", "ufactor", "numbering",
)  # fmt: skip


class Options:
    """Options of METIS by name, as in pymetis: ``Options(contig=1, seed=7)``; -1 means METIS's default.

    :func:`part_graph` and :func:`part_mesh` use ``seed``, ``ufactor`` (the allowed excess weight of a part, in
    thousandths) and ``contig``. ``numbering`` must be 0. The other options of METIS may be set, but change nothing.

    Raises
    ------
    AttributeError
        METIS has no option of this name.
    InputError
        The value is not an integer.

    Examples
    --------
    >>> from clgraph.compat import Options
    >>> Options(contig=1).contig, Options().seed
    (1, -1)
    """

    def __init__(self, **values: int) -> None:
        self.__dict__.update(dict.fromkeys(_OPTIONS, -1))
        for name, value in values.items():
            setattr(self, name, value)

    def __setattr__(self, name: str, value: int) -> None:
        if name not in _OPTIONS:
            raise AttributeError(f"METIS has no option {name!r}; known: {', '.join(_OPTIONS)}")
        if not isinstance(value, int | np.integer):
            raise InputError(f"options.{name} = {shown(value)}; allowed: integers")
        self.__dict__[name] = int(value)

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value}' for name, value in self.__dict__.items() if value != -1)})"


class GType(IntEnum):
    """The graph by which :func:`part_mesh` divides a mesh: of its points (``NODAL``) or of its elements (``DUAL``)."""

    DUAL = 0
    NODAL = 1


def option_of(options: Any, name: str) -> int:
    """Return an option of pymetis's or our Options, or -1 if it is not set."""
    value = getattr(options, name, -1)
    return value if isinstance(value, int) else -1
