/* Rem's union-find with splicing: both ends climb together, and every step moves the vertex with the larger
 * parent under the smaller one, so a walk also shortens the paths it passes.
 *
 * After M. Patwary, J. Blair, F. Manne, "Experiments on union-find algorithms for the disjoint-set data
 * structure", SEA 2010; lock-free form of L. Dhulipala, C. Hong, J. Shun, "ConnectIt", VLDB 2020.
 * A work-item takes a vertex and its smaller neighbours; long rows go to sub-groups.
 *
 * Race: a splice takes u from its old parent p to q, so p is no ancestor of u any more (unlike in
 * union_find.h), but the work-item that spliced goes on to join p and q, so the partition stays right.
 */
#ifndef CLGRAPH_COMPONENTS_REM_H
#define CLGRAPH_COMPONENTS_REM_H
#include "connected_components/edges.h"

INLINE void rem_unite(int u, int v, volatile __global int *parent) {
  int p = load_stale(parent + u), q = load_stale(parent + v);
  while (p != q) {
    if (p < q) {
      int t = p; p = q; q = t;
      t = u; u = v; v = t;
    }
    int old = compare_exchange(parent + u, p, q);
    if (p == u) {                /* a root: hooked, or another work-item was first */
      if (old == p) return;
      p = old;
    } else {                     /* spliced, or overtaken: climb */
      u = p;
      p = load_stale(parent + u);
    }
  }
}

INLINE void unite_entries(int v, offset_t e, offset_t end, offset_t stride, __global const int *restrict column_indices,
                          volatile __global int *parent) {
  for (; e < end; e += stride) {
    int u = column_indices[e];
    if ((u < v) | !SYMMETRIC) rem_unite(v, u, parent);
    else if (SORTED_ROWS) break;
  }
}

/* Every lane of the sub-group calls with its own row (empty if it has none). */
INLINE void unite_row(int v, offset_t begin, offset_t end, __global const int *restrict column_indices,
                      volatile __global int *parent) {
#if SUB_GROUP_SIZE == 1
  unite_entries(v, begin, end, 1, column_indices, parent);
#else
  int is_long = end - begin > LONG_ROW;
  if (!is_long) unite_entries(v, begin, end, 1, column_indices, parent);
  for (lane_mask_t waiting = sg_ballot(is_long); waiting; waiting &= waiting - 1) {
    uint owner = lowest_lane(waiting);
    unite_entries(sg_broadcast(v, owner), sg_broadcast(begin, owner) + sg_lane(), sg_broadcast(end, owner),
                  SUB_GROUP_SIZE, column_indices, parent);
  }
#endif
}
#endif
