"""The estimator of matrix factorisation in scikit-learn's form."""
