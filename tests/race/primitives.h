/* Sums and compactions over several tiles and chunks, in groups of several work-items, one group after the other. */
#pragma once
#include "host.h"
#include "common/subgroup.h"
#include "common/status.h"
#define ITEMS_PER_ITEM 3
#define VEC 1
#define INCLUSIVE 0
#define EXTRA_TOTAL 1
namespace scans {
#include "primitives/scan.cl"
}
#undef TILE
#undef SUM_T
#undef SUM_BYTES
#undef FIRST
#undef STATE_WORDS
#undef CLGRAPH_LOOK_BACK_H
#undef CLGRAPH_GROUP_SCAN_H
#undef GROUP_SCRATCH
#undef DEFINE_GROUP_SUMS_
#undef DEFINE_OFFSET_
#define PREDICATE flags[i] > 4
#define PARAMETERS , const __global int *restrict flags
namespace compactions {
#include "primitives/compact.cl"
}

struct Items {
  int n;
  long chunk;
  Array<int> in;
  size_t n_tiles, n_chunks;

  explicit Items(Random &random) : n(1 + (int)random.below(15 * WG_SIZE)), in(n) {
    for (int &value : in) value = (int)random.below(10);
    n_tiles = (n + WG_SIZE * ITEMS_PER_ITEM - 1) / (WG_SIZE * ITEMS_PER_ITEM);
    chunk = (1 + random.below(2)) * WG_SIZE * ITEMS_PER_ITEM;
    n_chunks = (n + chunk - 1) / chunk;
  }
};

static bool scan_right(Random &random, ulong) {
  Items on(random);
  Array<int> out(on.n + 1), sums(on.n_chunks);
  if (random.below(2)) {
    Array<uint> control(2);
    Array<ulong> states(on.n_tiles);
    launch(on.n_tiles * WG_SIZE, [&] { scans::scan_look_back(on.n, 0, on.in, control, states, out); }, WITH_BARRIERS);
  } else {
    launch(on.n_chunks * WG_SIZE, [&] { scans::sum_chunks(on.n, on.chunk, on.in, sums); }, WITH_BARRIERS);
    launch(on.n_chunks * WG_SIZE, [&] { scans::scan_chunks(on.n, on.chunk, on.in, sums, out); }, WITH_BARRIERS);
  }
  int sum = 0;
  for (int i = 0; i < on.n; sum += on.in[i++])
    if (out[i] != sum) return false;
  return out[on.n] == sum;
}

static bool compact_right(Random &random, ulong) {
  Items on(random);
  Array<uint> size(1), counts(on.n_chunks);
  Array<int> out(on.n), expected;
  for (int i = 0; i < on.n; i++)
    if (on.in[i] > 4) expected.push_back(i);
  if (random.below(2)) {
    Array<uint> control(2);
    Array<ulong> states(on.n_tiles);
    launch(on.n_tiles * WG_SIZE, [&] {
      compactions::compact_look_back(on.n, 0, on.in, control, states, size, out);
    }, WITH_BARRIERS);
  } else {
    launch(on.n_chunks * WG_SIZE, [&] { compactions::count_chunks(on.n, on.chunk, on.in, counts); }, WITH_BARRIERS);
    launch(on.n_chunks * WG_SIZE, [&] {
      compactions::compact_chunks(on.n, on.chunk, on.in, counts, size, out);
    }, WITH_BARRIERS);
  }
  out.resize(size[0]);
  return out == expected;
}

static const Case cases[] = {{"scan", scan_right}, {"compact", compact_right}};
