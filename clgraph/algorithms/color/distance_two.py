"""Recipes of colourings of graphs at distance 2, and of the columns of a matrix.

A net (``cl/color/nets.h``) is a set of vertices whose colours must differ: a vertex with its neighbours, or the columns
of a matrix's row. It has a bitmap of the colours of its members, for one window of colours at a time. A vertex takes a
colour that is free in all its nets. So a pass reads each entry once, and no two-hop neighbours [1]_ [2]_.

References
----------
.. [1] S. Rajamanickam and others. "Kokkos Kernels: performance portable sparse/dense linear algebra and graph kernels."
   2021; its distance-2 colouring NB_BIT.
.. [2] M. K. Taş, K. Kaya, E. Saule. "Greed is good: parallel algorithms for bipartite-graph partial coloring on
   multicore architectures." ICPP 2017.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from clgraph.algorithms.color.claims import Claims
from clgraph.algorithms.color.hash_choice import MOST_BITS_AT_DISTANCE_TWO, hash_start, least_bits
from clgraph.algorithms.color.plan import ranks
from clgraph.algorithms.color.problem import ColoringProblem
from clgraph.algorithms.color.windows import Windows
from clgraph.arguments import checked_count
from clgraph.device.facts import DeviceFacts
from clgraph.engine.plan import Plan
from clgraph.model.recipe import Array, Recipe, Setting, Use
from clgraph.primitives.fill import Iota
from clgraph.primitives.sort import Sort
from clgraph.primitives.types import Tuning, power_of_two_at_most, tuned_sizes

_SOURCE, _LONG, _CLAIMS = (f"color/distance_two{part}.cl" for part in ("", "_long", "_claims"))
_ORDERS, _HASHES = "color/orders.cl", "color/hash_colors.cl"
_MAX_DEGREE = 2**31 - 1
_SIZED, _SIZED_LONG = (f"color/distance_two_sized{part}.cl" for part in ("", "_long"))
_BITMAPS = "color/net_bitmaps.cl"
_MAX_WORDS = 32  # Greatest size of the bitmap of a net's colours, in 32-bit words.
# If a net has more members than two windows have colours, each net gets a bitmap of its own size after window 1.
_LARGE_NET = 2
# Members of a net per word of the net's bitmap. The first of these numbers whose bitmaps fit memory is used.
_MEMBERS_PER_WORD = (1, 2, 4, 8)
_LONG_GROUP = 256  # Size of the work-groups that process long rows of the graph.
# Bytes of the bitmaps of all nets together, at most. The smallest possible bitmaps may exceed this limit.
_USED_BYTES = 1 << 28


def from_hash(
    problem: ColoringProblem, facts: DeviceFacts, tuning: Tuning, name: str | None, bits: int | None
) -> Recipe:
    """Return the recipe in which vertices first try the low *bits* of the hash function *name* as their colours.

    By default the hash has the fewest collisions in a sample of the rows, and the bits suffice for the longest row.
    """
    if name is None and bits is None:
        name, bits = problem.hash_start[:2]
    bits = least_bits(problem.members) if bits is None else checked_count("bits", bits, MOST_BITS_AT_DISTANCE_TWO)
    if name is None:
        name = hash_start(problem.graph, closed=not problem.bipartite, bits=bits).hash
    return recipe(problem, facts, tuning, hash_bits=(name, bits))


def recipe(
    problem: ColoringProblem,
    facts: DeviceFacts,
    tuning: Tuning,
    *,
    long_row: int | None = None,
    hash_bits: tuple[str, int] | None = None,
) -> Recipe:
    """Return the recipe that colours at distance 2 by :class:`Windows`, or deterministically by :class:`Claims`.

    With *hash_bits*, a hash and a number of bits, vertices first try the hash as their colour. A work-group processes
    each vertex of more than *long_row* entries.

    :class:`Windows` and :class:`Claims` enqueue their kernels themselves. ``Windows`` reads less and less often whether
    vertices are left. ``Claims`` chooses the next round by the number of losers.
    """
    stats, closed, order = problem.stats, not problem.bipartite, problem.order or "natural"
    n, cpu, width = stats.n_vertices, facts.is_cpu, facts.sub_group_size
    # A bitmap has a bit for every hash colour, and if the limits allow, three bits per member of the largest net.
    least, room = 1 << max(0, (hash_bits[1] if hash_bits else 0) - 5), max(1, _USED_BYTES // (4 * max(1, n)))
    words = max(least, power_of_two_at_most(min(3 * problem.members // 16 + 1, _MAX_WORDS, room)))
    # TEAM is the number of lanes that share a row, one for every four entries of a mean row.
    # PLANES stores word i of all bitmaps contiguously, by default if the neighbours of a row are near.
    batches = -(-(stats.n_edges + closed * n) // (4 * max(1, n)))
    defaults = {
        "WG_SIZE": width if cpu else 256,
        "TEAM": 1 << (max(1, batches) - 1).bit_length(),
        "BATCH": 1 if cpu else 4,
        "PLANES": int(stats.far_neighbor_share < 0.5),
        "CHUNK": int(order != "natural"),
        "ITEMS_PER_TEAM": 4,
        "GROUPS_PER_UNIT": 16 if cpu else 2,
        "LONG_ROW": _MAX_DEGREE if cpu else 2048,
    }
    sizes = tuned_sizes(facts, tuning, _SOURCE, defaults)
    sizes["TEAM"] = min(width, sizes["TEAM"])
    chunk, items, limit = (sizes.pop(name) for name in ("CHUNK", "ITEMS_PER_TEAM", "LONG_ROW"))
    most_groups = sizes.pop("GROUPS_PER_UNIT") * facts.compute_units
    net_stride, word_stride = (1, n) if sizes.pop("PLANES") else (words, 1)
    if long_row is not None:
        limit = checked_count("long_row", long_row, _MAX_DEGREE, least=0)
    defines = {**sizes, "CLOSED": int(closed)}
    sized = not problem.deterministic and problem.members > 32 * words * _LARGE_NET
    machine: dict[str, Any] = {"words": words, "most_groups": most_groups, "prefers": hash_bits is not None}
    if problem.deterministic:
        step = Use(partial(Claims, team=sizes["TEAM"], **machine))
    else:
        step = Use(partial(Windows, long_row=limit, items=items, sized=sized, **machine))
    per_word, n_words = _sized(problem) if sized else (1, 0)
    for_long = {**defines, "WG_SIZE": min(facts.max_work_group_size, _LONG_GROUP)}
    return Recipe((step,) if n else (), lambda: Setting(
        arrays={"colors": Array(n, np.int32), "used": Array(max(n * words, n_words), np.uint32)},
        values={
            "n": n, "seed": problem.seed, "chunk": chunk,
            "layout": {"words": words, "net_stride": net_stride, "word_stride": word_stride},
        },
        file_defines={
            _SOURCE: defines, _CLAIMS: defines, _LONG: for_long, _SIZED: defines, _SIZED_LONG: for_long,
            _BITMAPS: {"MEMBERS_PER_WORD": per_word},
            _HASHES: {"N_HASHES": 1, "HASH_LIST(X)": f"X(0, {hash_bits[0]})"} if hash_bits else {},
        },
        prepare=partial(_prepared, order=order, hash_bits=hash_bits) if n else None,
        details=dict(zip(("hash", "bits"), hash_bits, strict=True)) if hash_bits else {},
    ))  # fmt: skip


def _sized(problem: ColoringProblem) -> tuple[int, int]:
    """Return the number of members of a net that share a word of its
    bitmap, and a bound on the words of all bitmaps.
    """
    n, entries = problem.stats.n_vertices, problem.stats.n_edges + problem.stats.n_vertices
    for members in _MEMBERS_PER_WORD:
        # The size of each net's bitmap is rounded up to a power of two, so the total may nearly double.
        n_words = n + 2 * -(-entries // members)
        if 4 * n_words <= _USED_BYTES:
            break
    return members, n_words


def _prepared(plan: Plan, order: str, hash_bits: tuple[str, int] | None) -> dict[str, Any]:
    """Return the arrays that kernels read: the vertices in their order, and their hash colours (``preferences``)."""
    session, n = plan.session, plan.setting.values["n"]
    vertices, preferences = session.empty(n, np.int32), session.empty(n if hash_bits else 1, np.int32)
    Iota(session, vertices).run()
    if order != "natural":
        keys = ranks(session, plan.problem.rows, order, plan.problem.seed)
        plan.program(_ORDERS).bind("invert_ranks", n, n=n, ranks=keys)()
        in_order, moved = session.empty(n, np.uint32), session.empty(n, np.int32)
        Sort(session, keys, in_order, vertices, moved).run_checked()
        vertices = moved
    if hash_bits:
        mask = (1 << hash_bits[1]) - 1
        plan.program(_HASHES).bind("hash_vertices", n, n=n, mask=mask, colors=preferences)()
    return {"nets_of": plan.scope["column_indices"], "vertices": vertices, "preferences": preferences}
