/* Trees over the vertices: parent[v] is v for a root.  While nothing hooks, any number of work-items may climb and
 * shorten: a parent only ever becomes a farther ancestor. */
#ifndef CLGRAPH_MST_CLIMB_H
#define CLGRAPH_MST_CLIMB_H
#include "common/atomics.h"

#ifndef CLIMB_LIMIT              /* steps of one climb; 0: up to the root */
#define CLIMB_LIMIT 0
#endif

/* Point v at its root, halving the path on the way, and return the root; *at_root = 0 if the limit came first.  Only v's
 * own work-item calls.  The parent of another vertex on the path is changed only if it still has the value that was read,
 * because its own work-item may have pointed it at the root already. */
INLINE int climb(volatile __global int *parent, int v, int *at_root) {
  int u = v, p = load_stale(parent + v), g = load_stale(parent + p);
  for (int step = 0; g != p; step++) {
    if (CLIMB_LIMIT && step == CLIMB_LIMIT) {
      *at_root = 0;
      break;
    }
    if (u == v) store_relaxed(parent + u, g);
    else compare_exchange(parent + u, p, g);
    u = g;
    p = load_stale(parent + u);
    g = load_stale(parent + p);
  }
  if (u != v) store_relaxed(parent + v, p);
  return p;
}
#endif
