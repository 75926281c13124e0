/* Replace 64-bit weights by the ranks of their values, which 32 bits hold: they give the same forest. */
#include "common/types.h"

/* begins[i] = 1 where sorted item i is another value than the one before. */
KERNEL mark_values(long m, __global const ulong *restrict sorted, __global int *restrict begins) {
  long i = get_global_id(0);
  if (i < m) begins[i] = i > 0 && sorted[i] != sorted[i - 1];
}

KERNEL scatter_ranks(long m, __global const int *restrict ranks, __global const uint *restrict entries,
                     __global uint *restrict edge_weights) {
  long i = get_global_id(0);
  if (i < m) edge_weights[entries[i]] = (uint)ranks[i];
}
