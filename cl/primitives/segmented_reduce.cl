/* Sum, least or greatest of each segment of CSR offsets, balanced whatever the lengths of the segments.
 *
 * Items and ends of segments are merged into one path of n_rows + n items: the end of row r comes before item i if
 * row_offsets[r + 1] <= i.  Every work-group (on CPUs: work-item) takes a piece of the path; all pieces have the same
 * length.  A search on the first diagonal of a piece finds the row and item at which it starts.  If a piece ends inside a
 * row, the sum of that row so far is a carry (row, value).
 *
 *   reduce_tiles      TILE steps per work-group, ITEMS_PER_ITEM per work-item, with the tile in local memory; the carries
 *                     of work-items are combined by a segmented scan
 *   reduce_pieces     the same for CPUs, with plain loops
 *   merge_carries     combines WG_SIZE carries into one, by the same segmented scan
 *   add_carries       adds the carries of each row; they are sorted by row, and the first one adds all
 *
 * The order depends only on n and the device, so float sums are the same in every run.
 * Reference: D. Merrill, M. Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", SC 2016.
 */
#ifndef ITEMS_PER_ITEM
#define ITEMS_PER_ITEM 8
#endif
#include "primitives/operation.h"
#include "primitives/group_scan.h"

#define TILE (WG_SIZE * ITEMS_PER_ITEM)

/* Returns the number of ends of rows on the path before step *step*. */
INLINE long rows_before(long step, long n_rows, long n, const __global offset_t *restrict row_offsets) {
  long low = max(0l, step - n), high = min(step, n_rows);
  while (low < high) {
    long middle = (low + high) / 2;
    if (row_offsets[middle + 1] <= step - middle - 1) low = middle + 1; else high = middle;
  }
  return low;
}

KERNEL add_carries(long n_carries, long n_rows, const __global int *restrict rows, const __global T *restrict values,
                   __global T *restrict out) {
  for (long i = get_global_id(0); i < n_carries; i += get_global_size(0)) {
    int row = rows[i];
    if (row >= n_rows || (i && rows[i - 1] == row)) continue;
    T sum = IDENTITY, rest = out[row];
    for (long j = i; j < n_carries && rows[j] == row; j++) { T x = values[j]; sum = combine(sum, x); }
    out[row] = combine(sum, rest);
  }
}

#if WG_SIZE == 1
KERNEL reduce_pieces(long n_rows, long n, long piece, const __global offset_t *restrict row_offsets,
                     const __global T *restrict values, __global int *restrict carry_rows,
                     __global T *restrict carries, __global T *restrict out) {
  long step = get_group_id(0) * piece, end = min(step + piece, n_rows + n);
  long row = rows_before(step, n_rows, n, row_offsets), last_row = rows_before(end, n_rows, n, row_offsets);
  long i = step - row, last = end - last_row;
  T sum = IDENTITY;
  for (; row < last_row; row++) {
    for (long stop = row_offsets[row + 1]; i < stop; i++) sum = combine(sum, values[i]);
    out[row] = sum;
    sum = IDENTITY;
  }
  for (; i < last; i++) sum = combine(sum, values[i]);
  carry_rows[get_group_id(0)] = (int)row;
  carries[get_group_id(0)] = sum;
}
#else
/* Every work-item calls with its (row, value), in ascending rows: values become sums over the equal rows so far. */
INLINE void scan_rows(__local int *rows, __local T *values) {
  uint lid = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint d = 1; d < WG_SIZE; d <<= 1) {
    T x = values[lid];
    if (lid >= d && rows[lid - d] == rows[lid]) { T below = values[lid - d]; x = combine(below, x); }
    barrier(CLK_LOCAL_MEM_FENCE);
    values[lid] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

KERNEL reduce_tiles(long n_rows, long n, const __global offset_t *restrict row_offsets,
                    const __global T *restrict values, __global int *restrict carry_rows,
                    __global T *restrict carries, __global T *restrict out) {
  LOCAL_ARRAY T items[TILE], sums[WG_SIZE];
  LOCAL_ARRAY uint ends[TILE];   /* ends of rows, counted from the tile's first item */
  LOCAL_ARRAY int rows[WG_SIZE];
  LOCAL_ARRAY long corner[2];
  uint lid = get_local_id(0);
  long step = (long)get_group_id(0) * TILE, n_steps = min((long)TILE, n_rows + n - step);
  if (lid < 2) corner[lid] = rows_before(step + (lid ? n_steps : 0), n_rows, n, row_offsets);
  barrier(CLK_LOCAL_MEM_FENCE);
  long first_row = corner[0], first = step - first_row;
  uint n_ends = (uint)(corner[1] - first_row), n_items = (uint)n_steps - n_ends;
  for (uint j = lid; j < n_ends; j += WG_SIZE) ends[j] = (uint)(row_offsets[first_row + j + 1] - first);
  for (uint j = lid; j < n_items; j += WG_SIZE) items[j] = values[first + j];
  barrier(CLK_LOCAL_MEM_FENCE);

  uint own = min(lid * ITEMS_PER_ITEM, (uint)n_steps), own_end = min(own + ITEMS_PER_ITEM, (uint)n_steps);
  uint low = own > n_items ? own - n_items : 0u, high = min(own, n_ends);
  while (low < high) {
    uint middle = (low + high) / 2u;
    if (ends[middle] + middle + 1u <= own) low = middle + 1u; else high = middle;
  }
  uint row = low, i = own - low, start_row = row;
  T sum = IDENTITY, start_sum = IDENTITY;
  for (; own < own_end; own++) {
    if (row < n_ends && ends[row] <= i) {
      if (row == start_row) start_sum = sum; else out[first_row + row] = sum;
      sum = IDENTITY;
      row++;
    } else {
      T x = items[i++];
      sum = combine(sum, x);
    }
  }
  rows[lid] = (int)(first_row + row);
  sums[lid] = sum;
  scan_rows(rows, sums);
  if (row > start_row) {
    T before = lid ? sums[lid - 1] : IDENTITY;   /* the work-item before stopped in start_row */
    out[first_row + start_row] = combine(before, start_sum);
  }
  if (lid == WG_SIZE - 1) {
    carry_rows[get_group_id(0)] = rows[lid];
    carries[get_group_id(0)] = sums[lid];
  }
}

KERNEL merge_carries(long n_carries, long n_rows, const __global int *restrict rows_in,
                     const __global T *restrict values_in, __global int *restrict rows_out,
                     __global T *restrict values_out, __global T *restrict out) {
  LOCAL_ARRAY int rows[WG_SIZE];
  LOCAL_ARRAY T sums[WG_SIZE];
  uint lid = get_local_id(0);
  long i = get_global_id(0);
  rows[lid] = i < n_carries ? rows_in[i] : rows_in[n_carries - 1];
  sums[lid] = i < n_carries ? values_in[i] : IDENTITY;
  scan_rows(rows, sums);
  int row = rows[lid];
  T sum = sums[lid];
  if (lid == WG_SIZE - 1) {
    rows_out[get_group_id(0)] = row;
    values_out[get_group_id(0)] = sum;
  } else if (rows[lid + 1] != row && row < n_rows) {
    T rest = out[row];
    out[row] = combine(sum, rest);
  }
}
#endif
