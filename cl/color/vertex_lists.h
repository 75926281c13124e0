/* The list of vertices that a sub-group makes before it colours any.  If SORTED, the list has all vertices of its share by
 * descending degree and replaces the steps.  If MARKED, it has the vertices with many neighbours, and is processed before
 * the steps.  They are listed by number, because neighbouring lanes find them.
 */
#ifndef CLGRAPH_VERTEX_LISTS_H
#define CLGRAPH_VERTEX_LISTS_H
#include "common/atomics.h"
#include "color/possible.h"
#include "color/vertex_shares.h"

#ifndef SORTED
#define SORTED 0
#endif
#ifndef SMALL_DEGREE
#define SMALL_DEGREE 30          /* entries: 30 or fewer unless WIDE, because a set has one colour more */
#endif
#ifndef SORT_STEPS               /* vertices of a work-item in flight while they are sorted */
#define SORT_STEPS 4u
#endif
#define LISTS (SORTED | MARKED)
#define N_CLASSES (SORTED ? SMALL_DEGREE + 2u - FEW_COLORS : 1u)

INLINE uint class_of(uint degree) { return MARKED ? 0u : SMALL_DEGREE - max(degree, FEW_COLORS - 1u); }

/* Makes the list and returns its length; ends: room for N_CLASSES words. */
INLINE uint list_first(const share_t *own, __global const offset_t *restrict row_offsets, __local uint *ends,
                       __global uint *listed) {
  const uint lane = sg_lane();
  uint n_listed = 0u;
  for (uint i = lane; i < N_CLASSES; i += SUB_GROUP_SIZE) ends[i] = 0u;
  for (int counting = !MARKED; counting >= 0; counting--) {
    sg_sync();
    step_t step = first_step(own);
    for (uint t = 0u; t < own->steps; t += SORT_STEPS) {
      uint v[SORT_STEPS], degree[SORT_STEPS];
      for (uint k = 0u; k < SORT_STEPS; k++) {
        v[k] = MARKED ? vertex_by_number(own, t + k) : next_vertex(own, &step);
        if (t + k >= own->steps) v[k] = own->n;
        degree[k] = v[k] < own->n ? (uint)(row_offsets[v[k] + 1u] - row_offsets[v[k]]) : UINT_MAX;
      }
      for (uint k = 0u; k < SORT_STEPS; k++)
        if (degree[k] >= (MARKED ? FEW_COLORS : 0u) && degree[k] <= SMALL_DEGREE) {
          const uint place = fetch_add(&ends[class_of(degree[k])], 1u);
          if (!counting) listed[place] = v[k];
        }
    }
    sg_sync();
    for (uint i = lane; counting && sg_any(i < N_CLASSES); i += SUB_GROUP_SIZE) {
      const uint count = i < N_CLASSES ? ends[i] : 0u, begin = n_listed + sg_exclusive_sum(count);
      if (i < N_CLASSES) ends[i] = begin;
      n_listed = sg_broadcast(begin + count, SUB_GROUP_SIZE - 1u);
    }
  }
  return MARKED ? ends[0] : n_listed;
}
#endif
