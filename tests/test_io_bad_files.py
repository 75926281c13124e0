"""Files of graphs that are refused, each with its name, line and text; options that are checked."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from conftest import memory_below
from saved_graphs import saved

from clgraph.errors import GraphFileError, InputError
from clgraph.generators import path, random_weights
from clgraph.io import read, write

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


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    file = saved(tmp_path, "a.txt", "0 1\n")
    with pytest.raises(InputError, match="read of edge_list has no argument weights; it has"):
        read(file, weights=True)
    with pytest.raises(InputError, match="format = 'gexf'; allowed"):
        read(file, format="gexf")
    with pytest.raises(InputError, match=r"suffix '\.gexf' tells no format; known"):
        write(path(3), tmp_path / "a.gexf")
    with pytest.raises(InputError, match="ids = 'some'"):
        read(file, ids="some")
    with pytest.raises(InputError, match="base = 2"):
        read(file, base=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="read of metis has no argument base"):
        read(file, format="metis", base=1)
    assert read(file, base=None, directed=None, format=None).n_vertices == 2
    with pytest.raises(InputError, match="integer weights"):
        write(random_weights(path(3), dtype=np.float32), tmp_path / "a.gr")


def test_headers_that_lie_allocate_nothing(tmp_path: Path) -> None:
    files = [
        saved(tmp_path, "a.mtx", MM + "pattern general\n2000000000 2000000000 2000000000\n1 1\n"),
        saved(tmp_path, "a.gr", "p sp 2000000000 2000000000\na 1 2 3\n"),
        saved(tmp_path, "a.graph", "2000000000 2000000000\n2\n1\n"),
    ]
    for file in files:
        with memory_below(30e6), pytest.raises(GraphFileError):
            read(file)
