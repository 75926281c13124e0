/* The check of CSR arrays, launched as clgraph/runtime/graphs/check_csr.py does. */
#pragma once
#include "host.h"
static inline long clamp(long x, long least, long most) { return x < least ? least : x > most ? most : x; }
#define BLOCK 4                  /* Arrays have several blocks, so several work-groups report at once. */
#define WEIGHTS WEIGHTS_FLOAT
#include "data/check_csr.cl"

/* Return the first block with a place where *wrong* holds, ~0 if there is none. */
template <class Wrong> static uint first_block(long n, Wrong wrong) {
  for (long k = 0; k < n; k++)
    if (wrong(k)) return (uint)(k / BLOCK);
  return ~0u;
}

static bool check_csr_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(40), falls = random.below(3) == 0, strays = (int)random.below(3), nans = (int)random.below(3);
  const bool is_mirrored = random.below(2);
  const int wants = random.below(4) ? WANTS_SYMMETRY : (int)random.below(2);
  std::vector<std::vector<std::pair<int, uint>>> rows(n);
  for (uint k = random.below(3 * n); k; k--) {
    const int u = (int)random.below(n), v = (int)random.below(n);
    const uint weight = random.below(9) ? 0x3f800000u + random.below(9) : 0x80000000u * random.below(2);
    rows[u].push_back({v, weight});
    if (u != v && (is_mirrored || random.below(2))) rows[v].push_back({u, weight == 0x80000000u ? 0u : weight});
  }
  Array<int> offsets = {0}, columns;
  Array<uint> weights;
  for (auto &row : rows) {
    if (random.below(40)) std::sort(row.begin(), row.end());
    for (auto [u, weight] : row) columns.push_back(u), weights.push_back(weight);
    offsets.push_back((int)columns.size());
  }
  const long m = (long)columns.size();
  columns.push_back(-7);         /* room for more */
  weights.push_back(0x7fffffffu);
  if (falls)
    for (int k = 0; k < 4; k++) offsets[random.below(n)] = (int)random.below(m + 1);
  for (long k = 0; k < m; k++) {
    if (strays == 1 && !random.below(4)) columns[k] = random.below(2) ? n : -1;
    if (nans == 1 && !random.below(4)) weights[k] = 0xffc00000u;
  }
  uint descents = 0, repeats = 0;
  std::map<std::tuple<int, int, uint>, int> lone;
  for (int v = 0; v < n && !falls; v++)
    for (int k = offsets[v]; k < offsets[v + 1]; k++) {
      if (k > offsets[v]) descents += columns[k] < columns[k - 1], repeats += columns[k] == columns[k - 1];
      const uint weight = weights[k] == 0x80000000u ? 0u : weights[k];
      lone[{v, columns[k], weight}]++, lone[{columns[k], v, weight}]--;
    }
  const bool is_symmetric = std::all_of(lone.begin(), lone.end(), [](auto &entry) { return entry.second == 0; });
  Array<uint> state(STATE_WORDS), ranges(6, 0u);
  state[STATE_OFFSET] = state[STATE_COLUMN] = state[STATE_WEIGHT] = ~0u;
  for (int k = 0; k < 2; k++) ranges[2 * k] = ~0u;
  const long n_groups = 1 + random.below(3);
  const long part = random.below(2) ? m + 1 : BLOCK * (1 + random.below(5));  /* the entries come in parts */
  for (long begin = 0; begin <= m; begin += part)
    launch(n_groups * WG_SIZE, [&] {
      check_csr(n, wants, begin, std::min(begin + part, m + 1), offsets, columns, weights, ranges, state);
    }, WITH_BARRIERS);
  if (state[STATE_OFFSET] != first_block(n + 1, [&](long v) { return v ? offsets[v] < offsets[v - 1] : offsets[v] != 0; })
      || state[STATE_COLUMN] != first_block(m, [&](long k) { return columns[k] < 0 || columns[k] >= n; })
      || state[STATE_WEIGHT] != first_block(m, [&](long k) { return weights[k] == 0xffc00000u; })
      || state[STATE_LAST] != (uint)m) return false;
  uint least = ~0u, greatest = 0;
  for (long k = 0; k < n_groups; k++) least = std::min(least, ranges[2 * k]), greatest = std::max(greatest, ranges[2 * k + 1]);
  for (long k = 0; k < m; k++)
    if (ordered(weights[k]) < least || ordered(weights[k]) > greatest) return false;
  const bool is_zero = !(state[STATE_SUM] | state[STATE_SUM + 1]);
  if (falls || strays == 1) return true;
  if (state[STATE_DESCENTS] != (wants ? descents : 0u) || state[STATE_REPEATS] != (wants ? repeats : 0u)) return false;
  return is_zero == (is_symmetric || wants != WANTS_SYMMETRY);
}

static const Case cases[] = {{"check_csr", check_csr_right}};
