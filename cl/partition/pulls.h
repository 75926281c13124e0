/* The edge weight from a vertex to its own part, and to the part that pulls it most.
 *
 * Weights to parts are summed over the row.  A lane processes a short row, in registers.  A sub-group processes a long
 * row, or a vertex adjacent to many parts, in local memory, with a counter for each part.  If parts pull equally, a hash
 * of the vertex decides.
 */
#ifndef CLGRAPH_PULLS_H
#define CLGRAPH_PULLS_H
#include "partition/refinement.h"

#ifndef PARTS_ROOM               /* counters per sub-group, at least one for each part */
#define PARTS_ROOM 64
#endif
#ifndef SHORT_ROW                /* a lane alone processes rows up to SHORT_ROW entries times its sub-group's rows, ... */
#define SHORT_ROW 4
#endif
#ifndef SLOTS                    /* ... if the vertex is adjacent to at most this number of other parts */
#define SLOTS 4
#endif

typedef struct { int own; ulong best; } pull_t;  /* weight to the own part, and the key of the strongest other one */
INLINE uint tie_of(int v) { return mixed((uint)v) & 0xffffu; }
INLINE ulong pull_key(int weight, int part, int v) { return ((ulong)(uint)weight << 32) | ((uint)part ^ tie_of(v)) | 0x10000u; }
INLINE int part_of(ulong key, int v) { return (int)(((uint)key & 0xffffu) ^ tie_of(v)); }
INLINE int weight_of(ulong key) { return (int)(key >> 32); }

/* Returns 1 if a vertex may move to a part: in a rebalancing only if the part has room for its weight. */
INLINE int is_open(const refined_t *r, int part, int weight, uint mode) {
  const int limit = OF_PARTS(r, LIMITS)[part];
  return mode == MODE_SPREAD || OF_PARTS(r, SIZES)[part] + weight <= limit - DEAD_ZONE(limit);
}

/* A work-item sums in SLOTS registers; *is_full becomes 1 if v is adjacent to more parts, and the result is then invalid. */
INLINE pull_t pulls_of_short(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode,
                             int *is_full) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  int beside[SLOTS], sums[SLOTS];
  pull_t pull;
  pull.own = 0;
  pull.best = 0ul;
#pragma unroll
  for (int k = 0; k < SLOTS; k++) {
    beside[k] = NOBODY;
    sums[k] = 0;
  }
  *is_full = 0;
  for (int e = first; e < last && !*is_full; e++) {
    const int u = on->columns[e], part = parts[u], of_edge = u == v ? 0 : edge_weight(on, e);
    int is_placed = part == own_part;
    pull.own += is_placed ? of_edge : 0;
#pragma unroll
    for (int k = 0; k < SLOTS; k++) {
      const int is_here = !is_placed & ((beside[k] == part) | (beside[k] == NOBODY));
      beside[k] = is_here ? part : beside[k];
      sums[k] += is_here ? of_edge : 0;
      is_placed |= is_here;
    }
    *is_full = !is_placed;
  }
#pragma unroll
  for (int k = 0; k < SLOTS; k++)
    if (beside[k] != NOBODY && is_open(r, beside[k], weight, mode))
      pull.best = max(pull.best, pull_key(sums[k], beside[k], v));
  return pull;
}

#if SUB_GROUP_SIZE == 1
/* counters: an int for each part, all 0 before and after.  The work-item keeps a list of the parts adjacent to v; their
 * counters are one more than the weight. */
INLINE pull_t pulls_of_long(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode,
                            volatile __local int *counters) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  pull_t pull;
  pull.best = 0ul;
  int beside[PARTS_ROOM], n_beside = 0;
  pull.own = 0;
  for (int e = first; e < last; e++) {
    const int u = on->columns[e], part = parts[u], sum = counters[part];
    if (u == v) continue;
    if (!sum) beside[n_beside++] = part;
    counters[part] = sum + !sum + edge_weight(on, e);
  }
  for (int i = 0; i < n_beside; i++) {
    const int part = beside[i], sum = counters[part] - 1;
    counters[part] = 0;
    if (part == own_part) pull.own = sum;
    else if (is_open(r, part, weight, mode)) pull.best = max(pull.best, pull_key(sum, part, v));
  }
  return pull;
}
#else
/* The lanes of a sub-group take the entries of v.  counters: an int for each part, all 0 before and after.  A counter is
 * twice the weight plus 1, so that it is not 0 for a part to which only edges of weight 0 lead. */
INLINE pull_t pulls_of_long(const refined_t *r, const level_t *on, int v, int weight, int first, int last, uint mode,
                            volatile __local int *counters) {
  __global const int *parts = (__global const int *)ARRAY(r, PART);
  const int own_part = parts[v];
  pull_t pull;
  pull.best = 0ul;
  for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
    const int u = on->columns[e], of_edge = edge_weight(on, e);
    if (u == v) continue;
    if (of_edge) fetch_add(counters + parts[u], 2 * of_edge);
    else fetch_or(counters + parts[u], 1);
  }
  sg_sync();
  pull.own = (int)((uint)counters[own_part] >> 1);
  sg_sync();
  if (last - first > (int)r->n_parts) {
    for (uint part = sg_lane(); part < r->n_parts; part += SUB_GROUP_SIZE) {
      const uint sum = (uint)counters[part];
      counters[part] = 0;
      if (sum && (int)part != own_part && is_open(r, (int)part, weight, mode))
        pull.best = max(pull.best, pull_key((int)(sum >> 1), (int)part, v));
    }
    sg_sync();
  } else {
    for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE) {
      const int u = on->columns[e], part = parts[u];
      if (u != v && part != own_part && is_open(r, part, weight, mode))
        pull.best = max(pull.best, pull_key((int)((uint)counters[part] >> 1), part, v));
    }
    sg_sync();
    for (int e = first + (int)sg_lane(); e < last; e += SUB_GROUP_SIZE)
      fetch_and(counters + parts[on->columns[e]], 0);  /* several lanes may have entries of one part */
    sg_sync();
  }
  pull.best = sg_greatest(pull.best);
  return pull;
}
#endif

/* Returns the pulls on the vertex of this lane, if it is stale.  Short rows are read by their lane, long ones by the whole
 * sub-group. */
INLINE pull_t pulls_of(const refined_t *r, const level_t *on, int v, int is_stale, int weight, uint mode,
                       volatile __local int *counters) {
  const int first = is_stale ? on->rows[v] : 0, last = is_stale ? on->rows[v + 1] : 0;
      const int n_rows = (int)lane_count(sg_ballot(is_stale));
      int is_long = last - first > (SUB_GROUP_SIZE == 1 ? 0 : min(64, SHORT_ROW * n_rows));
      pull_t pull;
      pull.own = 0;
      pull.best = 0ul;
  #if SUB_GROUP_SIZE > 1
      if (is_stale && !is_long) pull = pulls_of_short(r, on, v, weight, first, last, mode, &is_long);
  #endif
      for (lane_mask_t left = sg_ballot(is_long); left; left &= left - 1) {
        const uint lane = lowest_lane(left);
        const pull_t found = pulls_of_long(r, on, sg_broadcast(v, lane), sg_broadcast(weight, lane),
                                           sg_broadcast(first, lane), sg_broadcast(last, lane),
                                           sg_broadcast(mode, lane), counters);
        if (sg_lane() == lane) pull = found;
      }
  return pull;
}
#endif
