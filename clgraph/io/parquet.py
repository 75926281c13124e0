"""Parquet files with a column of sources, a column of targets and perhaps one of weights, by pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from clgraph.arguments import check_choice
from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph import Graph
from clgraph.errors import MissingExtraError
from clgraph.io.columns import Lead, Roles, checked_columns, find_columns
from clgraph.io.edge_list_start import NAMED, ROLES
from clgraph.io.edges import first_of_each
from clgraph.io.text import Progress, file_error

SUFFIXES = (".parquet", ".pq")
write = None  # The format is only read.


def read(
    path: Path,
    *,
    directed: bool | None = None,
    ids: Literal["auto", "keep", "compact", "names"] = "auto",
    columns: Sequence[str] | Mapping[str, str] | None = None,
    duplicates: Duplicates | None = None,
    progress: Progress | None = None,
) -> Graph:
    """Read a parquet file of edges.

    Ids are integers or text; the ids that occur become vertices.

    Parameters
    ----------
    path : Path
    directed : bool, optional
        By default, the graph is undirected.
    ids : {"auto", "keep", "compact", "names"}
        "keep" takes the ids as vertex numbers. The others number the ids that occur, as in an edge list.
    columns : sequence of str or dict, optional
        As for an edge list. By default, the names of the columns say what they hold.
    duplicates : str, optional
        As in :meth:`Graph.from_edges`. By default as for an edge list.
    """
    check_choice("ids", ids, ("auto", "keep", "compact", "names"))
    table, names = read_table(path, ROLES, columns, NAMED)
    numbering: Any = None if ids == "keep" else "auto"
    how: Duplicates = duplicates or "keep"
    graph = Graph.from_pandas(table, *names, directed=bool(directed), duplicates=how, ids=numbering)
    return first_of_each(path, graph) if duplicates is None else graph


def read_table(path: Path, roles: Roles, columns: Any, expected: str) -> tuple[Any, list[str]]:
    """Return the table of the needed columns as pyarrow has it, and the names of the columns by role.

    Raises
    ------
    GraphFileError
        The file cannot be read, or its columns do not fit *roles*.
    MissingExtraError
        pyarrow is not installed.
    """
    given = checked_columns(roles, columns)
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingExtraError(f"{path}: parquet files need pyarrow: pip install pyarrow") from error
    try:
        known = list(parquet.read_schema(path).names)
        if isinstance(given, tuple) and len(given) != len(known):
            raise file_error(path, f"{len(given)} columns: {', '.join(given)}; there are {', '.join(known)}")
        lead = Lead([], known, b"", 0, ", ".join(known).encode(), 1)
        places = find_columns(path, roles, lead, given, expected)
        names = [known[place] for place in places or ()]
        return parquet.read_table(path, columns=names), names
    except (ArrowException, OSError) as error:
        raise file_error(path, f"cannot be read as parquet: {error}") from error
