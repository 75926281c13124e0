/* Join vertices with their parents in another forest of the same vertices.  Races: see union_find.h. */
#ifndef CLGRAPH_MERGE_H
#define CLGRAPH_MERGE_H
#include "connected_components/union_find.h"

/* Join vertices v ... v + 3 with `theirs`, their parents in the other forest.  Both forests are flat.  If a vertex's two
 * labels have the same root, the loads that all four make at once are enough. */
INLINE void join_four(int n, int v, int4 theirs, volatile __global int *parent) {
  int4 mine = load_stale4(parent + v), labels = parents_of(parent, theirs);
#pragma unroll 1
  for (int k = 0; k < 4 && v + k < n; k++) {
    int a = k == 0 ? mine.x : k == 1 ? mine.y : k == 2 ? mine.z : mine.w;
    int b = k == 0 ? labels.x : k == 1 ? labels.y : k == 2 ? labels.z : labels.w;
    if (a != b) link(parent, a, b);
  }
}
#endif
