/* Afforest: hook along a sample of the edges, find the giant component, and read the remaining entries only of
 * vertices outside it.
 *
 * After M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
 * Sampling", IPDPS 2018.  Here sampling never waits: `initialize` and `hook_sample` hook with plain stores.  A
 * compare-exchange per sampled edge would serialise at the roots of the large trees.  Each round samples fewer
 * vertices, because fewer trees are left.  The giant's label stays on the device.  If no giant is found, skipping
 * does not pay, and `link_rest` links each edge once, from its larger end.
 *
 * Races: see union_find.h.
 */
#include "connected_components/rem.h"
#include "connected_components/state.h"

#ifndef SKIP_SHARE               /* percent of the sample from which skipping the giant pays */
#define SKIP_SHARE 40
#endif

/* Hook the trees labelled a and b.  `parent` is flat when the kernel starts.  The last store to a root wins, so unions
 * may get lost; link_rest finds them again.  Only smaller labels are stored, so there are no cycles. */
INLINE void hook_labels(int a, int b, volatile __global int *parent) {
  if (a != b) store_relaxed(parent + max(a, b), min(a, b));
}

/* Hooks every stride-th vertex to its second neighbour. */
KERNEL hook_sample(int n, int stride, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, volatile __global int *parent) {
  long v = (long)stride * (long)get_global_id(0);
  if (v >= n) return;
  offset_t at = row_offsets[v] + 1;
  if (at >= row_offsets[v + 1]) return;
  hook_labels(load_stale(parent + v), load_stale(parent + column_indices[at]), parent);
}

/* Hooks every vertex to the second neighbour that `initialize` kept; a work-item takes four vertices. */
KERNEL hook_second(int n, __global const int *restrict second, volatile __global int *parent) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 a = load_stale4(parent + v), b = parents_of(parent, *(__global const int4 *)(second + v));
  hook_labels(a.x, b.x, parent);
  hook_labels(a.y, b.y, parent);
  hook_labels(a.z, b.z, parent);
  hook_labels(a.w, b.w, parent);
}

/* Join v, which is outside the giant, to its neighbours until one of them is in the giant.  Then v is in the giant too,
 * and its other edges are skipped: an edge to another vertex outside is in that vertex's row as well.  Returns 1 once v
 * is in the giant. */
INLINE int link_outsider(int v, int root, int giant, offset_t e, offset_t end, offset_t stride,
                         __global const int *restrict column_indices, volatile __global int *parent) {
  int4 u;
  u.x = column_indices[e];
  u.y = column_indices[min(e + stride, end - 1)];
  u.z = column_indices[min(e + 2 * stride, end - 1)];
  u.w = column_indices[min(e + 3 * stride, end - 1)];
  int4 p = parents_of(parent, u);
  int inside = any(p == (int4)giant);
  link_four(parent, root, inside ? (int4)giant : p);
  return inside;
}

/* Every lane of the sub-group calls with its own row (empty if it has none); long rows are walked together. */
INLINE void link_outsiders(int v, int root, int giant, offset_t begin, offset_t end,
                           __global const int *restrict column_indices, volatile __global int *parent) {
  int is_long = SUB_GROUP_SIZE > 1 && end - begin > LONG_ROW;
  if (!is_long)
    for (offset_t e = begin; e < end; e += 4)
      if (link_outsider(v, root, giant, e, end, 1, column_indices, parent)) break;
#if SUB_GROUP_SIZE > 1
  for (lane_mask_t waiting = sg_ballot(is_long); waiting; waiting &= waiting - 1) {
    uint owner = lowest_lane(waiting);
    int w = sg_broadcast(v, owner), r = sg_broadcast(root, owner), inside = 0;
    offset_t first = sg_broadcast(begin, owner), last = sg_broadcast(end, owner);
    for (offset_t e = first; e < last && !inside; e += 4 * SUB_GROUP_SIZE) {
      offset_t mine = e + sg_lane();
      inside = sg_any(mine < last && link_outsider(w, r, giant, mine, last, SUB_GROUP_SIZE, column_indices, parent));
    }
  }
#endif
}

/* A work-group has 4 * WG_SIZE vertices.  It lists all that have edges and are outside the giant (without a giant, all that
 * have edges).  Then its lanes process the list densely, because there are few such vertices, and a lane that works alone
 * keeps its sub-group waiting. */
KERNEL link_rest(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global int *restrict state, volatile __global int *parent) {
  LOCAL_ARRAY int outside[4 * WG_SIZE];
  LOCAL_ARRAY uint size;
  int giant = state[STATE_GIANT], skip = SYMMETRIC && state[STATE_SHARE] >= SKIP_SHARE;
  int lid = get_local_id(0), first = 4 * (int)get_global_id(0);
  if (lid == 0) size = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first < n) {
    int4 root = load_stale4(parent + first);
    if (!skip || any(root != (int4)giant)) {
      int wanted[4] = {root.x, root.y, root.z, root.w}, count = 0;
      offset_t begin = row_offsets[first];
      for (int k = 0; k < 4; k++) {
        offset_t end = row_offsets[min(first + k + 1, n)];
        count += wanted[k] = begin < end && !(skip && wanted[k] == giant);
        begin = end;
      }
      if (count) {
        uint at = fetch_add(&size, (uint)count);
        for (int k = 0; k < 4; k++)
          if (wanted[k]) outside[at++] = first + k;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0 && size) store_relaxed(state + STATE_LINKED, 1);
  for (uint i = lid; i - sg_lane() < size; i += WG_SIZE) {
    int v = 0, root = 0;
    offset_t begin = 0, end = 0;
    if (i < size) {
      v = outside[i];
      root = load_stale(parent + v);
      begin = row_offsets[v];
      end = row_offsets[v + 1];
    }
    if (skip) link_outsiders(v, root, giant, begin, end, column_indices, parent);
#if DEV_IS_CPU                   /* on CPUs, Rem's algorithm would make a core wait for one load after the other */
    else link_row(v, root, begin + FIRST_IS_LINKED, end, SYMMETRIC, column_indices, parent);
#else
    else unite_row(v, begin + FIRST_IS_LINKED, end, column_indices, parent);
#endif
  }
}
