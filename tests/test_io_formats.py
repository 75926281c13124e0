"""Formats of graph files: each keeps graphs and weights, is read as scipy reads it, and is written whole or not."""

import bz2
import gzip
import lzma
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import DATA
from graphs import GRAPHS
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from saved_graphs import (
    cache_dir_fixture,  # noqa: F401
    check_same,
    saved,
)

from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphFileError, GraphFileWarning, InputError
from clgraph.generators import grid, path, random_weights, rmat
from clgraph.io import read, text, write

SUFFIX = {"matrix_market": ".mtx", "edge_list": ".txt", "dimacs9": ".gr", "metis": ".graph", "npz": ".npz"}
KEEP: dict[str, Any] = {"matrix_market": {"duplicates": "keep"}, "edge_list": {"duplicates": "keep"}}


@pytest.mark.parametrize("format", SUFFIX)
@pytest.mark.parametrize("name", GRAPHS)
def test_zoo_survives_each_format(tmp_path: Path, name: str, format: str) -> None:
    graph = GRAPHS[name]()
    if format == "dimacs9":
        graph = random_weights(graph, seed=1)
    file = tmp_path / f"graph{SUFFIX[format]}"
    if format == "metis" and (graph.directed or (graph.sources() == graph.column_indices).any()):
        with pytest.raises(InputError, match="METIS"):
            write(graph, file)
        assert list(tmp_path.iterdir()) == []
        return
    write(graph, file)
    again = read(file, directed=graph.directed, **KEEP.get(format, {}))
    if format != "npz" and not graph.has_sorted_rows and format != "metis":
        graph = Graph.from_edges(*graph.edge_list())
    check_same(again, graph)
    assert os.listdir(tmp_path) == [file.name], "no temporary file is left"


@st.composite
def weighted_graphs(draw: st.DrawFn) -> Graph:
    n, m = draw(st.integers(1, 30)), draw(st.integers(0, 60))
    src, dst = (draw(hnp.arrays(np.int64, m, elements=st.integers(0, n - 1))) for _ in range(2))
    weight = draw(
        st.one_of(
            st.none(),
            hnp.arrays(np.int32, m),
            hnp.arrays(np.int64, m, elements=st.integers(-(2**63) + 1, 2**63 - 2)),
            hnp.arrays(np.float64, m, elements=st.floats(allow_nan=False)),
        )
    )
    return Graph.from_edges(src, dst, weight, n=n, directed=draw(st.booleans()), duplicates="first")


@settings(max_examples=60)
@given(weighted_graphs(), st.sampled_from(["matrix_market", "edge_list", "npz", "dimacs9"]))
def test_values_survive_exactly(tmp_path: Path, graph: Graph, format: str) -> None:
    weights = graph.edge_weights
    if format == "dimacs9" and (weights is None or weights.dtype.kind == "f"):
        return
    file = tmp_path / f"graph{SUFFIX[format]}"
    if format != "npz" and weights is not None and not np.isfinite(weights).all():
        with pytest.raises(InputError, match=r"edge_weights\[\d+\] = -?inf; a text file has finite weights"):
            write(graph, file)
        return
    write(graph, file)
    check_same(read(file, directed=graph.directed), graph)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".bz2"])
def test_compressed_files_are_read(tmp_path: Path, suffix: str) -> None:
    graph = grid(30, 30)
    write(graph, tmp_path / f"graph.mtx{suffix}")
    check_same(read(tmp_path / f"graph.mtx{suffix}"), graph)
    opener: Any = {".gz": gzip, ".xz": lzma, ".bz2": bz2}[suffix]
    assert opener.open(tmp_path / f"graph.mtx{suffix}").readline().startswith(b"%%MatrixMarket")


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 19])
def test_blocks_cut_anywhere_give_the_same_graph(
    tmp_path: Path, block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_BLOCK_BYTES", block_bytes)
    graph = random_weights(rmat(6, 4), seed=1)
    seen: list[int] = []
    for format, suffix in SUFFIX.items():
        write(graph, tmp_path / f"graph{suffix}")
        check_same(read(tmp_path / f"graph{suffix}", progress=seen.append), graph)
        assert seen and (format == "npz" or seen[-1] <= (tmp_path / f"graph{suffix}").stat().st_size)


MATRIX_FORMS = [(field, symmetry) for field in ("pattern", "integer", "real") for symmetry in ("general", "symmetric")]


@pytest.mark.parametrize(
    ("field", "symmetry"), [*MATRIX_FORMS, ("integer", "skew-symmetric"), ("real", "skew-symmetric")]
)
def test_matrix_market_agrees_with_scipy(tmp_path: Path, field: str, symmetry: str) -> None:
    rng = np.random.default_rng(4)
    matrix = sp.random_array((20, 20), density=0.2, rng=rng, data_sampler=lambda size: rng.integers(1, 99, size))
    lower = sp.tril(matrix, -1)
    matrix = {"general": matrix, "symmetric": lower + lower.T, "skew-symmetric": lower - lower.T}[symmetry]
    file = tmp_path / "graph.mtx"
    matrix = sp.csr_array(matrix.astype(int if field == "integer" else float))
    scipy.io.mmwrite(file, matrix, field=field, symmetry=symmetry)
    graph = read(file)
    assert graph.directed == (symmetry != "symmetric")
    expected = scipy.io.mmread(file).tocsr()
    np.testing.assert_array_equal(graph.to_scipy().toarray(), expected.toarray())
    assert (graph.edge_weights is None) == (field == "pattern")
    check_same(read(file, directed=True), Graph.from_scipy(graph.to_scipy(), directed=True))


def test_matrix_market_general_becomes_undirected_if_symmetric(tmp_path: Path) -> None:
    head = "%%MatrixMarket matrix coordinate integer general\n% note\n\n3 3 "
    assert not read(saved(tmp_path, "a.mtx", head + "2\n1 2 5\n2 1 5\n")).directed
    uneven = saved(tmp_path, "b.mtx", head + "3\n1 2 5\n2 1 4\n2 3 1\n")
    assert read(uneven).directed
    assert read(uneven, directed=False).edge_list()[2].tolist() == [4, 1]  # type: ignore[union-attr]
    assert read(saved(tmp_path, "c.mtx", head + "2\n1 2 5\n1 2 4\n")).edge_weights.tolist() == [9]  # type: ignore[union-attr]


def test_dimacs9_files_are_read(tmp_path: Path) -> None:
    arcs = "c road\np sp 4 4\nc arcs\na 1 2 7\na 2 1 7\nc more\na\t3 2 1\na 2 3 1\n"
    graph = read(saved(tmp_path, "roads", arcs))
    assert not graph.directed and graph.n_vertices == 4
    assert [x.tolist() for x in graph.edge_list()] == [[0, 1], [1, 2], [7, 1]]  # type: ignore[union-attr]
    one_way = read(saved(tmp_path, "one.gr", "p sp 2 1\na 2 1 3"))
    assert one_way.directed and not read(tmp_path / "one.gr", directed=False).directed


def test_metis_files_have_weights_comments_and_blank_rows(tmp_path: Path) -> None:
    plain = read(saved(tmp_path, "a.graph", "% c\n4 2\n2\n% d\n1 3\n2\n\n\n"))
    assert [x.tolist() for x in plain.edge_list()[:2]] == [[0, 1], [1, 2]] and plain.n_vertices == 4  # type: ignore[union-attr]
    weighted = read(saved(tmp_path, "b.graph", "3 2 1\n2 10\n1 10 3 20\n2 20\n"))
    assert weighted.edge_list()[2].tolist() == [10, 20]  # type: ignore[union-attr]
    with pytest.warns(GraphFileWarning, match="weights and sizes of vertices"):
        both = read(saved(tmp_path, "c.graph", "3 2 111 2\n9 8 8 2 10\n9 8 8 1 10 3 20\n9 8 8 2 20\n"))
    check_same(both, weighted)


@pytest.mark.parametrize("format", ["matrix_market", "dimacs9", "metis"])
@pytest.mark.filterwarnings("error")
def test_labels_are_the_ids_of_files_that_count_from_one(tmp_path: Path, format: str, cache_dir: Path) -> None:
    file = tmp_path / f"a{SUFFIX[format]}"
    write(random_weights(path(3)), file)
    for _ in range(2):
        assert read(file, cache=True).ids is None
        graph = read(file, with_ids=True, cache=True)
        assert graph.ids is not None and graph.ids.tolist() == [1, 2, 3]
    write(graph, file)
    with pytest.warns(GraphFileWarning, match="numbers the vertices from 1, so the ids are not in it") as caught:
        write(Graph.from_edges([5], [7], [1], ids="auto"), file)
    assert caught[0].filename == __file__


def test_npz_keeps_labels_and_reads_scipy(tmp_path: Path) -> None:
    graph = Graph.from_edges(["x", "y"], ["y", "z"], [0.5, 1], ids="auto")
    write(graph, tmp_path / "a.npz")
    again = read(tmp_path / "a.npz")
    check_same(again, graph)
    assert again.ids is not None and again.ids.tolist() == ["x", "y", "z"]
    sp.save_npz(tmp_path / "b.npz", sp.csr_array(graph.to_scipy()))
    check_same(read(tmp_path / "b.npz"), graph)


@pytest.mark.parametrize(
    "arrays",
    [
        {"format": "csr", "indices": [0, 5], "indptr": [0, 1, 2]},
        {"format": "csr", "indices": [0, -(2**30)], "indptr": [0, 1, 2]},
        {"format": "csc", "indices": [0, -(2**30)], "indptr": [0, 1, 2]},
        {"format": "csc", "indices": [0, 1], "indptr": [0, 2**30, 2]},
        {"format": "coo", "row": [0, -(2**30)], "col": [0, 1]},
        {"format": "bsr", "data": [[[1]], [[1]]], "indices": [0, -(2**30)], "indptr": [0, 1, 2]},
        {"format": "bsr", "data": [[[1]], [[1]]], "indices": [0, 1], "indptr": [0, 2, -(2**31)]},
        {"format": "csr", "indices": [0, 1], "indptr": [0, 2**31 - 1, -(2**31)]},
    ],
)
def test_npz_files_of_scipy_that_lie_are_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    format = arrays["format"].encode()
    arrays = {"data": [1, 1], "shape": [2, 2], "_is_array": True, **arrays, "format": format}
    np.savez(tmp_path / "a.npz", **{name: np.array(values) for name, values in arrays.items()})
    with pytest.raises(GraphFileError, match=r"a\.npz: not a graph"):
        read(tmp_path / "a.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = saved(tmp_path, "a.graph", "old")
    with pytest.raises(InputError, match="directed"):
        write(GRAPHS["directed-path"](), file)
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["a.graph"]


def test_links_and_devices_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "link.mtx").symlink_to(saved(tmp_path, "a.mtx", "old"))
    write(path(3), tmp_path / "link.mtx")
    assert (tmp_path / "link.mtx").is_symlink() and read(tmp_path / "a.mtx").n_vertices == 3
    os.mkfifo(tmp_path / "pipe.mtx")
    reader = os.open(tmp_path / "pipe.mtx", os.O_RDONLY | os.O_NONBLOCK)
    write(path(3), tmp_path / "pipe.mtx")
    assert os.read(reader, 99).startswith(b"%%MatrixMarket")
    os.close(reader)


@pytest.mark.parametrize(
    ("name", "n", "n_edges", "directed"),
    [
        ("road-FLA.mtx.gz", 1070376, 2 * 1343951, False),
        ("road-NY.mtx.gz", 264346, 2 * 365050, False),
        ("web-NotreDame.txt.gz", 325729, 1497134, True),
        ("4elt.graph.gz", 15606, 2 * 45878, False),
        ("delaunay_n15.graph.gz", 32768, 2 * 98274, False),
    ],
)
def test_real_files_are_read(name: str, n: int, n_edges: int, directed: bool) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not in {DATA}")
    graph = read(DATA / name)
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (n, n_edges, directed)
    Graph(graph.row_offsets, graph.column_indices, directed=directed)
