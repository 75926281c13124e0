/* Find the least and the greatest weight that each work-item reads, as integers in the order of the weights.
 *
 * A work-group takes a chunk of weights.  Only their bits are read.
 */
#include "common/types.h"

#ifndef WEIGHT_T                 /* uint or ulong, as wide as the weights */
#define WEIGHT_T uint
#endif
#ifndef IS_FLOAT
#define IS_FLOAT 0
#endif
#define SIGN_BIT (8 * sizeof(WEIGHT_T) - 1)
#define SIGN ((WEIGHT_T)(1ul << SIGN_BIT))

KERNEL find_range(long m, long chunk, const __global WEIGHT_T *restrict edge_weights,
                  __global WEIGHT_T *restrict ranges) {
  WEIGHT_T least = ~(WEIGHT_T)0, greatest = 0;
  const long first = (long)get_group_id(0) * chunk, end = min(m, first + chunk);
#if !DEV_IS_CPU || defined(__SPIR__)  /* PoCL makes vectors of the loop unless it is told to unroll it */
  #pragma unroll 8
#endif
  for (long e = first + get_local_id(0); e < end; e += WG_SIZE) {
    const WEIGHT_T bits = edge_weights[e], key = bits ^ (IS_FLOAT && bits & SIGN ? ~(WEIGHT_T)0 : SIGN);
    least = min(least, key);
    greatest = max(greatest, key);
  }
  const long item = get_global_id(0);
  ranges[2 * item] = least;
  ranges[2 * item + 1] = greatest;
}
