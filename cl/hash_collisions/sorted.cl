/* Collisions at distance 2 in rows that are too long for local memory: their colours are sorted in global memory.
 *
 * A work-group takes a row.  starts[r] ... starts[r + 1] - 1 are the positions of the keys of long_rows[r]'s closed row: the
 * vertex, then its neighbours.  write_keys writes their colours by hash k, bits reversed.  The host enqueues a segmented
 * sort of each row.  count_sorted makes a histogram of the number of bits that adjacent keys share, as in bins.h.
 *
 * Races: the bins of a work-group are raised by atomics only, and barriers separate clearing, raising and reading them.
 */
#include "common/subgroup.h"
#include "hash_collisions/counters.h"

INLINE uint reversed_color(uint k, int v) { return reversed_bits(hash_one(k, (uint)v)) >> (32 - MAX_BITS); }

KERNEL write_keys(uint k, int n_long, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const int *restrict long_rows,
                  __global const offset_t *restrict starts, __global uint *restrict keys) {
  for (int row = get_group_id(0); row < n_long; row += get_num_groups(0)) {
    int v = long_rows[row];
    offset_t from = row_offsets[v], to = starts[row], size = starts[row + 1] - to;
    for (offset_t i = get_local_id(0); i < size; i += WG_SIZE)
      keys[to + i] = reversed_color(k, i ? column_indices[from + i - 1] : v);
  }
}

KERNEL count_sorted(uint k, int n_long, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const int *restrict long_rows,
                    __global const offset_t *restrict starts, __global const uint *restrict keys,
                    volatile __global uint *counters) {
  LOCAL_ARRAY uint bins[MAX_BITS + 1], excess[1], totals[N_COUNTERS], maxima[N_COUNTERS];
  clear_sums(totals, maxima);
  for (int row = get_group_id(0); row < n_long; row += get_num_groups(0)) {
    int v = long_rows[row];
    offset_t from = row_offsets[v], to = starts[row], size = starts[row + 1] - to;
    uint repeats = 0u;
    for (int b = get_local_id(0); b <= MAX_BITS; b += WG_SIZE) bins[b] = 0u;
    if (get_local_id(0) == 0) excess[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (offset_t i = 1 + get_local_id(0); i < size; i += WG_SIZE) {
      uint differ = keys[to + i] ^ keys[to + i - 1];
      fetch_add(bins + ((uint)clz(differ) - (32u - MAX_BITS)), 1u);
      int u = column_indices[from + i - 1];
      repeats += u == v || (i > 1 && column_indices[from + i - 2] == u);
    }
    if (repeats) fetch_add(excess, repeats);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
      uint sum = 0u, j = N_WIDTHS;
      for (int bits = MAX_BITS; bits > 0; bits--) {
        sum += bins[bits];
        if (!(WIDTH_MASK >> bits & 1u)) continue;
        uint counter = k * N_WIDTHS + --j;
        totals[counter] += sum - excess[0];
        maxima[counter] = max(maxima[counter], sum - excess[0]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  publish_sums(totals, maxima, counters);
}
