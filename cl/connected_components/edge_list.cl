/* Components of edges that come as lists of pairs.  No rows are ever made.
 *
 * The forest outlives the launches, and each list of edges is linked to it; merge.cl joins it with other forests, and
 * `compress` in phases.cl makes it flat.  A work-item takes an edge, or a vertex.
 * Races: see union_find.h.  After the incremental union-find of L. Dhulipala, C. Hong, J. Shun, "ConnectIt", VLDB 2020.
 */
#include "connected_components/union_find.h"

KERNEL start_trees(int n, __global int *restrict parent) {
  int v = get_global_id(0);
  if (v < n) parent[v] = v;
}

KERNEL link_edges(int m, __global const int *restrict sources, __global const int *restrict targets,
                  volatile __global int *parent) {
  int e = get_global_id(0);
  if (e < m) link(parent, sources[e], targets[e]);
}
