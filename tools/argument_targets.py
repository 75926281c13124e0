"""Everything public that tools/fuzz_arguments.py calls, with good values for each parameter."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import fuzzing  # noqa: F401 - first: later imports then find the clgraph of this checkout
import numpy as np
from scipy.spatial import Delaunay

import clgraph as cg
from clgraph.algorithms.table import MODULES, find_algorithm

OF_PLANS = {"wait", "program", "check_memory", "run_info"}


class Target(NamedTuple):
    """Something to call, good values for the parameters that need one, and all parameters and options."""

    name: str
    call: Callable[..., Any]
    good: dict[str, Any]
    hostile: tuple[str, ...]
    options: tuple[tuple[dict[str, Any], str], ...]


def good_values(directory: Path, session: Any) -> dict[str, Any]:
    """Return values by name of a parameter, or of a function and its parameter; others go by the annotation."""
    graph = cg.generators.random_weights(cg.generators.rmat(5, 4, seed=1), 1)
    ratings = cg.generators.planted_ratings(9, 9, 60)
    rows = (session.upload(array) for array in (graph.row_offsets, graph.column_indices))
    on_device = cg.DeviceGraph.from_arrays(session, *rows, directed=False)
    path = directory / "edges.txt"
    path.write_text("0 1 2.5\n1 2 3\n", encoding="ascii")
    planar = cg.PlanarGraph.from_arrays([[0, 0], [2, 0], [2, 1], [0, 1]], [[0, 1], [1, 2], [2, 3], [3, 0]])
    cg.write_planar_graph(planar, directory / "planar.poly")
    cg.write_mesh(planar.triangulate(), directory / "mesh.ele")
    return {
        "graph": graph, "data": graph, "source": 0, "matrix": graph.to_scipy(), "path": path, "session": session,
        "src": [0, 1], "dst": [1, 2], "row_offsets": [0, 1, 2], "column_indices": [1, 0], "algorithm": "bfs",
        "users": [0, 1], "items": [0, 1], "values": [1.0, 2.0], "ids": [0], "user": 0, "vertex": 0,
        "colors": np.arange(graph.n_vertices), "parts": np.arange(graph.n_vertices) % 4, "n_parts": 4,
        "labels": np.arange(graph.n_vertices) % 4,
        "SplitGraph:parts": [[on_device]], "hash": "murmur3", "bits": 3, "n_ratings": 20,
        "X": ratings, "ratings": ratings, "n_users": 9, "n_items": 9, "document": session.profile.to_json(),
        "dtype": np.int32, "host": np.arange(5), "verify": True, "callback": lambda *_: True,  # True ends a fit
        "mesh": planar.triangulate(), "write_planar_graph:graph": planar, "points": planar.points,
        "segments": planar.segments, "triangles": [[0, 1, 2], [0, 2, 3]], "triangulation": Delaunay(planar.points),
        "read_planar_graph:path": directory / "planar.poly", "write_planar_graph:path": directory / "planar.poly",
        "read_mesh:path": directory / "mesh.ele", "write_mesh:path": directory / "written.vtu",
        "write_mesh:cell_data": {"heat": [1.0, 2.0]}, "write_mesh:point_data": {"load": [1.0, 2.0, 3.0, 4.0]},
    }  # fmt: skip


def good_value(name: str, parameter: inspect.Parameter, known: dict[str, Any]) -> Any:
    for key in (f"{name}:{parameter.name}", parameter.name):
        if key in known:
            return known[key]
    by_type = {"int": 4, "float": 0.5, "bool": False, "str": "x", "ArrayLike": [0, 1], "Seed": 1}
    return by_type.get(str(parameter.annotation).split(" | ")[0], known["graph"])


def is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("clgraph")


def public() -> Iterator[tuple[str, Any]]:
    """Yield all public names with their objects; a module gives its functions."""
    for name in cg.__all__:
        found = getattr(cg, name)
        if isinstance(found, types.ModuleType):
            yield from ((f"{name}.{inner}", getattr(found, inner)) for inner in found.__all__)
        elif callable(found):
            yield name, found


def options_of(module: types.ModuleType, known: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the options that a function of *module* hands on, each with the arguments that it belongs to."""
    for name in MODULES if hasattr(module, "find_algorithm") else ():
        entry = find_algorithm(name)
        data = {"ratings": known["X"], "mesh": known["mesh"]}.get(entry.takes, known["graph"])
        yield from (({"algorithm": name, "data": data}, option) for option in keyword_only(entry.problem))
    for name, strategy in getattr(module, "STRATEGIES", {}).items():
        yield from (({"strategy": name}, option) for option in keyword_only(strategy.plan))


def keyword_only(function: Any) -> list[str]:
    fixed = getattr(function, "keywords", {})  # A partial has these already.
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in fixed]


def target(name: str, call: Callable[..., Any], known: dict[str, Any]) -> Target:
    parameters = inspect.signature(call).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    good = {p.name: good_value(name, p, known) for p in named if p.default is p.empty or p.name == "session"}
    names, options = tuple(p.name for p in named), ()
    good |= {key: known[key] for key in ("verify", "callback") if key in names}
    module = sys.modules[call.__module__]
    if len(named) < len(parameters):
        options = tuple(options_of(module, known))
    if "strategy_options" in names:  # an estimator, which looks at the arguments of its constructor when it fits
        options = tuple(options_of(sys.modules[str(module.__package__)], known))
        stop = known["callback"]
        return Target(name, lambda **given: call(**given).fit(known["X"], callback=stop), good, names, options)
    return Target(name, call, good, names, options)


def targets(known: dict[str, Any]) -> list[Target]:
    """Return everything public: functions, constructors that check, and methods of the answers of good calls."""
    found, samples = [], {type(value): value for value in known.values() if is_ours(type(value))}
    classes = [known_class for _, known_class in public() if inspect.isclass(known_class)]
    for name, thing in public():
        if inspect.isclass(thing) and holds_anything(thing):
            continue
        found.append(target(name, thing, known))
        made = found[-1].call(**found[-1].good)
        samples.setdefault(type(made), made)
        if name.startswith("generators.") and "session" in found[-1].good:  # no session: the host makes the graph
            here = {key: value for key, value in found[-1].good.items() if key != "session"}
            found.append(found[-1]._replace(good=here))
    for kind in classes:
        sample = samples.get(kind)
        for inner in dir(kind):
            method = inspect.getattr_static(kind, inner)
            is_static = isinstance(method, classmethod | staticmethod)
            if inner[0] == "_" or inner in OF_PLANS or not (is_static or inspect.isfunction(method)):
                continue
            if is_ours(method) and (is_static or sample is not None):
                found.append(target(f"{kind.__name__}.{inner}", getattr(kind if is_static else sample, inner), known))
    return found


def holds_anything(kind: type) -> bool:
    """Whether this is a tuple or a dataclass whose constructor checks nothing: a result, not an input."""
    return issubclass(kind, tuple) or kind.__init__.__code__.co_filename == "<string>"  # type: ignore[misc]
