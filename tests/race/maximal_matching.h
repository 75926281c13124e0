/* Maximal matchings, launched as clgraph/algorithms/maximal_matching does. */
#pragma once
#include "host.h"
#include <map>
#define STEPS 2
#ifndef TRIES
#define TRIES 1
#endif
#ifndef LONG_ROW
#define LONG_ROW 6
#endif
#include "maximal_matching/rounds.cl"

static const Grouping GROUPS = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

static bool matching_right(Random &random, ulong seed) {
  const int n = 1 + (int)random.below(25);
  const uint key = random.below(1u << 30), n_weights = 1 + random.below(6);
  std::vector<std::map<int, uint>> rows(n);
  auto add = [&](int u, int v) { rows[u][v] = rows[v][u] = random.below(n_weights) - 2u; };
  for (uint k = random.below(3 * n); k; k--) add((int)random.below(n), (int)random.below(n));
  for (int v = 1; v < n && seed % 2; v++) add(v - 1, v);
  for (int v = 0; v < n && seed % 3 == 0; v++) add((int)random.below(2) % n, v);
  Array<int> offsets = {0}, columns;
  Array<uint> weights;
  struct Edge { uint weight, hash; int u, v; };
  std::vector<Edge> edges;
  for (int v = 0; v < n; v++) {
    for (auto [u, weight] : rows[v]) {
      columns.push_back(u), weights.push_back(weight);
      edges.push_back({key_of(weight), edge_hash(hash_of(u, key) + hash_of(v, key)), u, v});
    }
    offsets.push_back((int)columns.size());
  }
  columns.push_back(-7), weights.push_back(7u);
  Array<int> mates(n, 7), choices(n, 7), lists(2 * n, -7), long_rows(n, -7);
  Array<uint> mate_weights(n, 7u), state(STATE_WORDS, 7u);
  launch(std::max(n, STATE_WORDS), [&] { start(n, offsets, mates, choices, state); });
  launch(n, [&] { list_long_rows(n, offsets, long_rows, state); }, GROUPS);
  const size_t n_items = (1 + random.below(4)) * WG_SIZE;
  int round = 0;
  for (; round <= n + 2 && state[STATE_LISTED + round % 3]; round++) {
    launch(n_items, [&] {
      choose_long(round, key, offsets, columns, weights, long_rows, mates, choices, mate_weights, state);
    }, GROUPS);
    launch(n_items, [&] {
      run_round(n, round, key, offsets, columns, weights, mates, choices, mate_weights, lists, state);
    }, GROUPS);
  }
  launch(n_items, [&] { weigh(n, mates, mate_weights, state); }, GROUPS);

  std::stable_sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) {
    return std::make_pair(a.weight, a.hash) > std::make_pair(b.weight, b.hash);
  });
  Array<int> expected(n, NOBODY);
  Array<uint> expected_weights(n, 0u);
  uint size = 0;
  for (const Edge &edge : edges) {
    const auto [weight, hash, u, v] = edge;
    if (u == v || expected[u] != NOBODY || expected[v] != NOBODY) continue;
    expected[u] = v, expected[v] = u, expected_weights[std::min(u, v)] = rows[u][v];
    size++;
  }
  return mates == expected && mate_weights == expected_weights && state[STATE_MATCHED] == size &&
         !state[STATE_LISTED + round % 3];
}

static const Case cases[] = {{"maximal_matching", matching_right}};
