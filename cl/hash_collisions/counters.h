/* The result: for each hash k and width j the sum and the maximum of the rows' collisions.
 *
 * counters has N_COUNTERS low words of the sums, then their high words, then the maxima; counter k * N_WIDTHS + j.  Bit b
 * of WIDTH_MASK is set if colours of b bits are counted; these are the widths 0, 1, ... in ascending order.
 * A work-group sums in local memory and adds its sums once.  An addition that wraps a low word raises the high one, so
 * the order does not matter.
 */
#ifndef CLGRAPH_COUNTERS_H
#define CLGRAPH_COUNTERS_H
#include "common/atomics.h"
#include "common/hashes.h"

#ifndef N_WIDTHS
#define N_WIDTHS 10
#define WIDTH_MASK 0x7feu
#define MAX_BITS 10
#endif
#define N_COUNTERS (N_HASHES * N_WIDTHS)

INLINE void clear_sums(__local uint *totals, __local uint *greatest) {
  for (uint c = get_local_id(0); c < N_COUNTERS; c += WG_SIZE) { totals[c] = 0u; greatest[c] = 0u; }
}

/* Add a work-group's sums and maxima to the counters.  Call it after a barrier. */
INLINE void publish_sums(__local const uint *totals, __local const uint *greatest, volatile __global uint *counters) {
  for (uint c = get_local_id(0); c < N_COUNTERS; c += WG_SIZE) {
    uint sum = totals[c], most = greatest[c];
    if (!sum) continue;
    uint old = fetch_add(counters + c, sum);
    if (old + sum < old) fetch_add(counters + N_COUNTERS + c, 1u);
    volatile __global uint *maximum = counters + 2 * N_COUNTERS + c;
    if (load_relaxed(maximum) < most) fetch_max(maximum, most);
  }
}
#endif
