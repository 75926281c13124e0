"""
A mesh before and after
=======================

An outline with a hole and a finer region becomes a triangulation, which a device refines until no angle is below 28
degrees.
"""

import matplotlib.pyplot as plt
import numpy as np

import clgraph as cg

# %%
# An outline in the shape of a plate, a round hole, and a line that bounds a finer region.
turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
outline = np.array([[0, 0], [6, 0], [6, 3], [0, 3]])
hole = np.stack([1.8 + 0.7 * np.cos(turn), 1.5 + 0.7 * np.sin(turn)], axis=1)
bar = np.array([[4, 0], [4, 3]])
points = np.concatenate([outline, hole, bar])
ring = 4 + np.arange(40)
lines = [[0, 1], [1, 2], [2, 3], [3, 0], *np.stack([ring, np.roll(ring, -1)], axis=1).tolist(), [44, 45]]
plate = cg.PlanarGraph.from_arrays(points, lines, holes=[[1.8, 1.5]], regions=[[0.1, 0.1, 1, 0.1], [5, 1, 2, 0.01]])
before = plate.triangulate()
after = cg.refine_mesh(before, min_angle=28, verify=True)
print(f"{before.n_triangles} triangles with angles from {before.quality().min_angle:.1f} degrees")
print(f"{after.n_triangles} triangles with angles from {after.quality().min_angle:.1f} degrees")

# %%
figure, both = plt.subplots(2, 1, figsize=(7, 7.4), layout="constrained")
for axes, mesh, title in zip(both, (before, after), ("before", "after"), strict=True):
    drawn = axes.tripcolor(
        *mesh.points.T,
        mesh.triangles,
        facecolors=mesh.angles().min(axis=1),
        vmin=0,
        vmax=60,
        cmap="RdYlBu",
        edgecolors="black",
        linewidth=0.2,
    )
    axes.set_aspect("equal")
    axes.set_title(f"{title}: {mesh.n_triangles:,} triangles")
figure.colorbar(drawn, ax=both, label="least angle of a triangle (degrees)", shrink=0.7)

# %%
# ``cg.write_mesh(after, "plate.vtu")`` writes it for ParaView, and ``"plate.msh"`` for Gmsh.
