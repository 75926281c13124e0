"""The base classes of the results of all algorithms, which show, copy, pickle and convert them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from clgraph.data.graphs.graph import Graph
from clgraph.data.graphs.vertices import Vertices
from clgraph.errors import MissingExtraError
from clgraph.runtime.driver.timing import RunInfo
from clgraph.tables import html_fields

if TYPE_CHECKING:
    import networkx as nx


class Result:
    """Base class of results: named tuples that hold an answer, with the attributes ``info`` and often ``graph``.

    A pickle stores only the number of vertices and the ids of ``graph``. Reading the edges of the graph of an unpickled
    result raises a :class:`clgraph.errors.MissingEdgesError`. Copies share the graph.
    """

    info: RunInfo
    _FROM_GRAPH: ClassVar[tuple[str, ...]] = ()
    """Names of cached properties that need the graph; their values are computed before pickling."""

    def __getstate__(self) -> dict[str, Any]:
        for name in self._FROM_GRAPH:
            getattr(self, name)
        state = dict(vars(self))
        if "graph" in state:
            state["graph"] = Vertices(state["graph"].n_vertices, state["graph"].ids)
        return state

    def __copy__(self) -> Self:
        return self._with(self, vars(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        own = {name: value if name == "graph" else copy.deepcopy(value, memo) for name, value in vars(self).items()}
        return self._with(copy.deepcopy(tuple(self), memo), own)  # type: ignore[arg-type]

    def _with(self, values: Any, own: dict[str, Any]) -> Self:
        made: Self = tuple.__new__(type(self), values)  # type: ignore[type-var]
        vars(made).update(own)
        return made

    def _fields_shown(self) -> dict[str, object]:
        names = [*getattr(self, "_fields", ()), *(name for name in vars(self) if name != "info")]
        return {name: getattr(self, name) for name in names if not name.startswith("_")}

    def _repr_html_(self) -> str:
        return f"<b>{type(self).__name__}</b>{html_fields(self._fields_shown())}{self.info._repr_html_()}"


class GraphResult(Result):
    """Base class of answers about a graph, which can be had as columns with the user's ids."""

    graph: Graph

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the answer as columns by name, in which vertices have their ids.

        Returns
        -------
        dict of str to array
            The columns have one length. ``polars.DataFrame`` and ``pyarrow.table`` take them as they are. An id that
            does not exist, such as the predecessor of a source, is ``None``.
        """
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return :meth:`to_dict` as a pandas DataFrame, in which ids that do not exist are missing values.

        Raises
        ------
        MissingExtraError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("to_pandas() needs pandas: pip install pandas") from error
        frame = pandas.DataFrame(self.to_dict())
        for name, column in frame.items():
            if column.dtype == object:
                frame[name] = column.convert_dtypes()
        return frame


class VertexResult(GraphResult):
    """Base class of answers that have a number for each vertex."""

    _VALUES: ClassVar[tuple[str, str]]
    """The attribute with the numbers, and the name of their column."""

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the columns ``vertex``, with the ids, and the number of each vertex.

        The second column is ``component``, ``color``, ``community``, ``part`` or ``rank``.
        """
        attribute, name = self._VALUES
        values = getattr(self, attribute)
        ids = self.graph.ids
        vertices = np.arange(values.size) if ids is None or ids.size != values.size else ids
        return {"vertex": vertices, name: values}

    def to_networkx(self) -> nx.Graph:
        """Return the graph as a networkx graph, whose nodes have the numbers as attributes.

        The attributes are called as the columns of :meth:`to_dict`.
        """
        import networkx as nx

        columns, made = self.to_dict(), self.graph.to_networkx()
        vertices = columns.pop("vertex").tolist()
        for name, values in columns.items():
            nx.set_node_attributes(made, dict(zip(vertices, values.tolist(), strict=True)), name)
        return made


def ids_of(graph: Graph, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the ids of the vertices with these *numbers*.

    For a negative number, the id is ``None``.
    """
    exists = numbers >= 0
    ids: NDArray[Any] = numbers if graph.ids is None else graph.ids.take(numbers, mode="clip")
    if exists.all():
        return ids
    found = ids.astype(object)
    found[~exists] = None
    return found
