/* Putting ratings in the order of their supersteps: a work-item takes a rating.  There are no races. */
#include "common/types.h"

/* The diagonal of each rating, wrapped: a pair of diagonals `modulus` apart shares no user and no item. */
KERNEL diagonals(const offset_t n, const int modulus, const __global int *restrict users,
                 const __global int *restrict items, __global uint *restrict keys) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const int d = items[k] - users[k];
  keys[k] = (uint)(d < 0 ? d + modulus : d);
}

/* Equal keys of the sorted array are offsets[key] … offsets[key + 1]. */
KERNEL find_offsets(const offset_t n, const int n_keys, const __global uint *restrict keys,
                    __global offset_t *restrict offsets) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k > n) return;
  const int last = k < n ? (int)keys[k] : n_keys;
  for (int key = k > 0 ? (int)keys[k - 1] + 1 : 0; key <= last; key++) offsets[key] = k;
}

KERNEL gather_ratings(const offset_t n, const __global offset_t *restrict order, const __global int *restrict users,
                      const __global int *restrict items, const __global float *restrict values,
                      __global int *restrict out_users, __global int *restrict out_items,
                      __global float *restrict out_values) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const offset_t from = order[k];
  out_users[k] = users[from];
  out_items[k] = items[from];
  out_values[k] = values[from];
}
