/* Tests that a device must pass before it may be used: the built-ins that kernels call with vectors, at every width;
 * atomics; local memory and barriers.  A work-item takes one item, or one vector of items.  The work-items access few
 * words on purpose, so that they conflict.  clgraph/runtime/discovery/self_test.py has the expected results.  The last
 * kernel is timed.
 */
#include "common/atomics.h"

/* x holds small whole numbers: x * x + x is exact in half precision, too */
#define VECTORS_OF(N)                                                                             \
  KERNEL vectors##N(const __global float##N *x, __global float##N *floats, __global uint##N *words) { \
    size_t i = get_global_id(0);                                                                  \
    floats[i] = mad(x[i], x[i], x[i]);                                                            \
    words[i] = convert_uint##N(min(convert_int##N(floats[i]), (int##N)(500)));                    \
  }
VECTORS_OF(2)
VECTORS_OF(4)
VECTORS_OF(8)
VECTORS_OF(16)

#define HALVES_OF(N)                                                                              \
  KERNEL halves##N(const __global float *x, __global half *halves, __global float *floats) {      \
    size_t i = get_global_id(0);                                                                  \
    vstore_half##N##_rte(vload##N(i, x), i, halves);                                              \
    vstore##N(vload_half##N(i, halves), i, floats);                                               \
  }
HALVES_OF(4)
HALVES_OF(16)

/* words: count, least, greatest, winners of a compare-exchange, sum of a float, all 0 but the second */
KERNEL atomics32(__global uint *words, __global uint *tickets) {
  uint i = (uint)get_global_id(0);
  tickets[fetch_add(&words[0], 1u)] = i;
  fetch_min(&words[1], i + 5u);
  fetch_max(&words[2], i);
  if (compare_exchange(&words[3], 0u, i + 1u) == 0u) fetch_add(&words[4], 1u);
  float_add((__global float *)&words[5], 1.0f);
}

#if DEV_HAS_INT64_ATOMICS
KERNEL atomics64(__global ulong *words) {
  ulong i = (ulong)get_global_id(0), step = ((ulong)1 << 32) + 1u;
  fetch_add(&words[0], step);
  fetch_min(&words[1], (i + 5u) * step);
  fetch_max(&words[2], i * step);
  if (compare_exchange(&words[3], (ulong)0, (i + 1u) * step) == 0u) fetch_add(&words[4], (ulong)1);
}
#endif

/* Every work-item gets the sum over its group, and the value of its mirror image in the group. */
KERNEL local_memory(__global uint *sums, __global uint *mirrored) {
  LOCAL_ARRAY uint tree[WG_SIZE], copy[WG_SIZE], count[1];
  int l = (int)get_local_id(0);
  tree[l] = copy[l] = (uint)get_global_id(0);
  if (l == 0) count[0] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = WG_SIZE / 2; half_size > 0; half_size /= 2) {
    if (l < half_size) tree[l] += tree[l + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  fetch_add(&count[0], 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[get_global_id(0)] = tree[0] + count[0];
  mirrored[get_global_id(0)] = copy[WG_SIZE - 1 - l];
}

/* Each work-item makes `turns` attempts to exchange the word of its group, like `cmpxchg_int32` of atomics.cl.
 * done: the number of successful attempts. */
KERNEL exchanges(uint turns, uint stride, volatile __global int *words, __global uint *done) {
  volatile __global int *p = words + (size_t)get_group_id(0) * stride;
  uint count = 0u;
  for (uint turn = 0u; turn < turns; turn++) {
    int old = load_relaxed(p);
    if (compare_exchange(p, old, old + 1) == old) count++;
  }
  done[get_global_id(0)] = count;
}
