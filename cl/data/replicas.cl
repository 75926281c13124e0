/* Copies of a graph, one behind the other: the offsets and columns of copy k are those of the graph and k times its
 * numbers of entries and of vertices.  A work-item takes every global-size-th item of the result. */
#include "common/types.h"

#ifndef OUT_OFFSET_T             /* the type of offsets of all copies */
#define OUT_OFFSET_T int
#endif
#ifndef WEIGHT_T                 /* any type of the size of weights */
#define WEIGHT_T uint
#endif

KERNEL replicate_rows(int n, long m, long k, const __global offset_t *restrict row_offsets,
                      const __global int *restrict column_indices, __global OUT_OFFSET_T *restrict out_offsets,
                      __global int *restrict out_columns) {
  const long first = (long)get_global_id(0), step = (long)get_global_size(0);
  for (long v = first; v < k * n; v += step) out_offsets[v] = (OUT_OFFSET_T)(row_offsets[v % n] + v / n * m);
  if (first == 0) out_offsets[k * n] = (OUT_OFFSET_T)(k * m);
  for (long e = first; e < k * m; e += step) out_columns[e] = (int)(column_indices[e % m] + e / m * n);
}

KERNEL replicate_weights(long m, long k, const __global WEIGHT_T *restrict weights,
                         __global WEIGHT_T *restrict out_weights) {
  for (long e = (long)get_global_id(0); e < k * m; e += (long)get_global_size(0)) out_weights[e] = weights[e % m];
}
