/* Atomic throughput in global memory: one kernel per operation, with the same address rule for all.
 *
 * Each of the first n_items work-items makes `turns` operations.  A turn accesses word
 *     group * group_stride + random(0 ... n_words - 1)
 * so with n_words = 1 all access the same word (group_stride = 0) or one word per work-group
 * (group_stride = a cache line or more), and n_words = 2^k spreads accesses at random.
 *
 * Operations are measured as an algorithm sees them:
 *  - the address is computed from a random number even if it is always word 0.  If a compiler knew that it
 *    is the same in all lanes, it would add up the lanes of a warp first and send one atomic (ptxas does)
 *  - the old value decides a branch, as after every hook, push or relaxation: a GPU work-item waits for
 *    it, a CPU speculates on.  `float` adds have no result and are not waited for
 *  - min: load, then min with one less, as lower_to() does: it lowers the word unless another was faster.
 *    Without the load, on a CPU most values would be too late to lower the word, and would skip the update
 *  - cmpxchg: load, then compare-and-swap with that value
 *  - min and cmpxchg: an *attempt* counts as one operation; done[] tells how many changed the word
 *  - float_add_cas: an operation is a finished addition, however many attempts it took
 *
 * words: filled by the host, with 0 or for min with the greatest value.  done[item]: operations that took
 * effect; the host can check that they did.  Races: none but the atomics. */
#include "common/atomics.h"
#include "common/random.h"

#define DEFINE_PROBE_(NAME, T, OPERATION)                                                             \
  KERNEL NAME(uint n_items, uint turns, uint n_words, uint group_stride, uint seed, T value,          \
              volatile __global T *words, __global uint *done) {                                      \
    uint item = get_global_id(0);                                                                     \
    if (item >= n_items) return;                                                                      \
    volatile __global T *first = words + get_group_id(0) * group_stride;                              \
    uint x = random_uint(random_key(seed), item), count = 0u;                                         \
    for (uint turn = 0u; turn < turns; turn++) {                                                      \
      volatile __global T *p = first + mul_hi(x, n_words);                                            \
      x = x * 1664525u + 1013904223u;                                                                 \
      OPERATION                                                                                       \
    }                                                                                                 \
    done[item] = count;                                                                               \
  }

/* Sums and minima stay positive, so that no add ends its loop and every change is seen. */
DEFINE_PROBE_(add_int32, int, if (fetch_add(p, value) < 0) break; count++;)
DEFINE_PROBE_(min_int32, int, int lower = load_relaxed(p) - value; if (fetch_min(p, lower) > lower) count++;)
DEFINE_PROBE_(cmpxchg_int32, int, int old = load_relaxed(p);
              if (compare_exchange(p, old, old + value) == old) count++;)
#if DEV_HAS_INT64_ATOMICS
DEFINE_PROBE_(min_int64, long, long lower = load_relaxed(p) - value; if (fetch_min(p, lower) > lower) count++;)
#endif
DEFINE_PROBE_(add_float32, float, float_add(p, value); count++;)
DEFINE_PROBE_(add_float32_cas, float, float_add_cas(p, value); count++;)
