/* Small graphs of few different weights, so that ties decide; their spanning forest by Kruskal's algorithm. */
#pragma once

#define TILE 6                   /* Rows cross tile borders.  A sub-group of one lane takes two steps for a tile. */
#define STEPS 3
#include "minimum_spanning_forest/rows.cl"

typedef Array<uint> Entries;

struct Weighted {
  int n, m = 0, n_tiles;
  Array<int> row_offsets = {0}, column_indices, tile_rows, parent;
  Array<uint> edge_weights, state, forest;
  Array<best_t> best;

  Weighted(Random &random, ulong seed) : n(8 + (int)random.below(21)) {
    std::vector<std::vector<std::pair<int, uint>>> rows(n);
    const uint n_weights = 1 + random.below(4);
    Array<int> name(n);
    std::iota(name.begin(), name.end(), 0);
    if (seed % 3)
      for (int v = n - 1; v > 0; v--) std::swap(name[v], name[random.below(v + 1)]);
    auto add = [&](int a, int b) {
      const uint weight = random.below(n_weights) - 1u;                    /* as an int, also -1 */
      const int u = name[a], v = name[b];
      rows[u].push_back({v, weight});
      if (u != v) rows[v].push_back({u, weight});
    };
    switch (seed % 5) {
      case 0: for (int v = 1; v < n; v++) add(v - 1, v); break;                                      /* path */
      case 1: for (int v = 1; v < n; v++) add(0, v); break;                                          /* star */
      case 2: for (int v = 1; v < n; v++) add((int)random.below(v), v); break;                       /* tree */
    }
    /* Random edges, also parallel ones and self-loops; few of them leave several components. */
    for (uint k = seed % 5 < 3 ? random.below(n) : n; k; k--) add((int)random.below(n), (int)random.below(n));
    for (auto &row : rows) {
      std::stable_sort(row.begin(), row.end(), [](auto &a, auto &b) { return a.first < b.first; });
      for (auto [v, weight] : row) {
        column_indices.push_back(v);
        edge_weights.push_back(weight);
      }
      row_offsets.push_back(m += (int)row.size());
    }
    n_tiles = (m + TILE - 1) / TILE;
    tile_rows.resize(n_tiles);
    parent.resize(n);
    forest.resize(n);
    state.resize(STATE_WORDS);
    best.resize(N_PASSES * n);
    launch(std::max(n, STATE_WORDS), [&] { initialize(n, row_offsets, best, tile_rows, state, parent, forest); });
  }

  bool right() {
    Array<uint> named(n);
    launch(n, [&] { name_edges(n, row_offsets, column_indices, edge_weights, forest, named); });
    std::sort(named.begin(), named.end());
    named.erase(std::lower_bound(named.begin(), named.end(), NO_ENTRY), named.end());
    return named == expected();
  }
  Entries expected() const {
    Array<int> label(n), source(m);
    std::iota(label.begin(), label.end(), 0);
    for (int v = 0; v < n; v++) std::fill(source.begin() + row_offsets[v], source.begin() + row_offsets[v + 1], v);
    Entries entries, taken;
    for (int e = 0; e < m; e++)
      if (source[e] < column_indices[e]) entries.push_back((uint)e);
    std::stable_sort(entries.begin(), entries.end(),
                     [&](uint a, uint b) { return (int)edge_weights[a] < (int)edge_weights[b]; });
    auto root = [&](int v) { while (label[v] != v) v = label[v] = label[label[v]]; return v; };
    for (uint e : entries) {
      const int a = root(source[e]), b = root(column_indices[e]);
      if (a == b) continue;
      label[a] = b;
      taken.push_back(e);
    }
    std::sort(taken.begin(), taken.end());
    return taken;
  }
};
