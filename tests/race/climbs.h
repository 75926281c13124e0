/* All levels of a search for communities in one launch. */
#pragma once
#include "community_search.h"
#include "communities/climb.cl"

/* Run all levels in one launch of some groups, or with none, of one group that waits for others in vain.  Returns the
 * status. */
static uint climb_of(Searched &on, ulong seed, uint n_groups, uint n_rounds, uint largest, Array<int> &climbed, Array<int> &merged) {
  const uint n = (uint)on.n, m = (uint)on.columns.size();
  const ulong factor = on.total() << 20;
  Array<int> groups(n), group_sizes(n), used(n), numbers(n + 1), members_of(n), entries_of(n), counts(n), list(n), begins(n + 1),
      slot_begins(n + 1), long_groups(n), giants(n), offsets(n + 1), columns(m), labels(n), chunks(n_groups + 2);
  Array<long> group_sums(n), next_weights(m), strengths(n);
  Array<uint> n_long_groups(2), control(GRID_CONTROL_WORDS);
  on.begin(factor);
  auto run = [&] {
    climb(ON_LEVEL, ON_LONG_ROWS, ON_HUBS, ON_SLOTS, (uint)seed, factor, 1ul << 20, on.strengths, on.strengths, on.sums, on.sums,
          on.sizes, on.labels, on.active, on.targets, on.previous, on.state, on.search, 1ul << 20, 0l, 0ul, 3u,
          0l, 0ul, largest, n_rounds, groups, group_sums, group_sums, group_sizes,
          used, numbers, members_of, entries_of, counts, list, begins, slot_begins, long_groups, n_long_groups, giants,
          offsets, columns, next_weights, strengths, strengths, labels, chunks,
          m, 0u, 8u, 0, (uint)merged.size(), merged, climbed, control);
  };
  if (n_groups) launch(n_groups * WG_SIZE, run, WITH_LOCAL_MEMORY);
  else launch_alone(&control[GRID_DOOR], run);
  launch(n, [&] { descend(n, climbed, merged, labels, on.labels); });
  return control[GRID_STATUS];
}

/* All levels end with the same labels, however many groups there are, and whoever comes too late. */
static bool community_climbs_right(Random &random, ulong seed) {
  Searched on(random), alone = on;
  const uint n_rounds = 3u * random.below(2), largest = random.below(2) ? ~0u : (uint)on.columns.size() / 2u;
  Array<int> climbed(CLIMBED_WORDS + 8 * CLIMBED_LEVEL_WORDS), merged(8 * MERGED_STEP), climbed_alone = climbed,
      merged_alone = merged;
  linger = ~0u;
  if (climb_of(alone, seed, 1u, n_rounds, largest, climbed_alone, merged_alone)) return false;
  linger = random.below(2) || WG_SIZE > 1 ? 30 : ~0u;
  if (climb_of(on, seed, 2u + random.below(2), n_rounds, largest, climbed, merged)) return false;
  on.sums = on.sums_of(on.labels);
  return on.labels == alone.labels && on.search == alone.search && climbed == climbed_alone && merged == merged_alone
         && on.slots_are_empty() && on.search[SEARCH_INSIDE] == on.inside(on.labels)
         && on.search[SEARCH_PRODUCTS + 1] == (long)on.products();
}

static bool alone_right(Random &random, ulong seed) {
  Searched on(random);
  Array<int> climbed(CLIMBED_WORDS + 8 * CLIMBED_LEVEL_WORDS), merged(8 * MERGED_STEP);
  return climb_of(on, seed, 0u, 3u, ~0u, climbed, merged) == STATUS_TIMEOUT;
}

static const Case cases[] = {{"alone", alone_right}, {"community_climbs", community_climbs_right}};
