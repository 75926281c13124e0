"""
Recommendations
===============

Ratings of users become factors, and these become the items that a user should like. The ratings here have a known
noise, so the best possible error is known, too. A file of real ratings can be named in ``CLGRAPH_RATINGS``.
"""

import os

import matplotlib.pyplot as plt

import clgraph as cg

# %%
# A tenth of the ratings is held out. The schedule changes the learning rate by the error on the others.
ratings = cg.generators.planted_ratings(2_000, 800, 120_000, rank=6, noise=0.4, seed=2)
train, test = ratings.split(0.1, seed=0)
settings = {"learning_rate": 0.03, "regularization": 0.02, "schedule": "bold_driver"}
model = cg.SGDMatrixFactorization(6, n_epochs=40, random_state=0, **settings)
model.fit(train, eval_set=test)
print(f"{model.strategy_}: error {model.eval_curve_[-1]:.3f} on held-out ratings, whose noise is 0.4")

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
epochs = range(1, len(model.loss_curve_) + 1)
axes.plot(epochs, model.loss_curve_, label="training ratings")
axes.plot(epochs, model.eval_curve_, label="held-out ratings")
axes.axhline(0.4, color="black", linestyle="--", linewidth=1, label="noise")
axes.set_xlabel("sweeps over all ratings")
axes.set_ylabel("root mean square error")
axes.set_ylim(bottom=0)
axes.legend(frameon=False)

# %%
# Five items for one user. Items that the user has rated are left out.
items, scores = model.recommend(7, N=5)
for item, score in zip(items, scores, strict=True):
    print(f"item {item}: {score:.2f}")

# %%
# The same on a file of real ratings.
if path := os.environ.get("CLGRAPH_RATINGS"):
    train, test = cg.read_ratings(path).split(0.1, seed=0)
    real = cg.SGDMatrixFactorization(16, biases=True, n_epochs=20, random_state=0).fit(train, eval_set=test)
    print(path, real.eval_curve_[-1])
