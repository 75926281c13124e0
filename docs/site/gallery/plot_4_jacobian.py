"""
A coloured Jacobian
===================

Columns of a sparse Jacobian that share no row can be found by one product, or by one difference of the function. So
the number of products is the number of colours, not the number of columns.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import clgraph as cg

# %%
# The Jacobian of a function on a ring: each value depends on five neighbours, and a few on distant ones.
n = 400
near = sp.diags_array([1.0, 2.0, 3.0, 2.0, 1.0], offsets=[-2, -1, 0, 1, 2], shape=(n, n))
far = sp.random_array((n, n), density=0.002, rng=np.random.default_rng(5))
jacobian = (near + far).tocsr()
coloring = cg.color_columns(jacobian)
print(f"{coloring.n_colors} products instead of {n}")

# %%
# All entries are read from these products.
products = jacobian @ coloring.seed_matrix()
assert (coloring.recover(products) != jacobian).nnz == 0

# %%
# Each entry has the colour of its column. On the right, the columns of one colour are one column.
rows, columns = jacobian.nonzero()
colors = coloring.colors
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 5.6), width_ratios=(3, 1), sharey=True, layout="constrained")
style = {"c": colors[columns], "cmap": "turbo", "s": 4, "marker": "s"}
left.scatter(columns, rows, **style)
right.scatter(colors[columns], rows, **style)
left.set_title(f"{n} columns")
right.set_title(f"{coloring.n_colors} products")
left.set_xlabel("column")
left.set_ylabel("row")
right.set_xlabel("colour")
right.set_xticks(range(0, coloring.n_colors, 3))
left.invert_yaxis()
