/* Shortest paths by work-items with buckets of their own, which share chunks and have no barrier. */
#pragma once
#include "searched.h"
#define WORKERS 3
#define CHUNK 3u
#define LATE lateness
static unsigned lateness;        /* short: work-items that wait leave early */
#include "sssp/buckets.cl"

/* The search from the source, in launches of a small budget; chunks run short now and then. */
struct Bucketed : Searched {
  const uint n_buckets, longest_row, pool;
  Guarded<chunk_t> chunks;
  Guarded<entry_t> entries;
  Guarded<bucket_t> buckets;
  Guarded<uint> state;
  Guarded<dist_t> distances;

  static uint longest(const Array<int> &offsets) {
    int most = 0;
    for (size_t v = 0; v + 1 < offsets.size(); v++) most = std::max(most, offsets[v + 1] - offsets[v]);
    return (uint)most;
  }
  Bucketed(Random &random, ulong seed, uint scale)
      : Searched(random, seed, 1 << 20), n_buckets(scale < 3 || scale > 9 ? 64 : 16), longest_row(longest(row_offsets)),
        pool((n + longest_row) / CHUNK + 2 * n_buckets + 4 + random.below(20)), chunks(WORKERS * pool),
        entries(WORKERS * pool * CHUNK), buckets(WORKERS * n_buckets), state(STATE_WORDS), distances(n) {
    launch(1, [&] { start(n, 2, n_buckets, sources, chunks, entries, buckets, state, distances, pool); });
  }
};

static bool search_right(Random &random, ulong seed) {
  const uint scale = random.below(5);
  Bucketed on(random, seed, scale);
  const dist_t limit = random.below(4) ? FAR_AWAY - 1 : random.below(60);
  const long budget = random.below(2) ? 1 << 20 : 1 + random.below(60);
  lateness = random.below(2) ? 5 : 400;
  uint round = 1;
  for (;; round++) {
    launch(WORKERS, [&] {
      search(round, limit, budget, scale, on.n_buckets, on.pool, on.row_offsets, on.column_indices, on.edge_weights,
             on.chunks, on.entries, on.buckets, on.state, on.distances);
    });
    if (on.state[STATE_ALIVE] != round || round > 4000) break;
  }
  Array<uint> lengths = on.expected(true);
  for (uint &length : lengths) if (length > limit) length = FAR_AWAY;
  return round <= 4000 && !on.state[STATE_STATUS] && std::equal(lengths.begin(), lengths.end(), on.distances.begin()) && on.chunks.right() &&
         on.entries.right() && on.buckets.right() && on.state.right() && on.distances.right();
}

/* A way that is too long for its type is told. */
static bool overflow_right(Random &random, ulong seed) {
  Bucketed on(random, seed, 27u);
  lateness = 400;
  std::fill(on.edge_weights.begin(), on.edge_weights.end(), INT_MAX);
  const Array<uint> levels = on.expected(false);
  for (uint round = 1; round == 1 || on.state[STATE_ALIVE] + 1 == round; round++)
    launch(WORKERS, [&] {
      search(round, FAR_AWAY - 1, 1 << 20, 27u, on.n_buckets, on.pool, on.row_offsets, on.column_indices,
             on.edge_weights, on.chunks, on.entries, on.buckets, on.state, on.distances);
    });
  return !std::count_if(levels.begin(), levels.end(), [](uint level) { return level != ~0u && level > 2; }) ||
         on.state[STATE_OVERFLOW];
}

static const Case cases[] = {{"search", search_right}, {"overflow", overflow_right}};
