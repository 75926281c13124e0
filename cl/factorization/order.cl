/* Reorder ratings: random sort keys, arrays gathered in sorted order, and the offsets of ranges of keys.  A work-item takes
 * a rating.  There are no races. */
#include "common/random.h"
#include "factorization/values.h"

#ifndef KEY_T
#define KEY_T uint
#endif

KERNEL draw_keys(const offset_t n, const ulong seed, __global uint *restrict keys) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k < n) keys[k] = random_uint(random_key(seed), (ulong)k);
}

KERNEL gather_keys(const offset_t n, const __global offset_t *restrict order, const __global int *restrict items,
                   __global uint *restrict keys) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k < n) keys[k] = (uint)items[order[k]];
}

KERNEL gather_ratings(const offset_t n, const __global offset_t *restrict order, const __global int *restrict users,
                      const __global int *restrict items, const __global value_t *restrict values,
                      __global int *restrict out_users, __global int *restrict out_items,
                      __global value_t *restrict out_values) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const offset_t from = order[k];
  out_users[k] = users[from];
  out_items[k] = items[from];
  out_values[k] = values[from];
}

/* Writes offsets: for every c below n_ranges, the sorted keys c * width … (c + 1) * width - 1 are at offsets[c] …
 * offsets[c + 1] - 1. */
KERNEL find_offsets(const offset_t n, const KEY_T width, const KEY_T n_ranges, const __global KEY_T *restrict keys,
                    __global offset_t *restrict offsets) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k > n) return;
  const KEY_T last = k < n ? keys[k] / width : n_ranges;
  for (KEY_T c = k > 0 ? keys[k - 1] / width + 1 : 0; c <= last; c++) offsets[c] = k;
}
