/* The product of dense matrices: a work-group computes a tile of TILE x TILE entries, and goes through the rows of the
 * left and the columns of the right matrix in tiles that it keeps in local memory.  A work-item computes every WG_SIZE-th
 * entry of the tile.  No races: barriers separate writing and reading of a tile.
 */
#include "common/types.h"

#ifndef TILE
#define TILE 32
#endif
#define PER_ITEM (TILE * TILE / WG_SIZE)

KERNEL matrix_multiply(
    long n, int depth, int n_columns, __global const float *restrict left, __global const float *restrict right,
    __global float *restrict product) {
  LOCAL_ARRAY float left_tile[TILE * TILE], right_tile[TILE * TILE];
  const long tiles_across = (n_columns + TILE - 1) / TILE, group = get_group_id(0);
  const long first_row = group / tiles_across * TILE;
  const int first_column = (int)(group % tiles_across) * TILE, me = get_local_id(0);
  float sums[PER_ITEM];
  for (int j = 0; j < PER_ITEM; j++) sums[j] = 0;
  for (int first = 0; first < depth; first += TILE) {
    for (int j = 0; j < PER_ITEM; j++) {
      const int place = me + j * WG_SIZE, y = place / TILE, x = place % TILE;
      const long row = first_row + y;
      left_tile[place] = row < n && first + x < depth ? left[row * depth + first + x] : 0;
      right_tile[place] =
          first + y < depth && first_column + x < n_columns ? right[(long)(first + y) * n_columns + first_column + x] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; k++) {
      for (int j = 0; j < PER_ITEM; j++) {
        const int place = me + j * WG_SIZE;
        sums[j] += left_tile[place / TILE * TILE + k] * right_tile[k * TILE + place % TILE];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int j = 0; j < PER_ITEM; j++) {
    const int place = me + j * WG_SIZE, column = first_column + place % TILE;
    const long row = first_row + place / TILE;
    if (row < n && column < n_columns) product[row * n_columns + column] = sums[j];
  }
}
