/* Rows of entries, and sums in two words. */
#ifndef CLGRAPH_DATA_ROWS_H
#define CLGRAPH_DATA_ROWS_H
#include "common/atomics.h"

/* Returns the row of entry k of a graph of n rows, which is row u or a later one: by steps of doubling length, then by
 * bisection. */
INLINE int row_after(int u, long k, int n, const __global offset_t *row_offsets) {
  uint step = 1u;
  for (; step < (uint)(n - u) && row_offsets[u + (int)step] <= k; step *= 2u) u += (int)step;
  while (step /= 2u)
    if (step < (uint)(n - u) && row_offsets[u + (int)step] <= k) u += (int)step;
  return u;
}

/* 64-bit sums as pairs of words, low and high, because not every device has 64-bit atomics.  The work-item whose addition
 * makes the low word wrap adds one to the high word, so a pair is right when all work-items have ended. */
INLINE uint high_word(ulong x, uint old) { return (uint)(x >> 32) + (uint)(old + (uint)x < old); }
INLINE void add_pair(volatile __global uint *pair, ulong x) {
  const uint old = (uint)x ? fetch_add(pair, (uint)x) : 0u, high = high_word(x, old);
  if (high) fetch_add(pair + 1, high);
}
INLINE void add_local_pair(__local uint *pair, ulong x) {
#if WG_SIZE == 1
  pair[1] += high_word(x, pair[0]);
  pair[0] += (uint)x;
#else
  const uint old = (uint)x ? fetch_add(pair, (uint)x) : 0u, high = high_word(x, old);
  if (high) fetch_add(pair + 1, high);
#endif
}

#endif
