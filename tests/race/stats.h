/* Statistics of a graph, launched as clgraph/runtime/graphs/graph_stats.py does. */
#pragma once
#include "host.h"
#include <set>
#define N_SAMPLES 60             /* Graphs with more entries are sampled, others are read whole. */
#define FAR_DISTANCE 3
#define N_CLIMBS 8
#define MAX_CLIMB 4
#define NEIGHBORHOOD 12
#define N_STARTS 3
#define SHORT_SEEN 5
#define SHORT_LOOKS 9
#define SCALE 4294967296         /* Distances count in units of 2 ** -32, so adding them changes the high word. */
#include "data/graph_stats.cl"

static const uint BASE = 0xfffffff8u;  /* Sums start just below 2 ** 32, so their low words overflow. */

static bool stats_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(40);
  Array<int> offsets = {0}, columns;
  for (int v = 0; v < n; v++) {
    for (uint k = random.below(3) ? random.below(4) : 0; k; k--) columns.push_back((int)random.below(n));
    offsets.push_back((int)columns.size());
  }
  const long m = (long)columns.size();
  columns.push_back(-7);
  auto degree = [&](int v) { return offsets[v + 1] - offsets[v]; };

  const int n_chunks = 1 + (int)random.below(4);
  Array<uint> checked(3, ~0u), connected(n_chunks), state(STATE_WORDS), seen(n / 32 + 1);
  Array<int> list(std::min(n, 33 * NEIGHBORHOOD));
  for (uint k = 0; k < 2 * N_PAIRS; k += 2) state[k] = BASE;
  state[STATE_LEAST] = state[STATE_GREATEST] = ~0u;
  launch(n_chunks * WG_SIZE, [&] { measure_rows(n, m, checked, offsets, columns, connected, state); }, WITH_BARRIERS);
  launch(2 * WG_SIZE, [&] {
    measure_reach(n, n_chunks, checked, offsets, columns, connected, seen, list, state);
  }, WITH_BARRIERS);

  ulong pairs[N_PAIRS] = {}, distances = 0;
  uint least = ~0u, greatest = 0;
  Array<int> with_entries;
  for (int v = 0; v < n; v++) {
    const uint d = (uint)degree(v);
    pairs[PAIR_VERTICES + (d ? 32 - clz(d) : 0)]++;
    pairs[PAIR_ENTRIES + (d ? 32 - clz(d) : 0)] += d;
    pairs[PAIR_SQUARES] += d * d;
    least = std::min(least, d);
    greatest = std::max(greatest, d);
    if (!d) continue;
    with_entries.push_back(v);
    pairs[PAIR_SAMPLED]++;
    pairs[PAIR_ROOTS] += columns[offsets[v]] >= v;
    for (int k = offsets[v]; k < offsets[v + 1]; k++) {
      const int distance = std::abs(columns[k] - v);
      pairs[PAIR_FAR] += distance > FAR_DISTANCE;
      distances += (ulong)((float)SCALE * log2(1.0f + (float)distance) + 0.5f);
    }
  }
  pairs[PAIR_DISTANCE] = distances;
  for (uint k = 0; k < N_PAIRS; k++) {
    if (m > N_SAMPLES && (k == PAIR_FAR || k == PAIR_DISTANCE)) continue;
    if (((ulong)state[2 * k + 1] << 32 | state[2 * k]) - BASE != pairs[k]) return false;
  }
  if (state[STATE_LEAST] != least || state[STATE_GREATEST] != ~greatest) return false;

  Array<int> reached, is_seen(n);
  if (!with_entries.empty()) reached.push_back(with_entries[with_entries.size() / 2]);
  for (int v : reached) is_seen[v] = 1;
  size_t begin = 0, end = reached.size();
  Array<uint> sizes = {1};
  auto found = [&](uint search, size_t n_seen, size_t n_last) {
    const uint *words = state + STATE_SEARCHES + SEARCH_WORDS * search, levels = (uint)sizes.size() - 1;
    const uint early = levels > 1 ? 1u << (30 - clz(levels)) : 0;
    return words[SEARCH_LEVELS] == levels && words[SEARCH_SEEN] == n_seen && words[SEARCH_FRONTIER] == n_last &&
           words[SEARCH_EARLIER] == sizes[early];
  };
  while (begin < end && end < NEIGHBORHOOD) {
    const int most = NEIGHBORHOOD / (int)std::max<size_t>(1, (end - begin) / 16);
    for (size_t row = begin; row < end; row++) {
      const int v = reached[row];
      for (int k = offsets[v]; k < std::min(offsets[v + 1], offsets[v] + most); k++)
        if (!is_seen[columns[k]]++) reached.push_back(columns[k]);
    }
    begin = end;
    end = reached.size();
    sizes.push_back((uint)end);
  }
  if (!found(0, end, end - begin)) return false;
  for (int s = 0; s < N_STARTS; s++) {
    Array<int> frontier = {(2 * s + 1) * n / (2 * N_STARTS)}, next;
    std::set<int> all = {frontier[0]};
    int looks = 0;
    bool is_full = false;
    for (sizes = {1}; !frontier.empty(); next.clear()) {
      for (int v : frontier)
        for (int k = offsets[v]; k < offsets[v + 1] && !is_full; k++) {
          is_full = ++looks > SHORT_LOOKS || (!all.count(columns[k]) && all.size() == SHORT_SEEN);
          if (!is_full && all.insert(columns[k]).second) next.push_back(columns[k]);
        }
      if (is_full) break;
      sizes.push_back((uint)all.size());
      frontier = next;
    }
    if (!found(1 + s, sizes.back(), frontier.size())) return false;
  }
  for (int s = 0; s < std::min(n, N_CLIMBS); s++) {
    int v = n > N_CLIMBS ? (int)((long)n * s / N_CLIMBS) : s;
    uint depth = 0;
    const bool has_entry = degree(v) > 0;
    while (depth < MAX_CLIMB && degree(v) && columns[offsets[v]] < v) v = columns[offsets[v]], depth++;
    if (state[STATE_ROOTS + s] != (has_entry ? (uint)v : ~0u) || state[STATE_DEPTHS + s] != depth) return false;
  }
  return true;
}

static const Case cases[] = {{"stats", stats_right}};
