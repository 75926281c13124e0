"""Clients of Dask clusters on this machine, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import distributed
from conftest import session_on

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
