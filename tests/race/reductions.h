/* Reductions of an array and of its segments, in groups of several work-items. */
#pragma once
#include "host.h"
#define convert_int4(v) (v)
#define UNROLL 2
#define ITEMS_PER_ITEM 3
#include "primitives/reduce.cl"
#include "primitives/segmented_reduce.cl"

static bool reduce_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(100);
  const long chunk = 4 * WG_SIZE * (1 + random.below(3));
  const size_t n_groups = (n + chunk - 1) / chunk;
  Array<int> in((n + 3) / 4 * 4), partials(n_groups), out(1);
  for (int i = 0; i < n; i++) in[i] = (int)random.below(100);
  launch(n_groups * WG_SIZE, [&] { reduce_items(n, chunk, in, partials); }, WITH_BARRIERS);
  launch(WG_SIZE, [&] { reduce_partials((long)n_groups, partials, out); }, WITH_BARRIERS);
  return out[0] == std::accumulate(in.begin(), in.end(), 0);
}

static bool segments_right(Random &random, ulong) {
  const int n_rows = 1 + (int)random.below(12);
  Array<int> offsets = {0}, values, expected, out(n_rows, -1);
  for (int r = 0; r < n_rows; r++) {
    int sum = 0;
    for (uint k = random.below(random.below(3) ? 4 : 40); k; k--) {
      values.push_back((int)random.below(100));
      sum += values.back();
    }
    offsets.push_back((int)values.size());
    expected.push_back(sum);
  }
  const long n = (long)values.size();
  size_t n_carries = (n_rows + n + TILE - 1) / TILE;
  Array<int> rows(n_carries), carries(n_carries);
  values.push_back(0);
  launch(n_carries * WG_SIZE, [&] { reduce_tiles(n_rows, n, offsets, values, rows, carries, out); }, WITH_BARRIERS);
  while (n_carries > WG_SIZE) {
    const size_t n_groups = (n_carries + WG_SIZE - 1) / WG_SIZE;
    Array<int> next_rows(n_groups), next_carries(n_groups);
    launch(n_groups * WG_SIZE, [&] {
      merge_carries((long)n_carries, n_rows, rows, carries, next_rows, next_carries, out);
    }, WITH_BARRIERS);
    rows = next_rows;
    carries = next_carries;
    n_carries = n_groups;
  }
  launch(WG_SIZE, [&] { add_carries((long)n_carries, n_rows, rows, carries, out); });
  return out == expected;
}

static const Case cases[] = {{"reduce", reduce_right}, {"segments", segments_right}};
