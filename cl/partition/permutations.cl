/* Refinement by sets of moves.  All subsets of the TOP requests with the greatest gains in a part's buffer are compared,
 * and the valid set with the greatest total gain moves, even if each of its moves alone would lose.
 *
 * A work-group takes a part.  It finds the TOP requests one after the other by a reduction, and then the additional gain of
 * each pair, in local memory.  Then each work-item evaluates every WG_SIZE-th set.  All moves of a set lead to the same
 * part, so only its limit must be checked.
 *
 * After the top-k refinement of GPU partitioners, in which a sub-group checks each set and the moves may lead anywhere.
 */
#include "partition/requests.h"

#ifndef TOP
#define TOP 11
#endif

INLINE ulong group_greatest(ulong x, __local ulong *scratch) {
  x = sg_greatest(x);
#if WG_SIZE > 1
  if (sg_lane() == 0) scratch[sg_in_group()] = x;
  local_barrier();
  for (uint s = 0u; s < SUB_GROUPS_PER_GROUP; s++) x = max(x, scratch[s]);
  local_barrier();
#endif
  return x;
}

/* Find the TOP requests of a part with the greatest keys, one after the other. */
INLINE void find_tops(const refined_t *r, const level_t *on, __global const int *items, uint n, uint stamp,
                      volatile __local int *tops, volatile __local int *gains, volatile __local int *weights,
                      __local ulong *scratch) {
  ulong last = ~0ul;
  for (uint k = 0u; k < min(n, (uint)TOP); k++) {
    ulong best = 0ul;
    int own = NOBODY;
    for (uint i = get_local_id(0); i < n; i += WG_SIZE) {
      const ulong key = request_key(r, items[i], stamp);
      if ((own != NOBODY && key <= best) || (k && key >= last)) continue;
      best = key;
      own = items[i];
    }
    last = group_greatest(own == NOBODY ? 0ul : best, scratch);
    if (own != NOBODY && best == last) {
      tops[k] = own;
      gains[k] = ARRAY(r, GAIN)[own];
      weights[k] = vertex_weight(on, own);
    }
  }
}

/* Compute the gain that each pair of the requests to part p has beside the gains of both moves. */
INLINE void find_pairs(const refined_t *r, const level_t *on, uint p, uint n_tops, uint stamp,
                       volatile __local const int *tops, volatile __local int *together) {
  __global const int *parts = (__global const int *)ARRAY(r, PART), *asked = (__global const int *)ARRAY(r, ASKED);
  __global const int *targets = (__global const int *)ARRAY(r, TARGET);
  for (uint k = sg_in_group(); k < n_tops; k += SUB_GROUPS_PER_GROUP) {
    const int v = tops[k];
    for (int e = on->rows[v] + (int)sg_lane(); e < on->rows[v + 1]; e += SUB_GROUP_SIZE) {
      const int u = on->columns[e];
      if (asked[u] != (int)stamp || targets[u] != (int)p) continue;
      for (uint j = 0u; j < k; j++)
        if (tops[j] == u) fetch_add(together + k * TOP + j, edge_weight(on, e) * (1 + (parts[u] == parts[v])));
    }
  }
}

/* Returns the gain and the number of this work-item's best set of moves; 0 if none gains and fits. */
INLINE ulong best_set(uint n_tops, long free, volatile __local const int *gains, volatile __local const int *weights,
                      volatile __local const int *together) {
  ulong best = 0ul;
  for (uint set = 1u + get_local_id(0); set < 1u << n_tops; set += WG_SIZE) {
    long gain = 0, weight = 0;
    for (uint k = 0u; k < n_tops; k++) {
      if (!(set >> k & 1u)) continue;
      gain += gains[k];
      weight += weights[k];
      for (uint j = 0u; j < k; j++) gain += set >> j & 1u ? together[k * TOP + j] : 0;
    }
    if (gain > 0 && weight <= free) best = max(best, (ulong)gain << 16 | set);
  }
  return best;
}

KERNEL permute_requests(uint level, REQUEST_PARAMETERS) {
  LOCAL_ARRAY int tops[TOP], gains[TOP], weights[TOP], together[TOP * TOP];
  LOCAL_ARRAY ulong scratch[SUB_GROUPS_PER_GROUP];
  REQUESTED
  const level_t on = LEVEL(level);
  if (mode != MODE_SPREAD) return;
  NEW_BATCH(movers)
  for (uint p = get_group_id(0); p < n_parts; p += get_num_groups(0)) {
    __global int *items = requests + OF_REQUESTS(BEGINS)[p];
    const uint n = (uint)OF_REQUESTS(PLACED)[p], n_tops = min(n, (uint)TOP);
    const long free = (long)OF_PARTS(&r, LIMITS)[p] - OF_PARTS(&r, SIZES)[p];
    for (uint i = get_local_id(0); i < TOP * TOP; i += WG_SIZE) together[i] = 0;
    find_tops(&r, &on, items, n, stamp, tops, gains, weights, scratch);
    local_barrier();
    find_pairs(&r, &on, p, n_tops, stamp, tops, together);
    local_barrier();
    const ulong best = group_greatest(best_set(n_tops, free, gains, weights, together), scratch);
    for (uint k = get_local_id(0); k < n_tops; k += WG_SIZE)
      if (best >> k & 1u) accept_request(&r, tops[k], stamp, &movers);
    FORGET_REQUESTS(p)
  }
  flush(&r, &movers, MOVERS, REFINE_MOVERS);
}
