/* Atomic throughput in local memory: every work-item of a group on one word (n_words = 1), or at random.
 *
 * The same rules as in atomics.cl.  words[item]: at the end, the group's local words (WG_SIZE per group);
 * done[item]: operations that took effect.  n_words <= WG_SIZE. */
#include "common/atomics.h"
#include "common/random.h"

#define DEFINE_PROBE_(NAME, OPERATION)                                                                \
  KERNEL NAME(uint turns, uint n_words, uint seed, int start, int value,                              \
              __global int *words, __global uint *done) {                                             \
    LOCAL_ARRAY int table[WG_SIZE];                                                                   \
    volatile __local int *first = table;                                                              \
    uint item = get_global_id(0), lane = get_local_id(0);               \
    uint x = random_uint(random_key(seed), item), count = 0u;                                         \
    table[lane] = start;                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    for (uint turn = 0u; turn < turns; turn++) {                                                      \
      volatile __local int *p = first + mul_hi(x, n_words);                                           \
      x = x * 1664525u + 1013904223u;                                                                 \
      OPERATION                                                                                       \
    }                                                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                     \
    words[item] = table[lane];                                                                        \
    done[item] = count;                                                                               \
  }

DEFINE_PROBE_(add_int32, if (fetch_add(p, value) < 0) break; count++;)
DEFINE_PROBE_(min_int32, int lower = *p - value; if (fetch_min(p, lower) > lower) count++;)
DEFINE_PROBE_(cmpxchg_int32, int old = *p; if (compare_exchange(p, old, old + value) == old) count++;)
