/* Numbers the components by their smallest vertices.
 *
 * A work-item takes every stride-th vertex.  labels[v] is a vertex of v's component whose label is that of all its vertices,
 * or a vertex with this label: all vertices of the search's component have the pivot, which the propagation may have
 * labelled.
 *
 * Race: work-items lower the same words by atomics in find_least; the other kernels write their own words.
 */
#include "common/atomics.h"

INLINE int root_of(int v, __global const int *labels) { return labels[labels[v]]; }

/* least[r] becomes the smallest vertex of the component that r represents. */
KERNEL find_least(int n, __global const int *restrict labels, volatile __global int *least) {
  for (long v = get_global_id(0); v < n; v += get_global_size(0)) lower_to(least + root_of((int)v, labels), (int)v);
}

/* is_first[v] = 1 for the smallest vertex of each component, else 0; also 0 after the last vertex. */
KERNEL mark_least(int n, __global const int *restrict labels, __global const int *restrict least,
                  __global int *restrict is_first) {
  for (long v = get_global_id(0); v < n; v += get_global_size(0)) is_first[v] = least[root_of((int)v, labels)] == v;
  if (get_global_id(0) == 0) is_first[n] = 0;
}

/* numbers[v] = number of smallest vertices before that of v's component.  The number of components follows. */
KERNEL number_components(int n, __global const int *restrict labels, __global const int *restrict least,
                         __global const int *restrict rank, __global int *restrict numbers) {
  for (long v = get_global_id(0); v < n; v += get_global_size(0)) numbers[v] = rank[least[root_of((int)v, labels)]];
  if (get_global_id(0) == 0) numbers[n] = rank[n];
}
