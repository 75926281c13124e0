"""The probe, which measures the rates of a device for the cost model."""

from clgraph.probing.api import probe

__all__ = ["probe"]
