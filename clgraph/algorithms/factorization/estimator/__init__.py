"""The estimator of scikit-learn's form, and the model that it fits."""
