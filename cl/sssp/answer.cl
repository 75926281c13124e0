/* Convert distances to the returned form. Integers become longs, with -1 for unreached vertices. 64-bit integer distances
 * have this form already, because FAR_AWAY as a long is -1. Floats keep their bits, with infinity for unreached vertices. */
#include "traversal/distances.h"

#if REAL
typedef dist_t answer_t;
#define UNREACHED AS_DISTANCE((sum_t)INFINITY)
#else
typedef long answer_t;
#define UNREACHED (-1l)
#endif

/* distances and answer may be the same array. */
KERNEL list_distances(int n, const __global dist_t *distances, __global answer_t *answer) {
  const int v = get_global_id(0);
  if (v >= n) return;
  const dist_t distance = distances[v];
  answer[v] = distance == FAR_AWAY ? UNREACHED : (answer_t)distance;
}
