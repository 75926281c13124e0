"""Algorithms that run on several machines through Dask, with one worker for each OpenCL device.

The functions have the same names as in :mod:`clgraph`. They take a Dask client, and chunks of edges. Each chunk is
read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clgraph.errors import MissingExtraError

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        "clgraph.distributed needs dask's distributed: pip install 'distributed>=2024.1'"
    ) from error

from clgraph.distributed.chunks import edge_chunks
from clgraph.distributed.cluster import LocalOpenCLCluster
from clgraph.distributed.connected_components import DistributedComponents, connected_components
from clgraph.distributed.fold import DistributedInfo
from clgraph.distributed.forest import DistributedForest, minimum_spanning_forest
from clgraph.distributed.scheduler import HeteroScheduler

if TYPE_CHECKING:
    from clgraph.distributed.factorization import SGDMatrixFactorization

__all__ = [
    "DistributedComponents",
    "DistributedForest",
    "DistributedInfo",
    "HeteroScheduler",
    "LocalOpenCLCluster",
    "SGDMatrixFactorization",
    "connected_components",
    "edge_chunks",
    "minimum_spanning_forest",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # The estimator SGDMatrixFactorization is imported late, because the import needs scikit-learn.
        if name != "SGDMatrixFactorization":
            raise AttributeError(f"module 'clgraph.distributed' has no attribute {name!r}")
        from clgraph.distributed.factorization import SGDMatrixFactorization

        return SGDMatrixFactorization
