/* Search a model for numbers that have diverged: infinities, NaNs, and numbers so large that a squared error may overflow
 * float32.
 */
#include "common/atomics.h"

#ifndef HALF_STORAGE
#define HALF_STORAGE 0
#endif
#define LARGEST 1e8f             /* 128 products of two such numbers, squared, are below the largest float32 */

#if HALF_STORAGE
typedef half number_t;
#define NUMBER(p, i) vload_half(i, p)
#else
typedef float number_t;
#define NUMBER(p, i) (p)[i]
#endif

/* Work-items stride over the numbers; *found becomes 1 if there is one. */
KERNEL find_wild(ulong n, const __global number_t *restrict numbers, volatile __global uint *found) {
  uint wild = 0u;
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) wild |= !(fabs(NUMBER(numbers, i)) <= LARGEST);
  if (wild) store_relaxed(found, 1u);
}
