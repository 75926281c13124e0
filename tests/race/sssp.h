/* Shortest paths in one launch, by groups of one work-item that meet between turns, or one group of several; and their
 * predecessors, by rounds. */
#pragma once
#include "searched.h"
#include "sssp/frontier.cl"
#define start start_predecessors
#include "traversal/predecessors.cl"
#undef start

struct Paths : Searched {
  Guarded<int> light, settled_light, piles;
  Guarded<int2> heavy, settled_heavy;
  Guarded<uint> listed_in, settled_in, state;
  Guarded<dist_t> distances, progress;

  Paths(Random &random, ulong seed)
      : Searched(random, seed, ONLY_SHORT_ROWS ? PIECE : 1 << 20), light(2 * light_capacity), settled_light(light_capacity),
        piles(2 * n), heavy(2 * heavy_capacity), settled_heavy(heavy_capacity), listed_in(n),
        settled_in(LIGHT_FIRST ? n : 0), state(PATH_STATE_WORDS), distances(n), progress(PROGRESS_WORDS) {
    const float delta = (float)(random.below(2) ? random.below(4) : random.below(99));
    launch(PATH_STATE_WORDS, [&] { initialize(n, distances, listed_in, settled_in, state, progress); });
    launch(2, [&] {
      /* Small graphs have turns with fewer rows than 4, so buckets grow now and then. */
      start(2, delta, 4u, light_capacity, heavy_capacity, sources, row_offsets, light, heavy, listed_in, state, distances,
            progress);
    }, TOGETHER);
    is_started = are_listed_once(&state[STATE_SIZES]);
  }
  bool is_started;
  void run(dist_t limit) {
    launch(n_groups * WG_SIZE, [&] {
      search(n, 0u, ~0u, limit, light_capacity, heavy_capacity, row_offsets, column_indices, edge_weights, light, heavy,
             settled_light, settled_heavy, piles, listed_in, settled_in, state, distances, progress);
    }, TOGETHER);
  }
  bool right(dist_t limit) const {
    Array<uint> lengths = expected(true);
    for (uint &length : lengths) if (length > limit) length = FAR_AWAY;
    return is_started && !state[STATE_CONTROL + GRID_STATUS] && std::equal(lengths.begin(), lengths.end(), distances.begin()) &&
           light.right() && settled_light.right() && piles.right() && heavy.right() && settled_heavy.right() &&
           listed_in.right() && settled_in.right() && state.right() && distances.right() && progress.right();
  }
};

static bool near_far_right(Random &random, ulong seed) {
  Paths paths(random, seed);
  const dist_t limit = random.below(4) ? FAR_AWAY - 1 : random.below(60);
  paths.run(limit);
  return paths.right(limit);
}

/* A group that waits for a missing group reports STATUS_TIMEOUT and ends after at most one more turn. */
static bool alone_right(Random &random, ulong seed) {
  if (IN_ONE_GROUP) return true;
  Paths paths(random, seed);
  paths.n_groups = 1;
  paths.state[STATE_CONTROL + GRID_DOOR] = 1;
  spin_limit = 3000;
  paths.run(FAR_AWAY - 1);
  spin_limit = SPINS;
  uint n_turns = 0;
  for (uint turn = 0; turn < 4; turn++) n_turns += paths.state[STATE_TURNS + 32 * turn] & ARRIVED_MASK;
  return paths.state[STATE_CONTROL + GRID_STATUS] == STATUS_TIMEOUT && n_turns <= 2;
}

/* A way that is too long for its type is told. */
static bool overflow_right(Random &random, ulong seed) {
  Paths paths(random, seed);
  std::fill(paths.edge_weights.begin(), paths.edge_weights.end(), INT_MAX);
  const Array<uint> levels = paths.expected(false);
  paths.run(FAR_AWAY - 1);
  return !std::count_if(levels.begin(), levels.end(), [](uint level) { return level != ~0u && level > 2; }) ||
         paths.state[STATE_OVERFLOW];
}

static bool predecessors_right(Random &random, ulong seed) {
  Searched on(random, seed, 1 << 20);
  const int n = on.n;
  for (int &weight : on.edge_weights) weight = random.below(3) ? 0 : weight;
  const Array<uint> distances = on.expected(true);
  Guarded<int> found(n), rounds(n), lists(2 * n);
  Guarded<uint> state(STATE_ROUND + 1);
  launch(n, [&] { start_predecessors(n, found, rounds, state); });
  launch(n, [&] { find(n, on.row_offsets, on.column_indices, on.edge_weights, distances, found, rounds); });
  launch(1, [&] { mark_sources(1, &on.source, rounds); });
  launch(n, [&] { follow_all(n, on.row_offsets, on.column_indices, on.edge_weights, distances, found, rounds, lists, state); });
  auto are_different = [&](int round) {        /* whether the round listed no vertex twice */
    const auto list = lists.begin() + (size_t)n * (round & 1);
    Array<int> listed(list, list + std::min((int)state[round & 3], n));
    std::sort(listed.begin(), listed.end());
    return (int)state[round & 3] <= n && std::adjacent_find(listed.begin(), listed.end()) == listed.end();
  };
  if (!are_different(2)) return false;
  for (int round = 3; state[(round - 1) & 3]; round = (int)state[STATE_ROUND]) {
    launch(on.n_groups * WG_SIZE, [&] {
      follow_lists(n, round, on.n_groups == 1 ? n : round, 6, on.row_offsets, on.column_indices, on.edge_weights,
                   distances, found, rounds, lists, state);
    }, TOGETHER);
    if (!are_different((int)state[STATE_ROUND] - 1)) return false;
  }
  launch(n, [&] { finish(n, found); });
  Array<int> least(n, n), is_found(n);
  auto offer = [&](const Array<int> &from, const Array<int> &to, bool flat) {
    for (int v = 0; v < n; v++)
      for (int e = on.row_offsets[v]; e < on.row_offsets[v + 1] && from[v]; e++) {
        const int u = on.column_indices[e];
        const bool is_flat = distances[v] == distances[u];
        if (to[u] && is_flat == flat && distances[v] + (uint)on.edge_weights[e] == distances[u]) least[u] = std::min(least[u], v);
      }
  };
  Array<int> reached(n), rest(n);
  for (int v = 0; v < n; v++) reached[v] = distances[v] != FAR_AWAY;
  offer(reached, reached, false);
  for (int turn = 0; turn <= n; turn++) {
    for (int v = 0; v < n; v++) {
      is_found[v] = v == on.source || least[v] < n;
      rest[v] = reached[v] && !is_found[v];
    }
    offer(is_found, rest, true);
  }
  for (int v = 0; v < n; v++)
    if (found[v] != (least[v] < n ? least[v] : -9999)) return false;
  return found.right() && rounds.right() && lists.right() && state.right();
}

static const Case cases[] = {
  {"near_far", near_far_right}, {"alone", alone_right}, {"overflow", overflow_right}, {"predecessors", predecessors_right},
};
