"""The probe, which measures the rates of a device that the cost model uses."""

from clgraph.probing.api import probe

__all__ = ["probe"]
