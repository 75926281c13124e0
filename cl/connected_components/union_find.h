/* A union-find forest over the vertices, shared by every strategy of connected components.
 *
 * parent[v] is v for a root, else a smaller vertex of the same component.  Invariants that make every race
 * below harmless:
 *   - parent[v] <= v always, so there are no cycles;
 *   - a root stops being one through a single compare-exchange, so no union is lost;
 *   - whatever parent[v] once held stays an ancestor of v, so a stale load, and a path-halving store that
 *     overwrites a newer one, only lengthen a later walk.
 * The root of a finished tree is the smallest vertex of its component.
 */
#ifndef CLGRAPH_UNION_FIND_H
#define CLGRAPH_UNION_FIND_H
#include "common/atomics.h"

/* Returns the root of v's tree as far as this work-item can see, and halves the path on the way. */
INLINE int find_root(volatile __global int *parent, int v) {
  int p = load_stale(parent + v);
  while (p != v) {
    int g = load_stale(parent + p);
    if (g == p) break;
    store_relaxed(parent + v, g);
    v = g;
    p = load_stale(parent + v);
  }
  return p;
}

INLINE int4 parents_of(volatile __global int *parent, int4 p) {
  int4 g;
  g.x = load_stale(parent + p.x); g.y = load_stale(parent + p.y);
  g.z = load_stale(parent + p.z); g.w = load_stale(parent + p.w);
  return g;
}

/* Join the trees of a and b; returns the smaller root seen last.  If a root is stale, the compare-exchange fails and
 * returns the current value, with which the loop continues. */
INLINE int link_roots(volatile __global int *parent, int a, int b) {
  while (a != b) {
    int high = max(a, b), low = min(a, b);
    int old = compare_exchange(parent + high, high, low);
    if (old == high) return low;
    a = find_root(parent, old);
    b = low;
  }
  return a;
}

INLINE int link(volatile __global int *parent, int u, int v) {
  return link_roots(parent, find_root(parent, u), find_root(parent, v));
}

/* Link root to each of four labels that differs from it.  The loop is not unrolled: unions are rare, and four copies of
 * two climbs and a retry loop take some compilers a minute. */
INLINE int link_four(volatile __global int *parent, int root, int4 labels) {
#pragma unroll 1
  for (int k = 0; k < 4; k++) {
    int label = k == 0 ? labels.x : k == 1 ? labels.y : k == 2 ? labels.z : labels.w;
    if (label != root) root = link(parent, root, label);
  }
  return root;
}
#endif
