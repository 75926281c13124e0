/* Colours the vertices with many entries by the method of jones_plassmann.cl, in three kernels.
 *
 * sort_keys: writes the sort key of each vertex.
 * list_hubs: a work-group takes a vertex with very many entries and gathers the neighbours before it in the order.
 * color_large: a sub-group takes a vertex, in order of priority, so that most neighbours before it are coloured already.
 * The open neighbours before it are kept in a list that has the position of its row, its possible colours in a bitmap
 * (possible_bitmap.h).  Among the neighbours that may take the vertex's least colour, the sub-group waits for the one with
 * most possible colours.  It polls only that one until it cannot take the colour any more.
 *
 * Work-groups that run at the same time always finish: some sub-group works on the first open vertex in the order, which
 * waits for no other.  Groups that start late leave.  On devices where groups may not wait for each other, one sub-group
 * runs alone.
 *
 * Races: words are read while their owner narrows them, which possible.h allows.
 *
 * References: see jones_plassmann.cl.
 */
#include "common/grid_barrier.h"
#include "color/orders.h"
#include "color/possible_bitmap.h"
#include "color/states.h"

#ifndef STEPS                    /* entries that a lane has in flight */
#define STEPS 4
#endif

KERNEL sort_keys(int n_large, __global const int *restrict listed, __global const uint *restrict words,
                 __global uint *restrict keys) {
  int i = get_global_id(0);
  if (i < n_large) keys[i] = ~load_rank(words, listed[i]);
}

/* For the first n_hubs vertices of the order: gather the neighbours before each, at the position of its row. */
KERNEL list_hubs(int n_hubs, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global const int *restrict vertices, __global const uint *restrict words,
                 __global int *restrict before, __global uint *restrict n_before) {
  LOCAL_ARRAY uint found[1];
  for (int at = get_group_id(0); at < n_hubs; at += get_num_groups(0)) {
    const int v = vertices[at];
    const offset_t first = row_offsets[v], last = row_offsets[v + 1];
    const uint rank = load_rank(words, v);
    if (get_local_id(0) == 0) found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (offset_t e = first + (offset_t)get_local_id(0); sg_any(e < last); e += STEPS * WG_SIZE) {
      int u[STEPS];
      uint theirs[STEPS];
      for (int k = 0; k < STEPS; k++) u[k] = column_indices[min(e + (offset_t)(k * WG_SIZE), last - 1)];
      for (int k = 0; k < STEPS; k++) theirs[k] = load_rank(words, u[k]);
      for (int k = 0; k < STEPS; k++) {
        int wanted = e + (offset_t)(k * WG_SIZE) < last && goes_before(theirs[k], u[k], rank, v);
        lane_mask_t m = sg_ballot(wanted);
        uint slot = 0u, leader = m ? lowest_lane(m) : 0u;
        if (m && sg_lane() == leader) slot = fetch_add(&found[0], lane_count(m));
        slot = sg_broadcast(slot, leader) + lane_count(m & lanes_below_mask());
        if (wanted) before[first + (offset_t)slot] = u[k];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) n_before[at] = found[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* Wait until u cannot take c, or is coloured; 0 on a time-out. */
INLINE int wait_for(int u, uint c, volatile __global uint *words, volatile __global uint *status) {
  for (uint turn = 0u;; turn++) {
    const uint word = sg_broadcast(load_relaxed(word_of(words, u)), 0u);
    if (is_colored(word) || !may_take(word, c)) return 1;
    if (turn >= SPIN_LIMIT || ((turn & 1023u) == 1023u && sg_any(load_relaxed(status)))) {
      report_status(status, STATUS_TIMEOUT);
      return 0;
    }
  }
}

/* The vertex that a sub-group colours, and the list of open neighbours before it. */
typedef struct {
  int v;
  offset_t first;
  uint degree, rank;
  uint size;                     /* length of the list; if from_row, of the row from which the list will be made */
  int from_row;
  __global int *listed;
} large_t;

/* The rival that this lane has found: the neighbour with most possible colours of all that may take c; range 0: none. */
typedef struct {
  uint range;
  int u;
} rival_t;

/* Reads the listed neighbours.  Forbids the colours of coloured ones, and keeps a neighbour on the list if it may still
 * take c or a greater colour.  All lanes together write the new list over the part that has been read. */
INLINE rival_t look_through(large_t *x, uint c, const bitmap_t *bitmap, __global const int *restrict column_indices,
                            volatile __global uint *words) {
  const uint lane = sg_lane();
  uint kept = 0u;
  rival_t rival = {0u, 0};
  for (uint i = lane; sg_any(i < x->size); i += STEPS * SUB_GROUP_SIZE) {
    int u[STEPS];
    uint word[STEPS];
    for (int k = 0; k < STEPS; k++) {
      uint at = min(i + k * SUB_GROUP_SIZE, x->size - 1u);
      u[k] = x->from_row ? column_indices[x->first + (offset_t)at] : x->listed[at];
    }
    if (x->from_row) {
      ulong state[STEPS];
      for (int k = 0; k < STEPS; k++) state[k] = load_state(1, words, u[k]);
      for (int k = 0; k < STEPS; k++)
        word[k] = goes_before((uint)(state[k] >> 32), u[k], x->rank, x->v) ? (uint)state[k] : 0u;
    } else {
      for (int k = 0; k < STEPS; k++) word[k] = load_relaxed(word_of(words, u[k]));
    }
    for (int k = 0; k < STEPS; k++)
      if (i + k * SUB_GROUP_SIZE >= x->size) word[k] = 0u;
    for (int k = 0; k < STEPS; k++) {
      int keep = 0;
      if (word[k]) {
        if (is_colored(word[k])) forbid(least_color(word[k]), bitmap);
        else keep = most_color(word[k]) >= c;
      }
      if (keep && may_take(word[k], c)) {
        uint range = most_color(word[k]) - least_color(word[k]);  /* not 0: it is not coloured */
        if (range > rival.range) {
          rival.range = range;
          rival.u = u[k];
        }
      }
      lane_mask_t keeping = sg_ballot(keep);
      sg_sync();
      if (keep) x->listed[kept + lane_count(keeping & lanes_below_mask())] = u[k];
      kept += lane_count(keeping);
    }
  }
  sg_sync();
  x->size = kept;
  x->from_row = 0;
  return rival;
}

/* Colour *x; 0 on a time-out. */
INLINE int color_by_all(large_t *x, const bitmap_t *bitmap, __global const int *restrict column_indices,
                        volatile __global uint *words, __global int *restrict colors, volatile __global uint *status) {
  uint c = 0u, published = ANY_COLOR;
  for (;;) {
    const rival_t rival = look_through(x, c, bitmap, column_indices, words);
    const uint least = possible_color(0u, 1, bitmap);
    const int moved = least != c;  /* the rivals found may take the old colour, so look again */
    c = least;
    if (moved) continue;
    const uint greatest = sg_greatest(rival.range);
    const lane_mask_t rivals = sg_ballot(rival.range && rival.range == greatest);
    if (!rivals) break;
    const int blocker = sg_broadcast(rival.u, lowest_lane(rivals));
    const uint most = possible_color(x->size, 0, bitmap);
    const uint word = most < SET_COLORS ? bitmap->head[0] & ((2u << most) - 1u) : interval(c, most);
    if (sg_lane() == 0 && word != published) store_relaxed(word_of(words, x->v), word);
    published = word;
    if (!wait_for(blocker, c, words, status)) return 0;
  }
  if (sg_lane() == 0) {
    store_relaxed(word_of(words, x->v), colored(c));
    colors[x->v] = (int)c;
  }
  return 1;
}

KERNEL color_large(int n_large, int n_hubs, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const int *restrict vertices,
                   __global const uint *restrict n_before, volatile __global uint *words, __global int *before,
                   volatile __global uint *bitmaps, __global int *restrict colors, volatile __global uint *controls) {
  LOCAL_ARRAY uint heads[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  GRID_ENTER(controls)
  __local uint *head = heads + sg_in_group() * BITMAP_WORDS;
  const long begin = member * SUB_GROUPS_PER_GROUP + sg_in_group(), stride = members * SUB_GROUPS_PER_GROUP;
  for (long at = begin; at < n_large; at += SUB_GROUP_SIZE * stride) {
    const long mine = min(at + (long)sg_lane() * stride, (long)n_large - 1);  /* read ahead, a lane a vertex */
    const int its_v = vertices[mine];
    const offset_t its_first = row_offsets[its_v];
    const uint its_degree = (uint)(row_offsets[its_v + 1] - its_first), its_rank = load_rank(words, its_v);
    const uint its_size = mine < n_hubs ? n_before[mine] : its_degree;
    for (uint k = 0u; k < SUB_GROUP_SIZE && at + (long)k * stride < n_large; k++) {
      large_t x;
      x.v = sg_broadcast(its_v, k);
      x.first = sg_broadcast(its_first, k);
      x.degree = sg_broadcast(its_degree, k);
      x.rank = sg_broadcast(its_rank, k);
      x.size = sg_broadcast(its_size, k);
      x.from_row = at + (long)k * stride >= n_hubs;
      x.listed = before + x.first;
      const bitmap_t bitmap = full_bitmap(x.degree, head, bitmaps + (size_t)(x.first >> 5) + (size_t)x.v);
      if (!color_by_all(&x, &bitmap, column_indices, words, colors, controls + GRID_STATUS)) return;
    }
  }
}
