"""The base class of the results of all algorithms. It prints, copies and pickles a result."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

from clgraph.data.graphs.vertices import Vertices
from clgraph.runtime.driver.timing import RunInfo
from clgraph.tables import html_fields


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
