/* Borůvka on a list of edges.  Every sub-group has a segment of the list and shortens it in place, so appending needs no
 * atomics.  A round is `hook`, `settle`, `offer`, separated by grid barriers or by launches.
 *
 * An item of the list is (root of one end, root of the other, weight key, entry).  An edge is listed once, as the entry
 * in the row of its lesser end.  Light edges are listed first.  Heavy edges between vertices that light edges have
 * already joined are never listed.
 * After A. Fallin, A. Gonzalez, J. Seo, M. Burtscher, "A High-Performance MST Implementation for GPUs", SC 2023.
 *
 * Races: `offer` lowers best by atomics, and while it runs nothing hooks.  In `hook`, only the one entry that is a
 * root's best writes the root's parent.  In `settle` nothing hooks: see climb.h.
 */
#include "common/grid_barrier.h"
#include "common/random.h"
#include "minimum_spanning_forest/climb.h"
#include "minimum_spanning_forest/rows.h"
#include "minimum_spanning_forest/state.h"

#define ALL_EDGES 0
#define LIGHT_EDGES 1
#define HEAVY_EDGES 2
#ifndef BATCH                    /* items of the list that a lane has in flight */
#define BATCH 4
#endif
#ifndef SAMPLES
#define SAMPLES 512
#endif

/* One work-group finds the greatest weight of light edges: the weight of the sampled edge of this rank.
 * A product maps random numbers to entries, because LLVM before 18 computes a 64-bit remainder of 32-bit numbers by floats
 * of 24 bits for AMD's GPUs, which gives entries beyond m. */
KERNEL choose_threshold(offset_t m, uint rank, __global const uint *restrict edge_weights, __global uint *restrict state) {
  LOCAL_ARRAY uint weight[SAMPLES];
  LOCAL_ARRAY uint entry[SAMPLES];
  for (int i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {
    const ulong e = (ulong)random_uint(random_key(1ul), (ulong)i) * (ulong)m >> 32;
    weight[i] = weight_key(edge_weights, (offset_t)e);
    entry[i] = (uint)e;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < SAMPLES; i += WG_SIZE) {
    uint lighter = 0u;
    for (int k = 0; k < SAMPLES; k++)
      lighter += weight[k] < weight[i] || (weight[k] == weight[i] && (entry[k] < entry[i] || (entry[k] == entry[i] && k < i)));
    if (lighter == rank) {
      state[STATE_THRESHOLD_WEIGHT] = weight[i];
      state[STATE_THRESHOLD_ENTRY] = entry[i];
    }
  }
}

/* List the edges of one part (light or heavy) that join different trees, and offer each to both trees. */
KERNEL build(int n, int n_tiles, int n_segments, int part, offset_t m, ulong capacity,
             __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
             __global const uint *restrict edge_weights, __global const int *restrict tile_rows,
             __global const int *restrict parent, __global const uint *restrict state, volatile __global best_t *best,
             __global uint4 *restrict list, __global uint *restrict sizes) {
  const int segment = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (segment >= n_segments) return;
  const uint lane = sg_lane();
  const uint limit_weight = state[STATE_THRESHOLD_WEIGHT], limit_entry = state[STATE_THRESHOLD_ENTRY];
  __global uint4 *own = list + segment * capacity;
  uint size = 0u;
  for (int tile = segment; tile < n_tiles; tile += n_segments) {
    const offset_t first = (offset_t)tile * TILE, last = min(first + TILE, m);
    rows_t rows = {tile_rows[tile], 0};
    for (offset_t at = first; at < last; at += STEPS * SUB_GROUP_SIZE) {
      uint weight[STEPS];
      int u[STEPS], v[STEPS], wanted[STEPS], a[STEPS], b[STEPS];
      for (int k = 0; k < STEPS; k++) {
        offset_t e = min(at + (offset_t)(k * SUB_GROUP_SIZE + lane), last - 1);
        weight[k] = weight_key_once(edge_weights, e);
        u[k] = load_once(column_indices + e);
      }
      for (int k = 0; k < STEPS; k++) {
        offset_t e = at + (offset_t)(k * SUB_GROUP_SIZE + lane);
        int light = weight[k] < limit_weight || (weight[k] == limit_weight && (uint)e <= limit_entry);
        wanted[k] = e < last && (part == ALL_EDGES || light == (part == LIGHT_EDGES));
        v[k] = 0;
        if (sg_any(wanted[k])) v[k] = row_of(&rows, min(e, last - 1), n, row_offsets);
        wanted[k] = wanted[k] && v[k] < u[k];
      }
      for (int k = 0; k < STEPS; k++) {
        a[k] = wanted[k] ? parent[v[k]] : 0;
        b[k] = wanted[k] ? parent[u[k]] : 0;
      }
      for (int k = 0; k < STEPS; k++) {
        uint e = (uint)(at + (offset_t)(k * SUB_GROUP_SIZE + lane));
        lane_mask_t kept = sg_ballot(a[k] != b[k]);
        if (a[k] != b[k]) {
          own[size + lane_count(kept & lanes_below_mask())] = (uint4)((uint)a[k], (uint)b[k], weight[k], e);
          offer(best, n, a[k], weight[k], e, 0);
          offer(best, n, b[k], weight[k], e, 0);
        }
        size += lane_count(kept);
      }
    }
  }
  if (lane == 0) sizes[segment] = size;
}

/* Hook each root whose best edge is in this segment.  Of two roots with the same best edge, the lesser stays a root. */
INLINE void hook(int n, uint size, const __global uint4 *own, volatile __global best_t *best,
                 volatile __global int *parent, __global uint *forest) {
  for (uint i = sg_lane(); i < size; i += BATCH * SUB_GROUP_SIZE) {
    uint4 edge[BATCH];
    int best_of_a[BATCH], best_of_b[BATCH];
    for (int k = 0; k < BATCH; k++) edge[k] = own[min(i + k * SUB_GROUP_SIZE, size - 1u)];
    for (int k = 0; k < BATCH; k++) {
      best_of_a[k] = is_best(best, n, (int)edge[k].x, edge[k].z, edge[k].w);
      best_of_b[k] = is_best(best, n, (int)edge[k].y, edge[k].z, edge[k].w);
    }
    for (int k = 0; k < BATCH; k++) {
      if (i + k * SUB_GROUP_SIZE >= size) break;
      int a = (int)edge[k].x, b = (int)edge[k].y;
      if (best_of_a[k] && !(best_of_b[k] && a < b)) {
        store_relaxed(parent + a, b);
        forest[a] = edge[k].w;
      }
      if (best_of_b[k] && !(best_of_a[k] && b < a)) {
        store_relaxed(parent + b, a);
        forest[b] = edge[k].w;
      }
    }
  }
}

/* Point the roots of the last round at the new roots.  Keep the roots that remain and have edges.  Returns the new size;
 * *at_root = 0 if a climb met its limit, which then takes another turn. */
INLINE uint settle(int n, uint size, int turn, int *at_root, __global int *own, volatile __global best_t *best,
                   volatile __global int *parent) {
  uint kept = 0u;
  for (uint i = sg_lane(); sg_any(i < size); i += SUB_GROUP_SIZE) {
    int keep = 0, r = 0;
    if (i < size) {
      int there = 1;
      r = own[i];
      if (climb(parent, r, &there) == r) {
        keep = turn || best_entry(best, n, r) != NO_ENTRY;
        if (keep) clear_best(best, n, r);
      } else if (!there) {
        keep = 1;
        *at_root = 0;
      }
    }
    lane_mask_t keeping = sg_ballot(keep);
    sg_sync();
    if (keep) own[kept + lane_count(keeping & lanes_below_mask())] = r;
    kept += lane_count(keeping);
  }
  return kept;
}

/* Drop the edges within trees, and offer the others to the trees of both ends.  Returns the new size. */
INLINE uint offer_list(int n, uint size, __global uint4 *own, volatile __global best_t *best,
                       volatile __global int *parent) {
  uint kept = 0u;
  for (uint i = sg_lane(); sg_any(i < size); i += BATCH * SUB_GROUP_SIZE) {
    uint4 edge[BATCH];
    int a[BATCH], b[BATCH];
    for (int k = 0; k < BATCH; k++) edge[k] = own[min(i + k * SUB_GROUP_SIZE, size - 1u)];
    for (int k = 0; k < BATCH; k++) {
      a[k] = load_relaxed(parent + edge[k].x);
      b[k] = i + k * SUB_GROUP_SIZE < size ? load_relaxed(parent + edge[k].y) : a[k];
    }
    for (int k = 0; k < BATCH; k++) {
      lane_mask_t keeping = sg_ballot(a[k] != b[k]);
      sg_sync();
      if (a[k] != b[k]) {
        own[kept + lane_count(keeping & lanes_below_mask())] = (uint4)((uint)a[k], (uint)b[k], edge[k].z, edge[k].w);
        offer(best, n, a[k], edge[k].z, edge[k].w, 0);
        offer(best, n, b[k], edge[k].z, edge[k].w, 0);
      }
      kept += lane_count(keeping);
    }
  }
  return kept;
}

/* The second pass of SPLIT_KEYS: offer the entries of edges whose weight is the least of a tree. */
INLINE void offer_entries(int n, uint size, const __global uint4 *own, volatile __global best_t *best) {
  for (uint i = sg_lane(); i < size; i += SUB_GROUP_SIZE) {
    uint4 edge = own[i];
    offer(best, n, (int)edge.x, edge.z, edge.w, 1);
    offer(best, n, (int)edge.y, edge.z, edge.w, 1);
  }
}

KERNEL hook_segments(int n, int n_segments, ulong capacity, const __global uint4 *list, const __global uint *sizes,
                     volatile __global best_t *best, volatile __global int *parent, __global uint *forest) {
  const int s = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (s < n_segments) hook(n, sizes[s], list + s * capacity, best, parent, forest);
}

KERNEL settle_segments(int n, int n_segments, uint root_capacity, __global int *roots, __global uint *n_roots,
                       volatile __global best_t *best, volatile __global int *parent) {
  const int s = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (s >= n_segments) return;
  int at_root = 1;               /* stays 1: without a grid barrier climbs have no limit */
  uint size = settle(n, n_roots[s], 0, &at_root, roots + (size_t)s * root_capacity, best, parent);
  if (sg_lane() == 0) n_roots[s] = size;
}

KERNEL offer_segments(int n, int n_segments, uint round, ulong capacity, __global uint4 *list, __global uint *sizes,
                      volatile __global uint *state, volatile __global best_t *best, volatile __global int *parent) {
  const int s = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (s >= n_segments) return;
  uint size = offer_list(n, sizes[s], list + s * capacity, best, parent);
  if (sg_lane() == 0) {
    sizes[s] = size;
    if (size) store_relaxed(state + STATE_ALIVE, round);
  }
}

KERNEL offer_segment_entries(int n, int n_segments, ulong capacity, const __global uint4 *list,
                             const __global uint *sizes, volatile __global best_t *best) {
  const int s = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (s < n_segments) offer_entries(n, sizes[s], list + s * capacity, best);
}

/* Makes all rounds in one launch. base is at least the number of every round of earlier launches of the run. */
KERNEL rounds(int n, int n_segments, uint base, uint control_at, ulong capacity, uint root_capacity,
              __global uint4 *list, __global uint *sizes, __global int *roots, __global uint *n_roots,
              volatile __global uint *state, volatile __global best_t *best, volatile __global int *parent,
              __global uint *forest) {
  LOCAL_ARRAY int passed;
  volatile __global uint *control = state + control_at;
  GRID_ENTER(control)
  const int first = (int)(member * SUB_GROUPS_PER_GROUP + sg_in_group());
  const int stride = (int)(members * SUB_GROUPS_PER_GROUP);
  uint settled = base * MAX_ROUNDS;
  for (uint round = base + 1u; round < base + MAX_ROUNDS; round++) {
#if SPLIT_KEYS
    for (int s = first; s < n_segments; s += stride) offer_entries(n, sizes[s], list + s * capacity, best);
    if (!grid_barrier(control, members, &passed)) return;
#endif
    for (int s = first; s < n_segments; s += stride) hook(n, sizes[s], list + s * capacity, best, parent, forest);
    if (!grid_barrier(control, members, &passed)) return;
    for (int turn = 0;; turn++) {
      int at_root = 1;
      settled++;
      for (int s = first; s < n_segments; s += stride) {
        uint size = settle(n, n_roots[s], turn, &at_root, roots + (size_t)s * root_capacity, best, parent);
        sg_sync();
        if (sg_lane() == 0) n_roots[s] = size;
      }
      if (!at_root) store_relaxed(state + STATE_UNFINISHED, settled);
      if (!grid_barrier(control, members, &passed)) return;
      if (load_relaxed(state + STATE_UNFINISHED) != settled) break;
      if (turn == n) {             /* a turn climbs a step, and no path has more than n */
        if (get_local_id(0) == 0) report_status(control + GRID_STATUS, STATUS_STUCK);
        return;
      }
    }
    for (int s = first; s < n_segments; s += stride) {
      uint size = offer_list(n, sizes[s], list + s * capacity, best, parent);
      sg_sync();
      if (sg_lane() == 0) {
        sizes[s] = size;
        if (size) store_relaxed(state + STATE_ALIVE, round);
      }
    }
    if (!grid_barrier(control, members, &passed)) return;
    if (load_relaxed(state + STATE_ALIVE) != round) return;
  }
  if (get_local_id(0) == 0) report_status(control + GRID_STATUS, STATUS_STUCK);
}
