/* Collisions of hashes by every method, launched as clgraph/algorithms/hash_collisions does: long rows and short ones, in
 * groups of several work-items. */
#pragma once
#include "host.h"
#define N_HASHES 3
#define HASH_LIST(X) X(0, murmur3) X(1, bit_reversal) X(2, identity)
#define N_WIDTHS 10
#define WIDTH_MASK 0x7feu
#define MAX_BITS 10
#define TILE_STEP 24
#define LONG_ROW 7
#define SLICES 3
#define BATCH 4
#define FLUSH_LOG 1
#define LOCAL_SUMS 0
#define HASH_STRIDE 4
#define STRIDE 9
#ifdef LAYOUT                    /* COMPACT */
#define WORKSPACE ((TILE_STEP + LONG_ROW + 1) * HASH_LANES)
#endif
#ifndef HASH_LANES
#define HASH_LANES 4
#endif
#include "hash_collisions/lanes.cl"
#define REVERSED (METHOD == SORTED)
#include "hash_collisions/tabulate_colors.cl"
#undef STAGES
#include "hash_collisions/planes.cl"
#include "hash_collisions/tabulate_planes.cl"
#include "hash_collisions/sorted.cl"

static const uint BASE = 0xfffffff0u;

struct Rows {
  int n, n_tiles;
  uint tiles_per_group;
  Array<int> offsets = {0}, columns, tile_rows, long_rows;
  Array<uint> counters;

  explicit Rows(Random &random) : n(1 + (int)random.below(30)), tiles_per_group(1 + random.below(3)), counters(3 * N_COUNTERS) {
    const int hub = (int)random.below(n);
    for (int v = 0; v < n; v++) {
      Array<int> row(v == hub ? random.below(120) : random.below(12));
      for (int &u : row) u = (int)random.below(n);
      std::sort(row.begin(), row.end());
      put_row(offsets, columns, row);
      if ((int)row.size() > LONG_ROW) long_rows.push_back(v);
    }
    n_tiles = ((int)columns.size() + n) / TILE_STEP + 1;
    tile_rows.resize(n_tiles + 1);
    columns.resize(columns.size() + 4);
  }
  /* So that sums run over their low words. */
  void begin_high() { std::fill_n(counters.begin(), N_COUNTERS, BASE); }
  size_t n_groups() const { return (n_tiles + tiles_per_group - 1) / tiles_per_group; }

  /* As the reference counts them: pairs, or members of a closed row less their colours. */
  bool right(bool pairs) const {
    for (uint k = 0; k < N_HASHES; k++)
      for (int bits = 1; bits <= MAX_BITS; bits++) {
        uint total = 0, most = 0;
        for (int v = 0; v < n; v++) {
          auto color = [&](int u) { return hash_one(k, (uint)u) & ((1u << bits) - 1u); };
          std::set<int> members = {v};
          std::set<uint> colors = {color(v)};
          uint count = 0;
          for (int e = offsets[v]; e < offsets[v + 1]; e++) {
            count += columns[e] != v && color(columns[e]) == color(v);
            members.insert(columns[e]);
            colors.insert(color(columns[e]));
          }
          if (!pairs) count = offsets[v] == offsets[v + 1] ? 0u : (uint)(members.size() - colors.size());
          total += count;
          most = std::max(most, count);
        }
        const uint at = k * N_WIDTHS + (uint)bits - 1;
        const ulong sum = ((ulong)counters[N_COUNTERS + at] << 32 | counters[at]) - BASE;
        if (sum != total || counters[2 * N_COUNTERS + at] != most) return false;
      }
    return true;
  }
};

static bool planes_right(Random &random, ulong) {
  Rows on(random);
  Array<uint4> planes((on.n + 1) * RECORD);
  uint *words = (uint *)planes.data();
  launch(on.n + 1, [&] { tabulate_planes(on.n, on.n_tiles, on.offsets, on.tile_rows, on.counters, words); });
  on.begin_high();
  launch(on.n_groups() * WG_SIZE, [&] {
    count_tiles(on.n, on.n_tiles, (int)on.tiles_per_group, on.offsets, on.columns, on.tile_rows, words, on.counters);
  }, WITH_BARRIERS);
  if (on.long_rows.size())
    launch((1 + random.below((uint)on.long_rows.size())) * WG_SIZE, [&] {
      count_long_rows(on.n, (int)on.long_rows.size(), on.offsets, on.columns, on.long_rows, words, on.counters);
    }, WITH_BARRIERS);
  return on.right(true);
}

static bool lanes_right(Random &random, ulong) {
  Rows on(random);
  Array<COLOR_T> colors((on.n + 1) * HASH_STRIDE);
  launch(on.n + 1, [&] { tabulate_colors(on.n, on.n_tiles, on.offsets, on.tile_rows, on.counters, colors); });
  on.begin_high();
  launch(on.n_groups() * WG_SIZE, [&] {
    count_rows(on.n, on.n_tiles, (int)on.tiles_per_group, on.offsets, on.columns, on.tile_rows, colors, on.counters);
  }, WITH_BARRIERS);
  const int n_long = (int)on.long_rows.size();
  const size_t n_items = n_long ? (1 + random.below((uint)n_long)) * WG_SIZE : 0;
#if METHOD != SORTED
  launch(n_items, [&] {
    count_split_rows(on.n, n_long, on.offsets, on.columns, on.long_rows, colors, on.counters);
  }, WITH_BARRIERS);
#else
  Array<int> starts = {0};
  for (int v : on.long_rows) starts.push_back(starts.back() + on.offsets[v + 1] - on.offsets[v] + 1);
  Array<uint> keys(starts.back());
  for (uint k = 0; k < N_HASHES && n_long; k++) {
    launch(n_items, [&] { write_keys(k, n_long, on.offsets, on.columns, on.long_rows, starts, keys); });
    for (int r = 0; r < n_long; r++) std::sort(keys.begin() + starts[r], keys.begin() + starts[r + 1]);
    launch(n_items, [&] {
      count_sorted(k, n_long, on.offsets, on.columns, on.long_rows, starts, keys, on.counters);
    }, WITH_BARRIERS);
  }
#endif
  return on.right(METHOD == PAIRS);
}

static const Case cases[] = {{"planes", planes_right}, {"lanes", lanes_right}};
