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

KERNEL permute_requests(uint level, REQUEST_PARAMETERS) {
  LOCAL_ARRAY int tops[TOP], gains[TOP], weights[TOP], together[TOP * TOP];
  LOCAL_ARRAY ulong scratch[SUB_GROUPS_PER_GROUP];
  REQUESTED
  const level_t on = LEVEL(level);
  if (mode != MODE_SPREAD) return;
  __global const int *parts = (__global const int *)ARRAY(&r, PART), *asked = (__global const int *)ARRAY(&r, ASKED);
  __global const int *targets = (__global const int *)ARRAY(&r, TARGET);
  NEW_BATCH(movers)
  for (uint p = get_group_id(0); p < n_parts; p += get_num_groups(0)) {
    __global int *items = requests + OF_REQUESTS(BEGINS)[p];
    const uint n = (uint)OF_REQUESTS(PLACED)[p], n_tops = min(n, (uint)TOP);
    const long free = (long)OF_PARTS(&r, LIMITS)[p] - OF_PARTS(&r, SIZES)[p];
    ulong last = ~0ul;
    for (uint i = get_local_id(0); i < TOP * TOP; i += WG_SIZE) together[i] = 0;
    for (uint k = 0u; k < n_tops; k++) {
      ulong best = 0ul;
      int own = NOBODY;
      for (uint i = get_local_id(0); i < n; i += WG_SIZE) {
        const ulong key = request_key(&r, items[i], stamp);
        if ((own != NOBODY && key <= best) || (k && key >= last)) continue;
        best = key;
        own = items[i];
      }
      last = group_greatest(own == NOBODY ? 0ul : best, scratch);
      if (own != NOBODY && best == last) {
        tops[k] = own;
        gains[k] = ARRAY(&r, GAIN)[own];
        weights[k] = vertex_weight(&on, own);
      }
    }
    local_barrier();
    for (uint k = sg_in_group(); k < n_tops; k += SUB_GROUPS_PER_GROUP) {
      const int v = tops[k];
      for (int e = on.rows[v] + (int)sg_lane(); e < on.rows[v + 1]; e += SUB_GROUP_SIZE) {
        const int u = on.columns[e];
        if (asked[u] != (int)stamp || targets[u] != (int)p) continue;
        for (uint j = 0u; j < k; j++)
          if (tops[j] == u) fetch_add(together + k * TOP + j, edge_weight(&on, e) * (1 + (parts[u] == parts[v])));
      }
    }
    local_barrier();
    ulong best = 0ul;            /* the gain, and the set */
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
    best = group_greatest(best, scratch);
    for (uint k = get_local_id(0); k < n_tops; k += WG_SIZE)
      if (best >> k & 1u) accept_request(&r, tops[k], stamp, &movers);
    FORGET_REQUESTS(p)
  }
  flush(&r, &movers, MOVERS, REFINE_MOVERS);
}
