/* Join the forests of two devices: every vertex is joined with its parent in the other forest.
 *
 * A work-item takes four vertices; `other` has n words, `parent` has room for n rounded up to four.  Both forests are
 * flat, so a vertex whose two labels have one root is done with the loads that all four make at once.
 * Races and why they are harmless: see union_find.h.
 *
 * After the merging of parent lists by the same union-find in T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An
 * Asynchronous Multi-GPU Programming Model for Irregular Computations", PPoPP 2017.
 */
#include "components/union_find.h"

KERNEL merge_parents(int n, __global const int *restrict other, volatile __global int *parent) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 theirs = (int4)(other[v], other[min(v + 1, n - 1)], other[min(v + 2, n - 1)], other[min(v + 3, n - 1)]);
  int4 mine = load_stale4(parent + v), labels = parents_of(parent, theirs);
#pragma unroll 1
  for (int k = 0; k < 4 && v + k < n; k++) {
    int a = k == 0 ? mine.x : k == 1 ? mine.y : k == 2 ? mine.z : mine.w;
    int b = k == 0 ? labels.x : k == 1 ? labels.y : k == 2 ? labels.z : labels.w;
    if (a != b) link(parent, a, b);
  }
}
