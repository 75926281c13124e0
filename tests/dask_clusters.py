"""Clusters of Dask's workers that tests share, and graphs to send to them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import distributed
import numpy as np
import pytest
from conftest import session_on

import clgraph as cg
from clgraph.distributed import LocalOpenCLCluster

N_WORKERS = 2


@contextmanager
def on_pocl(n_workers: int = N_WORKERS) -> Iterator[distributed.Client]:
    """A client of workers that share PoCL's CPU."""
    session_on("pocl")
    with (
        LocalOpenCLCluster(["pocl"], workers_per_device=n_workers, memory_limit=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(n_workers)
        yield client


@contextmanager
def plain(n_workers: int = 0, **options: Any) -> Iterator[distributed.Client]:
    """A client of Dask's own workers, which know of no device."""
    address = "127.0.0.1"
    with (
        distributed.LocalCluster(
            n_workers=n_workers, host=address, dashboard_address=f"{address}:0", **options
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(name="client", scope="module")
def client_fixture() -> Iterator[distributed.Client]:
    with on_pocl() as client:
        yield client


def random_graph(n: int, m: int, dtype: Any = np.int32) -> cg.Graph:
    rng = np.random.default_rng(n + m)
    return cg.Graph.from_edges(
        rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(0, 50, m).astype(dtype), n=n, duplicates="min"
    )
