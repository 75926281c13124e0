"""Which level of a partition the CPU divides, and whether METIS is there to do it."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from clgraph.device.facts import DeviceFacts

# Vertices of the largest level that moves. METIS divides grids, roads and points of 2^14 vertices in less time than two
# cores refine their levels. For 2^18 it takes longer than the cores need for a level of an eighth, and METIS for that
# one (PoCL and Intel, 2 to 64 parts). A GPU's time on coarse levels is that of barriers, by prices.py 7 ms on an H200,
# and METIS divides some 2^12 vertices meanwhile.
CPU_MOVED_VERTICES, GPU_MOVED_VERTICES = 1 << 15, 1 << 12


def moved_vertices(facts: DeviceFacts, host: str = "metis") -> int:
    """Return the most vertices of a level that *host*, METIS or the CPU's OpenCL runtime, divides.

    Beside a GPU the runtime divides the coarsest level alone: PoCL on 16 cores took 190 ms for a level of 2^12
    vertices, for which an H200 needs some 10 ms.
    """
    if facts.is_cpu:
        return CPU_MOVED_VERTICES
    return GPU_MOVED_VERTICES if host == "metis" else 0


@cache
def has_metis() -> bool:
    """Return whether pymetis is installed."""
    return find_spec("pymetis") is not None
