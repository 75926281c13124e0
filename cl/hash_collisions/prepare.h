/* The preparation of every run except the table of hashes: clear the counters and cut the rows into tiles.  A work-item
 * takes a row.
 *
 * Row r is at position row_offsets[r] + r.  Tile t has the rows at positions t * TILE_STEP to (t + 1) * TILE_STEP - 1;
 * tile_rows[t] is the first of them, and tile_rows[n_tiles] = n.
 */
#ifndef CLGRAPH_PREPARE_H
#define CLGRAPH_PREPARE_H
#include "hash_collisions/counters.h"

#ifndef TILE_STEP
#define TILE_STEP 4096
#endif

INLINE long tile_of(offset_t offset, size_t row) {
  if (sizeof(offset_t) == 4) return ((uint)offset + (uint)row) / (uint)TILE_STEP;
  return ((long)offset + (long)row) / TILE_STEP;
}

INLINE void prepare(int n, int n_tiles, __global const offset_t *restrict row_offsets, __global int *restrict tile_rows,
                    __global uint *restrict counters) {
  size_t i = get_global_id(0);
  for (size_t c = i; c < 3 * N_COUNTERS; c += get_global_size(0)) counters[c] = 0u;
  if (i > (size_t)n) return;
  long last = tile_of(row_offsets[i], i);
  for (long tile = i ? tile_of(row_offsets[i - 1], i - 1) + 1 : 0; tile <= last; tile++) tile_rows[tile] = (int)i;
  if (i == (size_t)n) tile_rows[n_tiles] = n;
}
#endif
