/* Core numbers in order: one work-item removes the vertices one after the other, each time one with the fewest neighbours
 * left, and keeps all vertices sorted by that number.
 *
 *   degrees   number of neighbours that are left, at last the core number
 *   order     the vertices sorted by degree; places: the place of each vertex in it
 *   starts    the place of the first vertex of each degree
 *
 * After V. Batagelj, M. Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003.
 */
#include "common/types.h"

/* Move u to the front of its degree, and make it the last one of the degree below. */
INLINE void lower(int u, __global int *degrees, __global int *order, __global int *places, __global int *starts) {
  const int degree = degrees[u], first = starts[degree], other = order[first], place = places[u];
  order[first] = u;
  order[place] = other;
  places[u] = first;
  places[other] = place;
  starts[degree] = first + 1;
  degrees[u] = degree - 1;
}

KERNEL peel_in_order(int n, int max_degree, __global const offset_t *restrict row_offsets,
                     __global const int *restrict column_indices, __global int *restrict degrees,
                     __global int *restrict order, __global int *restrict places, __global int *restrict starts) {
  if (get_global_id(0)) return;
  for (int d = 0; d <= max_degree + 1; d++) starts[d] = 0;
  for (int v = 0; v < n; v++) {
    degrees[v] = (int)(row_offsets[v + 1] - row_offsets[v]);
    starts[degrees[v] + 1]++;
  }
  for (int d = 1; d <= max_degree + 1; d++) starts[d] += starts[d - 1];
  for (int v = 0; v < n; v++) {
    places[v] = starts[degrees[v]]++;
    order[places[v]] = v;
  }
  for (int d = max_degree + 1; d > 0; d--) starts[d] = starts[d - 1];
  starts[0] = 0;
  for (int i = 0; i < n; i++) {
    const int v = order[i], core = degrees[v];
    for (offset_t e = row_offsets[v]; e < row_offsets[v + 1]; e++)
      if (degrees[column_indices[e]] > core) lower(column_indices[e], degrees, order, places, starts);
  }
}
