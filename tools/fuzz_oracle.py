"""Checks of the contents that ``fuzz_readers.py`` has read.

Edge lists and ratings are read a second time, word by word in Python, to compare with. That is simple and slow:
integers are Python's, a file is a list of lines, and vertices keep their ids.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import math
import re
from collections import Counter
from decimal import Decimal
from operator import attrgetter
from typing import Any

import numpy as np

from clgraph.cli.probe import print_profile
from clgraph.data.graphs.graph import Graph
from clgraph.data.meshes.planar_graph import PlanarGraph
from clgraph.data.meshes.triangle_mesh import TriangleMesh
from clgraph.data.ratings.ratings import Ratings
from clgraph.device.profile import DeviceProfile
from clgraph.io import edge_list
from clgraph.io import ratings as io_ratings
from clgraph.io.columns import Roles
from clgraph.model.cost import Atomics, Chain, Gathers, Work, estimate

_NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _places(roles: Roles) -> dict[str, int]:
    """Return the role of each name of a column, as a number."""
    words = (*roles.needed.values(), *roles.optional.values())
    return {name: role for role, names in enumerate(words) for name in names}


_EDGE_NAMES, _RATING_NAMES = _places(edge_list.ROLES), _places(io_ratings.ROLES)


def _words(line: bytes) -> list[bytes]:
    """Return the fields of a line; trailing empty ones are dropped, and no other may be empty."""
    line = line.replace(b"::", b",")
    if b"," in line:
        fields = [field.strip() for field in line.split(b",")]
        while fields and not fields[-1]:
            fields.pop()
        assert all(fields), "an empty field was read"
        return [word for field in fields for word in field.split()]
    return line.split()


def _table(content: bytes, names: dict[str, int]) -> tuple[list[bytes], list[int] | None, list[list[bytes]]]:
    """Return the comments before the first row, the columns that a header names, and the rows."""
    comments, columns, rows, header = [], None, [], False
    for line in content.split(b"\n"):
        text = line.strip(b" \t\r\v\f")
        if not text:
            continue
        if text[:1] in b"#%":
            if not rows:
                comments.append(text.lower())
            continue
        words = text.replace(b"::", b" ").replace(b",", b" ").split()
        if not rows and not header and not any(map(_NUMBER.fullmatch, words)):
            header = True
            head = text.decode("utf-8", "replace")
            separator = next((mark for mark in ("::", ",", "\t") if mark in head), r"\s+")
            keys = [re.sub(r"[\W_]+", "", field.lower()) for field in re.split(separator, head)]
            places = {names[key]: at for at, key in enumerate(keys) if key in names}
            columns = [places[role] for role in sorted(places)] if any(keys) else None
            continue
        if words := _words(line):
            rows.append(words)
    return comments, columns, rows


def _integer(word: bytes) -> int:
    number = Decimal(word.decode())
    assert number == int(number), f"{word!r} was read as an id"
    return int(number)


def check_edges(content: bytes, graph: Graph) -> None:
    """Raise AssertionError unless *graph*, read with ``with_ids=True``, has the edges of an edge list."""
    comments, columns, rows = _table(content, _EDGE_NAMES)
    head = b"\n".join(comments)
    konect = re.match(rb"%[ \t]*(sym|asym|bip)[ \t]+(\w+)$", comments[0]) if comments else None
    directed = konect[1] == b"asym" if konect else re.search(rb"\bdirected", head) is not None
    assert graph.directed == directed, "the direction is not that of the head"
    if columns is None:
        columns = [0, 1] if konect and konect[2] == b"unweighted" else [0, 1, 2]

    is_bipartite = bool(konect) and konect[1] == b"bip"
    as_id = _integer if is_bipartite or graph.ids is None or graph.ids.dtype.kind != "U" else bytes.decode

    def edge(row: list[bytes]) -> tuple[Any, ...]:
        ids: list[Any] = [as_id(row[column]) for column in columns[:2]]
        if is_bipartite:
            ids = [f"L{ids[0]}", f"R{ids[1]}"]
        elif not directed:
            ids.sort()
        return (*ids, *(float(row[column]) for column in columns[2:] if column < len(row)))

    names = range(graph.n_vertices) if graph.ids is None else graph.ids.tolist()
    found = Counter()
    for u, v, *weight in zip(*(a.tolist() for a in graph.edge_list() if a is not None), strict=True):
        pair = [names[u], names[v]]
        found[tuple(pair if directed or is_bipartite else sorted(pair)), *map(float, weight)] += 1
    # The first line may be a size line. If it is read as one, its numbers must fit the other lines.
    for reading in (rows, rows[1:]):
        try:
            given = [edge(row) for row in reading]
        except (IndexError, ArithmeticError):
            continue
        wanted = Counter(((*one[:2],), *one[2:]) for one in given)
        if found == wanted:
            ids = {end for one in given for end in one[:2]}
            assert graph.ids is None or ids <= set(names), "an id is lost"
            if len(reading) < len(rows):
                size = [_integer(word) for word in rows[0]]
                assert graph.n_vertices in size, "other vertices than in the size line"
                assert len(reading) in size or len(reading) / 2 in size, "other edges than in the size line"
            return
    raise AssertionError("other edges than those of the file")


def check_triples(content: bytes, ratings: Ratings) -> None:
    """Raise AssertionError unless *ratings* are the ratings in a text file."""
    _, columns, rows = _table(content, _RATING_NAMES)
    user, item, value = columns or (0, 1, 2)
    assert ratings.user_ids is not None and ratings.item_ids is not None
    as_id = bytes.decode if ratings.user_ids.dtype.kind == "U" else _integer
    given = sorted((as_id(row[user]), as_id(row[item]), float(row[value])) for row in rows)
    users, items = ratings.user_ids[ratings.users].tolist(), ratings.item_ids[ratings.items].tolist()
    values = ratings.values.tolist()
    assert [pair for *pair, _ in given] == [list(pair) for pair in zip(users, items, strict=True)], "other pairs"
    assert all(abs(one[2] - found) <= 1e-6 * abs(found) + 1e-37 for one, found in zip(given, values, strict=True)), (
        "other ratings"
    )


# ---- checks of every kind of file

# The arguments of the constructors, and the arrays that a prediction is made of.
graph_facts = attrgetter("row_offsets", "column_indices", "edge_weights", "directed", "ids")
ratings_facts = attrgetter("users", "items", "values", "n_users", "n_items", "user_ids", "item_ids")
model_facts = attrgetter("user_factors_", "item_factors_", "user_biases_", "item_biases_", "mean_")


def check_graph(graph: Graph, *, finite: bool = True) -> None:
    """Check all that the constructor checks; *finite*: of text, also that no weight is infinite."""
    Graph(*graph_facts(graph))
    assert not finite or graph.edge_weights is None or np.isfinite(graph.edge_weights).all(), "a weight is infinite"


def check_cached(graph: Graph) -> None:
    """Check all but symmetry, which cache files are trusted with if their checksum is right."""
    check_graph(dataclasses.replace(graph, directed=True))


def check_ratings(ratings: Ratings) -> None:
    """Check all that the constructor checks, and the offsets."""
    Ratings(*ratings_facts(ratings))
    assert ratings.user_offsets[-1] == ratings.item_offsets[-1] == ratings.n_ratings


def check_model(model: Any) -> None:
    """Check that all predictions are finite, also for a new user."""
    known = model._known
    users = np.arange(known.n_users) if known.user_ids is None else known.user_ids
    items = np.arange(known.n_items) if known.item_ids is None else known.item_ids
    predictions = model.predict(np.repeat(users, items.size), np.tile(items, users.size))
    assert np.isfinite(predictions).all(), "a prediction is not finite"
    all_items = np.arange(known.n_items)
    new = Ratings(0 * all_items, all_items, 1.0 + all_items, 1, known.n_items, None, known.item_ids)
    assert np.isfinite(model.transform(new)).all(), "a new user's row is not finite"
    for user in users[:1].tolist():
        assert model.recommend(user)[0].size <= 10
    assert len(model.loss_curve_) == len(model.eval_curve_) == model.n_iter_


def check_profile(profile: DeviceProfile) -> None:
    """Check that the cost model predicts by it, that it can be shown, written again, and used for a build."""
    sizes = (1.0, 1e5, 1e12)
    work = Work(
        1, 1, 0, 1e9, tuple(Gathers(1e6, x) for x in sizes), tuple(Atomics(1e6, x) for x in (*sizes, math.inf)),
        tuple(Chain(1e6, x) for x in sizes), 1, 1,
    )  # fmt: skip
    assert 0 < estimate(work, profile.rates).seconds < math.inf, "a prediction is not finite"
    with contextlib.redirect_stdout(io.StringIO()):
        print_profile(profile)
    assert DeviceProfile.from_json(json.loads(json.dumps(profile.to_json()))).notes == profile.notes
    for source, defines in profile.tuning.items():
        assert all(isinstance(value, int) for value in {source: 1, **defines}.values())


def all_fields(of: Any) -> tuple[Any, ...]:
    """Return the values of all fields of a dataclass."""
    return tuple(getattr(of, field.name) for field in dataclasses.fields(of))


def check_planar_graph(graph: PlanarGraph) -> None:
    """Check all that the constructor checks."""
    names = [field.name for field in dataclasses.fields(graph)]
    PlanarGraph.from_arrays(**dict(zip(names, all_fields(graph), strict=True)))


def check_mesh(mesh: TriangleMesh) -> None:
    """Check that triangles are counter-clockwise and linked as they lie."""
    again = TriangleMesh.from_arrays(mesh.points, mesh.triangles, mesh.segments)
    assert np.array_equal(again.triangles, mesh.triangles), "a triangle is clockwise"
    assert np.array_equal(again.neighbors, mesh.neighbors), "links are wrong"
