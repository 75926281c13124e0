/* Keys that sort ratings by superstep, and arrays computed from that order: a work-item takes a rating.
 *
 * Intended race: mark_wide stores one value to a word from many work-items.
 */
#include "common/atomics.h"

/* Writes the diagonal of each rating, modulo `modulus`: diagonals that are `modulus` apart share no user and no item. */
KERNEL diagonals(const offset_t n, const int modulus, const __global int *restrict users,
                 const __global int *restrict items, __global uint *restrict keys) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const int d = items[k] - users[k];
  keys[k] = (uint)(d < 0 ? d + modulus : d);
}

/* Writes the rank of each rating's item, and its block. */
KERNEL rank_items(const offset_t n, const uint block_size, const __global int *restrict items,
                  const __global uint *restrict item_ranks, __global uint *restrict ranks, __global uint *restrict blocks) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const uint rank = item_ranks[items[k]];
  ranks[k] = rank;
  blocks[k] = rank / block_size;
}

/* 1 where the ratings in *order* begin another pair (a, b). */
KERNEL mark_runs(const offset_t n, const __global offset_t *restrict order, const __global uint *restrict a,
                 const __global uint *restrict b, __global int *restrict begins) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k >= n) return;
  const offset_t now = order[k], before = order[k > 0 ? k - 1 : 0];
  begins[k] = a[now] != a[before] || b[now] != b[before];
}
KERNEL scatter_numbers(const offset_t n, const __global offset_t *restrict order, const __global uint *restrict sorted,
                       __global uint *restrict numbers) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k < n) numbers[order[k]] = sorted[k];
}

/* is_wide[s] = 1 if step s has ratings of a slot from n_slots on in its block. */
KERNEL mark_wide(const offset_t n, const uint block_size, const uint n_slots, const __global uint *restrict ranks,
                 const __global uint *restrict steps, volatile __global uint *is_wide) {
  const offset_t k = (offset_t)get_global_id(0);
  if (k < n && ranks[k] % block_size >= n_slots) store_relaxed(is_wide + steps[k], 1u);
}
