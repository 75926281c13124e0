/* Afforest: link a few neighbours of every vertex, find the giant component by sampling, and look at the
 * remaining entries only of vertices outside it.
 *
 * After M. Sutton, T. Ben-Nun, A. Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph
 * Sampling", IPDPS 2018.  Here the first neighbour is linked by `initialize` without atomics, the giant's
 * label stays on the device, and `link_rest` decides there: where the sample found no giant, skipping would
 * not pay (a skipped vertex makes its neighbours look at whole rows), and each edge is linked once from its
 * larger end instead.
 *
 * One work-item per vertex; long rows go to sub-groups.  Races: see union_find.h.
 */
#include "components/edges.h"

#ifndef GIANT_SHARE              /* percent of the sample from which skipping pays */
#define GIANT_SHARE 40
#endif

/* Link neighbour number `round` of every vertex. */
KERNEL link_neighbor(int n, int round, __global const offset_t *restrict row_offsets,
                     __global const int *restrict column_indices, volatile __global int *parent) {
  int v = get_global_id(0);
  if (v >= n) return;
  offset_t at = row_offsets[v] + round;
  if (at >= row_offsets[v + 1]) return;
  int a = load_stale(parent + v), b = load_stale(parent + column_indices[at]);
  if (a != b) link_roots(parent, find_root(parent, a), find_root(parent, b));
}

KERNEL link_rest(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global const int *restrict giant, volatile __global int *parent) {
  int v = get_global_id(0);
  int skip = SYMMETRIC && giant[1] >= GIANT_SHARE;
  int root = v < n ? load_stale(parent + v) : 0;
  int wanted = v < n && !(skip && root == giant[0]);
  offset_t begin = 0, end = 0;
  if (wanted) {
    begin = row_offsets[v];
    end = row_offsets[v + 1];
    if (SYMMETRIC && !skip) begin++;  /* linked by `initialize` if smaller, else seen from the other end */
  }
  link_row(v, root, begin, max(begin, end), SYMMETRIC && !skip, column_indices, parent);
}
