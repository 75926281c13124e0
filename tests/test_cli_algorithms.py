"""The commands of the algorithms: output for people and for programs, ids of files, explanations."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import (
    Cli,
    cli_fixture,  # noqa: F401
    graph_file_fixture,  # noqa: F401
    on_pocl_fixture,  # noqa: F401
)
from conftest import ROOT

import clgraph as cg
from clgraph.cli.main import main
from clgraph.cli.options import write_result


def test_devices_lists_every_device(cli: Cli, on_pocl: None) -> None:
    rows = cli.document("devices")
    assert any("Portable" in row["platform"] and row["facts"]["compute_units"] > 0 for row in rows)
    assert sum(row["default"] for row in rows) == 1
    assert "Portable Computing Language" in cli.text("devices")


def test_no_device_at_all_is_3(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from clgraph.runtime.discovery import query, selection

    for module in (query, selection):
        monkeypatch.setattr(module, "platforms", list)
    assert main(["devices", "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out) == [] and "clgraph doctor" in captured.err


def test_an_unknown_device_is_3(graph_file: str, cli: Cli) -> None:
    assert "abacus" in cli.error("connected_components", graph_file, "-d", "abacus", code=3)


def test_the_command_writes_labels_of_components(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("connected_components", graph_file, "--verify")
    assert (document["n_components"], document["largest"]) == (4, [3, 3, 2, 1])
    assert document["verified"] is True and document["seconds"]["total"] > 0
    assert document["strategy"] == min(document["predicted_seconds"], key=document["predicted_seconds"].get)
    array = str(tmp_path / "labels.npy")
    text = cli.text("connected_components", graph_file, "--largest", "2", "-o", array)
    assert "components  4\n" in text and "3, 3\n" in text and "picked" in text
    assert np.load(array).tolist() == [0, 0, 0, 1, 1, 1, 2, 3, 3]
    assert "known: auto" in cli.error("connected_components", graph_file, "--strategy", "nonsense", code=2)


def test_labels_that_cannot_be_written_leave_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "labels.txt"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(UnicodeEncodeError):
        write_result(str(target), np.zeros(2), [("a", 0), ("\ud800", 0)])  # half a character has no bytes in UTF-8
    assert target.read_text(encoding="utf-8") == "old" and len(list(tmp_path.iterdir())) == 1


def test_connected_components_verify_fails_on_a_wrong_result(
    graph_file: str, on_pocl: None, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clgraph.algorithms.connected_components import ComponentsPlan

    right = ComponentsPlan.run

    def wrong(plan: ComponentsPlan) -> None:
        right(plan)
        plan.labels.set(np.array([8], np.int32), offset=8)  # parts vertex 8 from its neighbour 7

    monkeypatch.setattr(ComponentsPlan, "run", wrong)
    assert main(["connected_components", graph_file, "--strategy", "rem"]) == 0
    assert "clgraph: " in cli.error("connected_components", graph_file, "--strategy", "rem", "--verify", code=1)


@pytest.fixture
def weighted_file(tmp_path: Path) -> str:
    path = tmp_path / "weighted.txt"
    path.write_text("0 1 5\n1 2 -3\n0 2 4\n3 4 7\n", encoding="utf-8")
    return str(path)


def test_the_command_prints_the_weight_of_a_forest(weighted_file: str, on_pocl: None, cli: Cli) -> None:
    document = cli.document("minimum_spanning_forest", weighted_file, "--verify")
    assert (document["weight"], document["n_forest_edges"], document["n_trees"]) == (8, 3, 2)
    assert document["verified"] is True and document["strategy"] in document["predicted_seconds"]
    strategy = document["strategy"]
    text = cli.text("minimum_spanning_forest", weighted_file, "--maximum", "--strategy", strategy)
    assert "weight     16\n" in text and "trees      2\n" in text and f"{strategy} ({document['kind']}, forced)" in text


def test_minimum_spanning_forest_writes_edges(weighted_file: str, on_pocl: None, tmp_path: Path, cli: Cli) -> None:
    from clgraph.io import read

    edges = ["0\t2\t4\n", "1\t2\t-3\n", "3\t4\t7\n"]
    assert cli.text("minimum_spanning_forest", weighted_file, "-o", "-") == "".join(edges)
    array, matrix = str(tmp_path / "forest.npy"), str(tmp_path / "forest.mtx.gz")
    cli.text("minimum_spanning_forest", weighted_file, "-o", array)
    graph = read(weighted_file)
    assert np.load(array).dtype == np.int64 and graph.column_indices[np.load(array)].tolist() == [2, 2, 4]
    cli.text("minimum_spanning_forest", weighted_file, "-o", matrix)
    forest = read(matrix)
    assert not forest.directed and forest.n_vertices == 5
    assert ["{}\t{}\t{}\n".format(*edge) for edge in zip(*forest.edge_list(), strict=True)] == edges


def test_the_command_prints_depths(graph_file: str, on_pocl: None, tmp_path: Path, cli: Cli) -> None:
    document = cli.document("bfs", graph_file, "--source", "0", "--source=4", "--verify")
    assert (document["n_reached"], document["greatest_distance"], document["sources"]) == (6, 1, ["0", "4"])
    assert document["verified"] is True and document["strategy"] in document["predicted_seconds"]
    strategy = document["strategy"]
    text = cli.text("bfs", "--source", "7", graph_file, "--strategy", strategy)
    assert "2 of 9 vertices\n" in text and "greatest distance  1\n" in text and "forced)" in text
    options = ["bfs", graph_file, "--source", "1"]
    text = cli.text(*options, "-o", "-", "--predecessors", "--max-depth", "1")
    assert text.startswith("0\t1\t1\n1\t0\t-\n2\t1\t1\n3\t-1\t-\n")
    array = str(tmp_path / "distances.npy")
    assert "reached" in cli.text(*options, "--max-depth", "0", "-o", array)
    assert np.load(array).dtype == np.int32 and np.load(array).tolist() == [-1, 0, *[-1] * 7]


def test_the_command_prints_distances(tmp_path: Path, on_pocl: None, cli: Cli) -> None:
    from clgraph.data.graphs.graph import Graph
    from clgraph.io import write

    path = tmp_path / "weighted.txt"
    path.write_text("0 1 5\n1 2 3\n0 2 9\n3 4 7\n", encoding="utf-8")
    options = ["sssp", str(path), "--source", "0"]
    document = cli.document(*options, "--verify")
    assert (document["n_reached"], document["greatest_distance"], document["verified"]) == (3, 8, True)
    assert cli.document(*options, "--limit", "7.5")["greatest_distance"] == 5
    text = cli.text(*options, "--predecessors", "--verify", "-o", "-")
    assert text == "0\t0\t-\n1\t5\t0\n2\t8\t1\n3\t-1\t-\n4\t-1\t-\n"
    array = str(tmp_path / "distances.npy")
    cli.text(*options, "--source", "3", "-o", array)
    assert np.load(array).dtype == np.int64 and np.load(array).tolist() == [0, 5, 8, 0, 7]
    path.write_text("0 1 0.1\n", encoding="utf-8")
    assert cli.text(*options, "-o", "-") == "0\t0.0\n1\t0.1\n"
    assert "dtype = 'float32'; allowed: float64 by weights of float64" in cli.error(*options, "--dtype", "float32")
    narrow = str(tmp_path / "narrow.npz")
    write(Graph.from_edges([0, 1], [1, 2], np.array([1, 2**-24], np.float32)), narrow)
    for dtype, expected in (("float64", 1 + 2**-24), ("float32", 1)):
        cli.text("sssp", narrow, "--source", "0", "--dtype", dtype, "-o", array)
        assert np.load(array).dtype == dtype and np.load(array)[2] == expected
    path.write_text("0 1 5\n1 2 -3\n", encoding="utf-8")
    assert "-3" in cli.error(*options)


def test_sources_are_ids_of_the_file(graph_file: str, tmp_path: Path, on_pocl: None, cli: Cli) -> None:
    from clgraph.data.graphs.graph import Graph
    from clgraph.io import write

    for name in ("bfs", "sssp"):
        for unknown in ("9", "-1", "1.5", "a", str(2**64)):
            assert unknown in cli.error(name, graph_file, "--source", "0", f"--source={unknown}")
        for ids, unknown in ((["10", "7", "20"], "0"), (["b", "a", "01"], "1")):
            array = np.array(ids) if ids[0] == "b" else np.array(ids, np.int64)
            path = str(tmp_path / "named.npz")
            write(Graph.from_edges(array[:2], array[1:], ids=array), path)
            text = cli.text(name, path, "--source", ids[2], "--predecessors", "-o", "-")
            assert text == f"{ids[0]}\t2\t{ids[1]}\n{ids[1]}\t1\t{ids[2]}\n{ids[2]}\t0\t-\n"
            assert unknown in cli.error(name, path, "--source", unknown)


ONE_BASED = {
    "a.gr": "p sp 4 4\na 1 2 5\na 2 1 5\na 2 3 7\na 3 2 7\n",
    "a.mtx": "%%MatrixMarket matrix coordinate integer symmetric\n4 4 2\n2 1 5\n3 2 7\n",
    "a.graph": "4 2 1\n2 5\n1 5 3 7\n2 7\n\n",
    "a.txt": "# Nodes: 4 Edges: 2\n1 2 5\n2 3 7\n4 4 0\n",
    "out.a": "% sym weighted\n% 2 4 4\n1 2 5\n2 3 7\n",
    "list.txt": "1 2 5\n2 3 7\n4 4 0\n",
}


@pytest.mark.parametrize("name", ONE_BASED)
def test_ids_that_a_person_types_and_reads_are_those_of_the_file(
    name: str, tmp_path: Path, on_pocl: None, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / name
    path.write_text(ONE_BASED[name], encoding="utf-8")
    files = [str(path)]
    for other in ("b.npz", "b.txt", "b.csv", "b.mtx", "b.gr"):
        cli.text("convert", str(path), str(tmp_path / other))
        files.append(str(tmp_path / other))
    for file in [*files, str(path)]:  # the last one comes from the cache
        text = cli.text("sssp", file, "--source", "1", "--predecessors", "-o", "-")
        assert text.splitlines() == ["1\t0\t-", "2\t5\t1", "3\t12\t2", "4\t-1\t-"], file
    text = cli.text("bfs", str(path), "--source", "3", "-o", "-")
    assert text.startswith("1\t2\n2\t1\n3\t0\n")
    for command in ("connected_components", "color"):
        lines = cli.text(command, str(path), "-o", "-").splitlines()
        assert [line.split("\t")[0] for line in lines] == ["1", "2", "3", "4"]
    assert cli.text("minimum_spanning_forest", str(path), "-o", "-") == "1\t2\t5\n2\t3\t7\n"
    assert "source 0 is not among" in cli.error("bfs", str(path), "--source", "0")


def test_rows_and_json_are_not_mixed(graph_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = [
        ["connected_components"], ["minimum_spanning_forest"], ["bfs", "--source", "0"], ["sssp", "--source", "0"],
        ["color"], ["communities"], ["partition", "-k", "2"], ["triangles"], ["hits"], ["katz_centrality"],
        ["core_numbers"], ["maximal_independent_set"], ["maximal_matching"],
    ]  # fmt: skip
    for arguments in commands:
        assert main([*arguments, graph_file, "--json", "-o", "-"]) == 4
        captured = capsys.readouterr()
        assert captured.out == "" and "both write to stdout" in captured.err


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("redirection", "code", "message"),
    [
        (">&-", 4, "clgraph: stdout is closed: redirect it to a file or to /dev/null\n"),
        (">/dev/full", 4, "clgraph: stdout: No space left on device\n"),
        ("2>&- >/dev/null", 0, ""),
        ("2>&- --base 7 >/dev/null", 2, ""),
        ("--debug 2>&- >/dev/null", 0, ""),
    ],
)
def test_a_stdout_that_is_closed_or_full_is_one_line(
    graph_file: str, redirection: str, code: int, message: str, unbuffered: str
) -> None:
    child = subprocess.run(
        ["bash", "-c", f'"$0" -m clgraph.cli.main info "$1" {redirection}', sys.executable, graph_file],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert (child.returncode, child.stdout, child.stderr) == (code, "", message)


def test_the_command_explains_its_choice(graph_file: str, on_pocl: None, tmp_path: Path, cli: Cli) -> None:
    document = cli.document("explain", "connected_components", graph_file)
    seconds = {name: predicted["seconds"] for name, predicted in document["predicted"].items()}
    assert document["strategy"] == min(seconds, key=seconds.__getitem__)
    assert cli.text("explain", "connected_components", graph_file).count(" x, ") == len(seconds) - 1
    assert main(["explain", "nonsense", graph_file]) == 4
    assert main(["explain", "connected_components", graph_file, "--distance", "2"]) == 4
    document = cli.document("explain", "color", graph_file, "--distance", "2")
    assert document["strategy"] == "best_of_two" and "jones_plassmann" in document["predicted"]
    (tmp_path / "ratings.txt").write_text("1 1 4.0\n1 2 3.0\n2 2 5.0\n")
    document = cli.document("explain", "factorization", str(tmp_path / "ratings.txt"))
    assert document["ratings"].endswith("ratings.txt") and document["strategy"] in document["predicted"]
    arguments = "explain", "connected_components", graph_file, "--strategy", "rem"
    assert cli.document(*arguments)["kernels"] == []
    measured = cli.document(*arguments, "--measure")["kernels"]
    assert {"initialize", "unite", "compress", "mark_roots"} <= {kernel["kernel"] for kernel in measured}
    assert all(kernel["launches"] > 0 and kernel["seconds"] > 0 for kernel in measured)
    text = cli.text(*arguments, "--measure")
    assert "Kernels of rem" in text and "unite" in text


def test_the_command_writes_colors(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("color", graph_file, "--balanced", "--seed", "3", "--verify")
    assert document["verified"] and document["distance"] == 1 and len(document["class_sizes"]) == document["n_colors"]
    path = tmp_path / "colors.npy"
    text = cli.text("color", graph_file, "--strategy", "speculative", "--order", "natural", "-o", str(path))
    assert "class sizes" in text and np.load(path).dtype == np.int32
    lines = cli.text("color", graph_file, "--distance", "2", "--deterministic", "-o", "-")
    assert len(lines.splitlines()) == document["n_vertices"]
    assert main(["color", graph_file, "--order", "alphabetical"]) == 4
    assert main(["color", graph_file, "--order", "natural", "--strategy", "best_of_orders"]) == 2


def test_the_command_writes_strong_components(on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    path, labels = tmp_path / "one_way.txt", tmp_path / "labels.npy"
    path.write_text("# directed\n0 1\n1 2\n2 0\n3 0\n3 4\n", encoding="utf-8")
    document = cli.document("strongly_connected_components", str(path), "--directed", "--verify", "-o", str(labels))
    assert document["n_components"] == 3 and document["largest"] == [3, 1, 1] and document["verified"]
    assert np.load(labels).tolist() == [0, 0, 0, 1, 2]


def test_the_command_writes_communities(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("communities", graph_file, "--method", "louvain", "--seed", "2", "--verify")
    assert document["verified"] and document["largest"] >= 1 and document["quality"] <= 1
    path = tmp_path / "labels.npy"
    text = cli.text("communities", graph_file, "--objective", "cpm", "--resolution", "0.25", "-o", str(path))
    assert "quality" in text and np.load(path).dtype == np.int32
    assert main(["communities", graph_file, "--resolution", "-1"]) == 4


def test_the_command_writes_triangles(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("triangles", graph_file, "--top", "2", "--verify")
    assert document["verified"] and len(document["top"]) == 2 and 0 <= document["transitivity"] <= 1
    path = tmp_path / "counts.npy"
    text = cli.text("triangles", graph_file, "--strategy", "tables", "-o", str(path))
    assert "transitivity" in text and np.load(path).sum() == 3 * document["n_triangles"]
    assert len(cli.text("triangles", graph_file, "-o", "-").splitlines()) == document["n_vertices"]


def test_the_commands_write_centralities(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("hits", graph_file, "--top", "2", "--verify")
    assert document["verified"] and len(document["top_hubs"]) == len(document["top_authorities"]) == 2
    path = tmp_path / "values.npy"
    assert "highest hubs" in cli.text("hits", graph_file, "-o", str(path))
    assert np.load(path).sum() == pytest.approx(1)
    lines = cli.text("hits", graph_file, "-o", "-").splitlines()
    assert len(lines) == document["n_vertices"] and len(lines[0].split()) == 3
    for arguments in (["pagerank", "--personalization", "3"], ["eigenvector_centrality", "--max-iter", "999"],
                      ["katz_centrality", "--alpha", "0.2", "--beta", "3"]):  # fmt: skip
        document = cli.document(arguments[0], graph_file, *arguments[1:], "--verify")
        assert document["verified"] and len(document["top"]) == 5 and 0 <= document["change"] < 1e-6
        assert "iterations" in cli.text(*arguments, graph_file, "-o", str(path))
        assert np.load(path).size == document["n_vertices"]


def test_the_command_merges_repeated_edges_as_it_is_told(on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "repeated.csv"
    file.write_text("source,target,weight\na,b,2\nb,a,3\n", encoding="utf-8")
    for how, distance in (("sum", 5), ("max", 3), ("first", 2)):
        lines = cli.text("sssp", str(file), "--source", "a", "--duplicates", how, "-o", "-").splitlines()
        assert lines[1].split()[:2] == ["b", str(distance)]


@pytest.mark.parametrize(
    ("name", "option", "weight"),
    [
        ("eigenvector_centrality", [], None), ("eigenvector_centrality", ["--weighted"], "weight"),
        ("katz_centrality", [], None), ("katz_centrality", ["--weighted"], "weight"),
        ("pagerank", [], "weight"), ("pagerank", ["--unweighted"], None),
    ],
)  # fmt: skip
def test_weights_count_by_default_as_in_python(
    name: str, option: list[str], weight: str | None, on_pocl: None, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "triangle.csv"
    file.write_text("source,target,weight\na,b,2\nb,c,3\nc,a,1\nc,d,5\n", encoding="utf-8")
    cli.text(name, str(file), *option, "-o", str(tmp_path / "values.npy"))
    found = getattr(cg, name)(cg.read(file), weight=weight, session="pocl")[0]
    other = getattr(cg, name)(cg.read(file), weight=None if weight else "weight", session="pocl")[0]
    values = np.load(tmp_path / "values.npy")
    assert values == pytest.approx(found, abs=1e-5) and values != pytest.approx(other, abs=1e-2)


def test_the_command_writes_core_numbers(cli: Cli, on_pocl: None, tmp_path: Path) -> None:
    graph_file = tmp_path / "simple.mtx"
    cg.write(cg.generators.rmat(8, 8), graph_file)
    document = cli.document("core_numbers", str(graph_file), "--verify")
    path = tmp_path / "cores.npy"
    assert "innermost core" in cli.text("core_numbers", str(graph_file), "--strategy", "buckets", "-o", str(path))
    cores = np.load(path)
    assert document["verified"] and cores.max() == document["degeneracy"]
    assert (cores == cores.max()).sum() == document["innermost"]


def test_the_commands_write_independent_sets_and_matchings(
    graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path
) -> None:
    document = cli.document("maximal_independent_set", graph_file, "--include", "1", "--order", "random", "--verify")
    path = tmp_path / "found.npy"
    text = cli.text("maximal_independent_set", graph_file, "--include", "1", "--order", "random", "-o", str(path))
    assert document["verified"] and "members" in text and np.load(path).sum() == document["size"]
    lines = cli.text("maximal_independent_set", graph_file, "--include", "1", "-o", "-").split()
    assert len(lines) == document["size"] and "1" in lines
    assert "which are neighbours" in cli.error(
        "maximal_independent_set", graph_file, "--include", "0", "--include", "1"
    )
    document = cli.document("maximal_matching", graph_file, "--seed", "2", "--verify")
    text = cli.text("maximal_matching", graph_file, "--seed", "2", "--unweighted", "-o", str(path))
    assert document["verified"] and document["weight"] == document["n_matched"] == (np.load(path) >= 0).sum() / 2
    rows = [line.split() for line in cli.text("maximal_matching", graph_file, "-o", "-").splitlines()]
    assert len(rows) == document["n_matched"] and all(len(row) == 2 for row in rows) and "weight" in text


def test_the_command_writes_parts(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document("partition", graph_file, "-k", "3", "--seed", "2", "--verify")
    assert document["verified"] and sum(document["part_weights"]) == document["n_vertices"] and document["levels"]
    path = tmp_path / "graph.part.3"
    assert "edge cut" in cli.text("partition", graph_file, "-k", "3", "--seed", "2", "-o", str(path))
    assert np.bincount(np.loadtxt(path, int)).tolist() == document["part_weights"]
    assert main(["partition", graph_file, "-k", "0"]) == 4


def test_real_weights_of_edges_need_a_scale(
    cli: Cli, on_pocl: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "real.txt"
    path.write_text("1 2 0.5\n2 3 0.25\n3 4 0.5\n4 1 1e-9\n", encoding="utf-8")
    command = ["partition", str(path), "-k", "2"]
    assert "--scale-weights FACTOR multiplies and rounds them; at most 8.55e+08 here" in cli.error(*command)
    document = cli.document(*command, "--scale-weights", "100", "--verify")
    assert document["edge_cut"] == 25 and document["part_weights"] == [2, 2] and document["scale_weights"] == 100
    assert main([*command, "--scale-weights", "100"]) == 0
    captured = capsys.readouterr()
    assert "edge cut      25 (0.25 before scaling)" in captured.out
    assert "--scale-weights 100: 2 entries round to 0" in captured.err
    assert cli.document(*command, "--scale-weights", "8.55e8")["edge_cut"] == 213750001
    for factor, message in (("9e8", "edges weigh 1125000001 together"), ("1e30", "beyond 64 bits"), ("0", "above 0")):
        assert message in cli.error(*command, "--scale-weights", factor)
    path.write_text("1 2\n", encoding="utf-8")
    assert "has no weights" in cli.error(*command, "--scale-weights", "2")


def test_the_command_refines_a_mesh(on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    poly, mesh, picture = tmp_path / "lake.poly", tmp_path / "lake.1.ele", tmp_path / "lake.png"
    poly.write_text("4 2\n1 0 0\n2 3 0\n3 3 1\n4 0 1\n4\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n0\n1\n1 1 .5 7 .05\n")
    document = cli.document(
        "refine", str(poly), "-o", str(mesh), "--min-angle", "25", "--plot", str(picture), "--verify"
    )
    assert document["before"]["n_triangles"] == 2
    assert document["after"]["min_angle"] >= 25 and document["after"]["max_area"] <= 0.05
    assert document["run"]["strategy"] and picture.stat().st_size > 1000
    node = str(tmp_path / "lake.1.node")
    text = cli.text("refine", node, "--max-area", "0.01", "--max-points", "9999")
    assert "areas" in text and str(document["after"]["n_triangles"]) in text
    assert "excused" not in text and "stopped" not in text
    wedge = tmp_path / "wedge.poly"
    wedge.write_text("3 2\n1 0 0\n2 1 0\n3 1.3 .1\n3\n1 1 2\n2 2 3\n3 3 1\n0\n")
    text = cli.text("refine", str(wedge), "--conforming")
    assert "thin triangles between segments that meet at small angles" in text
    assert main(["refine", str(tmp_path / "none.poly")]) == 4
    assert main(["refine", str(poly), "--plot", "a.txt"]) == 4
    assert main(["refine", str(poly), "--min-angle", "60"]) == 4


def test_the_command_refuses_to_overwrite_its_input_before_it_refines(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poly, node = tmp_path / "lake.poly", tmp_path / "points.node"
    poly.write_text("3 2\n1 0 0\n2 3 0\n3 3 1\n3\n1 1 2\n2 2 3\n3 3 1\n0\n")
    node.write_text("3 2\n1 0 0\n2 3 0\n3 3 1\n")
    parted = tmp_path / "parted.poly"  # Its points are in parted.node.
    parted.write_text("0 2\n3\n1 1 2\n2 2 3\n3 3 1\n0\n")
    parted.with_suffix(".node").write_text(node.read_text())
    given = {file: file.read_text() for file in tmp_path.iterdir()}
    monkeypatch.setattr("clgraph.algorithms.refine_mesh.refine_mesh", None)
    for source, target, message in (
        (
            poly,
            "lake.node",
            "lake.poly would be overwritten, which is the input; write to another name, such as lake.1",
        ),
        (poly, "./lake.ele", "lake.poly would be overwritten, which is the input"),
        (parted, "parted.node", "parted.node would be overwritten, which is the input"),
        (node, "points.node", "points.node would be overwritten, which is the input"),
        (node, "lake.node", "lake.poly would be overwritten, which is a planar graph"),
        (poly, "lake.poly", "lake.poly: write the mesh to a .node file"),
    ):
        assert message in cli.error("refine", str(source), "-o", f"{tmp_path}/{target}")
    assert {file: file.read_text() for file in tmp_path.iterdir()} == given


def test_a_picture_marks_regions_and_excused_triangles(
    on_pocl: None, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    def keep(figure: Any, path: str) -> None:
        figure.draw_without_rendering()  # puts the plots in their places
        drawn.append(figure)

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", keep)
    poly = tmp_path / "wedge.poly"  # two regions, and a corner of six degrees
    poly.write_text(
        "4 2\n1 0 0\n2 1 0\n3 1 .1\n4 0 1\n5\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n5 1 3\n0\n2\n1 .9 .02 7\n2 .1 .5 8\n"
    )
    cli.text("refine", str(poly), "--plot", str(tmp_path / "wedge.png"))
    axes = {each.get_title().partition(":")[0]: each for each in drawn[0].axes}
    assert sorted(text.get_text() for text in axes["after"].texts) == ["7", "8"]
    assert "thin triangles" in axes["after"].get_legend().texts[0].get_text() and axes["before"].get_legend() is None
    boxes = [axes[name].get_position() for name in ("before", "after", "Angles", "Rounds")]
    assert min(box.x0 for box in boxes) < 0.1 and max(box.x1 for box in boxes) > 0.9  # No side is left empty.


def test_the_command_prints_a_table_of_collisions(graph_file: str, on_pocl: None, cli: Cli, tmp_path: Path) -> None:
    document = cli.document(
        "hash_collisions", graph_file, "--distance", "2", "--hashes", "gray,murmur3", "--bits", "1-3,6", "--verify"
    )
    assert document["hashes"] == ["gray", "murmur3"] and document["bit_widths"] == [1, 2, 3, 6]
    assert document["verified"] and len(document["total"]) == 2 and len(document["maximum"][0]) == 4
    assert document["best"]["bits"] in (1, 2, 3, 6)
    picture = str(tmp_path / "collisions.png")
    text = cli.text(
        "hash_collisions", graph_file, "--hashes", "2", "--bits", "2", "--max-colors", "4", "--plot", picture
    )
    assert "murmur3" in text and "of 2 bits" in text and Path(picture).stat().st_size > 1000
    assert main(["hash_collisions", graph_file, "--max-colors", "1"]) == 4
    assert main(["hash_collisions", graph_file, "--hashes", "md5"]) == 4
