"""Count collisions at distance 1 by bit planes.

A work-item processes a row (``cl/hash_collisions/planes.cl``).
"""

from __future__ import annotations

import numpy as np

from clgraph.algorithms.hash_collisions.parts import Part, longest_row
from clgraph.arguments import checked_count
from clgraph.model.recipe import Array, Phase, Recipe
from clgraph.primitives.types import Tuning, tuned_sizes

SOURCE = "hash_collisions/planes.cl"
_LONG_ROW = 255  # A whole work-group processes a row of more entries than this.


def planes(part: Part, *, persistent: bool, tile: int | None, tuning: Tuning) -> Recipe:
    """Return the recipe that counts the collisions of all hashes and widths
    at once, one bit plane per bit of a colour.
    """
    problem, facts, stats, bits = part.problem, part.facts, part.problem.stats, part.widths
    tuned = _tuned(part, tuning)
    words = -(-len(bits) // 2)
    group, n_groups = tuned["WG_SIZE"], tuned["GROUPS_PER_UNIT"] * facts.compute_units if persistent else None
    room = part.local_words
    if tuned["LOCAL_SUMS"]:
        room -= (tuned["LONG_ROW"].bit_length() + tuned["FLUSH_LOG"]) * words * group
    size = min(tuned["TILE_ENTRIES"], room) if tile is None else checked_count("tile", tile, room, least=2)
    longest = longest_row(problem)
    if facts.is_cpu:
        longest = max(63, longest)  # On a CPU, registers do not limit the row length that one work-item can process.
    long_row = max(1, min(tuned["LONG_ROW"], longest, size // 2))
    step = size - long_row
    if tile is None and group > 1:  # By default, all work-items process the same number of rows on average.
        row = stats.mean_degree + 1
        step = min(step, max(1, int((max(1, step // int(row * group)) * group - 1) * row)))
    counting = {
        **{name: tuned[name] for name in ("WG_SIZE", "BATCH", "FLUSH_LOG", "LOCAL_SUMS")},
        "TILE_STEP": step,
        "LONG_ROW": long_row,
        "SLICES": max(long_row.bit_length(), tuned["BATCH"].bit_length() - 1),
    }
    steps = [part.tiles(f"{SOURCE}:count_tiles", step, n_groups, counting)]
    long_rows = part.long_rows(long_row)
    if long_rows.size:
        groups = part.row_groups(long_rows.size)
        steps.append(Phase(f"{SOURCE}:count_long_rows", 0, groups=groups, defines=counting))
    layers = max(b - a for a, b in zip((0, *bits), bits, strict=False))
    planes = _plane_list(bits, words, layers)
    return part.recipe(
        *steps,
        tabulate="hash_collisions/tabulate_planes.cl:tabulate_planes",
        table={"planes": Array(f"STORED_WORDS * {stats.n_vertices}", np.uint32)},
        step=step,
        long_rows=long_rows,
        defines={"LAYERS": layers, "SIDE_BY_SIDE": tuned["SIDE_BY_SIDE"], "PLANE_LIST(X)": planes},
    )


def _tuned(part: Part, tuning: Tuning) -> dict[str, int]:
    """Return the sizes that the collision kernels use:
    the values of *tuning*, else defaults for the graph and device.
    """
    facts, stats = part.facts, part.problem.stats
    sizes = {
        "WG_SIZE": 64,
        "BATCH": 8 if stats.mean_degree >= 12 else 4,
        "FLUSH_LOG": 3,
        "LONG_ROW": _LONG_ROW,
        "TILE_ENTRIES": 4093,
        "GROUPS_PER_UNIT": 48,
        "LOCAL_SUMS": 1,
        # The words of a vertex are stored side by side if the words of far neighbours come from DRAM.
        # The words come from DRAM unless a few vertices of high degree are in most rows of the graph.
        "SIDE_BY_SIDE": int(stats.far_neighbor_share >= 0.5 and stats.max_degree <= _LONG_ROW),
    }
    if facts.is_cpu:
        sizes |= {
            "WG_SIZE": facts.sub_group_size, "FLUSH_LOG": 8, "TILE_ENTRIES": 8189, "GROUPS_PER_UNIT": 4,
            "LOCAL_SUMS": 0, "SIDE_BY_SIDE": 0,
        }  # fmt: skip
    return tuned_sizes(facts, tuning, SOURCE, sizes)


def _plane_list(bits: tuple[int, ...], words: int, layers: int) -> str:
    """Return the kernel definition ``PLANE_LIST``, which names the colour
    bits in the halves of each word (planes.h).
    """
    planes = [[-1] * layers for _ in range(2 * words)]
    for j, (below, width) in enumerate(zip((0, *bits), bits, strict=False)):
        planes[j][: width - below] = range(below, width)
    return " ".join(
        f"X({i * layers + layer}, {planes[i][layer]}, {planes[i + words][layer]})"
        for i in range(words)
        for layer in range(layers)
    )
