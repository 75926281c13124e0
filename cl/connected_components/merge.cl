/* Join the forests of two devices: every vertex is joined with its parent in the other forest.
 *
 * A work-item takes four vertices; `other` has n words, `parent` has room for n rounded up to four.
 * Races and why they are harmless: see union_find.h.
 *
 * After the merging of parent lists by the same union-find in T. Ben-Nun, M. Sutton, S. Pai, K. Pingali, "Groute: An
 * Asynchronous Multi-GPU Programming Model for Irregular Computations", PPoPP 2017.
 */
#include "connected_components/merge.h"

KERNEL merge_parents(int n, __global const int *restrict other, volatile __global int *parent) {
  int v = 4 * (int)get_global_id(0);
  if (v >= n) return;
  int4 theirs = (int4)(other[v], other[min(v + 1, n - 1)], other[min(v + 2, n - 1)], other[min(v + 3, n - 1)]);
  join_four(n, v, theirs, parent);
}
