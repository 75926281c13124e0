/* Colourings at distance 2, launched as clgraph/algorithms/color does: windows of 32 or 64
 * colours, lists that shrink; rounds of claims, whose colours no schedule may change; and, where SIZED is 1, rounds in which
 * each net has a bitmap of its own size. */
#pragma once
#include "host.h"
#include "color/distance_two.cl"
#include "color/distance_two_claims.cl"
#include "color/net_bitmaps.cl"

/* A symmetric graph with sorted rows, hubs, parallel edges and self-loops. */
struct Closed {
  int n;
  Array<int> offsets = {0}, columns;
  layout_t layout;
  Array<uint> used, state;
  Array<int> order, lists[2], preferences, colors;

  explicit Closed(Random &random) : n(1 + (int)random.below(40)) {
    std::vector<Array<int>> rows(n);
    for (int k = (int)random.below(3 * n); k; k--) {
      const int u = (int)random.below(n), v = (int)random.below(random.below(3) ? n : std::min(n, 2));
      rows[u].push_back(v);
      if (u != v) rows[v].push_back(u);
    }
    for (auto &row : rows) {
      std::sort(row.begin(), row.end());
      put_row(offsets, columns, row);
    }
    columns.push_back(0);        /* An empty array would have no address. */
    layout.words = 1 + random.below(2);
    layout.net_stride = random.below(2) ? layout.words : 1;
    layout.word_stride = layout.net_stride == 1 ? n : 1;
    used.resize(n * layout.words);
    state.resize(N_LISTS);
    colors.assign(n, NO_COLOR);
    for (auto *list : {&order, &lists[0], &lists[1], &preferences}) list->resize(n);
    for (int v = 0; v < n; v++) {
      order[v] = v;
      preferences[v] = (int)random.below(8);
    }
  }
  bool is_proper() const {
    for (int v = 0; v < n; v++) {
      std::set<int> members(columns.begin() + offsets[v], columns.begin() + offsets[v + 1]), seen;
      members.insert(v);
      for (int u : members) seen.insert(colors[u]);
      if (seen.size() < members.size() || *seen.begin() < 0) return false;
    }
    return true;
  }
};

#if SIZED
static bool sized_right(Random &random, ulong) {
  Closed on(random);
  const uint chunk = random.below(2), n_teams = 1 + random.below(12);
  Array<uint> counts(on.n), ranks(on.n), tail(TAIL_STATE);
  Array<uint2> places(on.n), bitmaps(on.n);
  int base = 0;
  on.used.resize(on.n + 2 * (on.columns.size() + on.n));
  on.state[0] = on.n;
  for (uint step = 0; on.state[step % N_LISTS]; step++) {
    for (auto *cleared : {&counts, &ranks, &tail, &on.used}) std::fill(cleared->begin(), cleared->end(), 0u);
    int *source = step ? on.lists[(step + 1) % 2] : on.order;
    launch(n_teams * LANES, [&] { count_members(step, on.offsets, on.columns, source, on.state, counts); }, INDEPENDENT);
    launch(on.n, [&] { size_bitmaps(on.n, counts, tail, bitmaps); }, INDEPENDENT);
    launch(n_teams * LANES, [&] {
      find_places(step, on.offsets, on.columns, source, on.state, counts, ranks, places);
    }, GROUP_TEAM ? WITH_BARRIERS : INDEPENDENT);
    uint words = 0, numbered = 0;
    for (const uint2 &bitmap : bitmaps) words += bitmap.y + 1;
    for (uint rank : ranks) numbered += rank;
    if (tail[TAIL_TOP] != words || words > on.used.size() || numbered != on.state[step % N_LISTS]) return false;
    const uint most = *std::max_element(counts.begin(), counts.end());
    if (tail[TAIL_WORDS] != (most + 31) / 32) return false;
    launch(n_teams * LANES, [&] {
      color_sized(step, base, on.layout, chunk, 7, on.offsets, on.columns, source, bitmaps, places, ranks, tail, on.state,
                  on.used, on.lists[step % 2], on.colors);
    }, GROUP_TEAM ? WITH_BARRIERS : INDEPENDENT);
    base += 32 * (int)tail[TAIL_WORDS];
    if (step > 100) return false;
  }
  return on.is_proper();
}

#else
static bool windows_right(Random &random, ulong) {
  Closed on(random);
  const uint chunk = random.below(2), n_teams = 1 + random.below(12);
  const int prefers = (int)random.below(2);
  on.state[0] = on.n;
  for (uint step = 0; on.state[step % N_LISTS]; step++) {
    const int base = step > (uint)prefers ? 32 * (int)on.layout.words * (int)(step - prefers) : 0;
    if (base) std::fill(on.used.begin(), on.used.end(), 0u);
    int *source = step ? on.lists[(step + 1) % 2] : on.order;
    launch(n_teams * LANES, [&] {
      if (!step && prefers)
        take_preferred(on.layout, chunk, on.offsets, on.columns, source, on.preferences, on.state, on.used,
                       on.lists[step % 2], on.colors);
      else
        color_vertices(step, base, on.layout, chunk, 7, on.offsets, on.columns, source, on.state, on.used,
                       on.lists[step % 2], on.colors);
    }, GROUP_TEAM ? WITH_BARRIERS : INDEPENDENT);
    if (step > 100) return false;
  }
  return on.is_proper();
}

static bool claims_right(Random &random, ulong) {
  Closed on(random);
  const uint slots = 1u << random.below(6), n_teams = 1 + random.below(12), spread = 1 + random.below(40);
  const int prefers = (int)random.below(2);
  Array<int> found;
  for (int turn = 0; turn < 2; turn++) {
    Array<uint> claims(on.n * slots);
    Array<int> choices(on.n);
    std::fill(on.used.begin(), on.used.end(), 0u);
    std::fill(on.colors.begin(), on.colors.end(), NO_COLOR);
    std::fill(on.state.begin(), on.state.end(), 0u);
    int base = 0;
    uint step = 0, left = on.n;
    for (bool is_first = true; left; is_first = false) {
      if (step > 200) return false;
      const round_t round = {step, 0u, 1u, is_first ? (uint)on.n : 0u, (step + 1) << 8};
      const keys_t keys = {6u, 5u, slots};
      Array<int> &losers = on.lists[step % 2], &next = on.lists[(step + 1) % 2];
      launch(n_teams * LANES, [&] {
        if (is_first && prefers)
          claim_preferred(round, keys, on.offsets, on.columns, on.order, on.preferences, claims, choices);
        else
          claim_colors(round, keys, spread, on.layout, on.offsets, on.columns, on.order, losers, on.state, on.used, claims,
                       choices);
      }, GROUP_TEAM ? WITH_BARRIERS : INDEPENDENT);
      launch(n_teams * LANES, [&] {
        settle_colors(round, keys, base, on.layout, on.offsets, on.columns, on.order, losers, choices, claims, on.state,
                      on.used, next, on.colors);
      }, GROUP_TEAM ? WITH_BARRIERS : INDEPENDENT);
      step++;
      left = on.state[step % N_LISTS];
      if (!left) {                /* a window is over */
        base += 32 * (int)on.layout.words;
        std::fill(on.used.begin(), on.used.end(), 0u);
        for (int v = 0; v < on.n; v++)
          if (on.colors[v] == NO_COLOR) on.lists[step % 2][left++] = v;
        on.state[step % N_LISTS] = left;
      }
    }
    if (turn && on.colors != found) return false;
    found = on.colors;
  }
  return on.is_proper();
}

static const Case cases[] = {{"windows", windows_right}, {"claims", claims_right}};
#endif
