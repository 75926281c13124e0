/* Triangles by tables, by marks and by merging, launched as clgraph/algorithms/triangles/strategies.py does. */
#pragma once
#include "host.h"
#include <set>
#define TILE 16                  /* tiles and tables so small that rows lie in several of them */
#define SHORT_ROW 2
#define TEAM_SLOTS 8
#define LONG_SLOTS 16
#define BLOCK 3u
#include "triangles/orient.cl"
#include "triangles/count.cl"
#include "triangles/marks.cl"
#include "triangles/merge.cl"

static const Grouping GROUPS = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

struct Counting {
  int n;
  Array<int> offsets, columns, degrees, forward_offsets, forward_columns;
  Array<uint> counts, control;
};

/* A random graph with sorted rows, some of them long, with self-loops and repeats, and its oriented graph. */
static Counting oriented(Random &random) {
  Counting c;
  const int n = c.n = 1 + (int)random.below(25);
  std::multiset<std::pair<int, int>> entries;
  for (uint k = random.below(1 + 4 * n); k; k--) {
    const int u = (int)random.below(n), v = (int)random.below(random.below(3) ? n : 1 + n / 3);
    entries.insert({u, v});
    entries.insert({v, u});
  }
  c.offsets.assign(n + 1, 0);
  for (auto &[u, v] : entries) c.offsets[u + 1]++, c.columns.push_back(v);
  for (int v = 0; v < n; v++) c.offsets[v + 1] += c.offsets[v];
  const long m = (long)c.columns.size();
  const int n_tiles = std::max(1, (int)((m + TILE - 1) / TILE));
  c.columns.push_back(-7);
  c.degrees.assign(n, -7), c.counts.assign(2 * n, 7u), c.control.assign(CONTROL_WORDS, 7u);
  c.forward_offsets.assign(n + 1, -7), c.forward_columns.assign(m / 2 + 1, -7);
  Array<int> tile_counts(n_tiles), tile_begins(n_tiles + 1);
  Array<uchar> kept(m + 1);
  launch(std::max(n, CONTROL_WORDS), [&] { start(n, c.offsets, c.degrees, c.counts, c.control); });
  launch(n_tiles * WG_SIZE, [&] { count_tiles(n, m, c.offsets, c.columns, kept, tile_counts, c.degrees); }, GROUPS);
  for (int t = 0; t < n_tiles; t++) tile_begins[t + 1] = tile_begins[t] + tile_counts[t];
  launch(n_tiles * WG_SIZE, [&] {
    write_tiles(n, n_tiles, m, c.offsets, c.columns, kept, tile_begins, c.forward_offsets, c.forward_columns);
  }, GROUPS);
  return c;
}

static bool are_right(const Counting &c) {
  Array<std::set<int>> neighbors(c.n);
  for (int v = 0; v < c.n; v++)
    for (int e = c.offsets[v]; e < c.offsets[v + 1]; e++)
      if (c.columns[e] != v) neighbors[v].insert(c.columns[e]);
  ulong total = 0;
  for (int v = 0; v < c.n; v++) {
    ulong count = 0;
    for (int u : neighbors[v])
      for (int w : neighbors[u]) count += neighbors[v].count(w);
    total += count;
    if (c.counts[2 * v] != count / 2 || c.counts[2 * v + 1] || c.degrees[v] != (int)neighbors[v].size()) return false;
  }
  return c.control[TOTAL] == total / 6 && !c.control[TOTAL + 1];
}

static bool tables_right(Random &random, ulong) {
  Counting c = oriented(random);
  const size_t n_items = (1 + random.below(4)) * WG_SIZE;
  Array<int> rows(c.n);
  launch(c.n, [&] { list_rows(c.n, c.forward_offsets, rows, c.control); }, GROUPS);
  launch(n_items, [&] { count_short(c.n, c.forward_offsets, c.forward_columns, c.counts, c.control); }, GROUPS);
  launch(n_items, [&] { count_medium(c.forward_offsets, c.forward_columns, rows, c.counts, c.control); }, GROUPS);
  launch(n_items, [&] { count_long(c.n, c.forward_offsets, c.forward_columns, rows, c.counts, c.control); }, GROUPS);
  return are_right(c);
}

static bool marks_right(Random &random, ulong) {
  Counting c = oriented(random);
  const size_t workers = 1 + random.below(4);
  const int n_hits = 2 + (int)std::sqrt((double)c.columns.size());
  Array<uint> marks(workers * c.n), hits(workers * n_hits);
  launch(workers, [&] {
    if (get_global_id(0) < workers)  /* its groups have one work-item */
      count_marked(c.n, n_hits, c.forward_offsets, c.forward_columns, marks, hits, c.counts, c.control);
  });
  return are_right(c);
}

static bool merge_right(Random &random, ulong) {
  Counting c = oriented(random);
  const size_t workers = 1 + random.below(4);
  launch(workers, [&] { count_merged(c.n, c.offsets, c.columns, c.degrees, c.counts, c.control); });
  return are_right(c);
}

static const Case cases[] = {
  {"triangle_tables", tables_right}, {"triangle_marks", marks_right}, {"triangle_merge", merge_right}
};
