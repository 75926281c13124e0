"""The definitions that ``check_kernels.py`` compiles kernels with, and the register spills that it allows."""

from __future__ import annotations

# Scalar registers that kernels of a file may keep in lanes of vector registers, for want of more in waves of 64: it
# takes no memory, but is a number to bring down.
MOST_SCALAR_SPILLS = {
    "bfs/frontier.cl": 29, "sssp/frontier.cl": 33, "partition/label_propagation.cl": 77, "partition/population.cl": 77,
    "partition/pairwise_fm.cl": 64,  # It runs on CPUs only.

    "refine_mesh/mark.cl": 16, "refine_mesh/patches.cl": 25, "refine_mesh/insert.cl": 9,
    "communities/climb.cl": 310, "communities/move.cl": 20, "communities/refine.cl": 13,
    "refine_mesh/group_patches.cl": 63, "sssp/buckets.cl": 100,  # the last runs on CPUs only
}  # fmt: skip
LONG = "OFFSET_T=long"  # Every program whose source has offset_t is built with it, too, unless a variant below has it.
_WEIGHTED = "UNIT_EDGES=0 UNIT_VERTICES=0"
_ROWS = (LONG, "SYMMETRIC=0", "SORTED_ROWS=1 FIRST_IS_LINKED=1")
_FACTORS = (
    "VECTORS=1 LANES=4 BIASES=1", f"VECTORS=1 LANES=32 HALF_STORAGE=1 {LONG}",
    "VECTORS=5 LANES=1 HALF_STORAGE=1 BIASES=1", "VECTORS=2 LANES=16 CHECK_UPDATES=1",
    "VECTORS=2 LANES=2 BIASES=1 WEIGHTED=1",
)  # fmt: skip
_ROUNDS = (
    f"ATOMIC=1 {LONG} WEIGHT_KIND=0", "WEIGHT_KIND=4 BALANCE=1", "WEIGHT_KIND=1 WIDE=1 ATOMIC=1",
    "WEIGHT_KIND=3 WIDE=1",
)  # fmt: skip
_TEAMS = (f"TEAM=32 {LONG}", "TEAM=4 CLOSED=0")
_WEIGHTS = (f"WEIGHT_KIND=0 {LONG}", "WEIGHT_KIND=2 CLIMB_LIMIT=1024", "WEIGHT_KIND=3 MAXIMUM=1")
_EPILOGUES = ("EPILOGUE=EIGENVECTOR", "EPILOGUE=KATZ PERSONAL=1", "EPILOGUE=HITS WEIGHTED=1")
_LEAST_LONG = "T=long T_LOWEST=LONG_MIN T_HIGHEST=LONG_MAX"
# The definitions of programs besides the defaults. Each string is one more program, and one more row of the table.
VARIANTS: dict[str, tuple[str, ...]] = {
    "bfs/frontier.cl": (
        f"WG_SIZE=512 {LONG}", "WG_SIZE=512 BOTTOM_UP=0 ONLY_SHORT_ROWS=1 STEPS=1", "ONE_LAUNCH=0 WG_SIZE=64",
    ),
    "color/balance.cl": (f"DISTANCE=2 {LONG}",),
    "color/conflicts.cl": (f"TEAM=32 {LONG}", "TEAM=4 CLOSED=0 LONG_NET=128"),
    "color/distance_two.cl": _TEAMS,
    "color/distance_two_claims.cl": _TEAMS,
    "color/distance_two_long.cl": (LONG,),
    "color/distance_two_sized.cl": _TEAMS,
    "color/distance_two_sized_long.cl": (LONG,),
    "color/jones_plassmann.cl": (
        f"{LONG} WIDE=1 SMALL_DEGREE=128 RETRIES=100", "PASSES=4", "ORDER=3 SORTED=1 BATCH=8 MOST_OPEN=16",
        "ORDER=2 RANKED=0 RETRIES=8", "ORDER=4 RANKED=0 MARKED=1 BATCH=3 MOST_OPEN=24",
    ),
    "connected_components/afforest.cl": _ROWS,
    "connected_components/degree_classes.cl": _ROWS,
    "connected_components/hook_compress.cl": _ROWS,
    "connected_components/phases.cl": (LONG, "HOOK_FIRST=0", "KEEP_SECOND=1 HOOK_STEPS=2"),
    "connected_components/rem.cl": _ROWS,
    "data/check_csr.cl": ("WEIGHTS=WEIGHTS_INT", f"WEIGHTS=WEIGHTS_FLOAT WEIGHT_T=ulong {LONG}"),
    "data/slab.cl": ("WHOLE_OFFSET_T=long", f"WHOLE_OFFSET_T=long {LONG}"),
    "data/weight_range.cl": ("WEIGHT_T=ulong IS_FLOAT=1",),
    "refine_mesh/group_patches.cl": ("WG_SIZE=128",),
    "refine_mesh/insert.cl": ("CHECKS=LISTED WG_SIZE=128",),
    "refine_mesh/mark.cl": ("EXACT=1 WG_SIZE=32", "CLAIM=0 WG_SIZE=128"),
    "refine_mesh/patches.cl": ("WG_SIZE=32", "MOST_WAITING=0 WG_SIZE=32"),
    "refine_mesh/rounds.cl": ("SIFTED=0 WG_SIZE=128",),
    "factorization/block_diagonal.cl": (
        "N_ROWS=256 N_COLUMNS=256 VECTORS=1 LANES=4 BIASES=1",
        f"N_ROWS=32 N_COLUMNS=32 VECTORS=1 LANES=32 HALF_STORAGE=1 {LONG}", "BIASES=1 WEIGHTED=1",
    ),
    "factorization/block_grid.cl": (
        "VECTORS=2 LANES=2", f"VECTORS=2 LANES=2 BIASES=1 HALF_STORAGE=1 {LONG}", "VECTORS=6 LANES=1 BIASES=1",
        "VECTORS=8 LANES=4 BIASES=1 CHAIN=1", "VECTORS=8 LANES=4 HALF_STORAGE=1 CHAIN=1",
        "VECTORS=2 LANES=2 BIASES=1 WEIGHTED=1", "VECTORS=8 LANES=4 CHAIN=1 WEIGHTED=1",
    ),
    "factorization/block_order.cl": ("WEIGHTED=1",),
    "factorization/edge_locked.cl": _FACTORS,
    "factorization/evaluate.cl": ("BIASES=1 WEIGHTED=1",),
    "factorization/hogwild.cl": _FACTORS,
    "factorization/item_block.cl": (*_FACTORS, "VECTORS=1 LANES=4 WG_SIZE=512"),
    "factorization/matchings.cl": (LONG, "WG_SIZE=512"),
    "factorization/node_locked.cl": (*_FACTORS, *(f"PER_SUB_GROUP=1 {row}" for row in _FACTORS), "DEFER_TO_LIST=1"),
    "factorization/order.cl": (f"{LONG} KEY_T=ulong", "WEIGHTED=1"),
    "factorization/superstep.cl": (*_FACTORS, "VECTORS=1 LANES=4 WG_SIZE=512"),
    "generators/points.cl": ("SPATIAL=0",),
    "generators/replicas.cl": (f"{LONG} OUT_OFFSET_T=long WEIGHT_T=ulong",),
    "generators/rows.cl": ("KEY_T=uint",),
    "generators/weights.cl": (
        f"WEIGHT_T=long DIRECTED=1 {LONG}", "WEIGHT_T=float WEIGHTS_ARE_FLOATS=1",
        "WEIGHT_T=double WEIGHTS_ARE_FLOATS=1",
    ),
    "hash_collisions/lanes.cl": (
        f"HASH_LANES=1 EVALUATE=1 {LONG}", "METHOD=SORTED LAYOUT=COMPACT WG_SIZE=64 COLOR_T=uint",
        *(f"METHOD={method} HASH_LANES={n} WG_SIZE=64 {LONG}" for method in ("SORTED", "BITMAP") for n in (1, 16)),
    ),
    **{f"communities/{name}.cl": ("DIRECTED=1 LOOP_FACTOR=1",) for name in ("contract", "move", "refine")},
    "hash_collisions/planes.cl": (
        f"WG_SIZE=64 TILE_STEP=3838 LONG_ROW=255 SLICES=8 {LONG}", "WG_SIZE=64 SIDE_BY_SIDE=1 BATCH=4",
        "LOCAL_SUMS=0 BATCH=4 SLICES=3 LONG_ROW=7",
    ),
    "hash_collisions/tabulate_colors.cl": (f"REVERSED=1 {LONG}", "COLOR_T=uint"),
    "maximal_independent_set/rounds.cl": (f"TRIES=2 {LONG}",),
    "maximal_matching/rounds.cl": (
        f"WEIGHT_KIND=0 TEAM=32u LONG_ROW=1024 TRIES=2 {LONG}", "WEIGHT_KIND=2 TEAM=4u LONG_ROW=1024",
        "WEIGHT_KIND=3 TEAM=2u LONG_ROW=1024 TRIES=2", "WEIGHT_KIND=4 TEAM=16u LONG_ROW=1024",
    ),
    "minimum_spanning_forest/answer.cl": (f"VALUES=2 {LONG}", "VALUES=3", "VALUES=4"),
    "minimum_spanning_forest/edge_list.cl": (*_WEIGHTS, "SPLIT_KEYS=1 CLIMB_LIMIT=1024 SAMPLES=256"),
    "minimum_spanning_forest/parts.cl": ("WEIGHTED=0", LONG),
    "minimum_spanning_forest/rows.cl": (*_WEIGHTS, "SPLIT_KEYS=1"),
    "minimum_spanning_forest/segmented.cl": (f"WEIGHT_KIND=0 {LONG}", "WEIGHT_KIND=2", "WEIGHT_KIND=3 MAXIMUM=1"),
    **{f"partition/{name}.cl": (_WEIGHTED,) for name in ("greedy_growing", "lock_free", "sorted", "two_hop")},
    **{
        f"partition/{name}.cl": (f"{_WEIGHTED} PARTS_ROOM=1024",)
        for name in ("buffered", "label_propagation", "population")
    },
    "pagerank/row_blocks.cl": ("WEIGHTED=1 PERSONAL=1 REFUGE=1", *_EPILOGUES, f"RANK_T=double WEIGHTED=1 {LONG}"),
    "pagerank/lanes.cl": (
        "LANES=4 TEAM=4 PERSONAL=1", f"LANES=4 TEAM=4 PERSONAL=1 RANK_T=double WEIGHTED=1 REFUGE=1 {LONG}",
        "LANES=2 PERSONAL=1",
    ),
    "pagerank/start.cl": ("LANES=4 TEAM=4 INITIAL=1", f"RANK_T=double WEIGHTED=1 EPILOGUE=HITS {LONG}"),
    "pagerank/rows.cl": ("WEIGHTED=1 PERSONAL=1 REFUGE=1", *_EPILOGUES, f"RANK_T=double WEIGHTED=1 {LONG}"),
    "partition/hashed.cl": (f"{_WEIGHTED} TEAM=1",),
    "partition/permutations.cl": (f"{_WEIGHTED} TOP=16",),
    "partition/segmented.cl": (_WEIGHTED, "SPLIT_CLAIMS=1"),
    "strongly_connected_components/collect.cl": ("SEARCHED=0", LONG),
    "strongly_connected_components/propagate.cl": ("ONE_LAUNCH=1 TURNS=2", "SEARCHED=0"),
    "strongly_connected_components/search.cl": (f"ONE_LAUNCH=1 {LONG}",),
    "primitives/fill.cl": ("T=uint", "T=long", "T=float"),
    "primitives/reduce.cl": (
        "T=float T_LOWEST=-INFINITY T_HIGHEST=INFINITY", f"{_LEAST_LONG} OPERATION=LEAST_OF", f"{_LEAST_LONG} IN_T=int",
    ),
    "primitives/scan.cl": (
        "SUM_T=long SUM_BYTES=8 EXTRA_TOTAL=1", "IN_T=long SUM_T=long SUM_BYTES=8 VEC=2 INCLUSIVE=1",
    ),
    "primitives/segmented_reduce.cl": (f"{_LEAST_LONG} {LONG} OPERATION=LEAST_OF",),
    "primitives/sort.cl": (
        "HAS_VALUES=1",
        "HAS_VALUES=1 KEY_BITS_T=ulong KEY_BYTES=8 KEY_KIND=FLOAT_KEYS N_PASSES=8 ITEMS_PER_ITEM=8 STATE_T=ulong "
        "STATE_BITS=64",
    ),
    "sssp/answer.cl": ("WEIGHT_KIND=2", "WEIGHT_KIND=3", "WEIGHT_KIND=4", "WEIGHT_KIND=3 WIDE=1"),
    "sssp/dijkstra.cl": (f"WEIGHT_KIND=4 {LONG}", "SKIP_LEAVES=1", "WEIGHT_KIND=3 WIDE=1"),
    "sssp/frontier.cl": (
        "WG_SIZE=512 ONLY_SHORT_ROWS=1 STEPS=1", f"LIGHT_FIRST=1 WEIGHT_KIND=3 {LONG}", "WEIGHT_KIND=1 WIDE=1",
        f"DROP_LEAVES=1 SKIP_LEAVES=1 {LONG}", "WG_SIZE=512 HELD=128", "LIGHT_FIRST=1 WEIGHT_KIND=4 ALONE=1",
        "WEIGHT_KIND=0", "WEIGHT_KIND=3 WIDE=1",
    ),
    "traversal/child_launch.cl": _ROUNDS,
    "traversal/node_splitting.cl": _ROUNDS,
    "traversal/predecessors.cl": (f"WEIGHT_KIND=0 {LONG}", "WEIGHT_KIND=4", "WEIGHT_KIND=3 WIDE=1"),
    "traversal/topology_driven.cl": _ROUNDS,
}  # fmt: skip
