/* Strongly connected components, launched as clgraph/algorithms/strongly_connected_components/plan.py does: a launch for each
 * round and step, or with ONE_LAUNCH all rounds and all steps in one launch each, whose groups meet at the grid's barrier. */
#pragma once
#include "host.h"
#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and the others do their work */
#define EACH 4
#define ROWS 2
#include "strongly_connected_components/search.cl"
#include "strongly_connected_components/collect.cl"
#include "strongly_connected_components/propagate.cl"
#include "strongly_connected_components/number.cl"
#include "strongly_connected_components/depth_first.cl"

static const Grouping TOGETHER = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;
#define IN_ONE_GROUP (ONE_LAUNCH && WG_SIZE > 1)

struct Digraph {
  int n, m;
  size_t n_items;
  Array<int> row_offsets, column_indices, labels, least;
  Array<uint> forward, backward, control, after_stamps, before_stamps, chunks;
  Array<int2> pieces, edges, other_edges;

  explicit Digraph(Random &random) : n(4 + (int)random.below(26)), control(CONTROL_WORDS) {
    const uint kind = random.below(4);
    row_offsets = {0};
    for (int u = 0; u < n; u++) {
      std::vector<int> row;
      if (kind == 0 && u + 1 < n) row.push_back(u + 1);  /* a path, with some ways back */
      if (kind == 1) row.push_back(u % 5 == 4 || u + 1 == n ? u / 5 * 5 : u + 1);  /* cycles, joined at random */
      for (uint k = random.below(kind < 2 ? 2 : 4); k; k--) row.push_back((int)random.below(n));
      if (kind == 3 && u < 2) for (int v = 0; v < n; v += 2) row.push_back(v);  /* long rows */
      put_row(row_offsets, column_indices, row);
    }
    m = (int)column_indices.size();
    for (auto *words : {&labels, &least}) words->resize(n);
    for (auto *words : {&forward, &backward}) words->resize(n);
    pieces.resize(2 * m / LONG_ROW + 1);
    for (auto *list : {&edges, &other_edges}) list->resize(m + 1);
    for (auto *words : {&after_stamps, &before_stamps}) words->resize(n / CHUNK + 1);
    chunks.resize((m / BLOCK_EDGES + 1) * SUB_GROUPS_PER_GROUP * SLOTS);
    n_items = WG_SIZE * (IN_ONE_GROUP ? 1 : 1 + random.below(4));
    linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
    column_indices.push_back(-7);
  }
  /* Returns whether the bound of the number of live edges is right. */
  bool search_from_pivot(uint n_rounds) {
    launch(WG_SIZE, [&] { choose_pivot(m, row_offsets, column_indices, forward, backward, control); }, TOGETHER);
    for (uint first = 1; first <= n_rounds; first = ONE_LAUNCH ? n_rounds + 1 : first + 1)
      launch(n_items, [&] {
        search(n, first, ONE_LAUNCH ? n_rounds : first, row_offsets, column_indices, pieces, control, forward, backward);
      }, TOGETHER);
    launch(n_items, [&] { settle(n, row_offsets, forward, backward, labels, control); });
    const bool whole = control[SEARCH_FOUND] < control[SEARCH_ROUND];
    uint bound = 0;
    for (int v = 0; v < n; v++)
      if (!(whole && forward[v] && backward[v])) bound += (uint)(row_offsets[v + 1] - row_offsets[v]);
    return control[BOUND_LOW] + (control[BOUND_HIGH] << 16) == bound;
  }
  bool find_components() {
    launch(n_items, [&] {
      collect(n, row_offsets, column_indices, pieces, forward, backward, control, edges);
    }, TOGETHER);
    uint t = 0;
    do {
      t++;
      launch(n_items, [&] {
        propagate(t, ONE_LAUNCH ? 10000 : t, control, edges, other_edges, forward, backward, after_stamps, before_stamps,
                  chunks, labels);
      }, TOGETHER);
    } while (!ONE_LAUNCH && (control[STEP_STATE + (t & 1u)] & PHASE_MASK) != DONE && t < 10000);
    return !control[SEARCH_GRID + GRID_STATUS] && !control[PROPAGATE_GRID + GRID_STATUS];
  }
  /* Whether the components are those of the definition, numbered by their smallest vertices. */
  bool right() {
    Array<int> is_first(n + 1), rank(n + 1), numbers(n + 1), expected(n);
    launch(n_items, [&] { find_least(n, labels, least); });
    launch(n_items, [&] { mark_least(n, labels, least, is_first); });
    std::partial_sum(is_first.begin(), is_first.end() - 1, rank.begin() + 1);
    launch(n_items, [&] { number_components(n, labels, least, rank, numbers); });
    std::vector<std::vector<char>> reaches(n, std::vector<char>(n));
    for (int u = 0; u < n; u++) {
      reaches[u][u] = 1;
      for (int e = row_offsets[u]; e < row_offsets[u + 1]; e++) reaches[u][column_indices[e]] = 1;
    }
    for (int k = 0; k < n; k++)
      for (int u = 0; u < n; u++)
        for (int v = 0; v < n; v++) reaches[u][v] |= reaches[u][k] & reaches[k][v];
    int count = 0;
    for (int v = 0; v < n; v++) {
      int u = 0;
      while (!(reaches[u][v] && reaches[v][u])) u++;
      expected[v] = u == v ? count++ : expected[u];
    }
    Array<uint> index(n);
    Array<int> stack(n), places(n), in_depth(n), found(1);
    launch(1, [&] { find_in_depth(n, row_offsets, column_indices, index, stack, places, in_depth, found); });
    return std::equal(expected.begin(), expected.end(), numbers.begin()) && numbers[n] == count &&
           std::equal(expected.begin(), expected.end(), in_depth.begin()) && found[0] == count;
  }
};

static bool components_right(Random &random, ulong) {
  Digraph on(random);
  launch(on.n_items, [&] {
    start(on.n, on.row_offsets, on.labels, on.least, on.forward, on.backward, on.after_stamps, on.before_stamps, on.pieces,
          on.control);
  });
  if (SEARCHED && on.m && !on.search_from_pivot(random.below(3) ? 1000 : 1 + random.below(3))) return false;
  return on.find_components() && on.right();
}

/* A group that waits for a missing group reports STATUS_TIMEOUT and ends at its first barrier. */
static bool alone_right(Random &random, ulong) {
#if ONE_LAUNCH
  Digraph on(random);
  on.forward[0] = on.backward[0] = 1;
  launch_alone(&on.control[SEARCH_GRID + GRID_DOOR], [&] {
    search(on.n, 1, 1000, on.row_offsets, on.column_indices, on.pieces, on.control, on.forward, on.backward);
  });
  on.control[N_EDGES] = 1;
  on.edges[0] = make_int2(0, 1);
  launch_alone(&on.control[PROPAGATE_GRID + GRID_DOOR], [&] {
    propagate(1, 1000, on.control, on.edges, on.other_edges, on.forward, on.backward, on.after_stamps,
              on.before_stamps, on.chunks, on.labels);
  });
  return on.control[SEARCH_GRID + GRID_STATUS] == STATUS_TIMEOUT && on.control[PROPAGATE_GRID + GRID_STATUS] == STATUS_TIMEOUT;
#else
  return true;
#endif
}

static const Case cases[] = {{"strong_components", components_right}, {"alone", alone_right}};
