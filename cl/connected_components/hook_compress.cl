/* Hooking and compressing: rounds of hooking without atomics make most of the unions, one round with
 * compare-exchange makes the rest.
 *
 * After J. Soman, K. Kothapalli, P. J. Narayanan, "A fast GPU algorithm for graph connectivity", IPDPSW 2010.
 * The first round is `initialize` of phases.cl.  One work-item per vertex; hook_atomic gives long rows to sub-groups.
 */
#include "connected_components/edges.h"

/* Hook the root of v under the smallest label around it with plain stores.  Writers of one root overwrite
 * each other, which loses unions (hook_atomic finds them again) but never makes a cycle: only smaller labels
 * are written. */
KERNEL hook(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
            volatile __global int *parent) {
  int v = get_global_id(0);
  if (v >= n) return;
  int root = load_stale(parent + v), least = root;
  for (offset_t e = row_offsets[v]; e < row_offsets[v + 1]; e++) least = min(least, load_stale(parent + column_indices[e]));
  if (least < load_stale(parent + root)) store_relaxed(parent + root, least);
}

KERNEL hook_atomic(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                   volatile __global int *parent) {
  int v = get_global_id(0);
  offset_t begin = v < n ? row_offsets[v] + FIRST_IS_LINKED : 0, end = v < n ? row_offsets[v + 1] : 0;
  link_row(v, begin < end ? load_stale(parent + v) : v, begin, end, SYMMETRIC, column_indices, parent);
}
