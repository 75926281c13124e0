"""Import the parts of scikit-learn that the estimator uses, or raise an error that says how to install it."""

from __future__ import annotations

from clgraph.errors import MissingExtraError

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.metrics import ndcg_score, r2_score
    from sklearn.utils import check_random_state, check_X_y
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError(
        "SGDMatrixFactorization needs scikit-learn 1.6 or later: pip install 'scikit-learn>=1.6'. "
        "clgraph.algorithms.factorization.training.training.Factorization does without"
    ) from error

__all__ = [
    "BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "TransformerMixin", "check_X_y", "check_is_fitted",
    "check_random_state", "ndcg_score", "r2_score", "validate_data",
]  # fmt: skip
