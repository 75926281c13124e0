/* Components of edges that come as pairs, list after list, so that no rows are ever made.
 *
 * The forest outlives the launches: each list of edges, or a forest that another device has made of its edges, is
 * linked to it.  A work-item takes an edge, or a vertex.
 * Races and why they are harmless: see union_find.h.  After the incremental union-find of L. Dhulipala, C. Hong,
 * J. Shun, "ConnectIt", VLDB 2020.
 */
#include "components/union_find.h"

KERNEL start_trees(int n, __global int *restrict parent) {
  int v = get_global_id(0);
  if (v < n) parent[v] = v;
}

KERNEL link_edges(int m, __global const int *restrict sources, __global const int *restrict targets,
                  volatile __global int *parent) {
  int e = get_global_id(0);
  if (e < m) link(parent, sources[e], targets[e]);
}

/* Joins each vertex with its parent in another forest of the same vertices, of which this one may have more. */
KERNEL link_forest(int n, __global const int *restrict other, volatile __global int *parent) {
  int v = get_global_id(0);
  if (v >= n) return;
  int p = other[v];
  if (p != v) link(parent, v, p);
}

/* Points each vertex at its root.  Nothing links meanwhile, so roots are final. */
KERNEL find_roots(int n, volatile __global int *parent) {
  int v = get_global_id(0);
  if (v >= n) return;
  int root = find_root(parent, v);
  if (root != load_stale(parent + v)) store_relaxed(parent + v, root);
}
