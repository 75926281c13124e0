"""The cache of parsed files: when it is used, and when the file is read again."""

import mmap
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import GRAPHS, UNDIRECTED
from saved_graphs import (
    cache_dir_fixture,  # noqa: F401
    check_same,
    saved,
)

from clgraph import user_cache
from clgraph.errors import GraphFileWarning, InputError
from clgraph.io import FORMATS, cache, read


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
    """Return a cache file with this content and a checksum that fits it."""
    return content[:16] + b"%08x\n" % zlib.crc32(content[25:]) + content[25:]


def test_cache_that_cannot_be_written_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLGRAPH_CACHE_DIR", str(saved(tmp_path, "file", "x") / "below"))
    assert read(saved(tmp_path, "a.txt", "0 1\n"), cache=True).n_edges == 2


def test_the_cache_is_in_the_directory_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLGRAPH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache.cache_root() == tmp_path / "clgraph"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache.cache_root() == tmp_path / ".cache" / "clgraph"
