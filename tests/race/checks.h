/* The check of CSR arrays, launched as clgraph/runtime/check_csr.py does. */
#pragma once
#include "host.h"
static inline long clamp(long x, long least, long most) { return x < least ? least : x > most ? most : x; }
#define BLOCK 1                  /* so that several work-items report at once */
#define WEIGHTS_ARE_FLOATS 1
#include "data/check_csr.cl"

/* Return the first place after *first* where *wrong* holds, ~0 if there is none. */
template <class Wrong> static uint first_place(long n, Wrong wrong) {
  for (long k = 0; k < n; k++)
    if (wrong(k)) return (uint)k;
  return ~0u;
}

static bool check_csr_right(Random &random, ulong) {
  const int n = 1 + (int)random.below(40), falls = random.below(3) == 0, strays = (int)random.below(3), nans = (int)random.below(3);
  std::vector<int> offsets = {0}, columns;
  for (int v = 0; v < n; v++) {
    std::vector<int> row(random.below(6));
    for (int &u : row) u = (int)random.below(n);
    if (random.below(40)) std::sort(row.begin(), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    offsets.push_back((int)columns.size());
  }
  const long m = (long)columns.size();
  columns.push_back(-7);         /* room for more */
  std::vector<uint> weights(m + 1, 0x7f800000u);
  if (falls)
    for (int k = 0; k < 4; k++) offsets[random.below(n)] = (int)random.below(m + 1);
  for (long k = 0; k < m; k++) {
    if (strays == 1 && !random.below(4)) columns[k] = random.below(2) ? n : -1;
    if (nans == 1 && !random.below(4)) weights[k] = 0xffc00000u;
  }
  bool is_sorted = true;
  for (int v = 0; v < n && !falls; v++)
    is_sorted = is_sorted && std::is_sorted(columns.begin() + offsets[v], columns.begin() + offsets[v + 1]);
  std::vector<uint> state = {~0u, ~0u, ~0u, 0, 0, 0};
  launch((1 + random.below(3)) * WG_SIZE, [&] {
    check_csr(n, m + 1, offsets.data(), columns.data(), weights.data(), state.data());
  });
  return state[STATE_OFFSET] == first_place(n + 1, [&](long v) { return v ? offsets[v] < offsets[v - 1] : offsets[v] != 0; })
    && state[STATE_COLUMN] == first_place(m, [&](long k) { return columns[k] < 0 || columns[k] >= n; })
    && state[STATE_WEIGHT] == first_place(m, [&](long k) { return weights[k] == 0xffc00000u; })
    && (falls || (state[STATE_DESCENTS] == 0) == is_sorted) && state[STATE_LAST] == (uint)m;
}

static const Case cases[] = {{"check_csr", check_csr_right}};
