/* Moving vertices: a round moves about half of the active vertices of a level to the communities where they gain most.
 *
 *   clear_level        a lane a vertex: empties its community, and makes the vertex active
 *   fill_level         a lane a vertex: adds its strengths to its community
 *   measure_rows       adds the weight inside communities to the state
 *   measure_products   a lane a community: adds its product of strengths to the state
 *   list_long_rows     a lane a vertex: lists it if its row is long, or if it is a hub
 *   decide             A hash of vertex and round says whether a vertex takes part.  It looks at the communities of its
 *                      neighbours, and the best one is written if that is better than its own.
 *   weigh_hubs, choose_for_hubs  the same for vertices with rows that do not fit into local memory; see hubs.h
 *   apply_moves        a lane a vertex: moves it, and changes the sums of both communities
 *   measure_moves      adds the changes of a round to the state, and makes neighbours of moved vertices active
 *   judge_round        one work-item compares the quality with that before the round
 *   undo_moves         a lane a vertex: takes its last move back
 *
 * A vertex decides by the communities at the beginning of the round, and half of the vertices keep still, so two neighbours
 * rarely swap places.  A vertex alone in its community joins another such vertex only if that has the lower number.  A
 * round that lowers the quality, which is an exact integer, is undone, and the next one takes fewer vertices.  The level
 * ends after two rounds that gain little.
 *
 * Races: lanes of a team share a table, see rows.h.  Sums change by atomic additions, so their order does not matter.  All
 * writers of an active word, and of ROUND_ACTIVE, write 1.  Everything else that a phase reads was written in an earlier
 * phase, or by the same lane.  Phases are launches, or they are separated by barriers of the grid; docs/design.md tells
 * which devices have these.
 *
 * After V. Blondel et al., "Fast unfolding of communities in large networks", J. Stat. Mech. 2008; V. Traag, L. Waltman,
 * N. van Eck, "From Louvain to Leiden", Scientific Reports 9, 2019; H. Lu, M. Halappanavar, A. Kalyanaraman, "Parallel
 * heuristics for scalable community detection", Parallel Computing 47, 2015.
 */
#include "communities/rounds.h"

KERNEL clear_level(uint n, SUMS_PARAMETERS, __global int *active) {
  const sums_t sums = {out_sums, in_sums, sizes};
  const place_t place = ALL_GROUPS;
  clear_all(n, &sums, active, place);
}
KERNEL fill_level(uint n, __global const int *labels, __global const long *out_strengths,
                  __global const long *in_strengths, SUMS_PARAMETERS) {
  const sums_t sums = {out_sums, in_sums, sizes};
  const place_t place = ALL_GROUPS;
  fill_all(n, labels, out_strengths, in_strengths, &sums, place);
}

INLINE long inside_of_row(const level_t *level, uint v, uint lane, uint lanes, __global const int *labels) {
  long inside = 0l;
  const int own = labels[v];
  for (int e = level->row_offsets[v] + (int)lane; e < level->row_offsets[v + 1u]; e += (int)lanes) {
    const int u = level->columns[e];
    if (labels[u] == own) inside += (u == (int)v ? LOOP_FACTOR : 1) * weight_of(level, e);
  }
  return inside;
}
KERNEL measure_rows(LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, __global const int *labels, volatile __global long *state) {
  const level_t level = LEVEL;
  const place_t place = ALL_GROUPS;
  long inside = 0l;
  FOR_EACH_AT(place, v, n) {
    const uint degree = v < n ? degree_of(&level, v) : 0u;
    if (degree <= LANE_ROW && v < n) inside += inside_of_row(&level, v, 0u, 1u, labels);
    FOR_EACH_MIDDLE_ROW(w, v, degree) inside += inside_of_row(&level, w, sg_lane(), SUB_GROUP_SIZE, labels);
  }
  FOR_EACH_LONG_ROW(v, place) inside += inside_of_row(&level, v, (uint)get_local_id(0), WG_SIZE, labels);
  inside = sg_sum(inside);
  if (sg_lane() == 0 && inside) fetch_add(state + ROUND_WEIGHT, inside);
}

KERNEL measure_products(uint n, __global const long *out_sums, __global const long *in_sums, volatile __global long *state) {
  const place_t place = ALL_GROUPS;
  add_products(n, out_sums, in_sums, state, place);
}

KERNEL list_long_rows(uint n, __global const int *row_offsets, LONG_LISTS_PARAMETERS, HUBS_PARAMETERS) {
  const long_lists_t lists = LONG_LISTS;
  const place_t place = ALL_GROUPS;
  list_all_rows(n, row_offsets, &lists, place);
}

#define MOVE_PARAMETERS                                                                               \
  LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, HUBS_PARAMETERS, SLOTS_PARAMETERS, uint seed, ulong factor, ulong resolution, \
      __global const long *out_strengths, __global const long *in_strengths, SUMS_PARAMETERS,         \
      __global int *labels, volatile __global int *active, __global int *targets, __global int *previous, \
      volatile __global long *state, volatile __global long *search
/* Declares the argument of the phases. */
#define MOVED                                                                                         \
  const moved_t m = {LEVEL, LONG_ROWS, HUBS, SLOTS, {out_sums, in_sums, sizes}, seed, factor, \
                     resolution, out_strengths, in_strengths, labels, active, targets, previous, state};

KERNEL decide(MOVE_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  MOVED
  const place_t place = ALL_GROUPS;
  decide_all(&m, (uint)search[SEARCH_ROUND], (uint)search[SEARCH_RARITY], place, &scratch);
}
#if DIVIDES_ROWS
KERNEL weigh_hubs(MOVE_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  MOVED
  const place_t place = ALL_GROUPS;
  weigh_all_hubs(&m, (uint)search[SEARCH_ROUND], (uint)search[SEARCH_RARITY], place, &scratch);
}
KERNEL choose_for_hubs(MOVE_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  MOVED
  const place_t place = ALL_GROUPS;
  choose_for_all_hubs(&m, (uint)search[SEARCH_ROUND], (uint)search[SEARCH_RARITY], place, &scratch);
}
#endif
KERNEL apply_moves(MOVE_PARAMETERS) {
  MOVED
  const place_t place = ALL_GROUPS;
  apply_all(&m, (uint)search[SEARCH_ROUND], place);
}
KERNEL measure_moves(MOVE_PARAMETERS) {
  MOVED
  const place_t place = ALL_GROUPS;
  measure_all(&m, (uint)search[SEARCH_ROUND], place);
}
KERNEL judge_round(ulong factor, ulong penalty, long least_high, ulong least_low, uint min_rounds,
                   volatile __global long *state, volatile __global long *search) {
  if (get_global_id(0)) return;
  search_t s = load_search(search);
  const wide_t least = {least_high, least_low};
  judge(&s, state, factor, penalty, least, min_rounds);
  store_search(search, &s);
}
KERNEL undo_moves(MOVE_PARAMETERS) {
  MOVED
  const place_t place = ALL_GROUPS;
  undo_all(&m, place);
}
