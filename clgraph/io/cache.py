"""Binary copies of graphs that were read from files.

The copies are mapped into memory the next time.

A cache file has a magic line, a line with the CRC-32 of all bytes after it, JSON (the directed flag; the
reader's warnings; name, type, position and bytes of each array), and the arrays at multiples of 64 bytes.
Its name contains a hash of the source's absolute path, size, modification time and reading options, so a
changed source is read again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clgraph.data.graphs.csr import as_weights, check_arrays, offset_dtype
from clgraph.data.graphs.graph import Graph
from clgraph.errors import GraphError, GraphFileError
from clgraph.io.text import writing
from clgraph.user_cache import cache_root

_MAGIC = b"clgraph cache 5\n"
_CHECKED = len(_MAGIC) + 9  # Position of the first byte of the file that the checksum covers.
_ALIGN = 64  # Arrays begin in the file at multiples of this number of bytes.
_DATA = 4096  # Position of the first array in the file, in bytes.
_ARRAYS = ("row_offsets", "column_indices", "edge_weights", "ids")

logger = logging.getLogger(__name__)


def place(source: Path, options: Mapping[str, Any]) -> Path:
    """Return the path of the cache file for the graph that is read from *source* with *options*."""
    stat = source.stat()
    key = json.dumps([str(source.resolve()), stat.st_size, stat.st_mtime_ns, sorted(options.items())], default=repr)
    return cache_root() / f"{source.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.clgraph"


def load(path: Path) -> tuple[Graph, list[str]] | None:
    """Return the graph in a cache file, with arrays that are mapped into memory, and the warnings of its reader.

    Return ``None`` if there is no such file or it is damaged.
    """
    try:
        data = np.memmap(path, np.uint8, "r")
        if bytes(data[:_CHECKED]) != _MAGIC + _checksum(data[_CHECKED:]):
            raise ValueError("its checksum differs")
        header = json.loads(bytes(data[_CHECKED:_DATA]))
        table = header["arrays"].items()
        arrays = {name: data[start : start + n_bytes].view(dtype) for name, (dtype, start, n_bytes) in table}
        if not all(isinstance(note, str) for note in header["notes"]):
            raise ValueError(f"notes {header['notes']!r}")
        return _checked_graph(arrays, header["directed"], header["sorted_rows"]), list(header["notes"])
    except FileNotFoundError:
        return None
    except Exception as error:
        # No error in the cache file matters, because the source of the cache file can be read again.
        logger.debug("the cache file %s is thrown away, its source is read again: %r", path, error)
        return None


def _checked_graph(arrays: dict[str, Any], directed: bool, sorted_rows: bool) -> Graph:
    """Return the graph of these arrays after all checks but the check of
    symmetry, which would take ten times longer.
    """
    offsets, columns = arrays["row_offsets"], arrays["column_indices"]
    if (offsets.dtype, columns.dtype) != (offset_dtype(columns.size), np.int32):
        raise GraphError(f"offsets of {offsets.dtype}, columns of {columns.dtype}")
    check_arrays(offsets, columns)
    if (weights := arrays.get("edge_weights")) is not None:
        arrays["edge_weights"] = as_weights(weights, columns.size)
    if (ids := arrays.get("ids")) is not None and ids.size != offsets.size - 1:
        raise GraphError(f"{ids.size} ids of {offsets.size - 1} vertices")
    if not isinstance(directed, bool) or not isinstance(sorted_rows, bool):
        raise GraphError(f"directed = {directed!r}, sorted_rows = {sorted_rows!r}")
    return Graph._trusted(**arrays, directed=directed, sorted_rows=sorted_rows)


def save(graph: Graph, path: Path, notes: Sequence[str] = ()) -> None:
    """Write the cache file of *graph*, with the reader's warnings *notes*.

    Do nothing if the file cannot be written.
    """
    if graph.ids is not None and graph.ids.dtype.kind in "OV":
        return
    arrays = {name: array for name in _ARRAYS if (array := getattr(graph, name)) is not None}
    table, start = {}, _DATA
    for name, array in arrays.items():
        table[name] = (array.dtype.str, start, array.nbytes)
        start += _padded(array.nbytes)
    header = {"directed": graph.directed, "sorted_rows": graph.has_sorted_rows, "notes": [*notes], "arrays": table}
    text = json.dumps(header).encode()
    if len(text) > _DATA - _CHECKED:
        return
    parts = [text.ljust(_DATA - _CHECKED)]
    for array in arrays.values():
        parts += [array.data.cast("B") if array.nbytes else b"", bytes(_padded(array.nbytes) - array.nbytes)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as stream:
            stream.write(_MAGIC + _checksum(*parts))
            stream.writelines(parts)
    except (OSError, GraphFileError):
        return


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // _ALIGN) * _ALIGN


def _checksum(*parts: Any) -> bytes:
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return b"%08x\n" % crc
