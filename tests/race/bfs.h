/* Breadth-first search in one launch, by groups of one work-item that meet between levels, or one group of several. */
#pragma once
#include "searched.h"
#include "bfs/frontier.cl"

#if !ONE_LAUNCH
/* A launch for each level, top-down or bottom-up. */
static bool search_right(Random &random, ulong seed) {
  Searched on(random, seed, 1 << 20);
  const int n = on.n;
  const size_t n_items = on.n_groups * WG_SIZE;
  Guarded<int> light(2 * on.light_capacity), distances((n + 3) / 4 * 4), predecessors(n);
  Guarded<int2> heavy(2 * on.heavy_capacity);
  Guarded<uint> bits((n + 31) / 32), state(STATE_WORDS);
  launch(std::max(n, STATE_WORDS), [&] { initialize(n, distances, predecessors, state); });
  for (int v = n; v % 4; v++) distances[v] = UNREACHED;
  launch(2, [&] {
    start(2, on.light_capacity, on.heavy_capacity, on.sources, on.row_offsets, light, heavy, state, distances);
  }, TOGETHER);
  if (!on.are_listed_once(&state[STATE_SIZES])) return false;
  const Array<uint> expected = on.expected(false);
  uint turn = 0, depth = 1;
  for (bool is_listed = true; ; turn++, depth++) {
    const uint *sizes = &state[STATE_SIZES + SIZES * (turn & 3u)];
    const uint due = (uint)std::count(expected.begin(), expected.end(), depth);
    if (is_listed ? !sizes[0] && !sizes[1] : !sizes[3]) break;
    if (random.below(2)) {
      launch(n, [&] { mark_level(n, depth, distances, bits); });
      launch(n_items, [&] {
        pull_level(n, turn, depth, on.in_offsets, on.in_neighbors, bits, state, distances, predecessors);
      }, WITH_BARRIERS);
      is_listed = false;
      if (state[STATE_SIZES + SIZES * (turn + 1u & 3u) + 3] != due) return false;
      continue;
    }
    if (!is_listed)
      launch(n_items, [&] {
        list_level(n, turn, depth, on.light_capacity, on.heavy_capacity, on.row_offsets, light, heavy, state, distances);
      }, TOGETHER);
    is_listed = true;
    launch(n_items, [&] {
      expand_level(turn, depth, on.light_capacity, on.heavy_capacity, on.row_offsets, on.column_indices, light, heavy,
                   state, distances, predecessors);
    }, TOGETHER);
  }
  for (int v = 0; v < n; v++)
    if (distances[v] != (int)expected[v]) return false;
  return light.right() && heavy.right() && bits.right() && state.right() && distances.right() && predecessors.right();
}

static bool alone_right(Random &, ulong) { return true; }
#else
static bool search_right(Random &random, ulong seed) {
  Searched on(random, seed, ONLY_SHORT_ROWS ? PIECE : 1 << 20);
  const int n = on.n, m = (int)on.column_indices.size();
  Guarded<int> light(2 * on.light_capacity), distances((n + 3) / 4 * 4), predecessors(n);
  Guarded<int2> heavy(2 * on.heavy_capacity);
  Guarded<uint> bits((n + 31) / 32), state(STATE_WORDS);
  const uint rates[] = {0, 1, 3, 1 << 20}, alpha = rates[random.below(4)], beta = rates[random.below(4)];
  const uint max_depth = random.below(4) ? 1u << 30 : random.below(6);
  launch(std::max(n, STATE_WORDS), [&] { initialize(n, distances, predecessors, state); });
  for (int v = n; v % 4; v++) distances[v] = UNREACHED;
  launch(2, [&] {
    start(2, on.light_capacity, on.heavy_capacity, on.sources, on.row_offsets, light, heavy, state, distances);
  }, TOGETHER);
  if (!on.are_listed_once(&state[STATE_SIZES])) return false;
  launch(on.n_groups * WG_SIZE, [&] {
    search(n, max_depth, alpha, beta, m, on.light_capacity, on.heavy_capacity, on.row_offsets, on.column_indices,
           on.in_offsets, on.in_neighbors, light, heavy, bits, state, distances, predecessors);
  }, TOGETHER);
  if (state[STATE_CONTROL + GRID_STATUS] || !light.right() || !heavy.right() || !bits.right() || !state.right())
    return false;
  return on.are_levels(distances, predecessors, max_depth) && distances.right() && predecessors.right();
}

/* A group that waits for a missing group reports STATUS_TIMEOUT and ends in its first turn. */
static bool alone_right(Random &random, ulong seed) {
  Searched on(random, seed, ONLY_SHORT_ROWS ? PIECE : 1 << 20);
  const int n = on.n, m = (int)on.column_indices.size();
  Array<int> light(2 * on.light_capacity), distances((n + 3) / 4 * 4), predecessors(n);
  Array<int2> heavy(2 * on.heavy_capacity);
  Array<uint> bits((n + 31) / 32), state(STATE_WORDS);
  launch(std::max(n, STATE_WORDS), [&] { initialize(n, distances, predecessors, state); });
  launch(2, [&] {
    start(2, on.light_capacity, on.heavy_capacity, on.sources, on.row_offsets, light, heavy, state, distances);
  }, TOGETHER);
  const uint alpha = random.below(2) ? 0 : 1 << 20;
  launch_alone(&state[STATE_CONTROL + GRID_DOOR], [&] {
    search(n, 1u << 30, alpha, 0, m, on.light_capacity, on.heavy_capacity, on.row_offsets, on.column_indices,
           on.in_offsets, on.in_neighbors, light, heavy, bits, state, distances, predecessors);
  });
  uint n_turns = 0;
  for (uint turn = 0; turn < 4; turn++) n_turns += state[STATE_TURNS + 32 * turn] & ARRIVED_MASK;
  return state[STATE_CONTROL + GRID_STATUS] == STATUS_TIMEOUT && n_turns == 1;
}

#endif

static const Case cases[] = {{"search", search_right}, {"alone", alone_right}};
