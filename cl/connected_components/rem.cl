/* Rem's union-find over all edges, each from its larger end. */
#include "connected_components/rem.h"

KERNEL unite(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
             volatile __global int *parent) {
  int v = get_global_id(0);
  offset_t begin = v < n ? row_offsets[v] + FIRST_IS_LINKED : 0, end = v < n ? row_offsets[v + 1] : 0;
  unite_row(v, begin, end, column_indices, parent);
}
