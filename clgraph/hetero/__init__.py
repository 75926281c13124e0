"""Schedulers that compute loads of independent items on all devices of a machine at the same time."""

from __future__ import annotations

from clgraph.hetero.learning import POLICIES
from clgraph.hetero.ready_made import elementwise, map_rows
from clgraph.hetero.report import HeteroReport, RoundReport
from clgraph.hetero.scheduler import HeteroRun, HeteroScheduler
from clgraph.hetero.work import Kernel, Output, Work
from clgraph.runtime.devices import sub_devices
from clgraph.shared_memory import shared_copy

__all__ = [
    "POLICIES",
    "HeteroReport",
    "HeteroRun",
    "HeteroScheduler",
    "Kernel",
    "Output",
    "RoundReport",
    "Work",
    "elementwise",
    "map_rows",
    "shared_copy",
    "sub_devices",
]
