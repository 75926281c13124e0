/* Put ratings into an order: a work-item takes a rating. There are no races. */
#include "common/types.h"

/* keys: the block of the grid of cl/factorization/block_grid.cl, then the item. */
KERNEL grid_keys(const offset_t n, const ulong n_items, const uint n_groups, const __global int *restrict users,
                 const __global int *restrict items, const __global int *restrict user_part,
                 const __global int *restrict item_part, __global ulong *restrict keys,
                 __global offset_t *restrict positions) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const uint group = (uint)user_part[users[k]], step = ((uint)item_part[items[k]] + n_groups - group) % n_groups;
  keys[k] = ((ulong)group * n_groups + step) * n_items + (ulong)items[k];
  positions[k] = k;
}

/* offsets[c] … offsets[c + 1]: where the sorted keys / width are c. */
KERNEL group_offsets(const offset_t n, const ulong width, const ulong n_cells, const __global ulong *restrict keys,
                     __global offset_t *restrict offsets) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k > n) return;
  const ulong next = k < n ? keys[k] / width : n_cells;
  for (ulong c = k > 0 ? keys[k - 1] / width + 1 : 0; c <= next; c++) offsets[c] = k;
}

/* ratings[k]: user, item, bits of the value, of the rating at positions[k]. */
KERNEL gather_ratings(const offset_t n, const __global offset_t *restrict positions, const __global int *restrict users,
                      const __global int *restrict items, const __global float *restrict values,
                      __global int4 *restrict ratings) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const offset_t p = positions[k];
  ratings[k] = (int4)(users[p], items[p], as_int(values[p]), 0);
}
