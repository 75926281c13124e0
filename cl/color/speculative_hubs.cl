/* The first colours of hubs, and the check that finds hubs that must try again, as in speculative.cl. A work-group
 * takes a listed vertex.
 *
 * Races: see first_free.h and losers.h.
 */
#define GROUP_TEAM 1
#include "color/losers.h"

KERNEL assign_hubs(uint n_hubs, order_t order, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const uint *restrict ranks,
                   __global const int *restrict hubs, volatile __global int *tentative, volatile __global int *colors) {
  LOCAL_ARRAY uint bitmap[BITMAP_WORDS];
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  for (uint i = get_group_id(0); i < n_hubs; i += get_num_groups(0)) {
    int c = team_least_free(&rows, hubs[i], colors, bitmap);
    if (get_local_id(0) == 0) store_relaxed(tentative + hubs[i], c);
  }
}

KERNEL check_hubs(uint n_hubs, order_t order, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const uint *restrict ranks,
                  __global const int *restrict hubs, volatile __global int *tentative, volatile __global int *colors,
                  volatile __global uint *state, __global int *restrict one_list) {
  LOCAL_ARRAY uint lost;
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  for (uint i = get_group_id(0); i < n_hubs; i += get_num_groups(0)) {
    const int v = hubs[i];
    int again = team_must_retry(&rows, v, tentative, &lost);
    if (get_local_id(0) == 0) {
      if (again) one_list[fetch_add(state + STATE_SIZES, 1u)] = v;
      if (again || tentative != colors) store_relaxed(colors + v, again ? NO_COLOR : load_relaxed(tentative + v));
    }
  }
}
