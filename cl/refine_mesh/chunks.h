/* Lists in chunks, one for each work-group, and sums over the chunks. */
#ifndef CLGRAPH_CHUNKS_H
#define CLGRAPH_CHUNKS_H
#include "primitives/group_scan.h"

INLINE int chunk_of(int n) {
  int share = (n + (int)get_num_groups(0) - 1) / (int)get_num_groups(0);
  return (share + WG_SIZE - 1) / WG_SIZE * WG_SIZE;
}

/* Returns the sum of counts[0 … end), to all work-items of the group. */
INLINE uint sum_before(__global const uint *counts, int end, __local uint *scratch) {
  uint sum = 0u, all;
  for (int k = get_local_id(0); k < end; k += WG_SIZE) sum += counts[k];
  group_exclusive_sum(sum, scratch, &all);
  return all;
}

/* Writes the sum of x over the work-group to the group's item of `sums`. */
INLINE void keep_sum(uint x, __global uint *sums, __local uint *scratch) {
  uint all;
  group_exclusive_sum(x, scratch, &all);
  if (get_local_id(0) == 0) sums[get_group_id(0)] = all;
}
#endif
