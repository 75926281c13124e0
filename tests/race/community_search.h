/* A search for communities of a small graph with weights. */
#pragma once

#define LINGER linger
static unsigned linger;          /* short: some groups come too late, and leave their vertices to the others */
#include "communities/move.cl"
#include "communities/refine.cl"
#include "communities/contract.cl"

static const Grouping WITH_LOCAL_MEMORY = WG_SIZE == 1 ? INDEPENDENT : WITH_BARRIERS;

/* The arguments of kernels. */
#define ON_LEVEL (uint)on.n, 0, on.rows, on.columns, on.entries
#define ON_LONG_ROWS on.long_rows, on.n_long, on.long_begins
#define ON_HUBS on.hubs, on.hub_begins, on.hub_pieces, on.piece_hubs, on.hub_own, on.piece_best
#define ON_SLOTS on.room, on.keys, on.weights
#define MOVING                                                                                        \
  ON_LEVEL, ON_LONG_ROWS, ON_HUBS, ON_SLOTS, (uint)seed, factor, 1ul << 20, on.strengths, on.strengths, on.sums, on.sums, \
      on.sizes, on.labels, on.active, on.targets, on.previous, on.state, on.search

struct Searched {
  int n;
  uint room;
  Array<int> rows, columns, labels, active, targets, previous, sizes, keys, long_rows, hubs;
  Array<uint> long_begins, n_long, hub_begins, hub_pieces, piece_hubs;
  Array<long> entries, strengths, sums, weights, state, search, hub_own, piece_best;

  explicit Searched(Random &random)
      : n(12 + (int)random.below(20)), n_long(4), state(MAX_ROUNDS * ROUND_WORDS), search(SEARCH_WORDS) {
    std::vector<std::map<int, long>> found(n);
    for (int k = 0; k < 6 * n; k++) {       /* Some vertices have long rows. */
      const int u = (int)random.below(k % 3 ? n : 4), v = (int)random.below(n);
      if (u != v) found[u][v] = found[v][u] = 700000000l * (1 + (u + v) % 4);  /* Sums of two exceed 2^32. */
    }
    rows.push_back(0);
    strengths.resize(n);
    for (int v = 0; v < n; v++) {
      for (auto [u, w] : found[v]) {
        columns.push_back(u);
        entries.push_back(w);
        strengths[v] += w;
      }
      rows.push_back((int)columns.size());
      labels.push_back((int)random.below(n / 3));
    }
    for (auto *words : {&active, &targets, &previous, &sizes, &long_rows, &hubs}) words->resize(n);
    for (auto *words : {&long_begins, &hub_begins, &hub_pieces}) words->resize(n);
    sums.resize(n);
    hub_own.resize(n);
    piece_hubs.resize(columns.size());
    piece_best.resize(3 * columns.size());
    room = 3 * (uint)n;
    n_long[N_SLOTS] = room * (uint)n;      /* On CPUs each sub-group has a table. */
    keys.resize(room * n + 2 * columns.size(), NOBODY);
    weights.resize(keys.size());
    launch(n, [&] { clear_level(n, sums, sums, sizes, active); });
    launch(n, [&] { fill_level(n, labels, strengths, strengths, sums, sums, sizes); });
    launch(n, [&] {
      list_long_rows(n, rows, long_rows, n_long, long_begins, hubs, hub_begins, hub_pieces, piece_hubs, hub_own, piece_best);
    });
  }
  __int128 products() const {
    __int128 sum = 0;
    for (long x : sums) sum += (__int128)x * x;
    return sum;
  }
  /* Prepare the rounds of a level. */
  void begin(ulong factor) {
    search[SEARCH_ROUND] = search[SEARCH_RARITY] = 1;
    search[SEARCH_INSIDE] = inside(labels);
    search[SEARCH_PRODUCTS] = (long)(products() >> 64);
    search[SEARCH_PRODUCTS + 1] = (long)products();
    const __int128 gain = (__int128)factor * inside(labels) - (products() << 20);
    for (int k = 0; k < 3; k++) {
      search[SEARCH_GAINS + 2 * k] = (long)(gain >> 64);
      search[SEARCH_GAINS + 2 * k + 1] = (long)gain;
    }
  }
  bool slots_are_empty() const {
    return keys == Array<int>(keys.size(), NOBODY) && weights == Array<long>(weights.size());
  }
  ulong total() const { return (ulong)std::accumulate(strengths.begin(), strengths.end(), 0l); }
  long inside(const Array<int> &of) const {
    long sum = 0;
    for (int v = 0; v < n; v++)
      for (int e = rows[v]; e < rows[v + 1]; e++) sum += of[v] == of[columns[e]] ? entries[e] : 0;
    return sum;
  }
  Array<long> sums_of(const Array<int> &of) const {
    Array<long> found(n);
    for (int v = 0; v < n; v++) found[of[v]] += strengths[v];
    return found;
  }
  /* Whether the target of v gains most among the communities of its neighbours, and more than its own. */
  bool is_best(int v, const Array<int> &before, const Array<long> &sums_before) const {
    std::map<int, long> to;
    for (int e = rows[v]; e < rows[v + 1]; e++) to[before[columns[e]]] += entries[e];
    auto gain = [&](int c) {
      return (__int128)total() * to[c] - (__int128)strengths[v] * (sums_before[c] - (c == before[v] ? strengths[v] : 0));
    };
    const __int128 stay = gain(before[v]);
    __int128 most = stay;
    for (auto [c, w] : std::map<int, long>(to)) most = std::max(most, gain(c));
    if (!sizes[v] && stay < 0) most = std::max(most, gain(v));  /* an empty community */
    return targets[v] == NOBODY ? most == stay : gain(targets[v]) == most && most > stay;
  }
};
