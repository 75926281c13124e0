"""Functions that write a graph to a file and compare a graph that is read."""

from pathlib import Path

import numpy as np
import pytest

from clgraph.data.graphs.graph import Graph


def check_same(one: Graph, other: Graph) -> None:
    np.testing.assert_array_equal(one.row_offsets, other.row_offsets)
    np.testing.assert_array_equal(one.column_indices, other.column_indices)
    if one.n_edges:
        assert (one.edge_weights is None) == (other.edge_weights is None)
    if one.n_edges and one.edge_weights is not None:
        np.testing.assert_array_equal(one.edge_weights, other.edge_weights)
    assert one.directed == other.directed


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@pytest.fixture(name="cache_dir")
def cache_dir_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"
