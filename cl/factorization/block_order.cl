/* Keys that sort ratings by block, and reordering: a work-item takes a rating. There are no races. */
#include "common/types.h"
#include "factorization/values.h"

/* Keys by block of the grid of cl/factorization/block_grid.cl, then item. */
KERNEL grid_keys(const offset_t n, const ulong n_items, const uint n_groups, const __global int *restrict users,
                 const __global int *restrict items, const __global int *restrict user_part,
                 const __global int *restrict item_part, __global ulong *restrict keys) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const uint group = (uint)user_part[users[k]], step = ((uint)item_part[items[k]] + n_groups - group) % n_groups;
  keys[k] = ((ulong)group * n_groups + step) * n_items + (ulong)items[k];
}

/* Keys by block-diagonal, block and wave of cl/factorization/block_diagonal.cl. */
KERNEL diagonal_keys(const offset_t n, const uint n_rows, const uint n_columns, const uint n_user_blocks,
                     const uint n_diagonals, const __global int *restrict users, const __global int *restrict items,
                     __global ulong *restrict keys) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const uint u = (uint)users[k], i = (uint)items[k], n_waves = max(n_rows, n_columns);
  const uint block = u / n_rows, diagonal = (i / n_columns + n_diagonals - block % n_diagonals) % n_diagonals;
  const uint wave = (i % n_columns + n_waves - u % n_rows) % n_waves;
  keys[k] = ((ulong)diagonal * n_user_blocks + block) * n_waves + wave;
}

/* Interleave the ratings of each block (the key divided by width) from n_streams parts of nearly equal length. */
KERNEL interleave(const offset_t n, const ulong width, const uint n_streams, const __global ulong *restrict keys,
                  const __global offset_t *restrict offsets, const __global offset_t *restrict order,
                  __global offset_t *restrict interleaved) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const ulong block = keys[k] / width;
  const offset_t begin = offsets[block], size = offsets[block + 1] - begin, streams = (offset_t)n_streams;
  const offset_t turn = (k - begin) / streams, stream = (k - begin) % streams;
  interleaved[k] = order[begin + stream * (size / streams) + min(stream, size % streams) + turn];
}

/* ratings[k]: user, item, bits of the value, and bits of the weight or 0, of the rating at order[k]. */
KERNEL pack_ratings(const offset_t n, const __global offset_t *restrict order, const __global int *restrict users,
                    const __global int *restrict items, const __global value_t *restrict values,
                    __global int4 *restrict ratings) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const offset_t p = order[k];
    ratings[k] = (int4)(users[p], items[p], as_int(RATING(values[p])), as_int(WEIGHT(values[p])));
}
