/* PageRank in blocks of rows, by whole rows and of a batch, launched as clgraph/algorithms/pagerank/plan.py does. */
#pragma once
#include "host.h"
#define BLOCK 8
#define PIECE 5
#define RANK_T double
#include "pagerank/start.cl"
#include "pagerank/rows.cl"
#include "pagerank/row_blocks.cl"
#include "pagerank/lanes.cl"

static const Grouping GROUPS = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

struct Walk {
  int n;
  Array<int> offsets, columns, out_offsets;
  Array<double> ranks, scale, shares, partials, totals, settings, none, homes;  /* TEAM ranks and homes a vertex */
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
  w.ranks.resize(n * TEAM), w.scale.resize(n), w.shares.resize(2 * n * TEAM), w.partials.resize(2 * n_groups * TEAM);
  for (int v = 0; v < n * TEAM; v++) w.homes.push_back(PERSONAL ? random.below(9) / 9.0 : 1.0 / n);
  w.totals.resize(2 * TEAM), w.control.resize(CONTROL_WORDS), w.none.resize(1);
  w.settings = {0.75, 1.0 / n, 0.0, 1.0 / n};  /* never converged */
  return w;
}

static bool is_lane_right(const Walk &w, uint rounds, int lane) {
  Array<double> ranks(w.n, 1.0 / w.n), next(w.n);
  for (uint k = 0; k < rounds; k++) {
    double dangling = 0;
    for (int v = 0; v < w.n; v++) dangling += w.out_offsets[v + 1] == w.out_offsets[v] ? ranks[v] : 0;
    for (int v = 0; v < w.n; v++) {
      const double home = w.homes[v * TEAM + lane];
      double sum = dangling * home;
      for (int e = w.offsets[v]; e < w.offsets[v + 1]; e++) {
        const int u = w.columns[e];
        sum += ranks[u] / (w.out_offsets[u + 1] - w.out_offsets[u]);
      }
      next[v] = 0.25 * home + 0.75 * sum;
    }
    ranks = next;
  }
  for (int v = 0; v < w.n; v++)
    if (fabs(ranks[v] - w.ranks[v * TEAM + lane]) > 1e-12 * (1 + fabs(ranks[v]))) return false;
  return true;
}

static bool are_right(const Walk &w, uint rounds) {
  for (int lane = 0; lane < TEAM; lane++)
    if (!is_lane_right(w, rounds, lane)) return false;
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

struct Cut { Array<int2> blocks, pieces; };

/* Cut the rows into blocks, and long rows into pieces. */
static Cut cut_rows(const Walk &w) {
  Cut cut;
  for (int v = 0, key = -1; v < w.n; v++) {
    const int length = w.offsets[v + 1] - w.offsets[v], own = (w.offsets[v] + v) / BLOCK;
    const bool is_long = length > BLOCK;
    if (is_long || own != key) cut.blocks.push_back(make_int2(v, is_long ? (int)cut.pieces.size() : -1));
    key = is_long ? -1 : own;
    for (int k = 0; is_long && k * PIECE < length; k++) cut.pieces.push_back(make_int2(v, k));
  }
  cut.blocks.push_back(make_int2(w.n, -1));
  cut.pieces.push_back(make_int2(-7, -7));
  return cut;
}

static bool blocks_right(Random &random, ulong) {
  const size_t n_groups = 1 + random.below(4);
  Walk w = random_walk(random, n_groups);
  Cut cut = cut_rows(w);
  const int n_blocks = (int)cut.blocks.size() - 1, n_pieces = (int)cut.pieces.size() - 1;
  Array<double> piece_sums(cut.pieces.size());
  begin(w, n_groups);
  for (uint round = 1; round <= 3; round++) {
    launch(n_groups * WG_SIZE, [&] {
      add_pieces(w.n, n_pieces, round, w.offsets, w.columns, w.none, cut.pieces, w.shares, piece_sums, w.control);
    }, GROUPS);
    launch(n_groups * WG_SIZE, [&] {
      pull_blocks(w.n, n_blocks, round, w.offsets, w.columns, w.none, cut.blocks, piece_sums, w.scale, w.none, w.none,
                  w.settings, w.ranks, w.shares, w.partials, w.totals, w.control);
    }, GROUPS);
  }
  return are_right(w, 3);
}

static bool lanes_right(Random &random, ulong) {
  const size_t n_groups = 1 + random.below(4);
  Walk w = random_walk(random, n_groups);
  Cut cut = cut_rows(w);
  const int n_blocks = (int)cut.blocks.size() - 1, n_pieces = (int)cut.pieces.size() - 1;
  Array<double> piece_sums(cut.pieces.size() * TEAM);
  begin(w, n_groups);
  for (uint round = 1; round <= 3; round++) {
    launch(n_groups * WG_SIZE, [&] {
      add_lane_pieces(w.n, n_pieces, round, w.offsets, w.columns, w.none, cut.pieces, w.shares, piece_sums, w.control);
    }, GROUPS);
    launch(n_groups * WG_SIZE, [&] {
      pull_lanes(w.n, n_blocks, round, w.offsets, w.columns, w.none, cut.blocks, piece_sums, w.scale, w.homes, w.none,
                 w.settings, w.ranks, w.shares, w.partials, w.totals, w.control);
    }, GROUPS);
  }
  return are_right(w, 3);
}

/* Kernels for one rank of a vertex are right without a team only. */
static bool whole_rows(Random &random, ulong seed) { return TEAM > 1 || rows_right(random, seed); }
static bool row_blocks(Random &random, ulong seed) { return TEAM > 1 || blocks_right(random, seed); }

static const Case cases[] = {{"whole_rows", whole_rows}, {"row_blocks", row_blocks}, {"lanes", lanes_right}};
