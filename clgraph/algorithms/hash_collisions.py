"""Collisions of hash colourings: how many vertices meet their own colour when colours are hashes of vertex numbers.

A hash colouring gives vertex v the colour h(v) mod 2**b. It costs nothing, and some neighbours collide; the table says
how many, for every hash function h of :mod:`clgraph.vertex_hashes` and every number of bits b.

Strategies
----------
``row_per_item``
    A work-item a row, a work-group a tile of rows that it reduces to one struct of counters. At distance 1 the
    neighbours are loaded into local memory, and all hashes and widths are compared and counted at once, as bit planes.
``row_per_sub_group``
    A sub-group a row, each lane another hash, all widths at once by a histogram of how many low bits agree.
``persistent``
    As ``row_per_item``, but a work-group keeps consecutive tiles and reduces once.

At distance 2 the colours of a row are marked in bitmaps that are folded in half from width to width, or sorted by a
network so that those with most low bits in common stand side by side.
"""
from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clgraph.algorithms.hash_collisions_work import (
    BITMAP_BITS,
    MOST_HASHES,
    MOST_WIDTHS,
    CollisionStats,
    persistent_work,
    row_per_item_work,
    row_per_sub_group_work,
)
from clgraph.csr import asymmetric_entry, check_choice, checked_count
from clgraph.errors import InputError
from clgraph.graph import Graph, as_graph
from clgraph.model.strategy import Choice, Strategy, checked_options, choose
from clgraph.primitives.segmented import SegmentedSort
from clgraph.primitives.types import tuned
from clgraph.runtime.arrays import DeviceArray
from clgraph.runtime.device_graph import device_graph
from clgraph.runtime.program import Launch, Program
from clgraph.runtime.session import Session, as_session
from clgraph.runtime.timing import RunInfo
from clgraph.vertex_hashes import HASHES, hash_colors

_MAX_VERTICES = 2**31 - 2**12  # a work-item's vertex must fit int32, rounded up to work-groups
_MAX_BITS = 31
_PLANES, _LANES, _SORTED = (f"coloring/collisions_{name}.cl" for name in ("planes", "lanes", "sorted"))
_BANKS = 32
_ALIGNMENT = 3  # words before a tile's first entry
_CPU_LOCAL_BYTES = 48 << 10
_GROUP_ENTRIES = 1 << 30  # a work-group's sums must fit 32 bits


class _CollisionTable(NamedTuple):
    total: NDArray[np.int64]
    maximum: NDArray[np.int64]


class BestHash(NamedTuple):
    """A hash colouring and its collisions; see :meth:`CollisionTable.best`."""

    hash: str
    bits: int
    total: int
    maximum: int


class CollisionTable(_CollisionTable):
    """Result of :func:`hash_collisions`; unpacks as ``total, maximum``.

    Attributes
    ----------
    total, maximum : int64 array, shape (n_hashes, n_bit_widths)
        Sum over the rows, and largest row, of its collisions.
    hashes : tuple of str
        The hash function of each line.
    bit_widths : tuple of int
        The bits of a colour in each column.
    n_vertices : int
    distance : int
    info : RunInfo
        What ran, where, and how long it took.
    """

    hashes: tuple[str, ...]
    bit_widths: tuple[int, ...]
    n_vertices: int
    distance: int
    info: RunInfo

    def best(self, *, max_colors: int | None = None) -> BestHash:
        """Return the colouring with the fewest collisions; of equals that of the fewest bits, then the first.

        Parameters
        ----------
        max_colors : int, optional
            Only colourings of at most so many colours count: of b bits there are ``2**b``.

        Raises
        ------
        InputError
            No width of the table has so few colours.
        """
        widths = np.array(self.bit_widths)
        if max_colors is not None:
            checked_count("max_colors", max_colors, 2**_MAX_BITS)
        allowed = np.flatnonzero([max_colors is None or 1 << bits <= max_colors for bits in self.bit_widths])
        if not allowed.size:
            raise InputError(f"max_colors={max_colors}; the narrowest of the table are {widths.min()} bits")
        _, bits, k, j = min(
            (int(self.total[k, j]), int(widths[j]), k, int(j)) for k in range(len(self.hashes)) for j in allowed
        )
        return BestHash(self.hashes[k], bits, int(self.total[k, j]), int(self.maximum[k, j]))

    def colors(self, hash: str, bits: int) -> NDArray[np.int32]:
        """Return the colour of each vertex, int32, under hash function *hash* at this many *bits*."""
        check_choice("hash", hash, HASHES)
        return hash_colors(hash, self.n_vertices, checked_count("bits", bits, _MAX_BITS))

    def __str__(self) -> str:
        from tabulate import tabulate

        lines = [
            [name, *(f"{total} ({most})" for total, most in zip(totals, maxima, strict=True))]
            for name, totals, maxima in zip(self.hashes, self.total.tolist(), self.maximum.tolist(), strict=True)
        ]
        headers = ["total (maximum)", *(f"{bits} bits" for bits in self.bit_widths)]
        return str(tabulate(lines, headers, disable_numparse=True, stralign="right"))


@dataclass(frozen=True)
class CollisionProblem:
    """What a plan is made for; at distance 2 the rows of the graph are sorted."""

    graph: Graph
    distance: int
    hashes: tuple[str, ...]
    bit_widths: tuple[int, ...]

    @property
    def stats(self) -> CollisionStats:
        return CollisionStats(
            self.graph.stats, self.distance, len(self.hashes), len(self.bit_widths), max(self.bit_widths)
        )


class _Part(NamedTuple):
    """Hashes and widths that are counted together, and where."""

    hashes: slice
    widths: slice
    counters: DeviceArray


class CollisionPlan:
    """A compiled and allocated run on one graph; ``run()`` may be called again.

    Attributes
    ----------
    launches : list of callable
        What ``run()`` calls, one after the other.
    """

    def __init__(self, session: Session, problem: CollisionProblem) -> None:
        graph = problem.graph
        if graph.n_vertices > _MAX_VERTICES:
            raise InputError(f"{graph.n_vertices} vertices; hash collisions takes at most {_MAX_VERTICES}")
        self.session, self.problem, self.n, self.m = session, problem, graph.n_vertices, graph.n_edges
        self.is_cpu, self.units = session.facts.is_cpu, session.facts.compute_units
        on_device = device_graph(session, graph)
        self.csr = (on_device.row_offsets, on_device.column_indices)
        self.offset_defines = on_device.defines()
        # 7, 15, 31, …: graphs of similar rows share programs.
        self.longest = max(7, (1 << int(graph.degrees.max(initial=0)).bit_length()) - 1)
        self.launches: list[Any] = []
        self._parts: list[_Part] = []
        self._sorts: list[SegmentedSort] = []

    def run(self) -> None:
        """Enqueue everything; nothing is read back."""
        for launch in self.launches:
            launch()

    def table(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return totals and maxima, after ``run()``.

        Raises
        ------
        DeviceTimeoutError
            A wait on the device ran out.
        """
        shape = len(self.problem.hashes), len(self.problem.bit_widths)
        total, maximum = np.zeros((2, *shape), np.int64)
        for part in self._parts:
            block = total[part.hashes, part.widths]
            low, high, most = part.counters.get().astype(np.int64).reshape(3, *block.shape)
            total[part.hashes, part.widths] = low + (high << 32)
            maximum[part.hashes, part.widths] = most
        for sort in self._sorts:
            sort.check()
        return total, maximum

    def local_words(self, n_counters: int) -> int:
        """Words of local memory that tiles may take."""
        room = self.session.facts.local_mem_bytes
        room = min(room, _CPU_LOCAL_BYTES) if self.is_cpu else room
        return room // 4 - 2 * n_counters - 64

    def add_part(self, hashes: slice, widths: slice) -> tuple[_Part, dict[str, int | str]]:
        """Allocate the counters of a part; return it and what all its programs are told."""
        names, bits = self.problem.hashes[hashes], self.problem.bit_widths[widths]
        part = _Part(hashes, widths, self.session.empty(3 * len(names) * len(bits), np.uint32))
        self._parts.append(part)
        return part, {
            **self.offset_defines, "N_HASHES": len(names), "N_WIDTHS": len(bits), "MAX_BITS": bits[-1],
            "HASH_LIST(X)": " ".join(f"X({k}, {name})" for k, name in enumerate(names)),
            "WIDTH_MASK": f"{sum(1 << b for b in bits)}u",
        }

    def tabulate(
        self, kernel: str, part: _Part, values: dict[str, int | str], step: int, table: DeviceArray,
        tile_rows: DeviceArray,
    ) -> None:
        program = self.session.program(f"coloring/{kernel}.cl", {**values, "TILE_STEP": step})
        self.launches.append(program.bind(
            kernel, self.n + 1, np.int32(self.n), np.int32(tile_rows.size - 1), self.csr[0], tile_rows, part.counters,
            table,
        ))

    def tile_rows(self, step: int) -> DeviceArray:
        """Allocate the first row of each tile of *step* entries and rows."""
        return self.session.empty((self.m + self.n) // step + 2, np.int32)

    def bind_tiles(
        self, program: Program, kernel: str, n_groups: int | None, part: _Part, tile_rows: DeviceArray,
        table: DeviceArray,
    ) -> Launch:
        """Bind a kernel over all tiles: one a group, or consecutive ones for *n_groups*."""
        n_tiles = tile_rows.size - 1
        each = 1 if n_groups is None else -(-n_tiles // max(n_groups, self.m // _GROUP_ENTRIES))
        return program.bind(
            kernel, -(-n_tiles // each) * program.work_group_size, np.int32(self.n), np.int32(n_tiles),
            np.int32(each), *self.csr, tile_rows, table, part.counters,
        )

    def long_rows(self, limit: int) -> NDArray[np.int32]:
        """Return the rows of more than *limit* entries."""
        return np.flatnonzero(self.problem.graph.degrees > limit).astype(np.int32)

    def bind_rows(self, program: Program, kernel: str, *args: Any, rows: int) -> Launch:
        """Bind a kernel of which a group takes a row at a time."""
        return program.bind(kernel, min(rows, 8 * self.units) * program.work_group_size, *args)


class PlanesPlan(CollisionPlan):
    """Distance 1, a work-item a row, by bit planes: ``planes``, those of the last part."""

    def __init__(self, session: Session, problem: CollisionProblem, *, persistent: bool, tile: int | None) -> None:
        super().__init__(session, problem)
        if not self.m:
            return
        cpu = {
            "WG_SIZE": session.facts.sub_group_size, "BATCH": 8 if problem.graph.stats.mean_degree >= 12 else 4,
            "FLUSH_LOG": 8, "TILE": 8192, "GROUPS_PER_UNIT": 4, "LOCAL_SUMS": 0,
        }  # fmt: skip
        sizes = tuned(session, _PLANES, {
            "WG_SIZE": 64, "BATCH": 4, "FLUSH_LOG": 3, "LONG_ROW": 255, "TILE": 4096, "GROUPS_PER_UNIT": 48,
            "LOCAL_SUMS": 1, "STAGES": 3, **(cpu if self.is_cpu else {}),
        }, None)
        n_groups = sizes.pop("GROUPS_PER_UNIT") * self.units if persistent else None
        for hashes in _slices(len(problem.hashes), MOST_HASHES):
            for widths in _slices(len(problem.bit_widths), MOST_WIDTHS):
                self._plan_part(hashes, widths, dict(sizes), tile, n_groups)

    def _plan_part(
        self, hashes: slice, widths: slice, sizes: dict[str, int], tile: int | None, n_groups: int | None
    ) -> None:
        bits = self.problem.bit_widths[widths]
        words, layers = -(-len(bits) // 2), max(b - a for a, b in zip((0, *bits), bits, strict=False))
        n_counters = (hashes.stop - hashes.start) * len(bits)
        room = self.local_words(n_counters)
        if sizes["LOCAL_SUMS"]:
            room -= (sizes["LONG_ROW"].bit_length() + sizes["FLUSH_LOG"]) * words * sizes["WG_SIZE"]
        if tile is not None:
            tile = checked_count("tile", tile, room, least=_ALIGNMENT + 2)
        size = min(sizes["TILE"], room) if tile is None else tile
        longest = max(63, self.longest) if self.is_cpu else self.longest  # its registers are not what limits
        long_row = max(1, min(sizes["LONG_ROW"], longest, (size - _ALIGNMENT) // 2))
        step = size - _ALIGNMENT - long_row
        if tile is None and sizes["WG_SIZE"] > 1:  # as many rows as work-items, or a multiple
            row = self.m / self.n + 1
            step = min(step, max(1, int((max(1, step // int(row * sizes["WG_SIZE"])) * sizes["WG_SIZE"] - 1) * row)))
        slices = max(long_row.bit_length(), sizes["BATCH"].bit_length() - 1)
        part, values = self.add_part(hashes, widths)
        values |= {"LAYERS": layers, "PLANE_LIST(X)": _plane_list(bits, words, layers)}
        table_words = words * layers + (words * layers % 4 == 3)
        self.planes, tile_rows = self.session.empty(table_words * self.n, np.uint32), self.tile_rows(step)
        self.tabulate("tabulate_planes", part, values, step, self.planes, tile_rows)
        group = sizes.pop("WG_SIZE")
        values |= {**sizes, "TILE": step + long_row + _ALIGNMENT, "LONG_ROW": long_row, "SLICES": slices}
        program = self.session.program(_PLANES, values, work_group_size=group)
        self.launches.append(self.bind_tiles(program, "count_tiles", n_groups, part, tile_rows, self.planes))
        rows = self.long_rows(long_row)
        if rows.size:
            self.launches.append(self.bind_rows(
                program, "count_long_rows", np.int32(self.n), np.int32(rows.size), *self.csr,
                self.session.upload(rows), self.planes, part.counters, rows=rows.size,
            ))


class LanesPlan(CollisionPlan):
    """A work-item one hash of a row at a time; ``colors``: those of the vertices under the last part's hashes."""

    def __init__(
        self, session: Session, problem: CollisionProblem, *, side_by_side: bool, persistent: bool,
        tile: int | None = None, distinct: str | None = None, layout: str | None = None,
    ) -> None:
        super().__init__(session, problem)
        if not self.m:
            return
        for hashes in _slices(len(problem.hashes), MOST_HASHES):
            self._plan_part(hashes, side_by_side, persistent, tile, distinct, layout)

    def _plan_part(
        self, hashes: slice, side_by_side: bool, persistent: bool, tile: int | None, distinct: str | None,
        layout: str | None,
    ) -> None:
        n_hashes, bits = hashes.stop - hashes.start, max(self.problem.bit_widths)
        stride = 1 << (n_hashes - 1).bit_length()
        lanes = stride if side_by_side else 1
        least = max(lanes, self.session.facts.sub_group_size)
        room = self.local_words(n_hashes * len(self.problem.bit_widths)) - least
        bitmap_words = max(1, 1 << max(0, bits - 5))
        if distinct is None:
            fits = bits <= BITMAP_BITS and (bitmap_words + 1) * max(least, 1 if self.is_cpu else 32) <= room
            distinct = "bitmap" if fits else "sort"
        elif distinct == "bitmap" and (bitmap_words + 1) * least > room:
            raise InputError(f"distinct='bitmap' of {bits} bits needs more local memory than there is; take 'sort'")
        method = "PAIRS" if self.problem.distance == 1 else {"bitmap": "BITMAP", "sort": "SORTED"}[distinct]
        sizes = tuned(self.session, _LANES, {
            "WG_SIZE": least if self.is_cpu else max(least, 128), "LONG_ROW": 1023, "TILE_STEP": 4096,
            "GROUPS_PER_UNIT": 8, "EVALUATE": 0, "STAGES": 3,
        }, None)
        n_groups = sizes.pop("GROUPS_PER_UNIT") * self.units if persistent else None
        group = sizes.pop("WG_SIZE")
        fixed = (bitmap_words if method == "BITMAP" else bits + 1) + 1
        table: dict[str, int | str] = {"HASH_STRIDE": stride, "COLOR_T": "ushort" if bits <= 16 else "uint"}
        defines: dict[str, int | str] = {**sizes, **table, "METHOD": method, "HASH_LANES": lanes}
        step = int(defines.pop("TILE_STEP")) if tile is None else checked_count("tile", tile, room, least=2)
        if method == "SORTED":
            group, step, sort_defines = _workspace(
                room, fixed, group, least, lanes, max(_BANKS - 1, self.longest), tile, layout or "padded", step
            )
            defines |= sort_defines
        else:
            while group > least and fixed * group > room:
                group //= 2
        part, values = self.add_part(hashes, slice(0, len(self.problem.bit_widths)))
        self.colors = self.session.empty(stride * self.n, np.uint16 if bits <= 16 else np.uint32)
        tile_rows = self.tile_rows(step)
        table["REVERSED"] = int(method == "SORTED")
        self.tabulate("tabulate_colors", part, values | table, step, self.colors, tile_rows)
        program = self.session.program(_LANES, values | defines, work_group_size=group)
        self.launches.append(self.bind_tiles(program, "count_rows", n_groups, part, tile_rows, self.colors))
        rows = self.long_rows(int(defines["LONG_ROW"]))
        if rows.size and method == "SORTED":
            self._sort_rows(part, values, rows)
        elif rows.size:
            self.launches.append(self.bind_rows(
                program, "count_split_rows", np.int32(self.n), np.int32(rows.size), *self.csr,
                self.session.upload(rows), self.colors, part.counters, rows=rows.size,
            ))

    def _sort_rows(self, part: _Part, values: dict[str, int | str], rows: NDArray[np.int32]) -> None:
        """Count the rows that no work-item's workspace holds."""
        session, offsets = self.session, self.problem.graph.row_offsets
        ends = np.cumsum(self.problem.graph.degrees[rows] + 1, dtype=np.int64)
        starts = session.upload(np.concatenate([[0], ends]).astype(offsets.dtype))
        keys, in_order = session.empty(int(ends[-1]), np.uint32), session.empty(int(ends[-1]), np.uint32)
        sort = SegmentedSort(session, starts, keys, in_order, key_bits=int(values["MAX_BITS"]))
        self._sorts.append(sort)
        group = max(1, session.facts.sub_group_size) if self.is_cpu else 256
        program = session.program(_SORTED, values, work_group_size=group)
        arrays = *self.csr, session.upload(rows), starts
        for k in range(part.hashes.stop - part.hashes.start):
            head = np.uint32(k), np.int32(rows.size)
            self.launches += [
                self.bind_rows(program, "write_keys", *head, *arrays, keys, rows=rows.size),
                sort.run,
                self.bind_rows(program, "count_sorted", *head, *arrays, in_order, part.counters, rows=rows.size),
            ]


def _workspace(
    room: int, fixed: int, group: int, least: int, lanes: int, longest: int, tile: int | None, layout: str, step: int
) -> tuple[int, int, dict[str, int | str]]:
    """Return work-group size, tile step and definitions by which work-items sort rows in local memory."""
    if layout == "compact":
        while group > least and fixed * group > room // 4:
            group //= 2
        words = (room - fixed * group if tile is None else tile) // lanes
        long_row = max(0, min(longest, words // 2 - 1))
        step = max(1, words - long_row - 1)
        workspace = max(words, step + long_row + 1) * lanes
        return group, step, {"LAYOUT": "COMPACT", "LONG_ROW": long_row, "WORKSPACE": workspace}
    wanted = _BANKS * -(-(longest + 1) // _BANKS) + 1
    while group > least and (fixed + wanted) * group > room:
        group //= 2
    most = (room - fixed * group if tile is None else tile) // group
    stride = min(wanted, max(1, _BANKS * ((most - 1) // _BANKS) + 1))
    return group, step, {"LAYOUT": "PADDED", "LONG_ROW": stride - 1, "STRIDE": stride, "WORKSPACE": stride * group}


def _slices(n: int, most: int) -> list[slice]:
    """Cut 0 … n − 1 into the fewest parts of at most *most*, of similar size."""
    ends = np.linspace(0, n, -(-n // most) + 1).round().astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(ends)]


def _plane_list(bits: Sequence[int], words: int, layers: int) -> str:
    """Return which bits of the colours the halves of each word hold: PLANE_LIST of cl/coloring/planes.h."""
    planes = [[-1] * layers for _ in range(2 * words)]
    for j, (below, width) in enumerate(zip((0, *bits), bits, strict=False)):
        planes[j][: width - below] = range(below, width)
    return " ".join(
        f"X({i * layers + layer}, {planes[i][layer]}, {planes[i + words][layer]})"
        for i in range(words) for layer in range(layers)
    )


def _check_distance_two(problem: CollisionProblem, **options: str | None) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given and problem.distance == 1:
        raise InputError(f"{', '.join(given)} belong to distance=2")
    for name, allowed in (("distinct", ("bitmap", "sort")), ("layout", ("padded", "compact"))):
        if (value := options[name]) is not None:
            check_choice(name, value, allowed)
    if options["layout"] is not None and options["distinct"] == "bitmap":
        raise InputError("layout belongs to distinct='sort'")


def _items(
    session: Session, problem: CollisionProblem, *, persistent: bool, tile: int | None, distinct: str | None,
    layout: str | None,
) -> CollisionPlan:
    _check_distance_two(problem, distinct=distinct, layout=layout)
    if problem.distance == 1:
        return PlanesPlan(session, problem, persistent=persistent, tile=tile)
    return LanesPlan(
        session, problem, side_by_side=False, persistent=persistent, tile=tile, layout=layout,
        distinct="sort" if layout is not None else distinct,
    )


def _row_per_item(
    session: Session, problem: CollisionProblem, *, tile: int | None = None, distinct: str | None = None,
    layout: str | None = None,
) -> CollisionPlan:
    return _items(session, problem, persistent=False, tile=tile, distinct=distinct, layout=layout)


def _persistent(
    session: Session, problem: CollisionProblem, *, tile: int | None = None, distinct: str | None = None,
    layout: str | None = None,
) -> CollisionPlan:
    return _items(session, problem, persistent=True, tile=tile, distinct=distinct, layout=layout)


def _row_per_sub_group(
    session: Session, problem: CollisionProblem, *, distinct: str | None = None, layout: str | None = None
) -> CollisionPlan:
    _check_distance_two(problem, distinct=distinct, layout=layout)
    return LanesPlan(
        session, problem, side_by_side=True, persistent=True, layout=layout,
        distinct="sort" if layout is not None else distinct,
    )


STRATEGIES: dict[str, Strategy] = {
    "row_per_item": Strategy("online", _row_per_item, row_per_item_work),
    "row_per_sub_group": Strategy("online", _row_per_sub_group, row_per_sub_group_work),
    "persistent": Strategy("online", _persistent, persistent_work),
}


def as_problem(
    graph: Graph, *, distance: int, hashes: int | Sequence[str], bit_widths: Iterable[int]
) -> CollisionProblem:
    """Check the arguments of :func:`hash_collisions`."""
    if distance not in (1, 2):
        raise InputError(f"distance={distance!r}; allowed are 1 and 2")
    names = _as_hashes(hashes)
    try:
        widths = tuple(operator.index(bits) for bits in bit_widths)
    except TypeError:
        raise InputError(f"bit_widths={bit_widths!r}; integers are needed") from None
    if not widths or any(b <= a for a, b in zip((0, *widths), (*widths, _MAX_BITS + 1), strict=False)):
        raise InputError(f"bit_widths={list(widths)}; needed are rising numbers from 1 to {_MAX_BITS}")
    if graph.directed:
        entry = asymmetric_entry(graph.row_offsets, graph.column_indices, None)
        if entry is not None:
            u, v = entry
            raise InputError(
                f"entry ({u}, {v}) has no reverse; collisions are counted in symmetric graphs: "
                "make one with Graph.from_edges(*graph.edge_list()) or from_scipy(…, asymmetry='symmetrize')"
            )
    if distance == 2 and not graph.has_sorted_rows:
        graph = Graph.from_scipy(graph.to_scipy())
    return CollisionProblem(graph, int(distance), names, widths)


def _as_hashes(hashes: int | Sequence[str]) -> tuple[str, ...]:
    if isinstance(hashes, str) or not isinstance(hashes, Sequence):
        return tuple(HASHES)[: checked_count("hashes", hashes, len(HASHES))]
    for name in hashes:
        check_choice("hashes", name, HASHES)
    if not hashes or len(set(hashes)) < len(hashes):
        raise InputError(f"hashes={list(hashes)}; needed are one or more names, each once")
    return tuple(hashes)


def choose_strategy(
    session: Session,
    graph: Graph,
    *,
    strategy: str = "auto",
    distance: int = 1,
    hashes: int | Sequence[str] = 15,
    bit_widths: Iterable[int] = range(1, 11),
) -> Choice:
    """Return *strategy*, or for ``"auto"`` the one that the cost model predicts to be fastest."""
    return _choose(session, as_problem(graph, distance=distance, hashes=hashes, bit_widths=bit_widths), strategy)


def _choose(session: Session, problem: CollisionProblem, strategy: str) -> Choice:
    return choose(STRATEGIES, strategy, lambda: problem.stats, session.facts, session.profile.rates)


def hash_collisions(
    graph: Any,
    *,
    distance: int = 1,
    hashes: int | Sequence[str] = 15,
    bit_widths: Iterable[int] = range(1, 11),
    strategy: str = "auto",
    session: Session | str | None = None,
    verify: bool = False,
    **options: Any,
) -> CollisionTable:
    """Count the collisions of hash colourings of *graph*: of each hash function at each number of bits.

    The colour of vertex v is the low bits of its hash. At distance 1 row v's collisions are its entries, other than v
    itself, of v's colour; parallel edges count as often as they are stored. At distance 2 they are the vertices of
    the closed row, the *set* of v and its neighbours, less the distinct colours among them: two neighbours of v are
    two steps apart. Parallel edges and self-loops add nothing to that set.

    Parameters
    ----------
    graph : Graph, scipy sparse array or networkx graph
        Undirected, or directed with the reverse of each entry.
    distance : {1, 2}
    hashes : int or sequence of str
        Names of :data:`clgraph.vertex_hashes.HASHES`, or how many of the first.
    bit_widths : iterable of int
        Bits of a colour, rising, 1 … 31.
    strategy : str
        A key of :data:`STRATEGIES`, or ``"auto"`` for the cost model's choice.
    session : Session, str or None
        Where to run; a string names a device, ``None`` takes the best one.
    verify : bool
        Check the result against the definition, on the host.
    **options
        Options of the strategy: ``tile`` (``row_per_item``, ``persistent``: words of local memory for the rows of a
        work-group, or at distance 2 how many entries and rows it takes at a time where it needs no such memory), and
        at distance 2 ``distinct`` (``"bitmap"`` or ``"sort"``) and ``layout`` of what is sorted (``"padded"``
        or ``"compact"``).

    Returns
    -------
    CollisionTable
        int64 ``total`` and ``maximum`` over the rows, equal on every device and under every strategy, the names
        ``hashes``, ``bit_widths``, and ``info``.

    Raises
    ------
    InputError
        *graph* is no graph or not symmetric, or an argument is out of range.
    UnsupportedStrategyError
        The strategy is unknown, or the device cannot run it.
    DeviceMemoryError
        The graph does not fit on the device.

    Examples
    --------
    >>> import clgraph as cg
    >>> table = cg.hash_collisions(cg.generators.cycle(6), hashes=["identity"], bit_widths=[1, 2])
    >>> table.total.tolist(), table.best().bits, table.colors("identity", 1).tolist()
    ([[0, 0]], 1, [0, 1, 0, 1, 0, 1])
    """
    on, data = as_session(session), as_graph(graph)
    problem = as_problem(data, distance=distance, hashes=hashes, bit_widths=bit_widths)
    with on.measure() as recorder:
        choice = _choose(on, problem, strategy)
        options = checked_options(STRATEGIES, choice, options)
        plan = STRATEGIES[choice.strategy].plan(on, problem, **options)
        plan.run()
        tables = plan.table()
    result = CollisionTable(*tables)
    result.hashes, result.bit_widths = problem.hashes, problem.bit_widths
    result.n_vertices, result.distance = data.n_vertices, problem.distance
    kind = STRATEGIES[choice.strategy].kind
    result.info = on.run_info(recorder, choice.strategy, kind, choice.seconds)
    if verify:
        from clgraph.reference.hash_collisions import check_collisions

        check_collisions(data, problem.hashes, problem.bit_widths, *tables, distance=problem.distance)
    return result
