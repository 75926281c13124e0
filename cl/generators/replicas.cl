/* Consecutive copies of a graph.  Copy c adds c times the number of entries to the graph's offsets, and c times the number
 * of vertices to its columns.  Columns also count the *first* copies that come before these. */
#include "generators/chunk.h"

#ifndef OUT_OFFSET_T             /* the type of offsets of all copies */
#define OUT_OFFSET_T int
#endif
#ifndef WEIGHT_T                 /* any type of the size of weights */
#define WEIGHT_T uint
#endif

/* FOR_CHUNK over *k* copies of *size* items.  Item i is item *at* of copy *copy*.  It takes one division per work-item
 * instead of one per item. */
#define FOR_COPIES(i, at, copy, k, size) \
  const long i##_turns = WG_SIZE / max(1l, size), i##_rest = WG_SIZE - i##_turns * (size); \
  long copy = (chunk_begin((k) * (size)) + (long)get_local_id(0)) / max(1l, size); \
  long at = chunk_begin((k) * (size)) + (long)get_local_id(0) - copy * (size); \
  for (long i = at + copy * (size), end_of_##i = chunk_end((k) * (size)); i < end_of_##i; \
       i += WG_SIZE, at += i##_rest, copy += i##_turns + (at >= (size)), at -= at >= (size) ? (size) : 0)

KERNEL replicate_rows(int n, long m, long k, long first, const __global offset_t *restrict row_offsets,
                      const __global int *restrict column_indices, __global OUT_OFFSET_T *restrict out_offsets,
                      __global int *restrict out_columns) {
  if (get_global_id(0) == 0) out_offsets[k * n] = (OUT_OFFSET_T)(k * m);
  FOR_COPIES(v, row, copy, k, (long)n) out_offsets[v] = (OUT_OFFSET_T)(row_offsets[row] + copy * m);
  FOR_COPIES(e, entry, replica, k, m) out_columns[e] = (int)(column_indices[entry] + (first + replica) * n);
}

KERNEL replicate_weights(long m, long k, const __global WEIGHT_T *restrict weights,
                         __global WEIGHT_T *restrict out_weights) {
  FOR_COPIES(e, entry, copy, k, m) out_weights[e] = weights[entry];
}
