/* Shortest paths by rounds over all vertices, launched as clgraph/algorithms/traversal/plan.py does. */
#pragma once

#define PIECE 3
#include "traversal/child_launch.cl"
#include "traversal/node_splitting.cl"
#include "traversal/topology_driven.cl"

struct Rounds {
  int n;
  Array<int> row_offsets = {0}, column_indices, edge_weights;
  Array<dist_t> distances;
  Array<uint> state, work;

  Rounds(Random &random, ulong seed) : n(4 + (int)random.below(20)), state(STATE_WORDS), work(8) {
    std::vector<Array<int>> rows(n);
    for (uint k = 4 * n; k; k--)           /* many ways to few vertices, so that they are lowered at the same time */
      rows[random.below(n)].push_back((int)random.below(seed % 2 ? n : std::min(n, 6)));
    for (int v = 1; v < n; v++) rows[v - 1].push_back(v);
    for (const auto &row : rows) put_row(row_offsets, column_indices, row);
    for (size_t e = 0; e < column_indices.size(); e++) edge_weights.push_back((int)random.below(30));
  }
  void begin(int n_words) {
    const int source = 0;
    distances.resize(n_words);
    launch(std::max(n_words, STATE_WORDS), [&] { initialize(n_words, distances, state); });
    launch(1, [&] { start(1, &source, distances); });
  }
  bool right() const {
    Array<dist_t> expected(n, FAR_AWAY);
    expected[0] = 0;
    for (int turn = 0; turn < n; turn++)
      for (int v = 0; v < n; v++)
        for (int e = row_offsets[v]; e < row_offsets[v + 1] && expected[v] != FAR_AWAY; e++)
          expected[column_indices[e]] = std::min(expected[column_indices[e]], expected[v] + (dist_t)edge_weights[e]);
    return std::equal(expected.begin(), expected.end(), distances.begin());
  }
};

static bool topology_driven_right(Random &random, ulong seed) {
  Rounds on(random, seed);
  on.begin(on.n);
  for (uint round = 1; on.state[STATE_CHANGED] + 1 == round; round++)
    launch(on.n, [&] {
      relax_vertices(on.n, round, LONGEST, on.row_offsets, on.column_indices, on.edge_weights, on.state, on.distances,
                     on.work);
    });
  return on.right();
}

static bool node_splitting_right(Random &random, ulong seed) {
  Rounds on(random, seed);
  const int n = on.n, mda = 1 + (int)random.below(5);
  Array<int> counts(n), first_child(n + 1);
  launch(n, [&] { count_children(n, mda, on.row_offsets, counts); });
  for (int v = 0; v < n; v++) first_child[v + 1] = first_child[v] + counts[v];
  const int n_parts = n + first_child[n];
  Array<int> begin(n_parts), end(n_parts), parent(n_parts);
  launch(n_parts, [&] { fill_parts(n, n_parts, on.row_offsets, first_child, begin, end, parent); });
  on.begin(ATOMIC ? n : n_parts);
  for (uint round = 1; on.state[STATE_CHANGED] + 1 == round; round++) {
    if (!ATOMIC)
      launch(n_parts, [&] { child_update(n_parts, round, n, parent, on.state, on.distances); });
    launch(n_parts, [&] {
      relax_parts(n_parts, round, LONGEST, n, on.column_indices, on.edge_weights, begin, end, parent, on.state,
                  on.distances, on.work);
    });
  }
  return on.right();
}

static bool child_launch_right(Random &random, ulong seed) {
  Rounds on(random, seed);
  const int threshold = (int)random.below(6);
  const size_t n_groups = (on.n + WG_SIZE - 1) / WG_SIZE;
  Array<int2> pieces(on.column_indices.size());
  on.work.resize(n_groups + 2);
  on.begin(on.n);
  auto run = [&](uint round) {
    launch(on.n, [&] {
      relax_or_launch(on.n, round, LONGEST, threshold, on.row_offsets, on.column_indices, on.edge_weights, pieces,
                      on.state, on.distances, on.work);
    });
    launch(2 * WG_SIZE, [&] {
      relax_pieces(on.n, round, LONGEST, (int)n_groups, on.row_offsets, on.column_indices, on.edge_weights, pieces,
                   on.state, on.distances, on.work);
    });
  };
  uint round = 1;
  for (; on.state[STATE_CHANGED] + 1 == round; round++) run(round);
  if (!on.right()) return false;
  std::fill(on.work.begin(), on.work.end(), 0u);
  on.state[STATE_CHANGED] = round - 1;     /* one more, in which nothing changes */
  run(round);
  uint work = 0, edges = 0;
  for (uint part : on.work) work += part;
  for (int v = 0; v < on.n; v++)
    if (on.distances[v] != FAR_AWAY) edges += (uint)(on.row_offsets[v + 1] - on.row_offsets[v]);
  return !BALANCE || work == edges;
}

/* A way that is too long for its type is told. */
static bool overflow_right(Random &random, ulong seed) {
  Rounds on(random, seed);
  std::fill(on.edge_weights.begin(), on.edge_weights.end(), INT_MAX);
  on.begin(on.n);
  for (uint round = 1; on.state[STATE_CHANGED] + 1 == round; round++)
    launch(on.n, [&] {
      relax_vertices(on.n, round, LONGEST, on.row_offsets, on.column_indices, on.edge_weights, on.state, on.distances,
                     on.work);
    });
  const bool is_far = std::count_if(on.distances.begin(), on.distances.end(), [](dist_t d) { return d > 2u * INT_MAX; });
  return !is_far || on.state[STATE_OVERFLOW];
}

static const Case cases[] = {
  {"topology_driven", topology_driven_right}, {"node_splitting", node_splitting_right},
  {"child_launch", child_launch_right}, {"overflow", overflow_right},
};
