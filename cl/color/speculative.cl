/* Speculative colouring: all vertices at once take the least colour that looks free.  Then neighbours with the same
 * colour are found.  All but the first in the order lose their colour and try again, until no vertex has lost.
 *
 * A work-item takes a vertex of at most SMALL_DEGREE entries.  Its sub-group then takes the longer rows of its vertices
 * one after the other; speculative_hubs.cl has processed rows of more than HUB_DEGREE entries before.  Losers go to a
 * list.  `rounds` continues from that list in one launch with grid barriers.  On devices without them the host launches
 * `assign_round` and `check_round` while there are losers.
 *
 * Races: `assign_*` reads colours while others take them, and may see the old or the new ones (first_free.h); `check_*`
 * finds the conflicts (losers.h).  The first listed vertex in the order keeps its colour, so every round ends with
 * fewer.
 *
 * After A. H. Gebremedhin, F. Manne, "Scalable parallel graph coloring algorithms", Concurrency: Practice and Experience
 * 12, 2000, and M. Deveci, E. G. Boman, K. D. Devine, S. Rajamanickam, "Parallel graph coloring for manycore
 * architectures", IPDPS 2016.
 */
#include "color/losers.h"

#ifndef SMALL_DEGREE
#define SMALL_DEGREE 64
#endif
#ifndef HUB_DEGREE
#define HUB_DEGREE INT_MAX
#endif
#ifndef MAX_IDLE_ROUNDS          /* Every round should colour a vertex.  After this number without one the launch ends. */
#define MAX_IDLE_ROUNDS 64u
#endif

KERNEL start(int n, __global int *restrict tentative, __global int *restrict colors, __global uint *restrict state) {
  int v = get_global_id(0);
  for (int i = v; i < STATE_WORDS; i += (int)get_global_size(0)) state[i] = 0u;
  if (v >= n) return;
  colors[v] = NO_COLOR;
  tentative[v] = NO_COLOR;
}

/* Writes keys that ascend in the order. */
KERNEL order_keys(int n, order_t order, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const uint *restrict ranks,
                  __global uint *restrict keys) {
  int v = get_global_id(0);
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  if (v < n) keys[v] = ~priority(&rows, v);
}

/* The lanes of a sub-group have a vertex v each, or -1; most_degree: vertices of more entries are left to others. */
INLINE void assign_tile(const rows_t *rows, int v, uint most_degree, volatile __global int *tentative,
                        volatile __global int *colors, __local uint *bitmap) {
  const uint degree = v >= 0 ? degree_of(rows, v) : 0u;
  if (v >= 0 && degree <= SMALL_DEGREE) store_relaxed(tentative + v, least_free(rows, v, colors));
  for (lane_mask_t left = sg_ballot(degree > SMALL_DEGREE && degree <= most_degree); left; left &= left - 1) {
    const int w = sg_broadcast(v, lowest_lane(left)), c = team_least_free(rows, w, colors, bitmap);
    if (v == w) store_relaxed(tentative + v, c);
  }
}

/* Lists the vertices that lost in `retries`, and counts them; returns whether this lane's vertex has lost. */
INLINE int check_tile(const rows_t *rows, int v, uint most_degree, volatile __global int *tentative,
                      volatile __global int *colors, volatile __global uint *n_retries, volatile __global int *retries,
                      __local uint *bitmap) {
  const uint degree = v >= 0 ? degree_of(rows, v) : 0u;
  int again = v >= 0 && degree <= SMALL_DEGREE && must_retry(rows, v, tentative);
  for (lane_mask_t left = sg_ballot(degree > SMALL_DEGREE && degree <= most_degree); left; left &= left - 1) {
    const int w = sg_broadcast(v, lowest_lane(left)), lost = team_must_retry(rows, w, tentative, bitmap);
    if (v == w) again = lost;
  }
  uint slot = push_sub_group(n_retries, again);
  if (again) {
    store_relaxed(retries + slot, v);
    store_relaxed(colors + v, NO_COLOR);
  } else if (v >= 0 && degree <= most_degree && tentative != colors) {
    store_relaxed(colors + v, load_relaxed(tentative + v));
  }
  return again;
}

/* ---- first colours */

/* stride: the distance between the tiles of consecutive sub-groups.  Sub-groups that run at the same time do not see each
 * other's colours, and neighbours often have near numbers, so their tiles should be far apart.  stride has no common
 * factor with the number of tiles. */
KERNEL assign_all(int n, uint stride, order_t order, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const uint *restrict ranks,
                  volatile __global int *tentative, volatile __global int *colors) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  const uint n_tiles = ((uint)n + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE, number = (uint)get_global_id(0) / SUB_GROUP_SIZE;
  const uint tile = number < n_tiles ? (uint)((ulong)number * stride % n_tiles) : number;
  const uint i = tile * SUB_GROUP_SIZE + sg_lane();
  assign_tile(&rows, i < (uint)n ? (int)i : -1, HUB_DEGREE, tentative, colors, bitmaps + sg_in_group() * BITMAP_WORDS);
}

KERNEL assign_listed(int n, order_t order, __global const offset_t *restrict row_offsets,
                     __global const int *restrict column_indices, __global const uint *restrict ranks,
                     __global const int *restrict list, volatile __global int *tentative, volatile __global int *colors) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  const int i = get_global_id(0);
  assign_tile(&rows, i < n ? list[i] : -1, UINT_MAX, tentative, colors, bitmaps + sg_in_group() * BITMAP_WORDS);
}

KERNEL check_all(int n, order_t order, __global const offset_t *restrict row_offsets,
                 __global const int *restrict column_indices, __global const uint *restrict ranks,
                 volatile __global int *tentative, volatile __global int *colors, volatile __global uint *state,
                 volatile __global int *one_list) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  const int v = get_global_id(0);
  check_tile(&rows, v < n ? v : -1, HUB_DEGREE, tentative, colors, state + STATE_SIZES, one_list,
             bitmaps + sg_in_group() * BITMAP_WORDS);
}

/* ---- rounds, counted from 0: two lists take turns, and three words with their sizes */

INLINE volatile __global int *list_of(uint round, volatile __global int *one_list, volatile __global int *other_list) {
  return round & 1u ? other_list : one_list;
}
INLINE volatile __global uint *size_of(uint round, volatile __global uint *state) {
  return state + STATE_SIZES + round % N_SIZES;
}

/* Give new colours to the losers at begin, begin + stride, ... of the round's list; whole sub-groups call. */
INLINE void assign_losers(const rows_t *rows, uint begin, uint stride, uint size, const volatile __global int *list,
                          volatile __global int *tentative, volatile __global int *colors, __local uint *bitmap) {
  for (uint i = begin; i - sg_lane() < size; i += stride)
    assign_tile(rows, i < size ? load_relaxed(list + i) : -1, UINT_MAX, tentative, colors, bitmap);
}
INLINE int check_losers(const rows_t *rows, uint begin, uint stride, uint size, const volatile __global int *list,
                        volatile __global int *tentative, volatile __global int *colors,
                        volatile __global uint *n_retries, volatile __global int *retries, __local uint *bitmap) {
  int found = 0;
  for (uint i = begin; i - sg_lane() < size; i += stride)
    found |= check_tile(rows, i < size ? load_relaxed(list + i) : -1, UINT_MAX, tentative, colors, n_retries, retries,
                        bitmap);
  return found;
}

/* If the host drives the rounds, rounds over the edges may have come before. */
INLINE uint round_after_edges(uint round, volatile __global uint *state) {
  return round - 1u - load_relaxed(state + STATE_EDGE_ROUNDS);
}

KERNEL assign_round(uint round, order_t order, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const uint *restrict ranks,
                    volatile __global int *one_list, volatile __global int *other_list, volatile __global int *tentative,
                    volatile __global int *colors, volatile __global uint *state) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  const uint now = round_after_edges(round, state), size = load_relaxed(size_of(now, state));
  if (get_global_id(0) == 0) {
    if (now == 0u) store_relaxed(state + STATE_CONFLICTS, size);
    if (size) store_relaxed(state + STATE_ROUNDS, now + 1u);
    store_relaxed(size_of(now + 2u, state), 0u);
  }
  assign_losers(&rows, get_global_id(0), get_global_size(0), size, list_of(now, one_list, other_list), tentative, colors,
                bitmaps + sg_in_group() * BITMAP_WORDS);
}

KERNEL check_round(uint round, order_t order, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const uint *restrict ranks,
                   volatile __global int *one_list, volatile __global int *other_list, volatile __global int *tentative,
                   volatile __global int *colors, volatile __global uint *state) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  const uint now = round_after_edges(round, state);
  if (check_losers(&rows, get_global_id(0), get_global_size(0), load_relaxed(size_of(now, state)),
                   list_of(now, one_list, other_list), tentative, colors, size_of(now + 1u, state),
                   list_of(now + 1u, one_list, other_list), bitmaps + sg_in_group() * BITMAP_WORDS))
    store_relaxed(state + STATE_ALIVE, round);
}

/* All rounds in one launch. */
KERNEL rounds(order_t order, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
              __global const uint *restrict ranks, volatile __global int *one_list, volatile __global int *other_list,
              volatile __global int *tentative, volatile __global int *colors, volatile __global uint *state) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  LOCAL_ARRAY int passed;
  volatile __global uint *control = state + STATE_CONTROL;
  GRID_ENTER(control)
  const rows_t rows = rows_of(order, row_offsets, column_indices, ranks);
  __local uint *bitmap = bitmaps + sg_in_group() * BITMAP_WORDS;
  const uint begin = member * WG_SIZE + (uint)get_local_id(0), stride = members * WG_SIZE;
  uint least = UINT_MAX, idle = 0u;  /* the fewest losers so far, and rounds since then */
  for (uint round = 0u;; round++) {
    const uint size = load_relaxed(size_of(round, state));
    idle = size < least ? 0u : idle + 1u;
    least = min(least, size);
    if (idle == MAX_IDLE_ROUNDS) {
      report_status(control + GRID_STATUS, STATUS_STUCK);
      return;
    }
    if (member == 0 && get_local_id(0) == 0) {
      if (round == 0u) store_relaxed(state + STATE_CONFLICTS, size);
      store_relaxed(state + STATE_ROUNDS, round);
    }
    if (!size) return;
    volatile __global int *list = list_of(round, one_list, other_list);
    assign_losers(&rows, begin, stride, size, list, tentative, colors, bitmap);
    if (member == 0 && get_local_id(0) == 0) store_relaxed(size_of(round + 2u, state), 0u);
    if (!grid_barrier(control, members, &passed)) return;
    check_losers(&rows, begin, stride, size, list, tentative, colors, size_of(round + 1u, state),
                 list_of(round + 1u, one_list, other_list), bitmap);
    if (!grid_barrier(control, members, &passed)) return;
  }
}
