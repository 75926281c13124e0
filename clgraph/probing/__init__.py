"""The probe: measures what the cost model divides work by."""

from clgraph.probing.api import probe

__all__ = ["probe"]
