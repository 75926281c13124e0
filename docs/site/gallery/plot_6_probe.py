"""
The probe
=========

A cost model picks strategies by rates that a probe measures: atomics, random loads, launches. This example measures
the device that builds the page, and predicts with its rates.
"""

import matplotlib.pyplot as plt

import clgraph as cg

# %%
# The probe takes some seconds. Its rates are kept for later sessions.
session = cg.Session("cpu")
profile = cg.probe(session)
rates = profile.rates
print(f"launch and read-back: {1e6 * rates.read_back_seconds:.0f} µs")
print(f"streaming: {rates.stream_bytes_per_second / 1e9:.0f} GB/s")

# %%
# Atomics on one word get slower when more work-items use it; random loads when they leave the caches.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for name in ("add_int32", "min_int32", "cmpxchg_int32"):
    points = sorted(rates.same_address_atomics_per_second[name].items())
    left.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
right.plot(*zip(*sorted(rates.gathers_per_second.items()), strict=True), marker="o", markersize=3, color="C3")
left.set_title("Atomics on one word")
left.set_xlabel("work-items")
right.set_title("Random loads of 4 bytes")
right.set_xlabel("bytes of the working set")
for axes in (left, right):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylabel("per second")
    axes.grid(alpha=0.3)
left.legend(frameon=False)

# %%
# With these rates the model predicts each strategy.
graph = cg.generators.rmat(14, 8)
print(cg.explain("connected_components", graph, session=session))
