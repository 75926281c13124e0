"""
Components of a road network
============================

A flood closes some roads. Which parts of the network can still reach each other? With the file of a real road network
in ``CLGRAPH_ROADS``, the last step also counts its components.
"""

import os

import matplotlib.pyplot as plt
import numpy as np

import clgraph as cg

# %%
# The network: crossings near a grid, and roads between neighbours.
rng = np.random.default_rng(3)
side = 60
places = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)
places = places + rng.normal(scale=0.18, size=places.shape)
number = np.arange(side * side).reshape(side, side)
across, along = np.stack([number[:, :-1], number[:, 1:]], -1), np.stack([number[:-1], number[1:]], -1)
roads = np.concatenate([across.reshape(-1, 2), along.reshape(-1, 2)])
roads = roads[rng.random(len(roads)) < 0.75]

# %%
# A river floods the roads along its course.
middle = places[roads].mean(axis=1)
dry = np.abs(middle[:, 1] - 30 - 9 * np.sin(middle[:, 0] / 9)) > 1.5
graph = cg.Graph.from_edges(*roads[dry].T, n=side * side)
parts = cg.connected_components(graph, verify=True)
sizes = np.bincount(parts.labels)
print(f"{parts.n_components} components; the largest have {np.sort(sizes)[::-1][:3].tolist()} crossings")
print(parts.info.strategy, "on", parts.info.device)

# %%
# The two largest components get colours of their own.
largest = np.argsort(sizes)[::-1][:2]
colors = np.where(parts.labels == largest[0], "C0", np.where(parts.labels == largest[1], "C1", "0.75"))
figure, axes = plt.subplots(figsize=(7, 6.4), layout="constrained")
for start, end in roads[dry]:
    axes.plot(*places[[start, end]].T, color=colors[start], linewidth=1)
axes.set_aspect("equal")
axes.set_axis_off()
axes.set_title("Roads that are left: the two largest components, and small ones in grey")

# %%
# The same on a file, such as the road network of a state.
if path := os.environ.get("CLGRAPH_ROADS"):
    real = cg.read(path)
    print(path, cg.connected_components(real).n_components, "components of", real.n_vertices, "crossings")
