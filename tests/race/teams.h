/* Colouring by a work-group a row, and moves that balance the classes; launched as clgraph/algorithms/color does. */
#pragma once
#include "host.h"
#define BITMAP_WORDS 1           /* A window holds 32 colours.  More colours take several windows. */
#define STEPS 1
#include "color/speculative_hubs.cl"
#include "color/balance.cl"

struct Hubs {
  int n;
  Array<int> offsets = {0}, columns, colors;

  /* is_star: few vertices, which are all neighbours of all others, and of each other. */
  Hubs(Random &random, bool is_star) : n(2 + (int)random.below(40)), colors(n, -1) {
    std::vector<Array<int>> rows(n);
    auto add = [&](int u, int v) {
      rows[u].push_back(v);
      if (u != v) rows[v].push_back(u);
    };
    if (is_star)
      for (int u = 0; u < std::min(n, 6); u++)
        for (int v = u + 1; v < n; v++) add(u, v);
    else
      for (int k = (int)random.below(6 * n); k; k--) add((int)random.below(n), (int)random.below(random.below(2) ? n : 2));
    for (const auto &row : rows) put_row(offsets, columns, row);
    columns.push_back(0);
  }
  bool is_proper() const {
    for (int v = 0; v < n; v++)
      for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (colors[v] < 0 || (columns[e] != v && colors[columns[e]] == colors[v])) return false;
    return true;
  }
};

static bool groups_right(Random &random, ulong) {
  Hubs on(random, false);
  Array<uint> state(STATE_WORDS), ranks(on.n);
  Array<int> lists[2] = {Array<int>(on.n), Array<int>(on.n)};
  std::iota(lists[0].begin(), lists[0].end(), 0);
  const size_t n_items = (1 + random.below(3)) * WG_SIZE;
  const order_t by = {ORDER_RANDOM, 28u, 1u, 1u, 1u, (uint)random.next()};
  for (uint size = (uint)on.n, round = 0; size; size = state[STATE_SIZES], round++) {
    int *list = lists[round % 2], *next = lists[(round + 1) % 2];
    state[STATE_SIZES] = 0;
    if (round > 200) return false;
#define ROWS_OF_HUBS by, on.offsets, on.columns, ranks
    launch(n_items, [&] { assign_hubs(size, ROWS_OF_HUBS, list, on.colors, on.colors); }, WITH_BARRIERS);
    launch(n_items, [&] { check_hubs(size, ROWS_OF_HUBS, list, on.colors, on.colors, state, next); }, WITH_BARRIERS);
  }
  return on.is_proper();
}

static bool balance_right(Random &random, ulong) {
  const bool is_star = random.below(2);
  Hubs on(random, is_star);
  uint n_colors = 0;
  for (int v = 0; v < on.n; v++) {         /* greedily, from any colour on */
    std::set<int> used;
    for (int e = on.offsets[v]; e < on.offsets[v + 1]; e++) used.insert(on.colors[on.columns[e]]);
    int color = is_star ? 0 : (int)random.below(40) * (int)random.below(2);
    while (used.count(color)) color++;
    on.colors[v] = color;
    n_colors = std::max(n_colors, (uint)color + 1);
  }
  Array<uint> sizes(n_colors);
  for (int color : on.colors) sizes[color]++;
  const uint cap = (uint)(on.n / n_colors) + 1;
  for (uint from = 0; from < n_colors; from++) {
    Array<int> list;
    for (int v = 0; v < on.n; v++)
      if (on.colors[v] == (int)from) list.push_back(v);
    const uint before = sizes[from];
    if (before <= cap) continue;
    launch((1 + random.below(12)) * DEV_SUB_GROUP_SIZE, [&] {
      move_class(0, (uint)list.size(), (int)from, cap, n_colors, on.offsets, on.columns, list, sizes, on.colors);
    }, WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS);
    if (sizes[from] < cap) return false;
  }
  Array<uint> counted(n_colors);
  for (int color : on.colors) counted[color]++;
  return counted == sizes && on.is_proper();
}

static const Case cases[] = {{"groups", groups_right}, {"balance", balance_right}};
