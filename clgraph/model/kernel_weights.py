"""Measured time of kernels over the time that probed rates predict, for kernels of contenders.

A runtime of CPUs compiles a kernel to faster or slower code than the probe's loops, so each measured runtime has
weights of its own. ``tools/calibrate_model.py --write`` fits the file to recorded runs.
"""
from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from statistics import geometric_mean

from clgraph.device.facts import DeviceFacts

GPU = "GPU"


@cache
def tables() -> dict[str, dict[str, float]]:
    """Return the weights of GPUs, under :data:`GPU`, and of each measured runtime of CPUs, by platform."""
    text = resources.files(__package__).joinpath("kernel_weights.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, float]] = json.loads(text)
    return found


def weights_of(facts: DeviceFacts) -> Mapping[str, float]:
    """Return the weights on the device with these *facts*; a kernel without a weight has 1."""
    return _weights(facts.platform if facts.is_cpu else GPU)


@cache
def _weights(name: str) -> Mapping[str, float]:
    """Return the weights of a table; a runtime that was not measured has the mean of those that were."""
    if (known := tables().get(name)) is not None:
        return known
    cpus = [table for platform, table in tables().items() if platform != GPU]
    return {kernel: geometric_mean(t[kernel] for t in cpus if kernel in t) for kernel in set().union(*cpus)}
