/* Find the colours that are used.  A work-group takes a chunk of vertices.
 *
 * used[c] becomes 1 if a vertex has colour c < limit, used[limit] if one has another colour or none.  Race: several
 * work-items may store to one word, but all store the same.
 */
#include "common/atomics.h"

KERNEL mark_colors(int n, int chunk, uint limit, const __global int *restrict colors, volatile __global uint *used) {
  const long first = (long)get_group_id(0) * chunk, end = min((long)n, first + chunk);
  for (long v = first + get_local_id(0); v < end; v += WG_SIZE) {
    const uint c = min((uint)colors[v], limit);
    if (!load_stale(used + c)) store_relaxed(used + c, 1u);
  }
}
