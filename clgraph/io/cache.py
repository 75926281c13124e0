"""A binary copy of a graph read before, mapped into memory the next time.

A cache file is a magic line, a line of JSON (the directed flag; name, type, shape and place of each
array), then the arrays at multiples of 64 bytes. Its name holds a hash of the source's absolute
path, size, time of change and reading options, so a changed source is read anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from clgraph.csr import check_arrays
from clgraph.errors import GraphError, GraphFileError
from clgraph.graph import Graph
from clgraph.io.text import writing
from clgraph.user_cache import cache_root

_MAGIC = b"clgraph cache 1\n"
_ALIGN = 64
_ARRAYS = ("row_offsets", "column_indices", "edge_weights", "labels")


def place(source: Path, options: Mapping[str, Any]) -> Path:
    """Return the cache file of *source* read with *options*."""
    stat = source.stat()
    key = json.dumps([str(source.resolve()), stat.st_size, stat.st_mtime_ns, sorted(options.items())])
    return cache_root() / f"{source.name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.clgraph"


def load(path: Path) -> Graph | None:
    """Return the graph in a cache file, its arrays mapped; ``None`` if there is none or it is damaged."""
    try:
        with open(path, "rb") as stream:
            if stream.read(len(_MAGIC)) != _MAGIC:
                return None
            header = json.loads(stream.readline(1 << 16))
        arrays = {
            name: np.memmap(path, np.dtype(dtype), "r", offset, tuple(shape))
            if shape != [0]
            else np.zeros(0, dtype)
            for name, (dtype, shape, offset) in header["arrays"].items()
        }
        check_arrays(arrays["row_offsets"], arrays["column_indices"])
        return Graph._trusted(**arrays, directed=header["directed"], sorted_rows=header["sorted_rows"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, GraphError):
        return None


def save(graph: Graph, path: Path) -> None:
    """Write the cache file; one that cannot be written is done without."""
    if graph.labels is not None and graph.labels.dtype.kind == "O":
        return
    arrays = {name: array for name in _ARRAYS if (array := getattr(graph, name)) is not None}
    table, offset = {}, 4096
    for name, array in arrays.items():
        table[name] = (array.dtype.str, array.shape, offset)
        offset += -(-array.nbytes // _ALIGN) * _ALIGN
    header = {"directed": graph.directed, "sorted_rows": graph.has_sorted_rows, "arrays": table}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path) as stream:
            stream.write(_MAGIC + json.dumps(header).encode() + b"\n")
            for name, array in arrays.items():
                stream.seek(table[name][2])
                stream.write(array.data)
    except (OSError, GraphFileError):
        return
