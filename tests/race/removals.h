/* Vertices of small degrees taken away wave by wave, and colours that edges forbid; launched as
 * clgraph/algorithms/color does. */
#pragma once
#include "host.h"
#include "color/orders.cl"
namespace edges {                /* edge_rounds.cl has another STATE_WORDS. */
#undef STATE_WORDS
#include "color/edge_rounds.cl"
}
#undef STATE_WORDS
#define STATE_WORDS 5

struct Symmetric {
  int n;
  Array<int> offsets = {0}, columns, sources;
  Array<uint> degrees, ranks;

  explicit Symmetric(Random &random) : n(1 + (int)random.below(30)), degrees(n), ranks(n) {
    std::vector<Array<int>> rows(n);
    for (int k = (int)random.below(3 * n); k; k--) {
      const int u = (int)random.below(n), v = (int)random.below(random.below(2) ? n : std::min(n, 3));
      rows[u].push_back(v);
      if (u != v) rows[v].push_back(u);
    }
    for (const auto &row : rows) put_row(offsets, columns, row);
    sources.resize(columns.size());
  }
};

/* The remaining vertices are the core: the degree of each in the remaining graph is above the threshold. */
static bool removals_right(Random &random, ulong) {
  Symmetric on(random);
  const int n = on.n;
  const uint threshold = random.below(5), n_groups = 1 + random.below(4);
  Array<uint> state(STATE_WORDS), expected(n), rest(n);
  Array<int> lists[2] = {Array<int>(n), Array<int>(n)};
  launch(n, [&] { start_degrees(n, on.offsets, on.degrees, on.ranks); });
  rest = on.degrees;
  const Array<uint> degrees = rest;
  state[STATE_LEAST] = UINT_MAX;
  launch(n, [&] { remove_small(n, 1, threshold, on.degrees, on.ranks, state, lists[0]); });
  uint least = UINT_MAX, n_removed = 0;
  for (uint degree : rest) if (degree > threshold) least = std::min(least, degree);
  if (state[STATE_LEAST] != least) return false;
  const uint widest = random.below(6);
  uint wave = 1;
  for (uint size = state[STATE_LISTED], turn = 0; size;) {
    n_removed += size;
    turn ^= 1;
    launch(n_groups * WG_SIZE, [&] {
      remove_neighbors(n, size, turn, wave + 1, threshold, widest, on.offsets, on.columns, lists[turn ^ 1], lists[turn],
                       on.degrees, on.ranks, state);
    }, WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS);
    const uint n_waves = n_groups == 1 ? state[STATE_WAVES] : 1;
    turn ^= (n_waves - 1) & 1;
    size = state[STATE_LISTED + turn];
    if (n_groups == 1) n_removed += state[STATE_REMOVED] - size;
    wave += n_waves;
  }
  /* A vertex has the number of the wave in which its degree fell to the threshold. */
  Array<uint> waves(n);
  for (uint now = 1, left = n_removed; left; now++) {
    Array<int> small;
    for (int v = 0; v < n; v++) if (!waves[v] && rest[v] <= threshold) small.push_back(v);
    if (small.empty()) return false;
    for (int v : small) {
      waves[v] = now;
      if (on.ranks[v] != now) return false;
    }
    for (int v : small)
      for (int e = on.offsets[v]; e < on.offsets[v + 1]; e++)
        if (on.columns[e] != v) rest[on.columns[e]]--;
    left -= std::min<uint>(left, (uint)small.size());
  }
  rest = degrees;
  for (bool changed = true; changed;) {
    changed = false;
    for (int v = 0; v < n; v++)
      if (!expected[v] && rest[v] <= threshold) {
        changed = expected[v] = 1;
        for (int e = on.offsets[v]; e < on.offsets[v + 1]; e++)
          if (on.columns[e] != v) rest[on.columns[e]]--;
      }
  }
  for (int v = 0; v < n; v++)
    if ((on.ranks[v] != 0) != (expected[v] != 0)) return false;
  return n_removed == (uint)std::count(expected.begin(), expected.end(), 1u);
}

static bool forbidden_right(Random &random, ulong) {
  Symmetric on(random);
  const int n = on.n, m = (int)on.columns.size();
  Array<int> colors(n);
  Array<uint> forbidden(n), bases(n), expected(n);
  for (int &color : colors) color = random.below(2) ? -1 : (int)random.below(40);
  if (!m) return true;
  launch(n, [&] { edges::list_sources(n, on.offsets, on.sources); });
  launch(m, [&] { edges::forbid_colors(m, on.sources, on.columns, colors, bases, forbidden); });
  for (int e = 0; e < m; e++)
    if (colors[on.sources[e]] < 0 && (uint)colors[on.columns[e]] < 32u) expected[on.sources[e]] |= 1u << colors[on.columns[e]];
  return forbidden == expected;
}

static const Case cases[] = {{"removals", removals_right}, {"forbidden", forbidden_right}};
