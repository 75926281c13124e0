/* Walking the entries of a row: a work-item takes short rows alone, a sub-group takes long rows together.
 * Four entries are loaded before any of them is used, so that their latencies overlap.
 *
 * SYMMETRIC    1: every undirected edge is in both rows
 * SORTED_ROWS  1: the entries smaller than v are a prefix of row v
 * FIRST_IS_LINKED  1: `initialize` linked the first entry of every row
 */
#ifndef CLGRAPH_COMPONENTS_EDGES_H
#define CLGRAPH_COMPONENTS_EDGES_H
#include "connected_components/union_find.h"
#include "common/subgroup.h"

#ifndef SYMMETRIC
#define SYMMETRIC 1
#endif
#ifndef SORTED_ROWS
#define SORTED_ROWS 0
#endif
#ifndef FIRST_IS_LINKED
#define FIRST_IS_LINKED 0
#endif
#ifndef LONG_ROW                 /* rows with more entries than this are shared by a sub-group */
#define LONG_ROW 64
#endif

/* Returns the neighbour at entry `at`.  It returns v itself past the end, and if the row of the other end handles the
 * edge. */
INLINE int neighbor_or_self(int v, offset_t at, offset_t end, int smaller_only, __global const int *restrict column_indices) {
  int u = at < end ? column_indices[at] : v;
  return smaller_only && u > v ? v : u;
}

/* Link v, whose root is (or was) root, to the entries [e, end); returns the root last seen. */
INLINE int link_entries(int v, int root, offset_t e, offset_t end, offset_t stride, int smaller_only,
                        __global const int *restrict column_indices, volatile __global int *parent) {
  for (; e < end; e += 4 * stride) {
    int4 u;
    u.x = neighbor_or_self(v, e, end, smaller_only, column_indices);
    u.y = neighbor_or_self(v, e + stride, end, smaller_only, column_indices);
    u.z = neighbor_or_self(v, e + 2 * stride, end, smaller_only, column_indices);
    u.w = neighbor_or_self(v, e + 3 * stride, end, smaller_only, column_indices);
    root = link_four(parent, root, parents_of(parent, u));
#if SORTED_ROWS
    if (smaller_only && u.w == v) break;  /* past the prefix (or a self-loop, which ends it) */
#endif
  }
  return root;
}

/* Every lane of the sub-group calls with its own row (empty if it has none). */
INLINE void link_row(int v, int root, offset_t begin, offset_t end, int smaller_only,
                     __global const int *restrict column_indices, volatile __global int *parent) {
#if SUB_GROUP_SIZE == 1
  link_entries(v, root, begin, end, 1, smaller_only, column_indices, parent);
#else
  int is_long = end - begin > LONG_ROW;
  if (!is_long) link_entries(v, root, begin, end, 1, smaller_only, column_indices, parent);
  for (lane_mask_t waiting = sg_ballot(is_long); waiting; waiting &= waiting - 1) {
    uint owner = lowest_lane(waiting);
    link_entries(sg_broadcast(v, owner), sg_broadcast(root, owner), sg_broadcast(begin, owner) + sg_lane(),
                 sg_broadcast(end, owner), SUB_GROUP_SIZE, smaller_only, column_indices, parent);
  }
#endif
}
#endif
