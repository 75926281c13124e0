/* Radix sorts of several tiles, in groups of several work-items. */
#pragma once
#include "host.h"
#define RADIX_BITS 2
#define N_PASSES 3
#define ITEMS_PER_ITEM 4
#define HAS_VALUES 1
#include "primitives/sort.cl"

static bool sort_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(60);
  const size_t n_tiles = (n + TILE - 1) / TILE;
  const bool looks_back = random.below(2);
  Array<uint> keys(n), values(n), out_keys(n), out_values(n), totals(N_PASSES * RADIX), starts(N_PASSES * RADIX);
  std::iota(values.begin(), values.end(), 0u);
  for (uint &key : keys) key = random.below(64);
  Array<uint> order = values, control(2), states(n_tiles * RADIX);
  std::stable_sort(order.begin(), order.end(), [&](uint a, uint b) { return keys[a] < keys[b]; });
  if (looks_back) {
    launch((1 + random.below(3)) * WG_SIZE, [&] { histogram(n, 0, 63, keys, totals); }, WITH_BARRIERS);
    launch(N_PASSES * WG_SIZE, [&] { scan_histograms(totals, starts); }, WITH_BARRIERS);
  }
  for (uint pass = 0; pass < N_PASSES; pass++) {
    const uint bit = RADIX_BITS * pass, mask = RADIX - 1;
    if (looks_back) {
      launch(n_tiles * WG_SIZE, [&] {
        scatter_look_back(n, 2 * (pass % 2), bit, mask, pass, starts, keys, values, control, states, out_keys, out_values);
      }, WITH_BARRIERS);
    } else {
      Array<uint> counts(n_tiles * RADIX), begins(n_tiles * RADIX);
      launch(n_tiles * WG_SIZE, [&] { count_tiles(n, bit, mask, keys, counts); }, WITH_BARRIERS);
      for (size_t i = 1; i < counts.size(); i++) begins[i] = begins[i - 1] + counts[i - 1];
      launch(n_tiles * WG_SIZE, [&] {
        scatter_tiles(n, bit, mask, begins, keys, values, out_keys, out_values);
      }, WITH_BARRIERS);
    }
    keys.swap(out_keys);
    values.swap(out_values);
  }
  return values == order && std::is_sorted(keys.begin(), keys.end()) && !control[CONTROL_STATUS];
}

/* A group reports STATUS_TIMEOUT if no group has the tile that it waits for: tickets are left over, so both have the last. */
static bool unfinished_right(Random &, ulong) {
  const int n = 2 * TILE;
  Array<uint> keys(n), values(n), out_keys(n), out_values(n), starts(N_PASSES * RADIX), control = {2, 0}, states(2 * RADIX);
  spin_limit = 3000;
  launch(2 * WG_SIZE, [&] {
    scatter_look_back(n, 0, 0, RADIX - 1, 0, starts, keys, values, control, states, out_keys, out_values);
  }, WITH_BARRIERS);
  spin_limit = SPINS;
  return control[CONTROL_STATUS] == STATUS_TIMEOUT;
}

static const Case cases[] = {{"sort", sort_right}, {"unfinished", unfinished_right}};
