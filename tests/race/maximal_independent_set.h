/* Maximal independent sets, launched as clgraph/algorithms/maximal_independent_set does. */
#pragma once
#include "host.h"
#include <set>
#define STEPS 2
#define ALONE 4u                 /* rows that a sub-group goes through together */
#ifndef TRIES
#define TRIES 1
#endif
#include "maximal_independent_set/rounds.cl"

static const Grouping GROUPS = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

static bool set_right(Random &random, ulong seed) {
  const int n = 1 + (int)random.below(30), by_degree = (int)random.below(2);
  const uint key = random.below(1u << 30);
  std::vector<std::set<int>> rows(n);
  auto add = [&](int u, int v) { rows[u].insert(v), rows[v].insert(u); };
  for (uint k = random.below(3 * n); k; k--) add((int)random.below(n), (int)random.below(n));
  for (int v = 1; v < n && seed % 2; v++) add(v - 1, v);
  for (int v = 0; v < n && seed % 3 == 0; v++) add((int)random.below(2) % n, v);
  Array<int> offsets = {0}, columns, included;
  for (const auto &row : rows) put_row(offsets, columns, row);
  columns.push_back(-7);
  if (random.below(2)) included.push_back((int)random.below(n));
  Array<uint> words(n, 7u), state(STATE_WORDS, 7u);
  Array<uint2> lists(2 * n);
  Array<uchar> members(n, (uchar)7);
  launch(std::max(n, STATE_WORDS), [&] { start(n, key, by_degree, offsets, words, state); });
  launch(1, [&] { include_vertices((int)included.size(), included, words); });
  const Array<uint> priorities = words;
  const size_t n_items = (1 + random.below(4)) * WG_SIZE;
  int round = 0;
  for (; round <= n && state[STATE_LISTED + round % 3]; round++)
    launch(n_items, [&] { run_round(n, round, key, offsets, columns, words, lists, state); }, GROUPS);
  launch(n_items, [&] { write_members(n, words, members, state); }, GROUPS);

  Array<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int u, int v) {
    return std::make_pair(priorities[u], hash_of(u, key)) > std::make_pair(priorities[v], hash_of(v, key));
  });
  Array<uchar> expected(n, (uchar)1);
  uint size = 0;
  for (int v : order) {
    size += expected[v];
    for (int u : rows[v])
      if (u != v && expected[v]) expected[u] = 0;
  }
  return members == expected && state[STATE_MEMBERS] == size && state[STATE_ROUNDS] == (uint)round &&
         !state[STATE_LISTED + round % 3];
}

static const Case cases[] = {{"independent_set", set_right}};
