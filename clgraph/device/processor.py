"""What the processor of this machine says of itself."""

from __future__ import annotations

import platform
from functools import lru_cache
from itertools import takewhile


@lru_cache(maxsize=1)
def processor() -> dict[str, str]:
    """Return the fields of ``/proc/cpuinfo`` of the first processor, elsewhere only its ``model name``."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            fields = (line.partition(":") for line in takewhile(str.strip, lines))
            return {name.strip(): value.strip() for name, _, value in fields}
    except OSError:
        return {"model name": platform.processor()}


def processor_features() -> frozenset[str]:
    """Return the features of the processor, with the kernel's names; empty where they are not known."""
    return frozenset(processor().get("flags", "").split())
