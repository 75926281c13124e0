/* PageRank in blocks of rows and by whole rows, launched as clgraph/algorithms/pagerank/plan.py does. */
#pragma once
#include "host.h"
#define BLOCK 8
#define PIECE 5
#define RANK_T double
#include "pagerank/start.cl"
#include "pagerank/rows.cl"
#include "pagerank/row_blocks.cl"

static const Grouping GROUPS = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

struct Walk {
  int n;
  Array<int> offsets, columns, out_offsets;
  Array<double> ranks, scale, shares, partials, totals, settings, none;
  Array<uint> control;
};

/* A random graph, as rows of predecessors, and the arrays of a run on n_groups groups. */
static Walk random_walk(Random &random, size_t n_groups) {
  Walk w;
  const int n = w.n = 1 + (int)random.below(30);
  Array<int> degrees(n);
  w.offsets = {0};
  for (int v = 0; v < n; v++) {
    for (uint k = random.below(random.below(6) ? 4 : 30); k; k--) w.columns.push_back((int)random.below(n));
    w.offsets.push_back((int)w.columns.size());
  }
  for (int u : w.columns) degrees[u]++;
  w.out_offsets = {0};
  for (int d : degrees) w.out_offsets.push_back(w.out_offsets.back() + d);
  w.columns.push_back(-7);
  w.ranks.resize(n), w.scale.resize(n), w.shares.resize(2 * n), w.partials.resize(2 * n_groups);
  w.totals.resize(2), w.control.resize(CONTROL_WORDS), w.none.resize(1);
  w.settings = {0.75, 1.0 / n, 0.0, 1.0 / n};  /* never converged */
  return w;
}

static bool are_right(const Walk &w, uint rounds) {
  Array<double> ranks(w.n, 1.0 / w.n), next(w.n);
  for (uint k = 0; k < rounds; k++) {
    double dangling = 0;
    for (int v = 0; v < w.n; v++) dangling += w.out_offsets[v + 1] == w.out_offsets[v] ? ranks[v] : 0;
    for (int v = 0; v < w.n; v++) {
      double sum = dangling / w.n;
      for (int e = w.offsets[v]; e < w.offsets[v + 1]; e++) {
        const int u = w.columns[e];
        sum += ranks[u] / (w.out_offsets[u + 1] - w.out_offsets[u]);
      }
      next[v] = 0.25 / w.n + 0.75 * sum;
    }
    ranks = next;
  }
  for (int v = 0; v < w.n; v++)
    if (fabs(ranks[v] - w.ranks[v]) > 1e-12) return false;
  return w.control[ROUNDS] == rounds && w.control[TICKET] == 0;
}

static void begin(Walk &w, size_t n_groups) {
  launch(n_groups * WG_SIZE, [&] {
    start(w.n, w.none, w.out_offsets, w.scale, w.settings, w.ranks, w.shares, w.partials, w.totals, w.control);
  }, GROUPS);
}

static bool rows_right(Random &random, ulong) {
  const size_t n_groups = 1 + random.below(4);
  Walk w = random_walk(random, n_groups);
  Array<int> blocks = {0};
  while (blocks.back() < w.n) blocks.push_back(std::min(w.n, blocks.back() + 1 + (int)random.below(4)));
  begin(w, n_groups);
  for (uint round = 1; round <= 3; round++)
    launch(n_groups * WG_SIZE, [&] {
      pull_rows(w.n, (int)blocks.size() - 1, round, w.offsets, w.columns, w.none, blocks, w.scale, w.none, w.none,
                w.settings, w.ranks, w.shares, w.partials, w.totals, w.control);
    }, GROUPS);
  return are_right(w, 3);
}

static bool blocks_right(Random &random, ulong) {
  const size_t n_groups = 1 + random.below(4);
  Walk w = random_walk(random, n_groups);
  Array<int2> blocks, pieces;
  for (int v = 0, key = -1; v < w.n; v++) {
    const int length = w.offsets[v + 1] - w.offsets[v], own = (w.offsets[v] + v) / BLOCK;
    const bool is_long = length > BLOCK;
    if (is_long || own != key) blocks.push_back(make_int2(v, is_long ? (int)pieces.size() : -1));
    key = is_long ? -1 : own;
    for (int k = 0; is_long && k * PIECE < length; k++) pieces.push_back(make_int2(v, k));
  }
  const int n_blocks = (int)blocks.size(), n_pieces = (int)pieces.size();
  blocks.push_back(make_int2(w.n, -1));
  pieces.push_back(make_int2(-7, -7));
  Array<double> piece_sums(pieces.size());
  begin(w, n_groups);
  for (uint round = 1; round <= 3; round++) {
    launch(n_groups * WG_SIZE, [&] {
      add_pieces(w.n, n_pieces, round, w.offsets, w.columns, w.none, pieces, w.shares, piece_sums, w.control);
    }, GROUPS);
    launch(n_groups * WG_SIZE, [&] {
      pull_blocks(w.n, n_blocks, round, w.offsets, w.columns, w.none, blocks, piece_sums, w.scale, w.none, w.none,
                  w.settings, w.ranks, w.shares, w.partials, w.totals, w.control);
    }, GROUPS);
  }
  return are_right(w, 3);
}

static const Case cases[] = {{"whole_rows", rows_right}, {"row_blocks", blocks_right}};
