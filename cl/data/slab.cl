/* Writes the row offsets of a slab: a graph with all vertices and some consecutive entries of another graph.
 *
 * A work-item takes a vertex.  The slab has entries first_entry … stop_entry - 1 of the whole graph, which begin in row
 * first_row and end before row stop_row.  rows has the offsets of rows first_row … stop_row of the whole graph.
 */
#include "common/types.h"

#ifndef WHOLE_OFFSET_T           /* the type of offsets of the whole graph */
#define WHOLE_OFFSET_T int
#endif

KERNEL clip_rows(int n, int first_row, int stop_row, long first_entry, long stop_entry,
                 __global const WHOLE_OFFSET_T *restrict rows, __global offset_t *restrict row_offsets) {
  int v = get_global_id(0);
  if (v > n) return;
  long offset = v <= first_row ? first_entry : v >= stop_row ? stop_entry : (long)rows[v - first_row];
  row_offsets[v] = (offset_t)(clamp(offset, first_entry, stop_entry) - first_entry);
}
