/* Greedy colouring of the vertices of many entries, before the others; jones_plassmann.cl tells the whole.
 *
 * color_large: a sub-group a vertex, in order of priority, so that most neighbours before it are coloured when its turn
 * comes.  The neighbours before it that are open stay in a list at the place of its row, its possible colours in a
 * bitmap.  The sub-group waits for one of them, the one with most possible colours among those that may take the
 * vertex's least colour; nothing else is looked at before that one cannot any more.
 * list_hubs: a work-group a vertex of many entries, beforehand: finds the neighbours before it.
 *
 * Groups that run together finish whatever the others do, since the first open vertex in the order is always among
 * those that somebody waits with; groups that come late leave.  On devices where groups may not wait for each other,
 * one sub-group runs alone.
 */
#include "common/grid_barrier.h"
#include "common/subgroup.h"
#include "coloring/orders.h"
#include "coloring/states.h"

#ifndef STEPS                    /* entries of a lane in flight */
#define STEPS 4
#endif
#ifndef BITMAP_WORDS             /* of a bitmap, in local memory; further ones stay in global memory */
#define BITMAP_WORDS 64
#endif

KERNEL sort_keys(int n_large, __global const int *restrict listed, __global const uint *restrict states,
                 __global uint *restrict keys) {
  int i = get_global_id(0);
  if (i < n_large) keys[i] = ~load_rank(states, listed[i]);
}

/* The first n_hubs vertices of the order: gather the neighbours before each at the place of its row. */
KERNEL list_hubs(int n_hubs, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global const int *restrict order, __global const uint *restrict states, __global int *restrict before,
                 __global uint *restrict n_before) {
  LOCAL_ARRAY uint found[1];
  for (int at = get_group_id(0); at < n_hubs; at += get_num_groups(0)) {
    const int v = order[at];
    const offset_t first = row_offsets[v], last = row_offsets[v + 1];
    const uint rank = load_rank(states, v);
    if (get_local_id(0) == 0) found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (offset_t e = first + (offset_t)get_local_id(0); sg_any(e < last); e += STEPS * WG_SIZE) {
      int u[STEPS];
      uint theirs[STEPS];
      for (int k = 0; k < STEPS; k++) u[k] = column_indices[min(e + (offset_t)(k * WG_SIZE), last - 1)];
      for (int k = 0; k < STEPS; k++) theirs[k] = load_rank(states, u[k]);
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

/* Bitmaps of possible colours lie one after the other, by row; the head of one is in local memory instead.  All lanes
 * call these. */
INLINE uint bitmap_words(uint degree) { return (degree >> 5) + 1u; }

INLINE void forbid(uint c, uint n_words, __local uint *head, volatile __global uint *rest) {
  if (c < 32u * BITMAP_WORDS) fetch_and(&head[c >> 5], ~(1u << (c & 31u)));
  else if (c >> 5 < n_words) fetch_and(rest + (c >> 5), ~(1u << (c & 31u)));
}

/* The possible colour of this rank, counted from 0; UINT_MAX if it is not in the head and *all* is 0. */
INLINE uint possible_color(uint wanted, int all, uint n_words, const __local uint *head, volatile __global uint *rest) {
  const uint lane = sg_lane(), end = all ? n_words : min(n_words, (uint)BITMAP_WORDS);
  uint passed = 0u;
  for (uint w = 0u; w < end; w += SUB_GROUP_SIZE) {
    uint bits = 0u;
    if (w + lane < end) bits = w + lane < BITMAP_WORDS ? head[w + lane] : load_relaxed(rest + w + lane);
    uint count = popcount(bits), below = passed + sg_exclusive_sum(count);
    const int here = below <= wanted && wanted < below + count;
    lane_mask_t holder = sg_ballot(here);
    if (holder) {
      for (uint skip = here ? wanted - below : 0u; skip; skip--) bits &= bits - 1u;
      return sg_broadcast(32u * (w + lane) + lowest_bit(bits), lowest_lane(holder));
    }
    passed = sg_broadcast(below + count, SUB_GROUP_SIZE - 1u);
  }
  return UINT_MAX;
}

/* Wait until u cannot take c, or is coloured; 0 on a time-out. */
INLINE int wait_for(int u, uint c, volatile __global uint *states, volatile __global uint *status) {
  for (uint turn = 0u;; turn++) {
    const uint word = sg_broadcast(load_relaxed(word_of(states, u)), 0u);
    if (is_colored(word) || !may_take(word, c)) return 1;
    if (turn >= SPIN_LIMIT || ((turn & 1023u) == 1023u && sg_any(load_relaxed(status)))) {
      report_status(status, STATUS_TIMEOUT);
      return 0;
    }
  }
}

/* Colour v, of which *size* neighbours before it are listed in *own*, or, from_row, are to be found in its row; 0 on a
 * time-out. */
INLINE int color_by_all(int v, offset_t first, uint degree, uint rank, uint size, int from_row,
                        __global const int *restrict column_indices, volatile __global uint *states,
                        __global int *own, __local uint *head,
                        volatile __global uint *bitmap, __global int *restrict colors, volatile __global uint *status) {
  const uint lane = sg_lane(), n_words = bitmap_words(degree);
  sg_sync();
  for (uint w = lane; w < n_words; w += SUB_GROUP_SIZE) {
    if (w < BITMAP_WORDS) head[w] = UINT_MAX;
    else store_relaxed(bitmap + w, UINT_MAX);
  }
  sg_sync();
  uint c = 0u, published = ANY_COLOR;
  if (from_row) size = degree;
  for (;;) {
    uint kept = 0u, strength = 0u, rival = 0u;
    for (uint i = lane; sg_any(i < size); i += STEPS * SUB_GROUP_SIZE) {
      int u[STEPS];
      uint word[STEPS];
      for (int k = 0; k < STEPS; k++) {
        uint at = min(i + k * SUB_GROUP_SIZE, size - 1u);
        u[k] = from_row ? column_indices[first + (offset_t)at] : own[at];
      }
      if (from_row) {
        ulong state[STEPS];
        for (int k = 0; k < STEPS; k++) state[k] = load_state(1, states, u[k]);
        for (int k = 0; k < STEPS; k++)
          word[k] = goes_before((uint)(state[k] >> 32), u[k], rank, v) ? (uint)state[k] : 0u;
      } else {
        for (int k = 0; k < STEPS; k++) word[k] = load_relaxed(word_of(states, u[k]));
      }
      for (int k = 0; k < STEPS; k++)
        if (i + k * SUB_GROUP_SIZE >= size) word[k] = 0u;
      for (int k = 0; k < STEPS; k++) {
        int keep = 0;
        if (word[k]) {
          if (is_colored(word[k])) forbid(least_color(word[k]), n_words, head, bitmap);
          else keep = most_color(word[k]) >= c;
        }
        if (keep && may_take(word[k], c)) {
          uint range = most_color(word[k]) - least_color(word[k]);  /* not 0: it is not coloured */
          if (range > strength) {
            strength = range;
            rival = (uint)u[k];
          }
        }
        lane_mask_t keeping = sg_ballot(keep);
        sg_sync();
        if (keep) own[kept + lane_count(keeping & lanes_below_mask())] = u[k];
        kept += lane_count(keeping);
      }
    }
    sg_sync();
    size = kept;
    from_row = 0;
    const uint least = possible_color(0u, 1, n_words, head, bitmap);
    const int moved = least != c;  /* those that may take it were not looked for */
    c = least;
    if (moved) continue;
    const uint strongest = sg_greatest(strength);
    const lane_mask_t rivals = sg_ballot(strength && strength == strongest);
    if (!rivals) break;
    const int blocker = (int)sg_broadcast(rival, lowest_lane(rivals));
    const uint most = possible_color(size, 0, n_words, head, bitmap);
    const uint word = most < SET_COLORS ? head[0] & ((2u << most) - 1u) : interval(c, most);
    if (lane == 0 && word != published) store_relaxed(word_of(states, v), word);
    published = word;
    if (!wait_for(blocker, c, states, status)) return 0;
  }
  if (lane == 0) {
    store_relaxed(word_of(states, v), colored(c));
    colors[v] = (int)c;
  }
  return 1;
}

KERNEL color_large(int n_large, int n_hubs, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const int *restrict order,
                   __global const uint *restrict n_before,
                   volatile __global uint *states, __global int *before, volatile __global uint *bitmaps,
                   __global int *restrict colors, volatile __global uint *control) {
  LOCAL_ARRAY uint heads[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  GRID_ENTER(control)
  const long begin = member * SUB_GROUPS_PER_GROUP + sg_in_group(), stride = members * SUB_GROUPS_PER_GROUP;
  for (long at = begin; at < n_large; at += SUB_GROUP_SIZE * stride) {
    const long mine = min(at + (long)sg_lane() * stride, (long)n_large - 1);  /* read ahead, a lane a vertex */
    const int its_v = order[mine];
    const offset_t its_first = row_offsets[its_v];
    const uint its_degree = (uint)(row_offsets[its_v + 1] - its_first), its_rank = load_rank(states, its_v);
    const uint its_size = mine < n_hubs ? n_before[mine] : 0u;
    for (uint k = 0u; k < SUB_GROUP_SIZE && at + (long)k * stride < n_large; k++) {
      const int v = sg_broadcast(its_v, k);
      const offset_t first = sg_broadcast(its_first, k);
      const uint degree = sg_broadcast(its_degree, k), rank = sg_broadcast(its_rank, k);
      const uint size = sg_broadcast(its_size, k);
      if (!color_by_all(v, first, degree, rank, size, at + (long)k * stride >= n_hubs, column_indices, states,
                        before + first, heads + sg_in_group() * BITMAP_WORDS,
                        bitmaps + (size_t)(first >> 5) + (size_t)v, colors, control + GRID_STATUS))
        return;
    }
  }
}
