"""Edge lists: columns, heads, size lines, ids with gaps, labels."""

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_graphs import saved

from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphFileError, GraphFileWarning, InputError
from clgraph.io import read, write


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
def test_edge_lists_of_every_form_are_read(tmp_path: Path, content: str, n: int, edges: list[tuple[int, int]]) -> None:
    graph = read(saved(tmp_path, "graph.txt", content))
    src, dst, weights = graph.edge_list()
    assert not graph.directed and weights is None
    assert (graph.n_vertices, list(zip(src, dst, strict=True))) == (n, edges)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [("5 -7", np.int32), ("5 4294967296", np.int64), ("5 2.5", np.float64), ("5 -99999999999999999999", np.float64)],
)
def test_a_third_column_is_the_weight(tmp_path: Path, values: str, dtype: Any) -> None:
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


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".parquet"])
def test_a_warning_tells_of_repeated_edges_whose_weights_differ(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"repeated{suffix}"

    def written(weights: list[int]) -> Path:
        rows = {"source": [0, 1, 1, 2], "target": [1, 0, 2, 0], "weight": weights}
        if suffix == ".parquet":
            pytest.importorskip("pyarrow.parquet").write_table(pytest.importorskip("pyarrow").table(rows), path)
        else:
            names = "a", "b", "c"
            ends = [[str(v) if suffix == ".txt" else names[v] for v in rows[key]] for key in ("source", "target")]
            lines = ["source,target,weight"] * (suffix == ".csv") + [
                ",".join(row) for row in zip(*ends, map(str, weights), strict=True)
            ]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sorted(read(written([2, 2, 5, 7])).edge_list()[2].tolist()) == [2, 5, 7]
        assert sorted(read(written([2, 3, 5, 7]), duplicates="first").edge_list()[2].tolist()) == [2, 5, 7]
        assert sorted(read(written([2, 3, 5, 7]), duplicates="sum").edge_list()[2].tolist()) == [5, 5, 7]
        assert read(written([2, 3, 5, 7]), directed=True).n_edges == 4
    with pytest.warns(GraphFileWarning, match="repeated with other weights"):
        graph = read(written([2, 3, 5, 7]))
    assert sorted(graph.edge_list()[2].tolist()) == [2, 5, 7]


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
def test_heads_of_konect_tell_directions_and_sizes(
    tmp_path: Path, content: str, n: int, directed: bool, edges: list[tuple[Any, ...]]
) -> None:
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


def test_a_size_line_that_does_not_fit_is_told(tmp_path: Path) -> None:
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
def test_times_taken_for_weights_are_told(tmp_path: Path) -> None:
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
def test_columns_that_are_not_there_are_refused(tmp_path: Path, columns: Any) -> None:
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
