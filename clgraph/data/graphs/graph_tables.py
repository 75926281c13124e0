"""The constructors of Graph that take tables, tensors, dense arrays, lists, dictionaries and igraph's graphs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array

from clgraph.arguments import checked_array, checked_flag, refusing, shown
from clgraph.data.graphs.csr import Duplicates
from clgraph.data.graphs.graph_edges import GraphOfEdges, SelfLoops
from clgraph.data.graphs.tables import column, ends_of, inner_values, numbered_text, weights_of
from clgraph.data.graphs.vertex_ids import as_ids, renumbered
from clgraph.errors import GraphError, InputError

_LISTS = "a dict from each vertex to a list of its neighbours, or to a dict from neighbours to weights"


@dataclass(init=False, frozen=True, eq=False, repr=False)
class GraphOfTables(GraphOfEdges):
    """The constructors of :class:`clgraph.Graph` from the data of other packages."""

    @classmethod
    def from_pandas(
        cls,
        table: Any,
        source: Hashable = "source",
        target: Hashable = "target",
        weight: Hashable | None = None,
        *,
        directed: bool = False,
        duplicates: Duplicates = "keep",
        self_loops: SelfLoops = "keep",
        ids: ArrayLike | Literal["auto"] | None = "auto",
    ) -> Self:
        """Build a graph from a table with a row for each edge. Text ids are numbered by the table's own package.

        Parameters
        ----------
        table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, or dict of arrays
        source, target : hashable
            Names of the columns with the ends of each edge.
        weight : hashable, optional
            Name of the column with the weights; without it, the graph has no weights.
        directed, duplicates, self_loops
            As in :meth:`from_edges`.
        ids : array, shape (n_vertices,), "auto" or None
            "auto": vertices are numbered in the sorted order of their ids, or in the order of appearance if they cannot
            be sorted. An array lists the ids of all vertices, in the order of their numbers.
            ``None``: the columns hold vertex numbers.

        Returns
        -------
        Graph
            ``ids`` is ``None`` if the ids are 0, 1, 2, ….

        Raises
        ------
        InputError
            There is no column of this name.
        GraphError
            An id is missing, a weight is not a number, or the options refuse an edge.

        Examples
        --------
        >>> import clgraph as cg
        >>> roads = {"from": ["Ulm", "Bern"], "to": ["Bern", "Rome"], "km": [300, 900]}
        >>> graph = cg.Graph.from_pandas(roads, "from", "to", weight="km")
        >>> graph.ids.tolist(), graph.edge_weights.tolist()
        (['Bern', 'Rome', 'Ulm'], [900, 300, 900, 300])
        """
        ends = column(table, source, "source"), column(table, target, "target")
        weights = weights_of(table, weight)
        coded = None if ids is None else numbered_text(*ends)
        n, names = None, None
        if coded is not None:
            *numbers, found = coded
            both, names = renumbered(np.concatenate(numbers), found, ids)
            ends, n, ids = (both[: numbers[0].size], both[numbers[0].size :]), names.size, None
        made = cls.from_edges(
            *ends, weights, n=n, directed=directed, duplicates=duplicates, self_loops=self_loops, ids=ids
        )
        return made._named(names if made.ids is None else made.ids)

    @classmethod
    def from_edge_array(
        cls,
        edges: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        n: int | None = None,
        directed: bool = False,
        duplicates: Duplicates = "keep",
        self_loops: SelfLoops = "keep",
        ids: ArrayLike | Literal["auto"] | None = None,
    ) -> Self:
        """Build a graph from an array with a row for each edge, or from a list of tuples.

        Parameters
        ----------
        edges : integer array, shape (m, 2), or list of tuples
            The ends of each edge, such as ``edges_unique`` of a trimesh. A tuple may have a weight as its third item.
        weight : array, shape (m,), optional
            Weight of each edge, such as ``edges_unique_length`` of a trimesh.
        n, directed, duplicates, self_loops, ids
            As in :meth:`from_edges`; ``ids="auto"`` lets the ends be names.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            *edges* is not such an array or list, or has weights although *weight* is given.
        GraphError
            As in :meth:`from_edges`.

        Examples
        --------
        >>> import clgraph as cg
        >>> cg.Graph.from_edge_array([("a", "b", 3), ("b", "c", 4)], ids="auto")
        Graph(n_vertices=3, n_edges=4, undirected, int32 weights)
        """
        ends = ends_of(edges)
        if len(ends) == 3:
            if weight is not None:
                raise InputError("the edges have weights, and weight= is given, too; give one of them")
            weight = ends[2]
        options: dict[str, Any] = {"directed": directed, "duplicates": duplicates, "self_loops": self_loops}
        return cls.from_edges(ends[0], ends[1], weight, n=n, ids=ids, **options)

    @classmethod
    def from_edge_index(
        cls, edge_index: ArrayLike, edge_weight: ArrayLike | None = None, *, n: int | None = None,
        directed: bool | None = None, duplicates: Duplicates = "keep",
    ) -> Self:  # fmt: skip
        """Build a graph from stored entries in two rows, as PyTorch Geometric's ``edge_index`` has them.

        Parameters
        ----------
        edge_index : integer array, shape (2, m)
            Row and column of each entry. Tensors in host memory are read by ``__array__`` or by DLPack.
        edge_weight : array, shape (m,), optional
            Weight of each entry.
        n : int, optional
            Number of vertices (``data.num_nodes``); by default one more than the largest vertex number.
        directed : bool, optional
            By default, the graph is undirected if each entry has its reverse with the same weight. With ``False``,
            missing reverse entries are added, and of two different weights the lesser is taken.
        duplicates
            As in :meth:`from_edges`.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            *edge_index* has another shape.
        GraphError
            As in :meth:`from_edges`.

        Examples
        --------
        >>> import clgraph as cg
        >>> cg.Graph.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]])
        Graph(n_vertices=3, n_edges=4, undirected, unweighted)
        """
        directed = None if directed is None else checked_flag("directed", directed)
        pair = checked_array("edge_index", edge_index)
        if pair.ndim != 2 or pair.shape[0] != 2:
            raise InputError(f"edge_index has shape {pair.shape}; needed: (2, m), and from_edge_array takes (m, 2)")
        graph = cls.from_edges(pair[0], pair[1], edge_weight, n=n, directed=True, duplicates=duplicates)
        return graph._settled(directed)

    @classmethod
    def from_dense(
        cls, matrix: ArrayLike, *, directed: bool | None = None,
        asymmetry: Literal["error", "symmetrize"] | None = None, ids: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Build a graph from a square dense array. As in scipy.sparse.csgraph, 0, NaN and inf are no edges.

        Parameters
        ----------
        matrix : array, shape (n, n)
            Entry (u, v) is the weight of the edge from u to v; a bool array makes an unweighted graph.
        directed, asymmetry
            As in :meth:`from_scipy`.
        ids : array, shape (n,), optional
            The id of each row, such as ``frame.index``.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            The array is not square, or is asymmetric although it must be symmetric.
        """
        array = checked_array("matrix", matrix, GraphError)
        if array.ndim != 2 or array.shape[0] != array.shape[1]:
            raise GraphError(f"a matrix of shape {array.shape} is no adjacency matrix; it must be square")
        if array.dtype.kind not in "biuf":
            raise GraphError(f"a matrix of {array.dtype} entries; allowed: bool and numbers")
        rows, columns = np.nonzero(array if array.dtype.kind != "f" else np.isfinite(array) & (array != 0))
        entries = coo_array((array[rows, columns], (rows, columns)), shape=array.shape)
        graph = cls.from_scipy(entries, directed=directed, asymmetry=asymmetry)
        if ids is None:
            return graph
        names = as_ids("ids", ids)
        if names.size != graph.n_vertices:
            raise GraphError(f"ids has {names.size} items; needed: one per vertex, {graph.n_vertices}")
        return graph._named(names.copy())

    @classmethod
    def from_dict(cls, adjacency: Mapping[Any, Any], *, directed: bool | None = None) -> Self:
        """Build a graph from a dictionary of neighbours.

        Vertices are numbered in the order of appearance.

        Parameters
        ----------
        adjacency : dict
            From each vertex to a list of its neighbours, or to a dict from its neighbours to the edges' weights.
            A vertex without edges to others may be left out, or have an empty list.
        directed : bool, optional
            As in :meth:`from_edge_index`.

        Returns
        -------
        Graph
            ``ids`` is ``None`` if the vertices are 0, 1, 2, … in this order.

        Raises
        ------
        InputError
            *adjacency* is not such a dictionary.
        GraphError
            A weight is not a number.

        Examples
        --------
        >>> import clgraph as cg
        >>> graph = cg.Graph.from_dict({"a": ["b", "c"], "b": ["a"], "c": ["a"]})
        >>> graph.ids.tolist(), graph.directed
        (['a', 'b', 'c'], False)
        """
        directed = None if directed is None else checked_flag("directed", directed)
        with refusing("adjacency", adjacency, _LISTS):
            keys, rows = list(adjacency.keys()), list(adjacency.values())
            weighted = bool(rows) and all(isinstance(row, Mapping) for row in rows)
            if any(isinstance(row, str | bytes) for row in rows):
                raise InputError(f"adjacency = {shown(adjacency)}; allowed: {_LISTS}")
            lists = [list(row) for row in rows]
            weights = inner_values(rows) if weighted else None
            number = {name: i for i, name in enumerate(dict.fromkeys(chain(keys, chain.from_iterable(lists))))}
            source = np.repeat(np.arange(len(keys)), list(map(len, lists)))
            target = np.fromiter(map(number.__getitem__, chain.from_iterable(lists)), np.int64, source.size)
        graph = cls.from_edges(source, target, weights, n=len(number), directed=True)
        return graph._settled(directed)._named(as_ids("adjacency", list(number)))

    @classmethod
    def from_igraph(cls, graph: Any, weight: str | None = None) -> Self:
        """Build a graph from a python-igraph graph; parallel edges are kept.

        Parameters
        ----------
        graph : igraph.Graph
            If vertices have the attribute "name", the names become the ids.
        weight : str, optional
            The edge attribute to use as weight; without it, the graph has no weights.

        Returns
        -------
        Graph

        Raises
        ------
        InputError
            *graph* is not an igraph graph, or no edge has this attribute.
        GraphError
            A weight is not a number.
        """
        with refusing("graph", graph, "an igraph.Graph"):
            known = graph.es.attributes()
            if weight is not None and weight not in known:
                raise InputError(f"weight = {shown(weight)}; edges have the attributes {', '.join(known) or 'none'}")
            n, directed = graph.vcount(), graph.is_directed()
            ends = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
            weights = None if weight is None else graph.es[weight]
            names = as_ids("names", graph.vs["name"]) if "name" in graph.vs.attributes() else None
        return cls.from_edges(ends[:, 0], ends[:, 1], weights, n=n, directed=directed)._named(names)
