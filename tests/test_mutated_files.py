"""Damaged files of every kind end in a right answer or a ClgraphError; so do those made to deceive."""

import contextlib
import gzip
import io
import json
import math
import re
import sys
import zipfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import ROOT, memory_below

from clgraph.data.graphs.graph import Graph
from clgraph.data.ratings.ratings import Ratings
from clgraph.errors import GraphFileError, InputError
from clgraph.io import read, write
from clgraph.io.ratings import read_ratings, write_ratings

pytest.importorskip("sklearn")
sys.path.insert(0, str(ROOT / "tools"))
import fuzz_readers
from fuzz_damage import Unpickled
from fuzz_files import READERS

from clgraph.algorithms.factorization.estimator.estimator import SGDMatrixFactorization


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_read_right_or_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(tmp_path))
    outcomes = list(fuzz_readers.outcomes(name, 1, range(200), tmp_path))
    assert [o for o in outcomes if o.startswith(fuzz_readers.FAILED)] == []
    seen = {fuzz_readers.READ, fuzz_readers.REFUSED} - ({fuzz_readers.REFUSED} if name == "cache" else set())
    assert set(outcomes) == seen and len(outcomes) == 200


def parsed(content: bytes) -> list[list[float]]:
    """Return the numbers on each line of an edge list, word by word."""
    lines = [line.split() for line in content.replace(b",", b" ").split(b"\n")]
    number = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
    rows = [words for words in lines if words and words[0][:1] not in (b"#", b"%")]
    return [[float(word) if number.fullmatch(word) else math.nan for word in words] for words in rows]


@pytest.mark.filterwarnings("ignore::clgraph.errors.GraphFileWarning")
def test_a_damaged_edge_list_gives_the_edges_that_are_in_it(tmp_path: Path) -> None:
    n_read = 0
    for number in range(400):
        content, _, _ = fuzz_readers.damaged(READERS["edge_list"], "edge_list", 2, number)
        (tmp_path / "file").write_bytes(content)
        with contextlib.suppress(InputError):
            graph = read(tmp_path / "file", format="edge_list", base=0, ids="keep", directed=True, duplicates="keep")
            found = [array.tolist() for array in graph.edge_list() if array is not None]
            assert sorted(zip(*found, strict=True)) == sorted(map(tuple, parsed(content))), f"file {number}"
            n_read += 1
    assert n_read > 100


def refuses_for_want_of_memory(path: Path) -> None:
    try:
        np.empty(2**50)
    except MemoryError as error:
        raise InputError("too large") from error


@pytest.mark.parametrize(
    ("planted", "reason"),
    [
        (lambda path: [][0], "IndexError"),
        (refuses_for_want_of_memory, "memory ran out"),
        (lambda path: Graph._trusted(np.array([0, 1, 2]), np.array([1, 5], np.int32)), "invalid"),
        (lambda path: Graph([0, 1, 2], [1, 0], [np.inf] * 2), "a weight is infinite"),
        (lambda path: Graph([0, 1, 2], [1, 0], [5, 5]), "differs from what was written"),
    ],
)
def test_the_tool_sees_planted_faults(
    planted: Any, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, right = b"0 1 4\n", READERS["edge_list"]
    damage = (lambda content, rng: b"0 1 5\n"), True
    faulty = lambda path: right.read(path) if path.read_bytes() == original else planted(path)  # noqa: E731
    monkeypatch.setitem(READERS, "edge_list", replace(right, originals=(original,), read=faulty, damages=(damage,)))
    (outcome,) = fuzz_readers.outcomes("edge_list", 0, range(1), tmp_path)
    assert outcome.startswith(fuzz_readers.FAILED) and reason in outcome


EDGES, TRIPLES = partial(read, format="edge_list", with_ids=True), partial(read_ratings, format="text")


@pytest.mark.parametrize(
    ("name", "content", "planted", "reason"),
    [
        ("edge_list_ids", b"# Nodes: 2\n1 2\n", partial(EDGES, with_ids=False), "other edges"),
        ("edge_list_ids", b"# Undirected graph\n0 1\n", partial(EDGES, directed=True), "the direction"),
        ("edge_list_ids", b"3 2\n0 1\n1 2\n", lambda path: Graph.from_edges([0, 1], [1, 2], n=5), "other vertices"),
        ("edge_list_ids", b"3 9\n0 1\n1 2\n", lambda path: Graph.from_edges([0, 1], [1, 2]), "other edges than in"),
        ("ratings_text", b"1 2 3\n", partial(TRIPLES, columns=("item", "user", "rating")), "other pairs"),
        ("ratings_text", b"1 2 3 4\n", partial(TRIPLES, columns=("user", "item", "", "rating")), "other ratings"),
    ],
)
@pytest.mark.filterwarnings("ignore::clgraph.errors.GraphFileWarning")
def test_the_second_reader_sees_wrong_answers(
    name: str, content: bytes, planted: Any, reason: str, tmp_path: Path
) -> None:
    READERS[name].check_content(tmp_path / "file", content)
    with pytest.raises(AssertionError, match=reason):
        replace(READERS[name], read=planted).check_content(tmp_path / "file", content)


def test_the_tool_goes_on_after_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    child = tmp_path / "child.py"
    child.write_text("import os; print('read', flush=True); os.abort()")
    monkeypatch.setattr(fuzz_readers, "__file__", str(child))
    assert fuzz_readers.fuzz("edge_list", 0, range(7, 10), tmp_path) == Counter(read=2, FAILED=1)
    assert "--reader edge_list --seed 0 --first 8 --files 1: FAILED exit status -6" in capsys.readouterr().out
    assert (tmp_path / "edge_list-0-8").exists()


def test_the_command_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz_readers.main(["--reader", "metis", "--files", "30", "--seed", "3"]) == 0
    (name, read_, _, refused, _, failed, _), last = (line.split() for line in capsys.readouterr().out.splitlines())
    assert name == "metis" and int(read_) + int(refused) == 30 and failed == "0"
    assert last == ["all", read_, "read,", refused, "refused,", failed, "failed"]


# ---- archives made to deceive


def archive(folder: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(folder / "a.npz", "w", method) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return folder / "a.npz"


def npy(array: Any, **header: Any) -> bytes:
    """Return an .npy file of *array* whose header says otherwise."""
    made, array = io.BytesIO(), np.asarray(array)
    said = np.lib.format.header_data_from_array_1_0(array) | header
    np.lib.format.write_array_header_1_0(made, said)  # type: ignore[arg-type]
    return made.getvalue() + array.tobytes()


RIGHT = {"row_offsets": npy([0, 1, 2]), "column_indices": npy([1, 0]), "directed": npy(False)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row_offsets": npy([0, 1, 2], shape=(2**30,))}, "row_offsets.npy claims .* 8589934592 bytes; there are 24"),
        ({"row_offsets": npy([0, 1, 2], shape=(2**62, 2**62))}, "row_offsets.npy claims"),
        ({"row_offsets": npy([0, 1, 2], shape=(-1, -3))}, "not a graph"),
        ({"row_offsets": npy([0, 1, 2], shape=(2,))}, "claims int64 values of shape"),
        ({"row_offsets": npy([0, 1, 2], descr="(" * 500)}, "not a graph"),
        ({"row_offsets": npy([0, 1, 2], descr="|O")}, "not a graph"),
        ({"row_offsets": npy([[0, 1, 2]])}, "of one dimension"),
        ({"column_indices": b"\x93NUMPY\x01\x00\x05\x00{'a'" + b"["}, "not a graph"),
        ({"column_indices": b"\x93NUMPY\x03\x00" + npy([1, 0])[8:]}, "header of version"),
        ({"directed": npy([False, True])}, "a truth value"),
        ({"directed": npy(2)}, "a truth value"),
        ({"ids": npy([[1], [2]])}, "of one dimension"),
        ({"ids": npy(np.array([65, 0x110000], ">u4").view(">U1"))}, "ids holds the character 0x110000"),
        ({"edge_weights": npy(1.5)}, "of one dimension"),
    ],
)
def test_archives_of_graphs_that_lie_are_refused(tmp_path: Path, changes: dict[str, bytes], message: str) -> None:
    assert read(archive(tmp_path, RIGHT)).n_edges == 2
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        file = archive(tmp_path, RIGHT | changes, method)
        with memory_below(5e6), pytest.raises(GraphFileError, match=message):
            read(file)


def test_a_zip_directory_is_not_believed(tmp_path: Path) -> None:
    file = archive(tmp_path, RIGHT | {"row_offsets": npy([0, 1, 2], shape=(2**28,))}, zipfile.ZIP_DEFLATED)
    content, size = file.read_bytes(), len(npy([0, 1, 2]))
    for most in (128 + 2**31, 2**32 - 2):
        file.write_bytes(content.replace(size.to_bytes(4, "little"), most.to_bytes(4, "little")))
        with pytest.raises(GraphFileError, match=r"row_offsets.npy claims \d+ bytes, at most \d+ are there"):
            read(file)


def test_no_member_can_be_hidden(tmp_path: Path) -> None:
    file = archive(tmp_path, RIGHT | {"edge_weights": npy([2.5, 2.5])})
    content = file.read_bytes()
    comment_bytes = content.rindex(b"directed.npyPK") - 14  # in the entry before the weights
    file.write_bytes(content[:comment_bytes] + b"\xff" + content[comment_bytes + 1 :])
    with zipfile.ZipFile(file) as opened:
        assert "edge_weights.npy" not in opened.namelist()
    with pytest.raises(GraphFileError, match="the archive has 4 members; its directory shows 3"):
        read(file)


def test_no_pickle_is_loaded(tmp_path: Path) -> None:
    member = io.BytesIO()
    np.save(member, np.array([Unpickled(), 1], object))
    file = archive(tmp_path, RIGHT | {"ids": member.getvalue()})
    for load in (read, read_ratings, SGDMatrixFactorization.load):
        with pytest.raises(InputError, match=r"not a graph|not ratings|no saved"):
            load(file)


def test_sizes_without_entries_are_not_believed(tmp_path: Path) -> None:
    matrix = sp.coo_array(([1.0], ([0], [1])), shape=(10**9, 10**9))
    sp.save_npz(tmp_path / "a.npz", matrix)
    with pytest.raises(GraphFileError, match="with only 1 entries"):
        read(tmp_path / "a.npz")
    with pytest.raises(GraphFileError, match="1000000000 users or items with only 1 ratings"):
        read_ratings(tmp_path / "a.npz")
    write_ratings(Ratings([0], [1], [1.0], 10**9, 2), tmp_path / "b.npz")
    with pytest.raises(GraphFileError, match="1000000000 users or items with only 1 ratings"):
        read_ratings(tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as saved:
        np.savez(tmp_path / "c.npz", **{**saved, "n_users": np.array([2])})
    with pytest.raises(GraphFileError, match="n_users is int64"):
        read_ratings(tmp_path / "c.npz")


def test_archives_in_gzip_and_an_infinite_weight_come_back(tmp_path: Path) -> None:
    write(Graph.from_edges([0, 1], [1, 2], [np.inf, -2.5]), tmp_path / "a.npz")
    (tmp_path / "a.gz").write_bytes(gzip.compress((tmp_path / "a.npz").read_bytes()))
    assert read(tmp_path / "a.gz", format="npz").edge_list()[2].tolist() == [np.inf, -2.5]  # type: ignore[union-attr]


# ---- models made to deceive

FACTORS = {"user_factors": np.ones((2, 3), np.float32), "item_factors": np.ones((4, 3), np.float32)}
KNOWN = {"offsets": np.array([0, 2, 3]), "items": np.array([0, 3, 1])}
SETTINGS: dict[str, Any] = {"parameters": {}, "mean": 3.5, "strategy": "", "history": [[0.1, 1, np.nan, 1.0, 1.0]]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"user_factors": np.ones(2, np.float32)}, r"factors of shapes \(2,\)"),
        ({"user_factors": np.ones((2, 0), np.float32), "item_factors": np.ones((4, 0), np.float32)}, "rank 1 … 128"),
        ({name: np.full_like(rows, 1e30) for name, rows in FACTORS.items()}, "predictions up to 3.*e.60 away"),
        ({"item_factors": np.full((4, 3), np.inf, np.float32)}, "item_factors is float32"),
        ({"offsets": np.array([0, 2, 2**60])}, "offsets"),
        ({"offsets": np.array([0, 4, 3])}, "offsets"),
        ({"offsets": np.array([0, 2, 3], np.float32)}, "offsets"),
        ({"offsets": np.array([0, 3])}, "offsets"),
        ({"items": np.array([0, 3])}, "offsets"),
        ({"mean": np.nan}, "mean = nan"),
        ({"mean": 10**400}, "mean = 1000"),
        ({"mean": "3.5"}, "mean = '3.5'"),
        ({"parameters": {"regularization": "0.1"}}, "regularization = '0.1'"),
        ({"parameters": {"learning_rate": np.inf}}, "learning_rate = inf"),
        ({"parameters": {"schedule": 3}}, "schedule = 3"),
        ({"history": [[0.1, "1", 1, 1, 1]]}, "history"),
        ({"history": [[10**400, 1, 1, 1, 1]]}, "history"),
        ({"history": [[0.1]]}, "damaged"),
        ({"history": "deep"}, "no saved factorisation: RecursionError"),
        ({"mean": "digits"}, "no saved factorisation: ValueError"),
    ],
)
def test_models_that_cannot_predict_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    def written(changes: dict[str, Any]) -> Path:
        text = json.dumps(SETTINGS | {"version": 1} | {name: changes[name] for name in SETTINGS if name in changes})
        text = text.replace('"deep"', "[" * 100_000 + "]" * 100_000).replace('"digits"', "7" * 5000)
        arrays = FACTORS | KNOWN | {name: array for name, array in changes.items() if name not in SETTINGS}
        np.savez(tmp_path / "model.npz", clgraph_factorization=np.array(text), **arrays)
        return tmp_path / "model.npz"

    assert SGDMatrixFactorization.load(written({})).predict([0], [3]).tolist() == [6.5]
    with pytest.raises(InputError, match=message):
        SGDMatrixFactorization.load(written(changes))
