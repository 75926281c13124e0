"""Files whose ids are names, columns chosen by name, and formats that other packages read."""

import sys
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from saved_graphs import saved

import clgraph as cg
from clgraph.cli.main import main
from clgraph.errors import GraphFileError, InputError, MissingExtraError

TRAINS = 'from,to,minutes,line\nUlm,"Frankfurt, Main",140,ICE\n"Frankfurt, Main",Köln,62,ICE\nKöln,Ulm,300,IC\n'
ROLES = {"source": "from", "target": "to", "weight": "minutes"}


def edges(graph: cg.Graph) -> set[tuple[Any, Any, Any]]:
    assert graph.ids is not None
    rows, columns, weights = graph.edge_list()
    values = [None] * rows.size if weights is None else weights.tolist()
    return {*zip(graph.ids[rows].tolist(), graph.ids[columns].tolist(), values, strict=True)}


def test_names_and_chosen_columns_are_read(tmp_path: Path) -> None:
    graph = cg.read(saved(tmp_path, "trains.csv", TRAINS), columns=ROLES)
    assert graph.ids.tolist() == ["Frankfurt, Main", "Köln", "Ulm"] and graph.edge_weights.dtype == np.int32
    assert edges(graph) == {("Frankfurt, Main", "Ulm", 140), ("Frankfurt, Main", "Köln", 62), ("Köln", "Ulm", 300)}
    again = cg.read(tmp_path / "trains.csv", columns=ROLES, directed=True, cache=True)
    cached = cg.read(tmp_path / "trains.csv", columns=ROLES, directed=True, cache=True)
    assert edges(again) == edges(cached) and ("Ulm", "Frankfurt, Main", 140) in edges(cached)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a b\nb c\n", {"ids": "names"}, {("a", "b", None), ("b", "c", None)}),
        ("a\tb\t1.5\nb\tc\t2\n", {"ids": "names"}, {("a", "b", 1.5), ("b", "c", 2.0)}),
        ("007;8\n8;9\n", {"ids": "names"}, {("007", "8", None), ("8", "9", None)}),
        ("source;target;weight\nX1;X2;3\n# c\n\nX2;X9;-4\n", {}, {("X1", "X2", 3), ("X2", "X9", -4)}),
        ("a,b,2020\n", {"columns": ("source", "target", "year")}, {("a", "b", None)}),
        ("von,nach,km\na,b,2\n", {"ids": "names", "columns": ("source", "target", "weight")}, {("a", "b", 2)}),
        ("target,source\nb,a\n3,b\n", {"directed": True}, {("a", "b", None), ("b", "3", None)}),
        ("# Directed graph\nsource target\nb a\n", {}, {("b", "a", None)}),
    ],
)
def test_text_files_with_names_of_every_form(tmp_path: Path, text: str, options: Any, expected: Any) -> None:
    assert edges(cg.read(saved(tmp_path, "a.txt", text), **options)) == expected


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a b\nb c\n", {}, "line 1: 'a b'.*ids='names' takes any text"),
        ("source,target\n1x,2\n3,4\n5,6\n", {}, "line 2: '1x,2'.*ids being integers"),
        ("source,target\na,b\nx\n", {}, "line 3: 'x'; expected 2 columns"),
        ("source,target\na,b\n\n,b\n", {}, "line 4: ',b'.*no id empty"),
        ("source,target,weight\na,b,1\nb,c,inf\n", {}, "line 3: 'b,c,inf'.*a finite number"),
        ("source,target,weight\na,b,1\nb,c,1_0\n", {}, "line 3: 'b,c,1_0'"),
        (
            "a,b,c\n1,2,3\n",
            {"columns": {"source": "a", "target": "x"}},
            "line 1: 'a,b,c'; expected a header with the names 'a', 'x'",
        ),
        (b"source,target\na,\xff\xfe\n", {"ids": "names"}, "line 2: .*text in UTF-8"),
        ("von,nach,km\na,b,2\n", {"ids": "names"}, "line 1: 'von,nach,km'.*columns="),
        (b"source,target\na,\rb\n", {}, r"line 2: 'a,\\rb'; expected a line of fields"),
        (b"source,target\na,b\nb,\rc\n", {}, "line 3: is no line of fields"),
    ],
)
def test_wrong_lines_of_files_with_names_are_named(tmp_path: Path, text: Any, options: Any, message: str) -> None:
    with pytest.raises(GraphFileError, match=message):
        cg.read(saved(tmp_path, "a.txt", text), **options)


@pytest.mark.parametrize(
    "columns", [{"source": "a"}, {"source": "a", "target": "a"}, {"source": "a", "target": 3}, {"x": "y"}]
)
def test_wrong_dictionaries_of_columns_are_refused(tmp_path: Path, columns: Any) -> None:
    with pytest.raises(InputError, match=r"columns = .*a dict from 'source', 'target', and 'weight' if there are any"):
        cg.read(saved(tmp_path, "a.csv", "a,b\n0,1\n"), columns=columns)


def test_names_of_columns_that_are_no_text_are_refused(tmp_path: Path) -> None:
    for columns in (np.zeros(2, [("a", np.int32)]), np.zeros((2, 2)), [np.zeros(2), "source"]):
        with pytest.raises(InputError, match="a name for each column"):
            cg.read(saved(tmp_path, "a.txt", TRAINS), columns=columns)


def test_numbers_with_chosen_columns_are_read_as_before(tmp_path: Path) -> None:
    graph = cg.read(
        saved(tmp_path, "a.csv", "time,u,v,w\n7,0,1,2.5\n8,1,2,3\n"),
        columns={"source": "u", "target": "v", "weight": "w"},
    )
    assert graph.ids is None and graph.edge_weights.tolist() == [2.5, 2.5, 3, 3]


def test_a_road_file_with_names_becomes_paths_with_names(tmp_path: Path) -> None:
    file, paths = saved(tmp_path, "trains.csv", TRAINS), tmp_path / "paths.csv"
    options = ["--columns", "source=from,target=to,weight=minutes", "--source", "Ulm", "--predecessors", "-d", "pocl"]
    assert main(["sssp", str(file), *options, "-o", str(paths)]) == 0
    assert paths.read_text(encoding="utf-8") == '"Frankfurt, Main",140,Ulm\nKöln,202,"Frankfurt, Main"\nUlm,0,-\n'


def test_ratings_of_names_are_read(tmp_path: Path) -> None:
    text = "who,what,stars\neva,tea,5\nbob,tea,2\nbob,milk,4\n"
    file = saved(tmp_path, "r.csv", text)
    ratings = cg.read_ratings(file, columns={"user": "who", "item": "what", "rating": "stars"})
    assert ratings.user_ids.tolist() == ["bob", "eva"] and ratings.item_ids.tolist() == ["milk", "tea"]
    assert ratings.to_scipy().toarray().tolist() == [[4, 2], [0, 5]]
    twice = saved(tmp_path, "t.csv", "user,item,rating\neva,tea,5\neva,tea,2\n")
    assert cg.read_ratings(twice, duplicates="mean").values.tolist() == [3.5]
    with pytest.raises(GraphFileError, match="user 'eva' has more than one rating of item 'tea'"):
        cg.read_ratings(twice)
    codes = cg.read_ratings(saved(tmp_path, "c.txt", "01 7 3\n1 7 4\n"), ids="names")
    assert codes.user_ids.tolist() == ["01", "1"]


def test_zip_archives_of_one_file_are_read(tmp_path: Path) -> None:
    for name, files in {"one.zip": {"a.csv": TRAINS}, "two.zip": {"a.csv": TRAINS, "b.txt": ""}}.items():
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for inner, text in files.items():
                archive.writestr(inner, text)
    assert cg.read(tmp_path / "one.zip", columns=ROLES).n_vertices == 3
    with pytest.raises(GraphFileError, match=r"an archive of 2 files \(a\.csv, b\.txt\)"):
        cg.read(tmp_path / "two.zip")
    nameless = (tmp_path / "one.zip").read_bytes().replace(b"a.csv", b"\0.csv")
    (tmp_path / "nameless.zip").write_bytes(nameless)  # zipfile ends names at a null character.
    with pytest.raises(GraphFileError, match="an archive of 0 files"):
        cg.read(tmp_path / "nameless.zip")
    with pytest.raises(InputError, match="zip archives are only read"):
        cg.write(cg.generators.path(3), tmp_path / "graph.txt.zip")
    (tmp_path / "bad.zip").write_bytes((tmp_path / "one.zip").read_bytes()[:60])
    with pytest.raises(GraphFileError, match="cannot be read"):
        cg.read(tmp_path / "bad.zip")


def test_files_compressed_by_zstd_are_read_and_written(tmp_path: Path) -> None:
    pytest.importorskip("zstandard" if sys.version_info < (3, 14) else "compression.zstd")
    cg.write(cg.generators.path(3000), tmp_path / "graph.txt.zst")
    packed = (tmp_path / "graph.txt.zst").read_bytes()
    assert packed[:4] == b"\x28\xb5\x2f\xfd" and cg.read(tmp_path / "graph.txt.zst").n_vertices == 3000
    for damaged in (packed[:-20], packed[:20] + b"junk" + packed[24:]):
        (tmp_path / "bad.zst").write_bytes(damaged)
        with pytest.raises(GraphFileError):
            cg.read(tmp_path / "bad.zst")


def test_colouring_files_of_dimacs_are_read(tmp_path: Path) -> None:
    file = saved(tmp_path, "myciel.col", "c a graph\np edge 4 4\nn 1 2\ne 1 2\ne 2 1\ne 2 4\ne 4 2\n")
    graph = cg.read(file)
    assert (graph.n_vertices, graph.n_edges, graph.directed) == (4, 4, False)
    cg.write(graph, tmp_path / "again.col")
    assert cg.read(tmp_path / "again.col", with_ids=True).ids.tolist() == [1, 2, 3, 4]
    assert (tmp_path / "again.col").read_text() == "p edge 4 2\ne 1 2\ne 2 4\n"
    for text, message in {
        "p edge 2 1\ne 1 3\n": "ids from 1 to 2",
        "p edge 2 9\ne 1 2\n": "as many edges",
        "p max 2 1\n": "problem line",
    }.items():
        with pytest.raises(GraphFileError, match=message):
            cg.read(saved(tmp_path, "bad.col", text))


@pytest.mark.parametrize(
    ("suffix", "write"), [("graphml", nx.write_graphml), ("gml", nx.write_gml), ("net", nx.write_pajek)]
)
def test_formats_of_networkx_are_read(tmp_path: Path, suffix: str, write: Any) -> None:
    drawn = nx.DiGraph([("a", "b", {"weight": 2.5}), ("b", "c", {"weight": 4.0})])
    file = tmp_path / f"graph.{suffix}"
    write(drawn, str(file))
    graph = cg.read(file)
    assert graph.directed and edges(graph) == {("a", "b", 2.5), ("b", "c", 4.0)}
    assert not cg.read(file, directed=False).directed
    with pytest.raises(InputError, match="files are only read; allowed: matrix_market"):
        cg.write(graph, file)
    file.write_text("<junk", encoding="utf-8")
    with pytest.raises(GraphFileError, match=r"no .* file|has no nodes"):
        cg.read(file)


def test_parquet_files_are_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the tests do not install pyarrow, which has 170 MB")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"from": ["Ulm", "Bern"], "to": ["Bern", "Rome"], "minutes": [3.5, 4.0], "line": ["x", "y"]}
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    assert edges(cg.read(tmp_path / "a.parquet", columns=ROLES)) == {("Bern", "Ulm", 3.5), ("Bern", "Rome", 4.0)}
    with pytest.raises(GraphFileError, match="'from, to, minutes, line'; expected a header with the names"):
        cg.read(tmp_path / "a.parquet", columns={"source": "from", "target": "nach"})
    parquet.write_table(arrow.table({"user": ["b", "a"], "item": [7, 9], "rating": [1, 2]}), tmp_path / "r.parquet")
    ratings = cg.read_ratings(tmp_path / "r.parquet")
    assert ratings.user_ids.tolist() == ["a", "b"] and ratings.item_ids.tolist() == [7, 9]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1junk")
    with pytest.raises(GraphFileError, match="cannot be read as parquet"):
        cg.read(tmp_path / "bad.parquet")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python reads zstd by itself")
def test_zstd_names_the_package_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"need Python 3\.14, or zstandard: pip install zstandard"):
        cg.read(saved(tmp_path, "a.txt.zst", b"\x28\xb5\x2f\xfd"))


def test_parquet_names_the_package_that_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"a\.parquet: parquet files need pyarrow: pip install pyarrow"):
        cg.read(saved(tmp_path, "a.parquet", b"PAR1"))


def test_formats_that_are_not_read_are_answered_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match=r"GEXF files are not read; .*graphml \(\.graphml\), gml \(\.gml\)"):
        cg.read(saved(tmp_path, "a.gexf", "<gexf/>"))
