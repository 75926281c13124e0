/* Replace 64-bit weights by 32-bit keys of the same order, which give the same forest: by narrower numbers if no value is
 * lost, else by ranks. */
#include "common/atomics.h"

/* Convert doubles to integers in the order of the floats that they equal; *lost becomes 1 if one is no float, or a denormal
 * float. */
KERNEL narrow_doubles(long m, __global const ulong *restrict edge_weights, __global uint *restrict keys,
                      volatile __global uint *restrict lost) {
  uint is_lost = 0u;
  for (long k = get_global_id(0); k < m; k += get_global_size(0)) {
    const ulong bits = edge_weights[k], size = bits << 1 >> 1;
    const uint exponent = (uint)(size >> 52), is_infinite = size == 0x7ff0000000000000ul;
    const uint number = size ? (uint)((size - (896ul << 52)) >> 29) : 0u;   /* 896: the difference of the biases */
    const uint value = is_infinite ? 0x7f800000u : number;
    const int fits = !(bits & 0x1ffffffful) && exponent > 896u && exponent < 1151u;
    is_lost |= !fits && !is_infinite && size;
    keys[k] = size && bits >> 63 ? ~(value | 0x80000000u) : value | 0x80000000u;
  }
  if (is_lost) store_relaxed(lost, 1u);
}

/* Subtract the least integer from all; the differences fit 32 bits. */
KERNEL narrow_longs(long m, long least, __global const long *restrict edge_weights, __global uint *restrict keys) {
  for (long k = get_global_id(0); k < m; k += get_global_size(0)) keys[k] = (uint)(edge_weights[k] - least);
}

/* Copy doubles, and drop the signs of zeros. */
KERNEL drop_signs(long m, __global const ulong *restrict edge_weights, __global ulong *restrict weights) {
  for (long k = get_global_id(0); k < m; k += get_global_size(0))
    weights[k] = edge_weights[k] << 1 ? edge_weights[k] : 0ul;
}

/* begins[i] = 1 if sorted item i differs from the one before. */
KERNEL mark_values(long m, __global const ulong *restrict sorted, __global int *restrict begins) {
  long i = get_global_id(0);
  if (i < m) begins[i] = i > 0 && sorted[i] != sorted[i - 1];
}

KERNEL scatter_ranks(long m, __global const int *restrict ranks, __global const uint *restrict entries,
                     __global uint *restrict edge_weights) {
  long i = get_global_id(0);
  if (i < m) edge_weights[entries[i]] = (uint)ranks[i];
}
