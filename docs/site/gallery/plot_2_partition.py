"""
A partition, drawn
==================

A mesh is divided into eight parts of nearly equal size with few edges between them, as for eight processes that each
compute one part and exchange values along the borders.
"""

import matplotlib.pyplot as plt
import numpy as np

import clgraph as cg

# %%
# The mesh is the Delaunay triangulation of random points, and its edges are the graph.
points = np.random.default_rng(0).random((6_000, 2))
mesh = cg.PlanarGraph.from_arrays(points).triangulate(convex_hull=True)
edges, _ = mesh.edges()
graph = cg.Graph.from_edges(*edges.T, n=mesh.n_points)
divided = cg.partition(graph, 8, seed=1, verify=True)
print(f"{divided.edge_cut} of {graph.n_edges // 2} edges are cut; imbalance {divided.imbalance:.3f}")

# %%
# A triangle takes the colour of its first corner; triangles on a border are white.
parts = divided.parts[mesh.triangles]
border = (parts != parts[:, :1]).any(axis=1)
figure, axes = plt.subplots(figsize=(6.6, 6.4), layout="constrained")
axes.tripcolor(*mesh.points.T, mesh.triangles, facecolors=parts[:, 0].astype(float), cmap="Set2", edgecolors="none")
axes.tripcolor(*mesh.points.T, mesh.triangles[border], facecolors=np.zeros(border.sum()), cmap="binary")
axes.set_aspect("equal")
axes.set_axis_off()
least, most = divided.part_weights.min(), divided.part_weights.max()
axes.set_title(f"Eight parts of {least} to {most} vertices, {divided.edge_cut} edges cut")

# %%
# Limits beside the number of parts: shares of unequal size.
uneven = cg.partition(graph, 3, target_weights=[0.5, 0.25, 0.25], seed=1)
print(uneven.part_weights.tolist())
