/* All levels of a small graph in one launch: moves vertices, refines, and contracts until a level does not shrink.
 *
 *   climb    does for a level, and for all coarser ones, what move.cl, refine.cl and contract.cl do in many launches
 *   descend  a lane a vertex: takes the community of its group of groups on the last level
 *
 * The first level is copied.  The rows, strengths and labels of a coarser level overwrite the old ones: a contraction has
 * added up the old rows in slots before it writes new ones.  `merged` keeps the groups of all levels, one after the other.  By
 * them each vertex of the first level gets its community in `descend`.  If `merged` has no room for another level, the host
 * launches the kernel again, for the levels that are left.
 *
 * Races: as in move.cl, refine.cl and contract.cl.  Their phases are separated by barriers of the grid.  Work-groups that a
 * coarser level does not need leave before it.  On CPUs one work-group runs, because they have no barrier of the grid.
 */
#include "communities/climb.h"

#define CLIMB_PARAMETERS                                                                              \
  LEVEL_PARAMETERS, LONG_LISTS_PARAMETERS, HUBS_PARAMETERS, SLOTS_PARAMETERS, uint seed, ulong factor, ulong resolution, \
      __global const long *out_strengths, __global const long *in_strengths, SUMS_PARAMETERS, __global int *labels, \
      volatile __global int *active, __global int *targets, __global int *previous, volatile __global long *state, \
      volatile __global long *search, ulong penalty, long least_high, ulong least_low, uint min_rounds, long calm_high, \
      ulong calm_low, uint largest
#define REFINE_PARAMETERS                                                                             \
  uint n_rounds, volatile __global int *groups, volatile __global long *out_group_sums,               \
      volatile __global long *in_group_sums, volatile __global int *group_sizes
#define NEXT_PARAMETERS                                                                               \
  __global int *used, __global int *numbers, volatile __global int *members_of, volatile __global int *entries_of, \
      volatile __global int *counts, __global int *member_list, __global int *member_begins, __global int *slot_begins, \
      GROUP_LISTS_PARAMETERS, __global int *next_offsets, __global int *next_columns, __global long *next_weights, \
      __global long *next_out_strengths, __global long *next_in_strengths, __global int *next_labels, __global int *chunk_sums
#define NEXT_LEVEL {n, 0, next_offsets, next_columns, next_weights}
#define NEXT                                                                                          \
  {used, numbers, members_of, entries_of, counts, member_list, member_begins, slot_begins, GROUP_LISTS, next_offsets, \
   next_columns, next_weights, next_out_strengths, next_in_strengths, next_labels, chunk_sums}

/* Tell the host what a level did, and which level the next launch begins with. */
INLINE void note_level(volatile __global int *climbed, uint k, uint n, uint n_entries, const search_t *s) {
  volatile __global int *words = climbed + CLIMBED_WORDS + CLIMBED_LEVEL_WORDS * k;
  words[0] = (int)n;
  words[1] = (int)n_entries;
  words[2] = (int)s->round;
  words[3] = (int)s->moved;
  climbed[CLIMBED_LEVELS] = (int)k + 1;
}
INLINE void note_left(volatile __global int *climbed, uint n, uint n_entries) {
  climbed[CLIMBED_LEFT] = 1;
  climbed[CLIMBED_N] = (int)n;
  climbed[CLIMBED_M] = (int)n_entries;
}

/* A level of more than `largest` entries that gains at most `calm` is the last one.  depth: levels before the first one.
 * rested: whether no vertex of the last of them moved.  room: items of `merged`, a multiple of MERGED_STEP, and at least n. */
KERNEL climb(CLIMB_PARAMETERS, REFINE_PARAMETERS, NEXT_PARAMETERS, uint n_entries, uint depth, uint max_levels, int rested,
             uint room, __global int *merged, volatile __global int *climbed, volatile __global uint *control) {
  LOCAL_ARRAY scratch_t scratch;
  LOCAL_ARRAY int words[2];
  GRID_ENTER(control)
  grid_t grid = {{member, members}, control, words};
  if (get_local_id(0) == 0) words[1] = 0;
  const int is_first = member == 0u && get_local_id(0) == 0;
  const next_t next = NEXT;
  const long_lists_t lists = LONG_LISTS;
  const judgement_t by = {penalty, {least_high, least_low}, min_rounds};
  const wide_t calm = {calm_high, calm_low};
  const level_t level = LEVEL;
  if (!copy_level(&level, n_entries, labels, out_strengths, in_strengths, &next, &grid)) return;
  climb_t c = {{NEXT_LEVEL, LONG_ROWS, HUBS, SLOTS, {out_sums, in_sums, sizes}, seed, factor, resolution, next_out_strengths,
                next_in_strengths, next_labels, active, targets, previous, state},
               {NEXT_LEVEL, LONG_ROWS, SLOTS, {groups, out_group_sums, in_group_sums, group_sizes}, seed, factor, resolution,
                next_out_strengths, next_in_strengths, out_sums, in_sums, next_labels, targets},
               {0, member_begins, member_list, slot_begins}, 0u, 0u, merged};
  search_t s = load_search(search);
  uint k = 0u, m = n_entries;
  for (int goes_on = 1; goes_on;) {
    const uint size = c.moved.level.n;
    c.moved.seed = seed + 0x9e3779b9u * (depth + k + 1u);
    c.refined.seed = seed + 0x85ebca6bu * (depth + k + 1u);
    const wide_t before = s.gains[2];
    if (!enter_level(&c.moved, &lists, &grid) || !move_level(&c.moved, &s, &by, &grid, &scratch)) return;
    if (is_first) note_level(climbed, k, size, m, &s);
    if (depth + ++k == max_levels) break;
    if (m > largest && !is_greater(wide_difference(s.gains[2], before), calm)) break;
    const int is_refined = n_rounds && !(rested && s.moved == 0l);
    rested = s.moved == 0l;
    if (is_refined && !refine_level(&c.refined, n_rounds, &grid, &scratch)) return;
    goes_on = contract_level(is_refined, &c, &next, &grid, &scratch);
    if (goes_on < 0) return;
    if (!goes_on) break;
    c.merged += merged_size(size);
    room -= merged_size(size);
    m = c.n_entries;
    if (c.n_groups > room) {
      if (is_first) {
        note_left(climbed, c.n_groups, m);
        store_search(search, &s);
      }
      return;
    }
    if (!stays(&grid, c.n_groups, m)) return;
  }
  if (is_first) store_search(search, &s);
}

/* Give the vertices of the first level of a climb the communities of the last one. */
KERNEL descend(uint n, volatile __global const int *climbed, __global const int *merged, __global const int *next_labels,
               __global int *labels) {
  if (climbed[CLIMBED_LEFT]) return;
  const uint n_levels = (uint)climbed[CLIMBED_LEVELS];
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n) continue;
    uint g = v, begin = 0u;
    for (uint k = 0u; k + 1u < n_levels; k++) {
      g = (uint)merged[begin + g];
      begin += merged_size((uint)climbed[CLIMBED_WORDS + CLIMBED_LEVEL_WORDS * k]);
    }
    labels[v] = next_labels[g];
  }
}
