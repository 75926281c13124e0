/* Spanning forests on a list of edges, launched as clgraph/algorithms/minimum_spanning_forest/ does: rounds from the host, or with a
 * CLIMB_LIMIT all in one launch, whose groups meet at the grid's barrier. */
#pragma once
#define VERTEX_BLOCK (3 * DEV_SUB_GROUP_SIZE)
#define BATCH 2
#define SAMPLES 8
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their segments to the others; long:
                                    all are waited for, of which the threads can run four at once */
#include "weighted.h"
#include "minimum_spanning_forest/edge_list.cl"

static const Grouping WITH_LOCAL_MEMORY = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

struct EdgeList : Weighted {
  int n_segments;
  ulong capacity;
  uint root_capacity;
  Array<uint4> list;
  Array<uint> sizes, n_roots;
  Array<int> roots;

  EdgeList(Random &random, ulong seed)
      : Weighted(random, seed), n_segments(1 + (int)random.below(std::min(n_tiles, 12))),
        capacity((n_tiles + n_segments - 1) / n_segments * TILE),
        root_capacity((n + n_segments * VERTEX_BLOCK - 1) / (n_segments * VERTEX_BLOCK) * VERTEX_BLOCK),
        list(n_segments * capacity), sizes(n_segments), n_roots(n_segments), roots(n_segments * root_capacity) {}

  void first_round() {
    for (int pass = 0; pass < N_PASSES; pass++)
      launch(n_tiles * SUB_GROUP_SIZE, [&] {
        discover_rows(n, n_tiles, pass, m, row_offsets, column_indices, edge_weights, tile_rows, best);
      });
    launch(n, [&] { hook_rows(n, column_indices, best, parent, forest); });
  }
  void list_part(uint number, int part) {
    for (uint turn = 0; turn < (CLIMB_LIMIT ? 3 : 1); turn++) {
      const uint word = 1 + 3 * number + turn;
      launch(n_segments * SUB_GROUP_SIZE, [&] {
        flatten(n, n_segments, root_capacity, word, turn ? word - 1 : 0, best, parent, state, roots, n_roots);
      });
    }
    launch(n_segments * SUB_GROUP_SIZE, [&] {
      build(n, n_tiles, n_segments, part, m, capacity, row_offsets, column_indices, edge_weights, tile_rows, parent, state,
            best, list, sizes);
    });
  }
  bool join(uint base) {
    for (uint round = base + 1; round < base + MAX_ROUNDS; round++) {
#if SPLIT_KEYS
      launch(n_segments * SUB_GROUP_SIZE, [&] { offer_segment_entries(n, n_segments, capacity, list, sizes, best); });
#endif
      launch(n_segments * SUB_GROUP_SIZE, [&] {
        hook_segments(n, n_segments, capacity, list, sizes, best, parent, forest);
      });
      launch(n_segments * SUB_GROUP_SIZE, [&] {
        settle_segments(n, n_segments, root_capacity, roots, n_roots, best, parent);
      });
      launch(n_segments * SUB_GROUP_SIZE, [&] {
        offer_segments(n, n_segments, round, capacity, list, sizes, state, best, parent);
      });
      if (state[STATE_ALIVE] != round) return true;
    }
    return false;
  }
  bool join_in_one_launch(uint base, uint control_at, uint n_groups) {
    launch(n_groups * WG_SIZE, [&] {
      rounds(n, n_segments, base, control_at, capacity, root_capacity, list, sizes, roots, n_roots, state, best, parent,
             forest);
    }, WITH_LOCAL_MEMORY);
    return !state[control_at + GRID_STATUS];
  }
};

/* A group that waits for a missing group reports STATUS_TIMEOUT and ends at its first barrier. */
static bool alone_right(Random &random, ulong seed) {
#if CLIMB_LIMIT
  EdgeList work(random, seed);
  work.first_round();
  work.list_part(0, ALL_EDGES);
  uint *control = work.state + STATE_CONTROLS;
  launch_alone(control + GRID_DOOR, [&] {
    rounds(work.n, work.n_segments, 0, STATE_CONTROLS, work.capacity, work.root_capacity, work.list, work.sizes,
           work.roots, work.n_roots, work.state, work.best, work.parent, work.forest);
  });
  return control[GRID_STATUS] == STATUS_TIMEOUT && control[GRID_TICKET] == 1;
#else
  return true;
#endif
}

static bool edge_list_right(Random &random, ulong seed) {
  EdgeList work(random, seed);
  linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
  const bool light_first = random.below(3);
  const uint rank = 1 + random.below(SAMPLES - 1), n_groups = 1 + random.below((uint)std::min(work.n_segments, 4));
  work.first_round();
  if (light_first)
    launch(1, [&] { choose_threshold(work.m, rank, work.edge_weights, work.state); }, WITH_LOCAL_MEMORY);
  for (uint number = 0; number < (light_first ? 2 : 1); number++) {
    work.list_part(number, light_first ? LIGHT_EDGES + (int)number : ALL_EDGES);
    const uint base = number * MAX_ROUNDS;
    if (!(CLIMB_LIMIT ? work.join_in_one_launch(base, STATE_CONTROLS + 32 * number, n_groups) : work.join(base)))
      return false;
  }
  return work.right();
}

/* Deep trees: every vertex ends at its root, however the climbs meet. */
static bool flatten_right(Random &random, ulong) {
  const int n = 2 + (int)random.below(27), n_segments = 1 + (int)random.below(n), span = 1 + (int)random.below(3);
  Array<int> parent(n), expected(n), roots;
  Array<uint> state(STATE_WORDS), n_roots(n_segments);
  Array<best_t> best(N_PASSES * n);
  for (int v = 0; v < n; v++) {
    parent[v] = random.below(20) ? std::max(0, v - 1 - (int)random.below(span)) : v;
    expected[v] = parent[v] == v ? v : expected[parent[v]];
  }
  const uint capacity = (n + n_segments * VERTEX_BLOCK - 1) / (n_segments * VERTEX_BLOCK) * VERTEX_BLOCK;
  roots.resize(n_segments * capacity);
  for (uint turn = 0; turn < (CLIMB_LIMIT ? 3 : 1); turn++)
    launch(n_segments * SUB_GROUP_SIZE, [&] {
      flatten(n, n_segments, capacity, turn + 1, turn, best, parent, state, roots, n_roots);
    });
  return parent == expected;
}

static const Case cases[] = {{"edge_list", edge_list_right}, {"flatten", flatten_right}, {"alone", alone_right}};
