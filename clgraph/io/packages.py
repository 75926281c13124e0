"""Files of GraphML, GML and Pajek, which networkx reads, or igraph if networkx is not installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clgraph.data.graphs.graph import Graph
from clgraph.errors import ClgraphError, MissingExtraError
from clgraph.io.text import Progress, file_error, reading

_WEIGHT = "weight"


def _format(name: str, *suffixes: str) -> SimpleNamespace:
    """Return the format *name*, for the table of formats."""

    def read(path: Path, *, directed: bool | None = None, progress: Progress | None = None) -> Graph:
        graph = _reader(path, name)()
        if directed is None or directed == graph.directed:
            return graph
        src, dst, weights = graph.edge_list()
        return Graph.from_edges(src, dst, weights, n=graph.n_vertices, directed=directed)._named(graph.ids)

    return SimpleNamespace(read=read, write=None, SUFFIXES=suffixes)


def _reader(path: Path, name: str) -> Callable[[], Graph]:
    """Return a function that reads the file by networkx or igraph, whichever is installed."""
    try:
        import networkx as nx
    except ImportError:
        try:
            import igraph
        except ImportError as error:
            text = f"{path}: {name} files need networkx or igraph: pip install networkx"
            raise MissingExtraError(text) from error
        return lambda: _checked(path, name, lambda: _from_igraph(igraph.Graph.Read(str(path), format=name)))
    return lambda: _checked(path, name, lambda: _from_networkx(path, name, nx))


def _checked(path: Path, name: str, read: Callable[[], Graph]) -> Graph:
    try:
        return read()
    except ClgraphError:
        raise
    except Exception as error:  # The packages raise errors of many kinds for damaged files.
        raise file_error(path, f"no {name} file: {type(error).__name__}: {error}") from error


def _from_networkx(path: Path, name: str, nx: Any) -> Graph:
    with reading(path) as stream:
        if name == "gml":
            text = stream.read().decode()
            try:
                found = nx.parse_gml(text)
            except nx.NetworkXError:  # Nodes may have numbers and no labels.
                found = nx.parse_gml(text, label="id")
        else:
            found = getattr(nx, f"read_{name}")(stream)
    if not found:
        raise file_error(path, f"the {name} file has no nodes")
    weighted = any(_WEIGHT in attributes for _, _, attributes in found.edges(data=True))
    return Graph.from_networkx(found, _WEIGHT if weighted else None)


def _from_igraph(found: Any) -> Graph:
    return Graph.from_igraph(found, _WEIGHT if _WEIGHT in found.es.attributes() else None)


GRAPHML = _format("graphml", ".graphml")
GML = _format("gml", ".gml")
PAJEK = _format("pajek", ".net", ".paj")
