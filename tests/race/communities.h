/* Rounds of moves, a refinement and a contraction of communities, launched as clgraph/algorithms/communities/multilevel.py
 * does, on small graphs with weights. */
#pragma once
#include "community_search.h"

static void decide_of(Searched &on, ulong seed, ulong factor) {
  launch(on.n, [&] { decide(MOVING); }, WITH_LOCAL_MEMORY);
#if DIVIDES_ROWS
  launch(on.n, [&] { weigh_hubs(MOVING); }, WITH_LOCAL_MEMORY);
  launch(on.n, [&] { choose_for_hubs(MOVING); });
#endif
}

static bool community_moves_right(Random &random, ulong seed) {
  Searched on(random);
  const Array<int> before = on.labels;
  const Array<long> sums_before = on.sums;
  const ulong factor = on.total() << 20;
  launch(on.n, [&] { measure_rows(ON_LEVEL, ON_LONG_ROWS, on.labels, on.state); }, WITH_LOCAL_MEMORY);
  launch(on.n, [&] { measure_products(on.n, on.sums, on.sums, on.state); });
  if (on.state[ROUND_WEIGHT] != on.inside(before)) return false;
  on.begin(factor);
  decide_of(on, seed, factor);
  for (int v = 0; v < on.n; v++) {
    const bool takes_part = (round_hash((uint)seed, 1, v) & 1) == 0;
    if (takes_part == (on.active[v] != 0) || (!takes_part && on.targets[v] != NOBODY)) return false;
    if (takes_part && on.sizes[before[v]] > 1 && !on.is_best(v, before, sums_before)) return false;
  }
  if (!on.slots_are_empty()) return false;
  launch(on.n, [&] { apply_moves(MOVING); });
  launch(on.n, [&] { measure_moves(MOVING); }, WITH_LOCAL_MEMORY);
  const long *words = &on.state[ROUND_WORDS];
  Array<int> sizes(on.n);
  for (int v = 0; v < on.n; v++) sizes[on.labels[v]]++;
  const long n_moved = std::count_if(on.targets.begin(), on.targets.end(), [](int target) { return target != NOBODY; });
  const bool any_active = std::count(on.active.begin(), on.active.end(), 1) != 0;
  return on.sizes == sizes && words[ROUND_MOVED] == n_moved && on.sums == on.sums_of(on.labels)
         && words[ROUND_WEIGHT] == on.inside(on.labels) - on.inside(before)
         && ((__int128)words[ROUND_HIGH] << 40) + ((__int128)words[ROUND_MIDDLE] << 20) + words[ROUND_LOW] == on.products()
         && (words[ROUND_ACTIVE] != 0) == any_active;
}

/* All rounds of a level. */
static bool community_levels_right(Random &random, ulong seed) {
  Searched on(random);
  const ulong factor = on.total() << 20, penalty = 1ul << 20;
  on.begin(factor);
  for (int turn = 0; turn < MAX_ROUNDS && !on.search[SEARCH_DONE]; turn++) {
    decide_of(on, seed, factor);
    launch(on.n, [&] { apply_moves(MOVING); });
    launch(on.n, [&] { measure_moves(MOVING); }, WITH_LOCAL_MEMORY);
    launch(1, [&] { judge_round(factor, penalty, 0l, 0ul, 3u, on.state, on.search); });
    if (on.search[SEARCH_UNDONE]) launch(on.n, [&] { undo_moves(MOVING); });
  }
  return on.search[SEARCH_INSIDE] == on.inside(on.labels) && on.search[SEARCH_PRODUCTS + 1] == (long)on.products();
}

static bool community_groups_right(Random &random, ulong seed) {
  Searched on(random);
  const ulong factor = on.total() << 20;
  Array<int> groups(on.n), group_sizes(on.n), used(on.n), numbers(on.n + 1), dense(on.n);
  Array<long> group_sums(on.n);
#define REFINING                                                                                      \
  ON_LEVEL, ON_LONG_ROWS, ON_SLOTS, (uint)seed, factor, 1ul << 20, on.strengths, on.strengths, on.sums, on.sums, on.labels, \
      groups, group_sums, group_sums, group_sizes, on.targets
  launch(on.n, [&] { start_refinement(REFINING); });
  for (uint round = 1; round <= 3; round++) {
    launch(on.n, [&] { choose_group(REFINING, round); }, WITH_LOCAL_MEMORY);
    launch(on.n, [&] { join_groups(REFINING); });
  }
  Array<int> sizes(on.n);
  for (int v = 0; v < on.n; v++) sizes[groups[v]]++;
  if (group_sums != on.sums_of(groups) || group_sizes != sizes) return false;
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
  Array<int> long_groups(k), giants(k);
  Array<uint> n_long_groups(2);
  launch(k, [&] { list_groups(k, slot_begins, long_groups, n_long_groups, giants); });
#define INSERTING ON_LEVEL, ON_SLOTS, k, dense, member_begins, members, slot_begins, counts
  launch(on.n, [&] { insert_members(INSERTING, long_groups, n_long_groups, giants); }, WITH_LOCAL_MEMORY);
#if DIVIDES_ROWS
  launch(on.n, [&] { insert_giants(INSERTING, ON_LONG_ROWS); }, WITH_LOCAL_MEMORY);
#endif
  for (uint g = 0; g < k; g++)
    if (counts[g] < 0 || counts[g] > slot_begins[g + 1] - slot_begins[g]) return false;
  Array<int> offsets(k + 1);
  std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
  Array<int> next_columns(offsets[k] + 1);
  Array<long> next_weights(offsets[k] + 1);
#define WRITING k, ON_SLOTS, long_groups, n_long_groups, giants, slot_begins, offsets, next_columns, next_weights
  launch(on.n, [&] { write_rows(WRITING); }, WITH_LOCAL_MEMORY);
#if DIVIDES_ROWS
  launch(on.n, [&] { write_giants(WRITING, counts); });
#endif
  std::map<std::pair<int, int>, long> expected, found;
  for (int v = 0; v < on.n; v++)
    for (int e = on.rows[v]; e < on.rows[v + 1]; e++)
      if (dense[v] != dense[on.columns[e]]) expected[{dense[v], dense[on.columns[e]]}] += on.entries[e];
  for (uint g = 0; g < k; g++)
    for (int e = offsets[g]; e < offsets[g + 1]; e++) found[{(int)g, next_columns[e]}] = next_weights[e];
  return found == expected && (int)found.size() == offsets[k] && on.slots_are_empty();
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
  launch(on.n, [&] { link_inside(ON_LEVEL, ON_LONG_ROWS, on.labels, parent); }, WITH_LOCAL_MEMORY);
  launch(on.n, [&] { flatten(on.n, parent); });
  Array<int> chain(on.n);                  /* the deepest tree */
  for (int v = 1; v < on.n; v++) chain[v] = v - 1;
  launch(on.n, [&] { flatten(on.n, chain); });
  return parent == expected && chain == Array<int>(on.n);
}

static const Case cases[] = {{"community_moves", community_moves_right}, {"community_levels", community_levels_right},
                             {"community_groups", community_groups_right}, {"community_parts", community_parts_right}};
