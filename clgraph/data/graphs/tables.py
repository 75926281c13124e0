"""Columns of pandas, polars and pyarrow tables, and the numbering of text ids by the package that has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clgraph.arguments import checked_array, is_array, refusing, shown
from clgraph.data.graphs.vertex_ids import as_ids
from clgraph.errors import GraphError, InputError

_PAIRS = "an array of shape (m, 2), or a list of tuples (source, target) or (source, target, weight)"
_TABLE = "a pandas, polars or pyarrow table, or a dict of columns"
Codes: TypeAlias = tuple[NDArray[Any], list[Any]]
"""The position of each id in the list of distinct ids, and this list. A missing id has the position -1 or NaN."""


def is_table(source: object) -> bool:
    """Return whether *source* is a table of pandas, polars or pyarrow."""
    return (hasattr(source, "__getitem__") and hasattr(source, "columns") and hasattr(source, "shape")) and _package(
        source
    ) in ("pandas", "polars", "pyarrow")


def column(table: Any, name: Any, argument: str) -> Any:
    """Return the column *name* of *table*; *argument* is the name of the parameter that names the column."""
    with refusing("table", table, _TABLE):
        if isinstance(table, Mapping):
            known = list(table)
        elif hasattr(table, "column_names"):
            known = list(table.column_names)
        elif hasattr(table, "columns") and hasattr(table, "__getitem__"):
            known = list(table.columns)
        else:
            raise InputError(f"table = {shown(table)}; allowed: {_TABLE}")
        if (count := known.count(name)) != 1:
            reason = "there is no such column" if count == 0 else f"{count} columns have this name"
            columns = ", ".join(map(shown, known))
            raise InputError(f"{argument} = {shown(name)}: {reason}; the table has {columns or 'no columns'}")
        return table[name]


def numbered_text(source: Any, target: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None:
    """Number the ids of two columns of text by the hash table of the package that has the columns.

    Returns
    -------
    tuple or None
        Sources and targets as positions in the distinct ids, and the distinct ids: sorted, or in the order of
        appearance if they cannot be sorted. ``None`` if the columns are not text of pandas, polars or pyarrow.

    Raises
    ------
    GraphError
        An id is missing.
    """
    package = _package(source)
    encode = _ENCODERS.get(package)
    if encode is None or _package(target) != package:
        return None
    found = encode(source, target)
    if found is None:
        return None
    codes, distinct = found
    if (missing := ~(codes >= 0)).any():
        at = int(missing.argmax())
        name, at = ("the source", at) if at < len(source) else ("the target", at - len(source))
        raise GraphError(f"{name} in row {at} is missing; drop this row, or give it an id")
    names = as_ids("ids", distinct)
    numbers = codes.astype(np.int32)
    if names.dtype.kind != "O":
        order = names.argsort()
        rank = np.empty(names.size, np.int32)
        rank[order] = np.arange(names.size, dtype=np.int32)
        numbers, names = rank[numbers], names[order]
    return numbers[: len(source)], numbers[len(source) :], names


def weights_of(table: Any, name: Any) -> NDArray[Any] | None:
    """Return the column *name* of *table* as numbers, or ``None`` if *name* is ``None``."""
    return None if name is None else checked_array("the weights", column(table, name, "weight"), GraphError)


def ends_of(edges: Any) -> list[Any]:
    """Return sources, targets and, if the edges have any, weights."""
    if is_array(edges):
        array = checked_array("edges", edges)
        if array.ndim != 2 or array.shape[1] != 2:
            more = ", and from_edge_index takes (2, m)" if array.ndim == 2 and array.shape[0] == 2 else ""
            raise InputError(f"edges has shape {array.shape}; needed: (m, 2){more}")
        return [array[:, 0], array[:, 1]]
    with refusing("edges", edges, _PAIRS):
        rows = list(edges)
        lengths = {*map(len, rows)}
        if not lengths <= {2} and lengths != {3}:
            raise InputError(f"edges = {shown(edges)}; allowed: {_PAIRS}")
        return [list(ends) for ends in zip(*rows, strict=True)] or [[], []]


def _package(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _pandas(source: Any, target: Any) -> Codes | None:
    if any(getattr(values.dtype, "kind", "O") not in "OUT" for values in (source, target)):
        return None
    pandas = sys.modules["pandas"]
    if all(isinstance(values.dtype, pandas.CategoricalDtype) for values in (source, target)):
        both = pandas.api.types.union_categoricals([source, target], ignore_order=True).remove_unused_categories()
        return both.codes, both.categories.tolist()
    codes, distinct = pandas.factorize(pandas.concat([source, target], ignore_index=True))
    return codes, distinct.tolist()


def _polars(source: Any, target: Any) -> Codes | None:
    polars = sys.modules["polars"]
    if any(values.dtype not in (polars.String, polars.Categorical, polars.Enum) for values in (source, target)):
        return None
    both = polars.concat([values.cast(polars.String).alias("id") for values in (source, target)])
    distinct = both.drop_nulls().unique()
    positions = polars.Series(np.arange(len(distinct), dtype=np.int32))
    codes = both.replace_strict(distinct, positions, default=-1, return_dtype=polars.Int32)
    return codes.to_numpy(), distinct.to_list()


def _pyarrow(source: Any, target: Any) -> Codes | None:
    arrow = sys.modules["pyarrow"]
    kinds = [getattr(values.type, "value_type", values.type) for values in (source, target)]
    if not all(arrow.types.is_string(kind) or arrow.types.is_large_string(kind) for kind in kinds):
        return None
    chunks = [chunk for values in (source, target) for chunk in values.cast(arrow.large_string()).chunks]
    encoded = arrow.chunked_array(chunks, arrow.large_string()).dictionary_encode().unify_dictionaries().chunks
    if not encoded:
        return np.zeros(0, np.int32), []
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded])
    return codes, encoded[0].dictionary.to_pylist()


_ENCODERS: dict[str, Callable[[Any, Any], Codes | None]] = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}


def inner_values(rows: list[Any]) -> list[Any]:
    """Return the weights of a dictionary of dictionaries, or raise if they are attributes, as networkx has them."""
    values = [value for row in rows for value in row.values()]
    if any(issubclass(kind, Mapping) for kind in set(map(type, values))):
        raise InputError(
            "adjacency has dictionaries of attributes, as networkx.to_dict_of_dicts returns them; allowed: a number "
            "for each edge. Graph.from_networkx(graph, weight='weight') takes the networkx graph"
        )
    return values
