/* Greedy colouring in a given order, in parallel: a vertex gets the least colour that the neighbours before it leave,
 * as soon as that is known.  The result is that of the sequential algorithm, whatever runs when.
 *
 * A vertex publishes which colours it may still get (possible.h).  Its least possible colour is its colour once no
 * neighbour before it that is not coloured yet may take that: often long before all of them are coloured.
 *
 * color_small: a work-item a vertex of at most SMALL_DEGREE entries: which entries are before it is a word of bits,
 * the possible colours are another.  A sub-group tries each vertex of its tiles once, keeps those that stay open in a
 * segment of its own, and goes through that until it is empty.
 * color_large: a sub-group a vertex, in order of priority, so that most neighbours before it are coloured when its turn
 * comes.  The neighbours before it that are open stay in a list at the place of its row, its possible colours in a
 * bitmap.  The sub-group waits for one of them, the one with most possible colours among those that may take the
 * vertex's least colour; nothing else is looked at before that one cannot any more.
 * list_hubs: a work-group a vertex of many entries, beforehand: finds the neighbours before it.
 *
 * Groups that run together finish whatever the others do, since the first open vertex in the order is always among
 * those that somebody tries; groups that come late leave.  On devices where groups may not wait for each other,
 * color_small ends after some turns, to be launched again while it leaves vertices open, and color_large is run by one
 * sub-group alone.
 *
 * Races: words of `words` are read while their owner narrows them; see possible.h.
 *
 * After M. T. Jones, P. E. Plassmann, "A parallel graph coloring heuristic", SIAM J. Scientific Computing 14, 1993, and
 * G. Alabandi, E. Powers, M. Burtscher, "Increasing the parallelism of graph coloring via shortcutting", PPoPP 2020.
 */
#include "common/grid_barrier.h"
#include "common/subgroup.h"
#include "coloring/orders.h"
#include "coloring/possible.h"

#ifndef SMALL_DEGREE
#define SMALL_DEGREE 30          /* at most 30: a set has one colour more */
#endif
#ifndef BATCH                    /* entries of a row that a work-item has in flight */
#define BATCH 4
#endif
#ifndef STEPS                    /* and a lane, of a sub-group's row */
#define STEPS 4
#endif
#ifndef BITMAP_WORDS             /* of a bitmap, in local memory; further ones stay in global memory */
#define BITMAP_WORDS 64
#endif
#ifndef TURNS                    /* of a launch over its segments; 0: until they are empty, all groups at once */
#define TURNS 0u
#endif
#ifndef RETRIES                  /* of a vertex at once, while others of its tile are open */
#define RETRIES 0
#endif
#ifndef FIRST_LOAD               /* how words are read by who does not wait for them */
#define FIRST_LOAD load_stale
#endif

/* Controls of two grids. */
#define CONTROL_LARGE 0
#define CONTROL_SMALL 32
#define CONTROL_WORDS 64

/* Priorities of the vertices, unless they are given, and no knowledge of their colours. */
KERNEL prepare(int n, int order, uint shift, uint key, __global const offset_t *restrict row_offsets,
               __global uint *restrict ranks, __global uint *restrict words, __global uint *restrict controls) {
  int v = get_global_id(0);
  if (v < CONTROL_WORDS) controls[v] = 0u;
  if (v >= n) return;
  if (order <= ORDER_LARGEST_FIRST)
    ranks[v] = priority_of(order, v, (uint)(row_offsets[v + 1] - row_offsets[v]), shift, key);
  words[v] = ANY_COLOR;
}

KERNEL sort_keys(int n_large, __global const int *restrict listed, __global const uint *restrict ranks,
                 __global uint *restrict keys) {
  int i = get_global_id(0);
  if (i < n_large) keys[i] = ~ranks[listed[i]];
}

/* ---- a work-item a vertex */

/* One of the *pending* neighbours before a vertex: narrow the vertex's *set*, drop the neighbour if it does not matter
 * any more, else add what it may take to *rivals*. */
INLINE void meet(uint word, uint bit, uint *pending, uint *set, uint *rivals) {
  uint theirs = as_set(word);
  if (is_colored(word)) *set &= ~theirs;
  if (is_colored(word) || !(theirs & *set)) *pending &= ~bit;
  else *rivals |= theirs;
}

/* One colour more than there are rivals is enough; without a rival for the least, that is it. */
INLINE uint narrowed(uint set, uint pending, uint rivals) {
  for (uint extra = popcount(set) - min((uint)popcount(set), (uint)popcount(pending) + 1u); extra; extra--)
    set &= ~(0x80000000u >> clz(set));
  uint least = set & (0u - set);
  return rivals & least ? set : least;
}

/* Which entries of row v are before it; sets *set. */
INLINE uint start_small(int v, offset_t first, uint degree, __global const int *restrict column_indices,
                        __global const uint *restrict ranks, volatile __global uint *words, uint *set) {
  const uint rank = ranks[v];
  uint pending = 0u, rivals = 0u;
  *set = (2u << degree) - 1u;
  for (uint i = 0; i < degree; i += BATCH) {
    int u[BATCH];
    uint theirs[BATCH], word[BATCH];
    for (int k = 0; k < BATCH; k++) u[k] = column_indices[first + min(i + k, degree - 1u)];
    for (int k = 0; k < BATCH; k++) theirs[k] = ranks[u[k]];
    for (int k = 0; k < BATCH; k++) {
      int before = i + k < degree && goes_before(theirs[k], u[k], rank, v);
      if (before) pending |= 1u << (i + k);
      word[k] = before ? FIRST_LOAD(words + u[k]) : ANY_COLOR;
    }
    for (int k = 0; k < BATCH; k++)
      if (pending >> (i + k) & (i + k < degree)) meet(word[k], 1u << (i + k), &pending, set, &rivals);
  }
  *set = narrowed(*set, pending, rivals);
  return pending;
}

INLINE uint try_small(offset_t first, uint pending, __global const int *restrict column_indices,
                      volatile __global uint *words, uint *set) {
  uint rivals = 0u;
  for (uint left = pending; left;) {
    uint bit[BATCH], word[BATCH];
    for (int k = 0; k < BATCH; k++) {
      bit[k] = left & (0u - left);
      left &= left - 1u;
      if (bit[k]) word[k] = load_relaxed(words + column_indices[first + (offset_t)lowest_bit(bit[k])]);
    }
    for (int k = 0; k < BATCH; k++)
      if (bit[k]) meet(word[k], bit[k], &pending, set, &rivals);
  }
  *set = narrowed(*set, pending, rivals);
  return pending;
}

/* Publish what is known of v; 1 if it is coloured. */
INLINE int publish_small(int v, uint set, volatile __global uint *words, __global int *restrict colors) {
  store_relaxed(words + v, set);
  if (popcount(set) > 1) return 0;
  colors[v] = (int)lowest_bit(set);
  return 1;
}

/* again: only what an earlier launch left open. */
KERNEL color_small(int n, int n_segments, uint capacity, int again, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const uint *restrict ranks,
                   volatile __global uint *words, __global uint2 *segments, __global uint *sizes,
                   __global int *restrict colors, volatile __global uint *controls) {
  volatile __global uint *control = controls + CONTROL_SMALL;
#if TURNS
  const uint member = get_group_id(0), members = get_num_groups(0);
#else
  GRID_ENTER(control)
#endif
  const uint lane = sg_lane();
  const int begin = (int)(member * SUB_GROUPS_PER_GROUP + sg_in_group());
  const int stride = (int)(members * SUB_GROUPS_PER_GROUP);
  const long n_tiles = capacity / SUB_GROUP_SIZE;  /* of a segment; on CPUs one after the other */
  for (int s = begin; s < n_segments && !again; s += stride) {
    __global uint2 *own = segments + (size_t)s * capacity;
    uint size = 0u;
    for (long k = 0; k < n_tiles; k++) {
      const long i = (DEV_IS_CPU ? s * n_tiles + k : s + k * n_segments) * SUB_GROUP_SIZE + (long)lane;
      const int v = (int)min(i, (long)n - 1);
      const offset_t first = row_offsets[v];
      const uint degree = (uint)(row_offsets[v + 1] - first);
      uint pending = 0u, set = 1u;
      int open = 0;
      if (i < n && degree <= SMALL_DEGREE) {
        pending = start_small(v, first, degree, column_indices, ranks, words, &set);
        open = !publish_small(v, set, words, colors);
      }
      for (int turn = 0; turn < RETRIES && sg_any(open); turn++) {
        if (open) {
          pending = try_small(first, pending, column_indices, words, &set);
          open = !publish_small(v, set, words, colors);
        }
      }
      lane_mask_t keeping = sg_ballot(open);
      if (open) own[size + lane_count(keeping & lanes_below_mask())] = (uint2)((uint)v, pending);
      size += lane_count(keeping);
    }
    sg_sync();
    if (lane == 0) sizes[s] = size;
  }
  for (uint turn = 0u;; turn++) {
    int open_ones = 0;
    for (int s = begin; s < n_segments; s += stride) {
      __global uint2 *own = segments + (size_t)s * capacity;
      sg_sync();
      const uint size = sizes[s];
      uint kept = 0u;
      for (uint i = lane; sg_any(i < size); i += SUB_GROUP_SIZE) {
        int open = 0, v = 0;
        uint pending = 0u;
        if (i < size) {
          uint2 entry = own[i];
          v = (int)entry.x;
          uint old = load_relaxed(words + v), set = old;
          pending = try_small(row_offsets[v], entry.y, column_indices, words, &set);
          open = set == old || !publish_small(v, set, words, colors);
        }
        lane_mask_t keeping = sg_ballot(open);
        sg_sync();
        if (open) own[kept + lane_count(keeping & lanes_below_mask())] = (uint2)((uint)v, pending);
        kept += lane_count(keeping);
      }
      sg_sync();
      if (lane == 0) sizes[s] = kept;
      open_ones |= kept != 0u;
    }
    if (!open_ones) return;
#if TURNS
    if (turn + 1u == TURNS) {
      store_relaxed(control + GRID_TICKET, 1u);
      return;
    }
#endif
    if (turn >= SPIN_LIMIT || ((turn & 1023u) == 1023u && load_relaxed(control + GRID_STATUS))) {
      report_status(control + GRID_STATUS, STATUS_TIMEOUT);
      return;
    }
  }
}

/* ---- a sub-group a vertex */

/* The first n_hubs vertices of the order: gather the neighbours before each at the place of its row. */
KERNEL list_hubs(int n_hubs, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global const int *restrict order, __global const uint *restrict ranks, __global int *restrict before,
                 __global uint *restrict n_before) {
  LOCAL_ARRAY uint found[1];
  for (int at = get_group_id(0); at < n_hubs; at += get_num_groups(0)) {
    const int v = order[at];
    const offset_t first = row_offsets[v], last = row_offsets[v + 1];
    const uint rank = ranks[v];
    if (get_local_id(0) == 0) found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (offset_t e = first + (offset_t)get_local_id(0); sg_any(e < last); e += STEPS * WG_SIZE) {
      int u[STEPS];
      uint theirs[STEPS];
      for (int k = 0; k < STEPS; k++) u[k] = column_indices[min(e + (offset_t)(k * WG_SIZE), last - 1)];
      for (int k = 0; k < STEPS; k++) theirs[k] = ranks[u[k]];
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
INLINE int wait_for(int u, uint c, volatile __global uint *words, volatile __global uint *status) {
  for (uint turn = 0u;; turn++) {
    const uint word = sg_broadcast(load_relaxed(words + u), 0u);
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
                        __global const int *restrict column_indices, __global const uint *restrict ranks,
                        volatile __global uint *words, __global int *own, __local uint *head,
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
      for (int k = 0; k < STEPS; k++) word[k] = from_row ? ranks[u[k]] : 0u;
      for (int k = 0; k < STEPS; k++) {
        int wanted = i + k * SUB_GROUP_SIZE < size && (!from_row || goes_before(word[k], u[k], rank, v));
        word[k] = wanted ? load_relaxed(words + u[k]) : 0u;
      }
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
    if (lane == 0 && word != published) store_relaxed(words + v, word);
    published = word;
    if (!wait_for(blocker, c, words, status)) return 0;
  }
  if (lane == 0) {
    store_relaxed(words + v, colored(c));
    colors[v] = (int)c;
  }
  return 1;
}

KERNEL color_large(int n_large, int n_hubs, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const int *restrict order,
                   __global const uint *restrict ranks, __global const uint *restrict n_before,
                   volatile __global uint *words, __global int *before, volatile __global uint *bitmaps,
                   __global int *restrict colors, volatile __global uint *controls) {
  LOCAL_ARRAY uint heads[SUB_GROUPS_PER_GROUP * BITMAP_WORDS];
  volatile __global uint *control = controls + CONTROL_LARGE;
  GRID_ENTER(control)
  const long begin = member * SUB_GROUPS_PER_GROUP + sg_in_group(), stride = members * SUB_GROUPS_PER_GROUP;
  for (long at = begin; at < n_large; at += SUB_GROUP_SIZE * stride) {
    const long mine = min(at + (long)sg_lane() * stride, (long)n_large - 1);  /* read ahead, a lane a vertex */
    const int its_v = order[mine];
    const offset_t its_first = row_offsets[its_v];
    const uint its_degree = (uint)(row_offsets[its_v + 1] - its_first), its_rank = ranks[its_v];
    const uint its_size = mine < n_hubs ? n_before[mine] : 0u;
    for (uint k = 0u; k < SUB_GROUP_SIZE && at + (long)k * stride < n_large; k++) {
      const int v = sg_broadcast(its_v, k);
      const offset_t first = sg_broadcast(its_first, k);
      const uint degree = sg_broadcast(its_degree, k), rank = sg_broadcast(its_rank, k);
      const uint size = sg_broadcast(its_size, k);
      if (!color_by_all(v, first, degree, rank, size, at + (long)k * stride >= n_hubs, column_indices, ranks, words,
                        before + first, heads + sg_in_group() * BITMAP_WORDS,
                        bitmaps + (size_t)(first >> 5) + (size_t)v, colors, control + GRID_STATUS))
        return;
    }
  }
}
