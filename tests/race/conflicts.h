/* Conflicts of colourings, launched as clgraph/algorithms/color/conflicts.py does. */
#pragma once
#include "host.h"
#define LONG_NET 6
#define BITMAP_WORDS 2           /* A window holds 64 colours.  More colours take several windows. */
#include "color/conflicts.cl"

static const uint BASE = 0xfffffff0u;  /* Sums start just below 2 ** 32, so their low words overflow. */

static bool conflicts_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(30), n_colors = 1 + (int)random.below(random.below(2) ? 5 : 150);
  Array<int> offsets = {0}, columns, colors(n), long_nets;
  for (int &color : colors) color = (int)random.below(n_colors);
  uint entries = 0, excess = 0;
  for (int v = 0; v < n; v++) {
    Array<int> row(random.below(4) ? random.below(8) : random.below(60));
    for (int &u : row) u = (int)random.below(n);
    std::sort(row.begin(), row.end());
    put_row(offsets, columns, row);
    if (row.size() + 1 > LONG_NET) long_nets.push_back(v);
    std::set<int> members(row.begin(), row.end()), used;
    members.insert(v);
    for (int u : members) used.insert(colors[u]);
    for (int u : row) entries += u > v && colors[u] == colors[v];
    excess += (uint)(members.size() - used.size());
  }
  columns.push_back(0);
  const size_t n_items = (1 + random.below(3)) * WG_SIZE;
  Array<uint> pairs = {BASE, 0}, nets = pairs;
  launch(n_items, [&] { count_entries(n, offsets, columns, colors, pairs); });
  launch(n_items, [&] { count_short_nets(n, offsets, columns, colors, nets); }, WITH_BARRIERS);
  launch(n_items, [&] {
    count_long_nets((int)long_nets.size(), n_colors, long_nets, offsets, columns, colors, nets);
  }, WITH_BARRIERS);
  auto sum = [](const Array<uint> &words) { return ((ulong)words[1] << 32 | words[0]) - BASE; };
  return sum(pairs) == entries && sum(nets) == excess;
}

static const Case cases[] = {{"conflicts", conflicts_right}};
