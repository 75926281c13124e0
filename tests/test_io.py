import bz2
import gzip
import lzma
import mmap
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from conftest import DATA, memory_below
from graphs import GRAPHS, UNDIRECTED
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from clgraph import user_cache
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphFileError, GraphFileWarning, InputError
from clgraph.generators import grid, path, random_weights, rmat
from clgraph.io import FORMATS, cache, read, text, write

SUFFIX = {"matrix_market": ".mtx", "edge_list": ".txt", "dimacs9": ".gr", "metis": ".graph", "npz": ".npz"}
KEEP: dict[str, Any] = {"matrix_market": {"duplicates": "keep"}, "edge_list": {"duplicates": "keep"}}


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


@pytest.mark.parametrize("format", FORMATS)
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
def test_compressed_files(tmp_path: Path, suffix: str) -> None:
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


@pytest.mark.parametrize(
    ("content", "n", "edges"),
    [
        ("0 1\n1 2\n", 3, [(0, 1), (1, 2)]),
        ("0\t1\r\n1\t2\r\n", 3, [(0, 1), (1, 2)]),
        ("0,1\n1, 2", 3, [(0, 1), (1, 2)]),
        ("# c\n% d\n\n  0   1  \n\n# e 9 9\n 1 2\n%f", 3, [(0, 1), (1, 2)]),
        ("# Nodes: 7 Edges: 1\n0 1\n", 7, [(0, 1)]),
        ("# Nodes: 2 Edges: 1\n0 5\n", 2, [(0, 1)]),
        ("# Nodes: 4 Edges: 0\n", 4, []),
        ("0 1\n1 0\n0 1\n", 2, [(0, 1)]),
        ("+0 1.0\n", 2, [(0, 1)]),
        ("3 4\n", 2, [(0, 1)]),
        ("1 9000000000\n1 2\n", 3, [(0, 1), (0, 2)]),
        ("1,2,\n", 2, [(0, 1)]),
        ("1\t2\t\t\n", 2, [(0, 1)]),
        ("target,source\n1,0\n2,1\n", 3, [(0, 1), (1, 2)]),
        (",FromNodeId,ToNodeId,Timestamp\n0,0,1,5\n1,1,2,6\n", 3, [(0, 1), (1, 2)]),
        ("% sym unweighted\n% 2 4 4\n1 2 1 99\n2 3 1 98\n", 4, [(0, 1), (1, 2)]),
    ],
)
def test_edge_list_forms(tmp_path: Path, content: str, n: int, edges: list[tuple[int, int]]) -> None:
    graph = read(saved(tmp_path, "graph.txt", content))
    src, dst, weights = graph.edge_list()
    assert not graph.directed and weights is None
    assert (graph.n_vertices, list(zip(src, dst, strict=True))) == (n, edges)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [("5 -7", np.int32), ("5 4294967296", np.int64), ("5 2.5", np.float64), ("5 -99999999999999999999", np.float64)],
)
def test_edge_list_weights(tmp_path: Path, values: str, dtype: Any) -> None:
    one, two = values.split()
    graph = read(saved(tmp_path, "graph.csv", f"0,1,{one}\n2,1,{two}\n"), directed=True)
    assert graph.edge_weights is not None and graph.edge_weights.dtype == dtype
    assert graph.edge_weights.tolist() == [float(one), float(two)]


def test_edge_list_directions_come_from_the_head(tmp_path: Path) -> None:
    directed = saved(tmp_path, "directed.txt", "# Directed graph: web\n0 1\n")
    undirected = saved(tmp_path, "undirected.txt", "# Undirected graph: friends\n0 1\n1 0\n")
    assert read(directed).directed and not read(directed, directed=False).directed
    assert not read(undirected).directed and read(undirected).n_edges == 2
    assert read(undirected, duplicates="keep").n_edges == 4


@pytest.mark.filterwarnings("error")
def test_edge_list_keeps_the_ids_of_the_file(tmp_path: Path) -> None:
    file = saved(tmp_path, "graph.txt", "1 2\n2 3\n")
    graph = read(file)
    assert graph.n_vertices == 3 and graph.ids is not None and graph.ids.tolist() == [1, 2, 3]
    assert read(file, base=1).n_vertices == 3 and read(file, base=1).ids is None
    assert read(file, base=0).n_vertices == 4 and read(file, base=0, with_ids=True).ids is None
    kept = read(file, base=1, with_ids=True)
    assert kept.ids is not None and kept.ids.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="base = 0; allowed with ids='compact'"):
        read(file, base=0, ids="compact")


@pytest.mark.parametrize(("head", "n"), [("", None), ("# Nodes: 4\n", 4)])
@pytest.mark.filterwarnings("error")
def test_edge_list_of_numbers_that_may_begin_at_one_warns(tmp_path: Path, head: str, n: int | None) -> None:
    file = saved(tmp_path, "graph.txt", head + "1 2\n2 3\n")
    with pytest.warns(GraphFileWarning, match=r"smallest id is 1.*numbered from 1.*--base") as caught:
        graph = read(file, ids="keep")
    assert caught[0].filename == __file__, "the warning points at the caller"
    assert graph.n_vertices == (n or 3) and graph.column_indices[0] == 1
    write(Graph.from_edges([1], [2]), file)
    assert read(file).n_vertices == 3, "our own files say that they count from 0"


TOPS = [4, 5, 1000, 16_000_000, 17_000_000, 9_000_000_000]


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("head", ["", "# Nodes: 4 Edges: 3\n"])
@pytest.mark.filterwarnings("error")
def test_ids_with_gaps_are_compacted_whatever_their_size(tmp_path: Path, top: int, head: str) -> None:
    graph = read(saved(tmp_path, "graph.txt", f"{head}0 {top} 0.5\n{top} 3 1.5\n3 2 2.5\n"))
    assert graph.ids is not None and graph.ids.tolist() == [0, 2, 3, top]
    src, dst, weights = graph.edge_list()
    assert list(zip(src, dst, weights, strict=True)) == [(0, 3, 0.5), (1, 2, 2.5), (2, 3, 1.5)]  # type: ignore[arg-type]


@pytest.mark.parametrize("top", TOPS)
def test_ids_are_compacted_unless_the_head_states_their_range(tmp_path: Path, top: int) -> None:
    file = saved(tmp_path, "graph.txt", f"# Nodes: 1001 Edges: 2\n0 {top}\n3 0\n")
    if top <= 1000:
        graph = read(file)
        assert graph.ids is None and graph.n_vertices == 1001 and read(file, ids="compact").n_vertices == 3
        return
    with pytest.warns(GraphFileWarning, match="tells of 1001 vertices, the edges name 3"):
        assert read(file).n_vertices == 3
    if top > 1 << 24:
        with pytest.raises(GraphFileError, match=f"{top + 1} vertices with only 2 edges"):
            read(file, ids="keep")
    else:
        assert read(file, ids="keep").n_vertices == top + 1


def test_a_stated_number_of_vertices_must_be_believable(tmp_path: Path) -> None:
    with pytest.warns(GraphFileWarning, match="tells of 2000000000 vertices, the edges name 2"):
        assert read(saved(tmp_path, "graph.txt", "# Nodes: 2000000000 Edges: 1\n0 1\n")).n_vertices == 2


def edges_of(graph: Graph) -> list[tuple[Any, ...]]:
    return sorted(zip(*(array.tolist() for array in graph.edge_list() if array is not None), strict=True))


@pytest.mark.parametrize(
    ("content", "n", "directed", "edges"),
    [
        (
            "% asym positive\n% 4 4 4\n1 2 5\n2 1 90\n2 3 1\n3 1 1\n", 4, True,
            [(0, 1, 5), (1, 0, 90), (1, 2, 1), (2, 0, 1)],
        ),
        ("% asym positive\n1 2 5 7\n1 2 4 8\n", 2, True, [(0, 1, 9)]),
        ("% sym signed\n% 2 3 3\n1 2 -1\n2 3 1\n", 3, False, [(0, 1, -1), (1, 2, 1)]),
        ("\n%\tsym weighted \n\n1 2 3 1217567877\n", 2, False, [(0, 1, 3)]),
        ("% sym unweighted\n% 1 3 3\n1 2 1 1217567877\n", 3, False, [(0, 1)]),
        ("% bip unweighted\n% 3 2 3\n1 1\n1 2\n2 3\n", 5, False, [(0, 2), (0, 3), (1, 4)]),
        ("% bip weighted\n5 1 2.5\n9 1 3\n", 3, False, [(0, 2, 2.5), (1, 2, 3)]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_heads_of_konect(tmp_path: Path, content: str, n: int, directed: bool, edges: list[tuple[Any, ...]]) -> None:
    graph = read(saved(tmp_path, "out.network", content))
    assert (graph.n_vertices, graph.directed, edges_of(graph)) == (n, directed, edges)


def test_labels_are_the_ids_of_konect(tmp_path: Path) -> None:
    stated = read(saved(tmp_path, "out.a", "% bip unweighted\n% 2 2 3\n1 1\n2 3\n"), with_ids=True)
    assert stated.ids is not None and stated.ids.tolist() == ["L1", "L2", "R1", "R2", "R3"]
    found = read(saved(tmp_path, "out.b", "% bip unweighted\n7 1\n9 3\n"))
    assert found.ids is not None and found.ids.tolist() == ["L7", "L9", "R1", "R3"]
    one = read(saved(tmp_path, "out.c", "% sym unweighted\n% 1 3 3\n1 2\n"), with_ids=True)
    assert one.ids is not None and one.ids.tolist() == [1, 2, 3]


CYCLE = [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize(
    ("size", "content", "n", "edges"),
    [
        ("6 5", "0 1\n1 2\n2 3\n3 4\n4 0\n", 6, CYCLE),
        ("5 5", "1 2\n2 3\n3 4\n4 5\n5 1\n", 5, CYCLE),
        ("4 3", "0 1\n1 0\n1 2\n2 1\n2 0\n0 2\n", 4, [(0, 1), (0, 2), (1, 2)]),
        ("5 4", "1 2\n2 3\n3 4\n4 1\n1 3\n", 4, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]),  # as hMETIS has them
        ("4 4 2", "0 1 5\n1 2 6\n", 4, [(0, 1, 5), (1, 2, 6)]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_first_line_that_fits_as_a_size_line_is_one(
    tmp_path: Path, size: str, content: str, n: int, edges: list[tuple[int, ...]]
) -> None:
    file = saved(tmp_path, "graph.txt", f"# x\n{size}\n{content}")
    with pytest.warns(GraphFileWarning, match=f"line 2: '{size}' is taken for the size line.*--no-size-line"):
        graph = read(file)
    assert (graph.n_vertices, edges_of(graph), graph.ids) == (n, edges, None)
    again, as_edge = read(file, size_line=True), read(file, size_line=False, duplicates="keep")
    assert edges_of(again) == edges
    assert as_edge.ids is not None or as_edge.n_vertices != n or as_edge.n_edges == content.count("\n") + 1


def test_size_lines_that_do_not_fit(tmp_path: Path) -> None:
    weighted = read(saved(tmp_path, "a.txt", "4 2\n0 1 0.5\n1 2 1.5\n"))
    assert weighted.n_vertices == 4 and edges_of(weighted) == [(0, 1, 0.5), (1, 2, 1.5)]
    with pytest.raises(GraphFileError, match=r"line 1: '4 3'.*there are 2 edges with ids from 0 to 2"):
        read(saved(tmp_path, "b.txt", "4 3\n0 1 0.5\n1 2 1.5\n"))
    cut = saved(tmp_path, "c.txt", "6 5\n0 1\n1 2\n")
    with pytest.warns(GraphFileWarning, match=r"line 1: '6 5' is taken for an edge.*there are 2 edges"):
        assert read(cut, duplicates="keep").n_edges == 6
    with pytest.raises(GraphFileError, match=r"line 1: '6 5'.*there are 2 edges"):
        read(cut, size_line=True)
    with pytest.raises(GraphFileError, match=r"line 1: '0\.5 1'; expected the size line"):
        read(saved(tmp_path, "d.txt", "0.5 1\n0 1\n"), size_line=True)
    assert read(saved(tmp_path, "e.txt", "3 0\n"), size_line=True).n_vertices == 3


@pytest.mark.filterwarnings("error")
def test_times_are_no_weights_without_a_word(tmp_path: Path) -> None:
    file = saved(tmp_path, "graph.txt", "0 1 1217567877\n1 2 1217567878\n")
    with pytest.warns(GraphFileWarning, match=r"taken for weights, though it looks like times.*columns="):
        assert read(file).edge_weights is not None
    assert read(file, columns=("source", "target", "time")).edge_weights is None
    assert edges_of(read(file, columns=("source", "target", "weight")))[0][2] == 1217567877
    turned = read(file, columns=["weight", "target", "source"], directed=True)
    assert turned.ids is not None and turned.ids[-1] == 1217567878
    named = saved(tmp_path, "b.csv", "since,to,from,metres\n1217567877,1,0,5\n")
    assert edges_of(read(named, columns=("", "target", "source", "weight"))) == [(0, 1, 5)]


@pytest.mark.parametrize(
    "columns", ["source,target", ("source",), ("source", "target", "target"), ("source", "target", 3), 5]
)
def test_columns_are_checked(tmp_path: Path, columns: Any) -> None:
    with pytest.raises(InputError, match=r"columns = .*'source', 'target' among them"):
        read(saved(tmp_path, "a.txt", "0 1\n"), columns=columns)


@pytest.mark.parametrize("name", ["a.hgr", "a.adjlist", "a.adjlist.gz"])
def test_formats_whose_lines_would_pass_for_edges_are_refused_by_name(tmp_path: Path, name: str) -> None:
    file = saved(tmp_path, name, "3 4\n1 2\n2 3\n3 4\n")
    with pytest.raises(GraphFileError, match="are not read; format='edge_list'"):
        read(file)
    assert read(file, format="edge_list", size_line=False).n_vertices == 4


def test_large_ids_are_exact_beside_numbers_with_a_point(tmp_path: Path) -> None:
    ids = [2**53, 2**53 + 1, 2**60 + 1, 2**63 - 1]
    text = f"{ids[0]} {ids[1]} 0.5\n{ids[2]}.0 {ids[3]} 1\n"
    graph = read(saved(tmp_path, "a.txt", text), ids="compact")
    assert graph.ids is not None and graph.ids.tolist() == ids
    for wrong in (f"{2**63}", f"{2**60}.5", "1e300", "1e-400", "0." + 20 * "9"):
        with pytest.raises(GraphFileError, match=r"line 2.*ids from 0 to 9223372036854775807"):
            read(saved(tmp_path, "b.txt", f"0 1 0.5\n{wrong} 1 1\n"))


def test_edge_list_shorter_than_its_head_says_warns(tmp_path: Path) -> None:
    with pytest.warns(GraphFileWarning, match="tells of 3 edges, there are 1"):
        read(saved(tmp_path, "graph.txt", "# Nodes: 2 Edges: 3\n0 1\n"))


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


def test_dimacs9(tmp_path: Path) -> None:
    arcs = "c road\np sp 4 4\nc arcs\na 1 2 7\na 2 1 7\nc more\na\t3 2 1\na 2 3 1\n"
    graph = read(saved(tmp_path, "roads", arcs))
    assert not graph.directed and graph.n_vertices == 4
    assert [x.tolist() for x in graph.edge_list()] == [[0, 1], [1, 2], [7, 1]]  # type: ignore[union-attr]
    one_way = read(saved(tmp_path, "one.gr", "p sp 2 1\na 2 1 3"))
    assert one_way.directed and not read(tmp_path / "one.gr", directed=False).directed


def test_metis_weights_comments_and_blank_rows(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".csv.gz"])
@pytest.mark.filterwarnings("error")
def test_an_edge_list_keeps_ids_and_its_suffix_tells_what_stands_between(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    for ids in ([5, 9, 7], [2, 0, 1], [1, 2, 3], [3, 2, 1], [0, 1, 2], [2**62, 1, 0]):
        graph = Graph.from_edges([ids[0], ids[1]], [ids[1], ids[2]], [0.5, 2], ids=ids, directed=True)
        write(graph, file)
        content = gzip.decompress(file.read_bytes()) if suffix.endswith("gz") else file.read_bytes()
        separator = "," if "csv" in suffix else "\t"
        assert separator.join([str(ids[0]), str(ids[1]), "0.5"]) in content.decode().splitlines()
        again = read(file, with_ids=True)
        names = np.arange(3) if again.ids is None else again.ids
        assert {(int(names[u]), int(names[v]), w) for u, v, w in edges_of(again)} == {
            (ids[u], ids[v], w) for u, v, w in edges_of(graph)
        }


@pytest.mark.filterwarnings("error")
def test_an_edge_list_tells_of_labels_that_it_cannot_hold(tmp_path: Path) -> None:
    for ids in (["x", "y"], [-1, 5], [1.5, 2.5], [(1, 2), (3, 4)]):
        with pytest.raises(InputError, match=r"ids\[0\] = .*; an edge list has integers"):
            write(Graph.from_edges([ids[0]], [ids[1]], ids=ids), tmp_path / "a.csv")
    with pytest.warns(GraphFileWarning, match="1 vertices without edges are not in the file"):
        write(Graph.from_edges([5], [9], ids=[5, 7, 9]), tmp_path / "a.csv")
    assert read(tmp_path / "a.csv").n_vertices == 2
    write(Graph.from_edges([1], [3], ids=[1, 2, 3]), tmp_path / "b.csv")
    assert read(tmp_path / "b.csv").n_vertices == 3


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


MM = "%%MatrixMarket matrix coordinate "
MANY_DIGITS = "9" * 5000  # Python makes no number of more than 4,300


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "", "no edges"),
        ("a.txt", "# only a comment\n", "no edges"),
        ("a.txt", "0 1\n2\n3 4 5\n", r"line 2: '2'; expected 'source target'"),
        ("a.txt", "0\n", "line 1: '0'"),
        ("a.txt", "0 1 2 3\n", "line 1"),
        ("a.txt", "0 1\n1 2 3\n4\n", "line 2: '1 2 3'"),
        ("a.txt", "1 3\n1 2 3\n4\n", "line 3: '4'"),
        ("a.csv", "0,1,2\n1,,2\n", "line 2: '1,,2'"),
        ("a.csv", "1, ,2\n2,,2\n", "line 1: '1, ,2'"),
        ("a.csv", ",1,2\n", "line 1: ',1,2'"),
        ("a.tsv", "1\t\t2\n", r"line 1: '1\\t\\t2'"),
        ("a.csv", "source,target\n", "no edges"),
        ("a.csv", "source,target,capacity\n0,1,2\n", "line 1: 'source,target,capacity'.*columns="),
        ("a.csv", "source,source,target\n0,1,2\n", "line 1: 'source,source,target'"),
        ("a.csv", "# c\nsource,target,weight\n0,1\n", "line 3: '0,1'; expected 3 columns: source, target, weight"),
        ("a.txt", "0 1 2 3\n", "line 1: '0 1 2 3'.*columns="),
        ("out.a", "% bip unweighted\n% 2 2 3\n1 1\n3 1\n", "line 4: '3 1'.*ids from 1 to 2"),
        ("out.a", "% bip unweighted\n% 2 2 3\n1 1\n2 4\n", "line 4: '2 4'.*ids from 1 to 3"),
        ("out.a", "% asym unweighted\n% 2 3 3\n0 1\n", "line 3: '0 1'.*ids from 1 to 3"),
        ("out.a", "% sym unweighted\n% 2 3 4\n1 1\n", "the head is '% 2 3 4'"),
        ("out.a", "% sym dynamic\n1 2 1 5\n1 2 -1 6\n", "the head is '% sym dynamic'; expected '% sym.asym.bip"),
        ("a.txt", "# x\n\n0 1\n1 abc\n", "line 4: '1 abc'"),
        ("a.txt", "0 1\n1 -2\n", "line 2: '1 -2'.*ids from 0"),
        ("a.txt", "0 1\n1 2.5\n", "line 2: '1 2.5'"),
        ("a.txt", "0 1\n1 0x10\n", "line 2"),
        ("a.txt", "0 1\n1 1_0\n", "line 2"),
        ("a.txt", "0 1\n1 99999999999999999999\n", "line 2"),
        ("a.txt", "0 1 1\n1 2 nan\n", "line 2: '1 2 nan'.*finite"),
        ("a.txt", "# x\n0 1 1\n1 2 -inf\n", "line 3: '1 2 -inf'.*finite"),
        ("a.csv", "0,1,1\n1,2,1e309\n", "line 2: '1,2,1e309'.*finite"),
        ("a.txt", "0 1 1\n1 2 " + "9" * 400, "line 2: '1 2 9999.*finite"),
        ("a.txt", "0 1 1\n1 inf 1\n", "line 2: '1 inf 1'.*finite"),
        ("a.txt", b"0 1\n1 \x00 2\n", r"line 2"),
        ("a.txt", b"0 1\n1 2\n" + b"\x00" * 99, r"line 3: '\\x00"),
        ("a.mtx", MM.encode() + b"pattern general\n2 2 1\n1 2\n\x00\x01 ", r"line 4: '\\x00"),
        ("a.txt", b"\x7fELF\x02\x01\x01\x00" * 99, r"line 1: '\\x7fELF"),
        ("a.txt", "0 1 " + "9" * 5000 + "x\n", "line 1: '.{60}…'; expected"),
        ("a.txt.gz", gzip.compress(b"0 1\n" * 9999, mtime=0)[:-20], "cannot be read"),
        ("a.txt.gz", b"\x1f\x8b junk", "cannot be read"),
        ("a.xz", b"\xfd7zXZ\x00junk", "cannot be read"),
        ("a.bz2", b"BZhjunk", "cannot be read"),
        ("a.mtx", "", "line 1: ''; expected '%%MatrixMarket"),
        ("a.mtx", "1 1 1\n", "line 1: '1 1 1'"),
        ("a.mtx", MM + "complex general\n1 1 1\n1 1 1 1\n", "line 1"),
        ("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", "line 1"),
        ("a.mtx", MM + "pattern skew-symmetric\n1 1 1\n1 1\n", "line 1"),
        ("a.mtx", MM + "pattern general\n", "line 2: ''; expected the size line"),
        ("a.mtx", MM + "pattern general\n2 3 1\n1 1\n", "line 2: '2 3 1'.*square"),
        ("a.mtx", MM + "pattern general\n2 -2 1\n1 1\n", "line 2"),
        ("a.mtx", MM + "pattern general\n2 2 2\n1 1\n", "line 2: '2 2 2'.*as there are, 1, not 2"),
        ("a.mtx", MM + "pattern general\n2 2 1\n1 1\n2 2\n", "as there are, 2, not 1"),
        ("a.mtx", MM + "pattern general\n2 2 1\n0 1\n", "line 3: '0 1'; expected 'row column', ids from 1 to 2"),
        ("a.mtx", MM + "pattern general\n2 2 1\n1 3\n", "line 3: '1 3'.*from 1 to 2"),
        ("a.mtx", MM + "pattern general\n2 2 1\n1 2 3\n", "line 3"),
        ("a.mtx", MM + "real general\n%x\n2 2 2\n1 1 1\n%y\n1 2 nan\n", "line 6: '1 2 nan'"),
        ("a.mtx", MM + "pattern general\n2000000000 2000000000 1\n1 1\n", "2000000000 vertices with only 1"),
        ("a.mtx", MM + "real general\n2 2 2\n1 1 1\n1 2 1e309\n", "line 4: '1 2 1e309'.*finite"),
        ("a.mtx", MM + f"pattern general\n2 2 {MANY_DIGITS}\n1 1\n", "line 2: '2 2 9.*the size line"),
        ("a.gr", f"p sp 2 {MANY_DIGITS}\na 1 2 3\n", "line 1: 'p sp 2 9.*the problem line"),
        ("a.gr", "p sp 2 1\na 1 2 inf\n", "line 2: 'a 1 2 inf'.*finite"),
        ("a.gr", "", "line 1: ''; expected the problem line"),
        ("a.gr", "p max 2 1\na 1 2 3\n", "line 1: 'p max 2 1'"),
        ("a.gr", "p sp 2 1\n1 2 3\n", "line 2: '1 2 3'"),
        ("a.gr", "p sp 2 1\n7 1 2 3\n", "line 2: '7 1 2 3'"),
        ("a.gr", "p sp 2 1\ne 1 2 3\n", "line 2: 'e 1 2 3'"),
        ("a.gr", "c x\np sp 2 1\na 1 9 3\n", "line 3: 'a 1 9 3'.*ids from 1 to 2"),
        ("a.gr", "p sp 2 5\na 1 2 3\n", "line 1: 'p sp 2 5'.*as there are, 1, not 5"),
        ("a.graph", "", "line 1: ''; expected the header"),
        ("a.graph", "2\n", "line 1: '2'"),
        ("a.graph", "2 1 7\n2\n1\n", "line 1: '2 1 7'"),
        ("a.graph", "2 1\n2\n", "line 1: '2 1'; expected as many lines as there are, 1, not 2"),
        ("a.graph", "2 1\n2\n1\n1\n", "line 4: '1'; expected no more lines"),
        ("a.graph", "2 5\n2\n1\n", "line 1: '2 5'; expected half as many edges"),
        ("a.graph", "2 1\n3\n1\n", "line 2: '3'; expected the neighbours"),
        ("a.graph", "3 1\n2\n3\n\n", r"vertex 1 \(line 2\) and vertex 2|vertex 2 \(line 3\) and vertex"),
        ("a.graph", "2 1 1\n2 5\n1\n", "line 3: '1'; expected 0 numbers, then pairs of"),
        ("a.graph", "2 1 1\n2 5\n1 6\n", r"vertex 1 \(line 2\)"),
        ("a.graph", "2 1 10\n1 2\n\n", "line 3: ''; expected 1 numbers"),
        ("a.graph", f"{MANY_DIGITS} 1\n2\n1\n", "line 1: '9.*the header"),
        ("a.graph", f"2 {2**64}\n2\n1\n", "line 1: '2 18446744073709551616'; expected the header"),
        ("a.graph", f"{2**64} 1\n2\n1\n", "line 1: '18446744073709551616 1'; expected the header"),
        ("a.graph", f"1 0 10 {10**15}\n% c\n", "as many lines as there are, 0, not 1"),
        ("a.graph", "2 1 1\n2 inf\n1 inf\n", "line 2: '2 inf'.*finite"),
        ("a.graph", "1000000000000 0\n", "as there are, 0, not 1000000000000"),
        ("a.npz", b"", "npz"),
        ("a.npz", b"PK\x03\x04 junk", "npz"),
    ],
)
def test_bad_files_are_refused_by_name_line_and_text(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    file = saved(tmp_path, name, content)
    with pytest.raises(GraphFileError, match=message) as error:
        read(file)
    assert str(file) in str(error.value)


def test_missing_files_and_directories_are_refused(tmp_path: Path) -> None:
    for file, message in [(tmp_path / "none.mtx", "No such file"), (tmp_path, "directory")]:
        for options in ({}, {"format": "edge_list"}, {"format": "npz", "cache": True}):
            with pytest.raises(GraphFileError, match=message):
                read(file, **options)  # type: ignore[arg-type]
    with pytest.raises(GraphFileError, match="cannot be written"):
        write(path(3), tmp_path / "none" / "a.mtx")


def test_options_are_checked(tmp_path: Path) -> None:
    file = saved(tmp_path, "a.txt", "0 1\n")
    with pytest.raises(InputError, match="read of edge_list has no argument weights; it has"):
        read(file, weights=True)
    with pytest.raises(InputError, match="format = 'gml'; allowed"):
        read(file, format="gml")
    with pytest.raises(InputError, match=r"suffix '\.gml' tells no format; known"):
        write(path(3), tmp_path / "a.gml")
    with pytest.raises(InputError, match="ids = 'some'"):
        read(file, ids="some")
    with pytest.raises(InputError, match="base = 2"):
        read(file, base=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="read of metis has no argument base"):
        read(file, format="metis", base=1)
    assert read(file, base=None, directed=None, format=None).n_vertices == 2
    with pytest.raises(InputError, match="integer weights"):
        write(random_weights(path(3), dtype=np.float32), tmp_path / "a.gr")


def test_headers_do_not_make_us_allocate(tmp_path: Path) -> None:
    files = [
        saved(tmp_path, "a.mtx", MM + "pattern general\n2000000000 2000000000 2000000000\n1 1\n"),
        saved(tmp_path, "a.gr", "p sp 2000000000 2000000000\na 1 2 3\n"),
        saved(tmp_path, "a.graph", "2000000000 2000000000\n2\n1\n"),
    ]
    for file in files:
        with memory_below(30e6), pytest.raises(GraphFileError):
            read(file)


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


@pytest.fixture
def cache_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_cache_is_used_until_source_or_options_change(
    tmp_path: Path, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = saved(tmp_path, "a.txt", "0 1 2.5\n1 2 3.5\n")
    graph = read(file, cache=True)
    with monkeypatch.context() as context:
        context.setattr(FORMATS["edge_list"], "separated", None)  # parsing would fail now
        again = read(file, cache=True)
    check_same(again, graph)
    owner: Any = again.column_indices
    while isinstance(owner, np.ndarray):
        owner = owner.base
    assert isinstance(owner, mmap.mmap)
    assert read(file, cache=True, directed=True).directed
    saved(tmp_path, "a.txt", "0 1 2.5\n1 2 3.5\n0 2 1\n")
    assert read(file, cache=True).n_edges == 6
    assert len(list(cache_dir.iterdir())) == 3


@pytest.mark.parametrize("name", [*UNDIRECTED, "directed-empty"])
def test_cache_holds_every_graph(tmp_path: Path, cache_dir: Path, name: str) -> None:
    cache.save(GRAPHS[name](), cache_dir / "copy", ["one note"])
    found = cache.load(cache_dir / "copy")
    assert found is not None and found[1] == ["one note"]
    again = found[0]
    check_same(again, GRAPHS[name]())
    assert again.has_sorted_rows == GRAPHS[name]().has_sorted_rows


def test_a_cached_graph_comes_with_the_warnings_of_its_file(tmp_path: Path, cache_dir: Path) -> None:
    file = saved(tmp_path, "a.txt", "2 2\n0 1\n1 0\n")
    for _ in range(2):
        with pytest.warns(GraphFileWarning, match="'2 2' is taken for the size line") as caught:
            assert read(file, cache=True).n_vertices == 2
        assert len(caught) == 1 and caught[0].filename == __file__
    assert len(list(cache_dir.iterdir())) == 1


@pytest.mark.parametrize("options", [{"duplicates": "mean"}, {"duplicates": object()}, {"columns": {1, 2}}])
def test_options_that_are_none_are_refused_with_and_without_a_cache(
    tmp_path: Path, cache_dir: Path, options: dict[str, Any]
) -> None:
    for use in (False, True):
        with pytest.raises(InputError, match=next(iter(options))):
            read(saved(tmp_path, "a.txt", "0 1 5\n0 1 5\n"), cache=use, **options)


def test_damaged_cache_files_are_ignored(tmp_path: Path, cache_dir: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = saved(tmp_path, "a.txt", "".join(f"{v} {v + 1}\n" for v in range(500)))
    graph = read(file, cache=True)
    (copy,) = cache_dir.iterdir()
    whole = copy.read_bytes()
    other_graph = whole[:4096] + whole[4096:].replace(np.int32(499).tobytes(), np.int32(498).tobytes())
    invalid = [b"", whole[:3000], whole[:-999], whole[:5000] + b"\xff" * (len(whole) - 5000)]
    invalid += [whole[:25] + text + whole[25 + len(text) :] for text in (b"[" * 4000, b'{"directed": 2    ')]
    for damaged in (b"junk", other_graph, *invalid, *map(with_checksum, invalid)):
        assert damaged != whole
        copy.write_bytes(damaged)
        with caplog.at_level("DEBUG", "clgraph.io.cache"):
            check_same(read(file, cache=True), graph)
        assert "thrown away" in caplog.text
        assert copy.read_bytes() == whole, "it is written anew"
        caplog.clear()


def with_checksum(content: bytes) -> bytes:
    """Return a cache file of this content as whoever wants to deceive would make it."""
    return content[:16] + b"%08x\n" % zlib.crc32(content[25:]) + content[25:]


def test_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(saved(tmp_path, "file", "x") / "below"))
    assert read(saved(tmp_path, "a.txt", "0 1\n"), cache=True).n_edges == 2


def test_cache_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLGRAPH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache.cache_root() == tmp_path / "clgraph"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache.cache_root() == tmp_path / ".cache" / "clgraph"


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
def test_real_files(name: str, n: int, n_edges: int, directed: bool) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not in {DATA}")
    graph = read(DATA / name)
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (n, n_edges, directed)
    Graph(graph.row_offsets, graph.column_indices, directed=directed)
