/* Core numbers by peeling in one launch and in a launch for each step, and in order, as clgraph/algorithms/cores does. */
#pragma once
#include "host.h"
#include <set>
#define PIECE 3                  /* rows of several pieces */
#define STEPS 2
#define LINGER linger
static unsigned linger;          /* short: some groups come too late; long: all are waited for */
#include "cores/peel.cl"
#include "cores/buckets.cl"
#include "cores/check.cl"

static const Grouping GROUPS = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

struct Peeled {
  int n, max_degree = 0;
  Array<int> offsets, columns, degrees, lists, begins, expected;
  Array<uint> lengths, state;

  /* A simple graph of hubs, paths, cliques and random edges. */
  explicit Peeled(Random &random, ulong seed) : n(1 + (int)random.below(30)) {
    std::vector<std::set<int>> rows(n);
    auto add = [&](int u, int v) {
      if (u != v) rows[u].insert(v), rows[v].insert(u);
    };
    for (uint k = random.below(3 * n); k; k--) add((int)random.below(n), (int)random.below(n));
    for (int v = 1; v < n && seed % 2; v++) add(v - 1, v);
    for (int v = 0; v < n && seed % 3 == 0; v++) add((int)random.below(2) % n, v);
    for (int u = 0; u < n && seed % 4 == 1; u += 2)
      for (int v = 0; v < u; v += 2) add(u, v);
    offsets = {0};
    for (const auto &row : rows) put_row(offsets, columns, row), max_degree = std::max(max_degree, (int)row.size());
    const int pieces = n + (int)columns.size() / PIECE + 1;
    degrees.assign(n, -7), lists.assign(2 * n, -7), begins.assign(pieces, -7), lengths.assign(pieces, 7u);
    state.assign(STATE_WORDS, 7u);
    expected.resize(n);
    for (int v = 0; v < n; v++) expected[v] = (int)rows[v].size();
    for (bool changes = true; changes;) {  /* each number falls until that many neighbours have at least it */
      changes = false;
      for (int v = 0; v < n; v++)
        while (std::count_if(rows[v].begin(), rows[v].end(), [&](int u) { return expected[u] >= expected[v]; }) < expected[v])
          expected[v]--, changes = true;
    }
    columns.push_back(-7);
    launch(std::max(n, STATE_WORDS), [&] { start(n, offsets, degrees, state); });
  }
  bool right() const { return std::equal(expected.begin(), expected.end(), degrees.begin()); }
};

static bool peel_right(Random &random, ulong seed) {
  Peeled on(random, seed);
  const size_t n_groups = 1 + random.below(WG_SIZE == 1 ? 4 : 3);
  linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
  launch(n_groups * WG_SIZE, [&] {
    peel(on.n, on.offsets, on.columns, on.degrees, on.lists, on.begins, on.lengths, on.state);
  }, GROUPS);
  return on.right() && !on.state[STATE_CONTROL + GRID_STATUS];
}

static bool alone_right(Random &random, ulong seed) {
  Peeled on(random, seed);
  launch_alone(&on.state[STATE_CONTROL + GRID_DOOR], [&] {
    peel(on.n, on.offsets, on.columns, on.degrees, on.lists, on.begins, on.lengths, on.state);
  });
  return on.state[STATE_CONTROL + GRID_STATUS] == STATUS_TIMEOUT;
}

static bool steps_right(Random &random, ulong seed) {
  Peeled on(random, seed);
  const size_t n_groups = 1 + random.below(4);
  for (int step = 0; step < 4 * on.n + 9 && !on.state[STATE_AT + 8]; step++)
    launch(n_groups * WG_SIZE, [&] {
      peel_step(on.n, on.offsets, on.columns, on.degrees, on.lists, on.begins, on.lengths, on.state);
    }, GROUPS);
  return on.right() && on.state[STATE_AT + 8] == 1;
}

static bool in_order_right(Random &random, ulong seed) {
  Peeled on(random, seed);
  Array<int> order(on.n, -7), places(on.n, -7), starts(on.max_degree + 2, -7);
  launch(1, [&] { peel_in_order(on.n, on.max_degree, on.offsets, on.columns, on.degrees, order, places, starts); });
  return on.right();
}

static bool checks_right(Random &random, ulong seed) {
  Peeled on(random, seed);
  std::vector<Array<int>> rows(on.n);
  int loop = 0, repeat = 0;
  for (int v = 0; v < on.n; v++) {
    rows[v].assign(on.columns.begin() + on.offsets[v], on.columns.begin() + on.offsets[v + 1]);
    if (random.below(on.n) == 0) rows[v].push_back(v), loop = v + 1;
    if (!rows[v].empty() && random.below(on.n) == 0) rows[v].push_back(rows[v][random.below((uint)rows[v].size())]), repeat = v + 1;
    std::sort(rows[v].begin(), rows[v].end());
  }
  Array<int> offsets = {0}, columns;
  for (const auto &row : rows) put_row(offsets, columns, row);
  const long m = (long)columns.size();
  columns.push_back(-7);
  Array<uint> found(FOUND_WORDS);
  launch(on.n, [&] { find_loops(on.n, offsets, columns, found); });
  launch(1 + random.below(9), [&] { find_repeats(on.n, m, offsets, columns, found); });
  return found[LOOPS] == (uint)loop && found[REPEATS] == (uint)repeat;
}

static const Case cases[] = {
  {"peel", peel_right}, {"peel_alone", alone_right}, {"peel_steps", steps_right}, {"peel_in_order", in_order_right},
  {"simple_graphs", checks_right},
};
