/* A round of moves, a refinement and a contraction of communities, launched as clgraph/algorithms/communities/multilevel.py
 * does, on small graphs with weights. */
#pragma once

#define BLOCK 2u                  /* Several work-items take part in each kernel. */
#include "communities/move.cl"
#include "communities/refine.cl"
#include "communities/contract.cl"

/* Work-groups that share rows meet at barriers. */
static const Grouping OF_ROWS = GROUP_TEAM ? WITH_BARRIERS : INDEPENDENT;

struct Searched {
  int n;
  uint room;
  Array<int> rows, columns, labels, active, targets, previous, sizes, keys, long_rows;
  Array<uint> n_long_rows;       /* If work-groups are teams, all rows count as long. */
  Array<long> entries, strengths, sums, weights, state;

  explicit Searched(Random &random) : n(12 + (int)random.below(20)), state(2 * ROUND_WORDS) {
    std::vector<std::map<int, long>> found(n);
    for (int k = 0; k < 3 * n; k++) {
      const int u = (int)random.below(k % 3 ? n : 2), v = (int)random.below(n);
      if (u != v) found[u][v] = found[v][u] = 300000l * (1 + (u + v) % 4);  /* Strengths exceed 2^20. */
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
    for (auto *words : {&active, &targets, &previous, &sizes, &long_rows}) words->resize(n);
    std::iota(long_rows.begin(), long_rows.end(), 0);
    n_long_rows.push_back((uint)n);
    sums.resize(n);
    room = 2 * (uint)n;
    keys.resize(room * n);        /* On CPUs each work-item has a table. */
    weights.resize(room * n);
    launch(n, [&] { clear_level(n, sums, sums, sizes, active); });
    launch(n, [&] { fill_level(n, labels, strengths, strengths, sums, sums, sizes); });
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
      return (long)total() * to[c] - strengths[v] * (sums_before[c] - (c == before[v] ? strengths[v] : 0));
    };
    const long stay = gain(before[v]);
    long most = stay;
    for (auto [c, w] : std::map<int, long>(to)) most = std::max(most, gain(c));
    return targets[v] == NOBODY ? most == stay : gain(targets[v]) == most && most > stay;
  }
};

static bool community_moves_right(Random &random, ulong seed) {
  Searched on(random);
  const Array<int> before = on.labels;
  const Array<long> sums_before = on.sums;
  const ulong factor = on.total() << 20;
  launch(on.n, [&] { measure_rows(on.n, 0, on.rows, on.columns, on.entries, 0, on.labels, on.state); });
  if (on.state[ROUND_WEIGHT] != on.inside(before)) return false;
  launch(on.n, [&] {
    decide(on.n, 0, on.rows, on.columns, on.entries, ~0u, on.long_rows, on.n_long_rows, on.room, 1, (uint)seed, 1, factor,
           1ul << 20, on.strengths, on.strengths, on.sums, on.sums, on.sizes, on.labels, on.active, on.targets, on.keys,
           on.weights);
  }, OF_ROWS);
  for (int v = 0; v < on.n; v++) {
    const bool takes_part = (round_hash((uint)seed, 1, v) & 1) == 0;
    if (takes_part == (on.active[v] != 0) || (!takes_part && on.targets[v] != NOBODY)) return false;
    if (takes_part && on.sizes[before[v]] > 1 && !on.is_best(v, before, sums_before)) return false;
  }
  launch(on.n, [&] {
    apply_moves(on.n, 1, on.targets, on.strengths, on.strengths, on.sums, on.sums, on.sizes, on.labels, on.previous, on.state);
  });
  launch(on.n, [&] {
    measure_moves(on.n, 0, on.rows, on.columns, on.entries, 1, on.labels, on.previous, on.targets, on.active, on.state);
  });
  launch(on.n, [&] { measure_communities(on.n, 1, on.sums, on.sums, on.active, on.state); });
  const long *words = &on.state[ROUND_WORDS];
  long products = 0, n_active = 0;
  for (int c = 0; c < on.n; c++) products += on.sums[c] * on.sums[c];
  for (int v = 0; v < on.n; v++) n_active += on.active[v];
  Array<int> sizes(on.n);
  for (int v = 0; v < on.n; v++) sizes[on.labels[v]]++;
  const long n_moved = std::count_if(on.targets.begin(), on.targets.end(), [](int target) { return target != NOBODY; });
  return on.sizes == sizes && words[ROUND_MOVED] == n_moved && on.sums == on.sums_of(on.labels)
         && words[ROUND_WEIGHT] == on.inside(on.labels) - on.inside(before)
         && (words[ROUND_HIGH] << 40) + (words[ROUND_MIDDLE] << 20) + words[ROUND_LOW] == products
         && words[ROUND_ACTIVE] == n_active;
}

static bool community_groups_right(Random &random, ulong seed) {
  Searched on(random);
  Array<int> groups(on.n), group_sizes(on.n), used(on.n), numbers(on.n + 1), dense(on.n);
  Array<long> group_sums(on.n);
  launch(on.n, [&] { start_refinement(on.n, on.strengths, on.strengths, groups, group_sums, group_sums, group_sizes); });
  for (uint round = 1; round <= 3; round++) {
    launch(on.n, [&] {
      choose_group(on.n, 0, on.rows, on.columns, on.entries, ~0u, on.long_rows, on.n_long_rows, on.room, round, (uint)seed,
                   on.total() << 20, 1ul << 20, on.strengths, on.strengths, on.sums, on.sums, on.labels, groups, group_sums,
                   group_sums, group_sizes, on.targets, on.keys, on.weights);
    }, OF_ROWS);
    launch(on.n, [&] {
      join_groups(on.n, on.targets, on.strengths, on.strengths, groups, group_sums, group_sums, group_sizes);
    });
  }
  if (group_sums != on.sums_of(groups)) return false;
  for (int v = 0; v < on.n; v++)           /* a vertex and the first of its group are in one community */
    if (on.labels[v] != on.labels[groups[v]] || groups[groups[v]] != groups[v]) return false;
  launch(on.n, [&] { mark_used(on.n, groups, used); });
  std::partial_sum(used.begin(), used.end(), numbers.begin() + 1);
  launch(on.n, [&] { renumber(on.n, groups, numbers, dense); });
  const uint k = (uint)numbers[on.n];
  Array<int> members_of(k), entries_of(k), member_begins(k + 1), slot_begins(k + 1), members(on.n), counts(k);
  launch(on.n, [&] { count_members(on.n, on.rows, dense, members_of, entries_of); });
  std::partial_sum(members_of.begin(), members_of.end(), member_begins.begin() + 1);
  std::partial_sum(entries_of.begin(), entries_of.end(), slot_begins.begin() + 1);
  launch(on.n, [&] { place_members(on.n, dense, member_begins, members_of, members); });
  on.n_long_rows[0] = k;
  launch(on.n, [&] {
    insert_members(on.n, 0, on.rows, on.columns, on.entries, ~0u, on.long_rows, on.n_long_rows, k, dense, member_begins,
                   members, slot_begins, on.keys, on.weights, counts);
  }, OF_ROWS);
  for (uint g = 0; g < k; g++)
    if (counts[g] < 0 || counts[g] > slot_begins[g + 1] - slot_begins[g]) return false;
  Array<int> offsets(k + 1);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  Array<int> next_columns(offsets[k] + 1);
  Array<long> next_weights(offsets[k] + 1);
  launch(on.n, [&] { write_rows(k, slot_begins, on.keys, on.weights, offsets, next_columns, next_weights); });
  std::map<std::pair<int, int>, long> expected, found;
  for (int v = 0; v < on.n; v++)
    for (int e = on.rows[v]; e < on.rows[v + 1]; e++)
      if (dense[v] != dense[on.columns[e]]) expected[{dense[v], dense[on.columns[e]]}] += on.entries[e];
  for (uint g = 0; g < k; g++)
    for (int e = offsets[g]; e < offsets[g + 1]; e++) found[{(int)g, next_columns[e]}] = next_weights[e];
  return found == expected && (int)found.size() == offsets[k];
}

/* Communities of several parts: each part gets the number of its least vertex. */
static bool community_parts_right(Random &random, ulong) {
  Searched on(random);
  for (int v = 0; v < on.n; v++) on.labels[v] = (int)random.below(2);
  Array<int> parent(on.n);
  std::iota(parent.begin(), parent.end(), 0);
  Array<int> expected = parent;
  for (bool changes = true; changes;) {
    changes = false;
    for (int v = 0; v < on.n; v++)
      for (int e = on.rows[v]; e < on.rows[v + 1]; e++) {
        const int u = on.columns[e];
        if (on.labels[u] != on.labels[v] || expected[u] >= expected[v]) continue;
        expected[v] = expected[u];
        changes = true;
      }
  }
  launch(on.n, [&] { link_inside(on.n, 0, on.rows, on.columns, on.entries, on.labels, parent); });
  launch(on.n, [&] { flatten(on.n, parent); });
  Array<int> chain(on.n);                  /* the deepest tree */
  for (int v = 1; v < on.n; v++) chain[v] = v - 1;
  launch(on.n, [&] { flatten(on.n, chain); });
  return parent == expected && chain == Array<int>(on.n);
}

static const Case cases[] = {{"community_moves", community_moves_right}, {"community_groups", community_groups_right},
                             {"community_parts", community_parts_right}};
