/* Speculative colouring: vertices take the least colour that they see free, all at once; then neighbours that took the
 * same are found, and all but the first in the order try again.
 *
 * `assign` gives colours to vertices, `check` lists the losers, `rounds` repeats both on the list until it is empty.
 * A work-item takes a vertex of at most SMALL_DEGREE entries; its sub-group takes longer rows one after the other, with
 * a bitmap of the colours used in local memory, a window of colours at a time.  With GROUP_TEAM a whole work-group does.
 *
 * tentative[v] is the colour that v tries, colors[v] what others avoid.  If both are one buffer, vertices avoid what
 * others take at the same time, as far as they see it, and few of them conflict.  If they are two, nobody sees what is
 * taken in the same round, and `check` copies what stays: more rounds, but the same result in every run.
 *
 * Races: `assign` reads colours while others take them, and may see the old or the new ones; `check` finds what went
 * wrong.  In `check` a loser gives up its colour while others compare with it; it will take another one, so both answers
 * are right.  Of the vertices on a list the first in the order keeps its colour, so every round ends with fewer.
 *
 * After A. H. Gebremedhin, F. Manne, "Scalable parallel graph coloring algorithms", Concurrency: Practice and Experience
 * 12, 2000, and M. Deveci, E. G. Boman, K. D. Devine, S. Rajamanickam, "Parallel graph coloring for manycore
 * architectures", IPDPS 2016.
 */
#include "common/grid_barrier.h"
#include "common/worklist.h"
#include "coloring/orders.h"

#ifndef SMALL_DEGREE
#define SMALL_DEGREE 64
#endif
#ifndef BATCH                    /* entries of a row that a work-item has in flight */
#define BATCH 4
#endif
#ifndef STEPS                    /* and a lane, of a team's row */
#define STEPS 4
#endif
#ifndef BITMAP_WORDS             /* of a team: 32 colours each */
#define BITMAP_WORDS 32
#endif
#ifndef GROUP_TEAM
#define GROUP_TEAM 0
#endif
#ifndef HUB_DEGREE               /* rows above it are for GROUP_TEAM */
#define HUB_DEGREE INT_MAX
#endif
#ifndef COLOR_LOAD
#define COLOR_LOAD load_stale
#endif

#define NO_COLOR -1
#define STATE_WORDS 64
#define STATE_SIZES 0            /* of the lists, N_SIZES of them in turn */
#define N_SIZES 3u
#define STATE_CONFLICTS 4        /* losers of the first check */
#define STATE_ROUNDS 5
#define STATE_CONTROL 32         /* of the grid */
#define STATE_STATUS (STATE_CONTROL + GRID_STATUS)

#if GROUP_TEAM
#define TEAM WG_SIZE
#define team_lane() ((uint)get_local_id(0))
#define team_sync() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define TEAM SUB_GROUP_SIZE
#define team_lane() sg_lane()
#define team_sync() sg_sync()
#endif

/* What a kernel needs to look at rows and to compare vertices. */
typedef struct {
  order_t order;                 /* of orders.h, or else `ranks` has the priorities */
  __global const offset_t *row_offsets;
  __global const int *column_indices;
  __global const uint *ranks;
} rows_t;
#define ROWS                                                                                          \
  ORDER_ARGS, __global const offset_t *restrict row_offsets,                                          \
      __global const int *restrict column_indices, __global const uint *restrict ranks
#define MAKE_ROWS(name)                                                                               \
  rows_t name;                                                                                        \
  MAKE_ORDER(name##_order);                                                                           \
  name.order = name##_order;                                                                          \
  name.row_offsets = row_offsets; name.column_indices = column_indices; name.ranks = ranks

INLINE uint degree_of(const rows_t *rows, int v) { return (uint)(rows->row_offsets[v + 1] - rows->row_offsets[v]); }
INLINE uint priority(const rows_t *rows, int v) {
  if (rows->order.number > ORDER_MANY_FIRST) return rows->ranks[v];
  return priority_of(rows->order, v, rows->order.number >= ORDER_LARGEST_FIRST ? degree_of(rows, v) : 0u);
}
INLINE int loses(const rows_t *rows, int v, int u) {
  return u != v && goes_before(priority(rows, u), u, priority(rows, v), v);
}

KERNEL start(int n, __global int *restrict tentative, __global int *restrict colors, __global uint *restrict state) {
  int v = get_global_id(0);
  if (v < STATE_WORDS) state[v] = 0u;
  if (v >= n) return;
  colors[v] = NO_COLOR;
  tentative[v] = NO_COLOR;
}

/* Keys that rise in the order. */
KERNEL order_keys(int n, ROWS, __global uint *restrict keys) {
  int v = get_global_id(0);
  MAKE_ROWS(rows);
  if (v < n) keys[v] = ~priority(&rows, v);
}

/* ---- a work-item a row */

INLINE int least_free(const rows_t *rows, int v, volatile __global int *colors) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v);
  for (uint base = 0u;; base += 32u) {
    uint used = 0u;
    for (uint i = 0; i < degree; i += BATCH) {
      int u[BATCH];
      uint c[BATCH];
      for (int k = 0; k < BATCH; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k, degree - 1u)];
      for (int k = 0; k < BATCH; k++) c[k] = (uint)COLOR_LOAD(colors + u[k]) - base;
      for (int k = 0; k < BATCH; k++) used |= c[k] < 32u ? 1u << (c[k] & 31u) : 0u;
    }
    if (~used) return (int)(base + 31u - (uint)clz(~used & (used + 1u)));
  }
}

INLINE int must_retry(const rows_t *rows, int v, volatile __global int *tentative) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v);
  const int c = load_relaxed(tentative + v);
  for (uint i = 0; i < degree; i += BATCH) {
    int u[BATCH], theirs[BATCH], lost = 0;
    for (int k = 0; k < BATCH; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k, degree - 1u)];
    for (int k = 0; k < BATCH; k++) theirs[k] = COLOR_LOAD(tentative + u[k]);
    for (int k = 0; k < BATCH; k++) lost |= theirs[k] == c && loses(rows, v, u[k]);
    if (lost) return 1;
  }
  return 0;
}

/* ---- a team a row; all of it calls */

INLINE int team_least_free(const rows_t *rows, int v, volatile __global int *colors, __local uint *bitmap) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v), lane = team_lane();
  for (uint base = 0u;; base += 32u * BITMAP_WORDS) {
    for (uint w = lane; w < BITMAP_WORDS; w += TEAM) bitmap[w] = 0u;
    team_sync();
    for (uint i = lane; i < degree; i += STEPS * TEAM) {
      int u[STEPS];
      uint c[STEPS];
      for (int k = 0; k < STEPS; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k * TEAM, degree - 1u)];
      for (int k = 0; k < STEPS; k++) c[k] = (uint)COLOR_LOAD(colors + u[k]) - base;
      for (int k = 0; k < STEPS; k++)
        if (c[k] < 32u * BITMAP_WORDS) fetch_or(&bitmap[c[k] >> 5], 1u << (c[k] & 31u));
    }
    team_sync();
    int found = NO_COLOR;        /* by every lane for itself: they read the same words */
    for (uint w = 0u; w < BITMAP_WORDS && found < 0; w++) {
      uint used = bitmap[w];
      if (~used) found = (int)(base + 32u * w + 31u - (uint)clz(~used & (used + 1u)));
    }
    team_sync();
    if (found >= 0) return found;
  }
}

INLINE int team_must_retry(const rows_t *rows, int v, volatile __global int *tentative, __local uint *lost) {
  const offset_t first = rows->row_offsets[v];
  const uint degree = degree_of(rows, v), lane = team_lane();
  const int c = load_relaxed(tentative + v);
  int found = 0;
  if (lane == 0) *lost = 0u;
  team_sync();
  for (uint i = lane; i < degree; i += STEPS * TEAM) {
    int u[STEPS], theirs[STEPS];
    for (int k = 0; k < STEPS; k++) u[k] = rows->column_indices[first + (offset_t)min(i + k * TEAM, degree - 1u)];
    for (int k = 0; k < STEPS; k++) theirs[k] = COLOR_LOAD(tentative + u[k]);
    for (int k = 0; k < STEPS; k++) found |= theirs[k] == c && loses(rows, v, u[k]);
  }
  if (found) fetch_or(lost, 1u);
  team_sync();
  found = (int)*lost;
  team_sync();
  return found;
}

/* ---- vertices i … of a list, or of all if there is none */

#if GROUP_TEAM
KERNEL assign(uint size, ROWS, __global const int *restrict list, volatile __global int *tentative,
              volatile __global int *colors) {
  LOCAL_ARRAY uint bitmap[BITMAP_WORDS];
  MAKE_ROWS(rows);
  for (uint i = get_group_id(0); i < size; i += get_num_groups(0)) {
    int c = team_least_free(&rows, list[i], colors, bitmap);
    if (get_local_id(0) == 0) store_relaxed(tentative + list[i], c);
  }
}

KERNEL check(uint size, ROWS, __global const int *restrict list, volatile __global int *tentative,
             volatile __global int *colors, volatile __global uint *state, __global int *restrict next) {
  LOCAL_ARRAY uint lost;
  MAKE_ROWS(rows);
  for (uint i = get_group_id(0); i < size; i += get_num_groups(0)) {
    const int v = list[i];
    int again = team_must_retry(&rows, v, tentative, &lost);
    if (get_local_id(0) == 0) {
      if (again) next[fetch_add(state + STATE_SIZES, 1u)] = v;
      if (again || tentative != colors) store_relaxed(colors + v, again ? NO_COLOR : load_relaxed(tentative + v));
    }
  }
}
#else
INLINE void assign_tile(const rows_t *rows, uint i, uint size, int all, const volatile __global int *list,
                        volatile __global int *tentative, volatile __global int *colors, __local uint *bitmap) {
  const int v = i < size ? (all ? (int)i : load_relaxed(list + i)) : -1;
  const uint degree = v >= 0 ? degree_of(rows, v) : 0u;
  if (v >= 0 && degree <= SMALL_DEGREE) store_relaxed(tentative + v, least_free(rows, v, colors));
  for (lane_mask_t left = sg_ballot(degree > SMALL_DEGREE && !(all && degree > HUB_DEGREE)); left; left &= left - 1) {
    const int w = sg_broadcast(v, lowest_lane(left)), c = team_least_free(rows, w, colors, bitmap);
    if (v == w) store_relaxed(tentative + v, c);
  }
}

INLINE void check_tile(const rows_t *rows, uint i, uint size, int all, const volatile __global int *list,
                       volatile __global int *tentative, volatile __global int *colors, volatile __global uint *n_lost,
                       volatile __global int *next, __local uint *bitmap) {
  const int v = i < size ? (all ? (int)i : load_relaxed(list + i)) : -1;
  const uint degree = v >= 0 ? degree_of(rows, v) : 0u;
  int again = v >= 0 && degree <= SMALL_DEGREE && must_retry(rows, v, tentative);
  const int skipped = all && degree > HUB_DEGREE;
  for (lane_mask_t left = sg_ballot(degree > SMALL_DEGREE && !skipped); left; left &= left - 1) {
    const int w = sg_broadcast(v, lowest_lane(left)), lost = team_must_retry(rows, w, tentative, bitmap);
    if (v == w) again = lost;
  }
  uint slot = push_sub_group(n_lost, again);
  if (again) {
    store_relaxed(next + slot, v);
    store_relaxed(colors + v, NO_COLOR);
  } else if (v >= 0 && !skipped && tentative != colors) {
    store_relaxed(colors + v, load_relaxed(tentative + v));
  }
}

/* stride: sub-groups that run one after the other take tiles so far apart, since neighbours often have near numbers, and
 * those that run together do not see each other's colours; it has no factor in common with the number of tiles. */
KERNEL assign(uint size, int all, uint stride, ROWS, __global const int *restrict list, volatile __global int *tentative,
              volatile __global int *colors) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  MAKE_ROWS(rows);
  const uint n_tiles = (size + SUB_GROUP_SIZE - 1u) / SUB_GROUP_SIZE, number = (uint)get_global_id(0) / SUB_GROUP_SIZE;
  const uint tile = number < n_tiles ? (uint)((ulong)number * stride % n_tiles) : number;
  assign_tile(&rows, tile * SUB_GROUP_SIZE + sg_lane(), size, all, list, tentative, colors, bitmaps + sg_in_group() * BITMAP_WORDS);
}

KERNEL check(uint size, int all, uint at, ROWS, __global const int *restrict list, volatile __global int *tentative,
             volatile __global int *colors, volatile __global uint *state, volatile __global int *next) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  MAKE_ROWS(rows);
  check_tile(&rows, get_global_id(0), size, all, list, tentative, colors, state + STATE_SIZES + at, next,
             bitmaps + sg_in_group() * BITMAP_WORDS);
}

/* All rounds after the first in one launch. */
KERNEL rounds(ROWS, volatile __global int *one_list, volatile __global int *other_list, volatile __global int *tentative,
              volatile __global int *colors, volatile __global uint *state) {
  LOCAL_ARRAY uint bitmaps[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  LOCAL_ARRAY int passed;
  volatile __global uint *control = state + STATE_CONTROL;
  GRID_ENTER(control)
  MAKE_ROWS(rows);
  __local uint *bitmap = bitmaps + sg_in_group() * BITMAP_WORDS;
  const uint begin = member * WG_SIZE + (uint)get_local_id(0), stride = members * WG_SIZE;
  for (uint round = 0u;; round++) {
    const uint size = load_relaxed(state + STATE_SIZES + round % N_SIZES);
    if (member == 0 && get_local_id(0) == 0) {
      if (round == 0u) store_relaxed(state + STATE_CONFLICTS, size);
      store_relaxed(state + STATE_ROUNDS, round);
    }
    if (!size) return;
    volatile __global int *list = round & 1u ? other_list : one_list, *next = round & 1u ? one_list : other_list;
    for (uint i = begin; i - sg_lane() < size; i += stride)
      assign_tile(&rows, i, size, 0, list, tentative, colors, bitmap);
    if (member == 0 && get_local_id(0) == 0) store_relaxed(state + STATE_SIZES + (round + 2u) % N_SIZES, 0u);
    if (!grid_barrier(control, members, &passed)) return;
    for (uint i = begin; i - sg_lane() < size; i += stride)
      check_tile(&rows, i, size, 0, list, tentative, colors, state + STATE_SIZES + (round + 1u) % N_SIZES, next,
                 bitmap);
    if (!grid_barrier(control, members, &passed)) return;
  }
}
#endif
