/* Sort the colours of a closed row by reversed bits.  Then colours with most low bits in common are adjacent, and at width
 * b the number of distinct colours is one more than the number of adjacent pairs that agree in fewer than b bits.
 *
 * A work-item sorts in its own part of local memory, by Batcher's odd-even merge network, cut to the row's length.  LAYOUT
 * PADDED gives each work-item a multiple of the bank count plus one word, so that lanes of a sub-group never use the same
 * bank.  COMPACT stores rows without gaps.  This needs less memory, but banks may conflict.
 *
 * After K. E. Batcher, "Sorting networks and their applications", AFIPS 1968.
 */
#ifndef CLGRAPH_NETWORK_H
#define CLGRAPH_NETWORK_H
#include "hash_collisions/bins.h"

#define PADDED 1
#define COMPACT 2
#ifndef LAYOUT
#define LAYOUT PADDED
#endif
#ifndef STRIDE                   /* PADDED: words of a work-item */
#define STRIDE 65
#endif
#ifndef WORKSPACE                /* words of a work-group */
#define WORKSPACE (STRIDE * WG_SIZE)
#endif

/* Returns the position at which this work-item sorts a row of `size` colours. place: the number of colours of the rows
 * before it in the tile. */
INLINE __local uint *keys_at(__local uint *workspace, int place, int lane, int size) {
#if LAYOUT == PADDED
  return workspace + get_local_id(0) * STRIDE;
#else
  return workspace + place * HASH_LANES + lane * size;
#endif
}

INLINE void sort_network(__local uint *keys, int n) {
  for (int p = 1; p < n; p *= 2)
    for (int k = p; k > 0; k /= 2)
      for (int start = k == p ? 0 : k; start + k < n; start += 2 * k)
        for (int i = start; i < min(start + k, n - k); i++)
          if (((i ^ (i + k)) & ~(2 * p - 1)) == 0) {
            uint a = keys[i], b = keys[i + k];
            keys[i] = min(a, b);
            keys[i + k] = max(a, b);
          }
}

/* Add the collisions of v's closed row to the sums. size counts v and all entries, members the other vertices of the
 * set. */
INLINE void keep_sorted(int v, uint k, int size, uint members, offset_t begin,
                        __global const int *restrict column_indices, __global const COLOR_T *restrict colors,
                        __local uint *keys, __local uint *bins, sums_t *sums) {
  for (int i = 1; i < size; i++) keys[i] = color_of(column_indices[begin + i - 1], k, colors);
  keys[0] = color_of(v, k, colors);
  sort_network(keys, size);
  for (int i = 1; i < size; i++) mark(keys[i] ^ keys[i - 1], bins);
  keep_bins((uint)size - 1u - members, bins, sums);
}
#endif
