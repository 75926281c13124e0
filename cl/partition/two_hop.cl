/* Matches vertices without an unmatched neighbour with each other, so that stars and power-law graphs shrink too.  A
 * sub-group takes a vertex, the hub, and pairs the unmatched neighbours that chose it as their heaviest neighbour: for
 * example, leaves of one vertex, or twins.  Vertices without any neighbour are paired within blocks of consecutive
 * vertices.
 *
 * Every unmatched vertex chooses one hub.  After that, only the hub's sub-group reads and writes its mate.  The pairs
 * depend only on the order of the hub's row.
 *
 * After D. LaSalle et al., "Improving graph partitioning for modern graphs and architectures", IA3 2015.
 */
#include "partition/level.h"

#define BLOCK 256u               /* consecutive vertices; vertices without neighbours are paired within a block */

KERNEL choose_hubs(uint level, uint seed, int within, uint room, LEVELS_PARAMETERS, __global const int *mates,
                   __global const int *work, __global int *choices) {
  const level_t on = LEVEL(level);
  __global const int *parts = within < 0 ? 0 : work + (size_t)within * room;
  const share_t share = share_of(on.n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    if (v >= on.n || mates[v] != NOBODY) continue;
    int best_weight = -1, best = NOBODY;
    uint best_hash = 0u;
    for (int e = on.rows[v]; e < on.rows[v + 1]; e++) {
      const int u = on.columns[e], weight = edge_weight(&on, e);
      const uint hash = mixed(seed ^ (uint)u);
      if (u == (int)v || (parts && parts[u] != parts[v]) || weight < best_weight || (weight == best_weight && hash <= best_hash)) continue;
      best_weight = weight;
      best_hash = hash;
      best = u;
    }
    choices[v] = best;
  }
}

/* Pairs the waiting vertices of the lanes in order, the first with the vertex that was left waiting before, if any. */
INLINE int match_waiting(const level_t *on, int u, int waits, int most_weight, int before, __global int *mates) {
  for (lane_mask_t left = sg_ballot(waits); left; left &= left - 1) {
    const int next = sg_broadcast(u, lowest_lane(left));
    /* A row may have a vertex twice; lane 0 alone reads and writes mates, so that it sees what it wrote. */
    const int is_matched = sg_broadcast(sg_lane() == 0 ? (int)(mates[next] != NOBODY) : 0, 0u);
    if (is_matched || next == before) continue;
    if (before == NOBODY) {
      before = next;
    } else if (vertex_weight(on, next) <= most_weight - vertex_weight(on, before)) {
      if (sg_lane() == 0) {
        mates[next] = before;
        mates[before] = next;
      }
      before = NOBODY;
    } else if (vertex_weight(on, next) < vertex_weight(on, before)) {
      before = next;
    }
  }
  return before;
}

KERNEL match_at_hubs(uint level, int most_weight, LEVELS_PARAMETERS, 
                     __global const int *choices, __global int *mates) {
  const level_t on = LEVEL(level);
  const share_t hubs = team_share_of(on.n);
  for (uint hub = hubs.first; hub < hubs.end; hub += hubs.step) {
    int before = NOBODY;
    const int last = on.rows[hub + 1];
    for (int e = on.rows[hub]; e < last; e += SUB_GROUP_SIZE) {
      const int own = e + (int)sg_lane(), u = own < last ? on.columns[own] : (int)hub;
      /* The mate of a vertex with another hub may be written at this time, so the choice is checked first.  A vertex that
       * was matched before does not wait. */
      const int waits = u != (int)hub && choices[u] == (int)hub && load_relaxed(mates + u) == NOBODY;
      before = match_waiting(&on, u, waits, most_weight, before, mates);
    }
  }
}

KERNEL match_lonely(uint level, int most_weight, LEVELS_PARAMETERS, 
                    __global const int *choices, __global int *mates) {
  const level_t on = LEVEL(level);
  const share_t blocks = team_share_of((on.n + BLOCK - 1u) / BLOCK);
  for (uint block = blocks.first; block < blocks.end; block += blocks.step) {
    int before = NOBODY;
    for (uint k = 0u; k < BLOCK; k += SUB_GROUP_SIZE) {
      const uint v = block * BLOCK + k + sg_lane();
      const int waits = k + sg_lane() < BLOCK && v < on.n && choices[v] == NOBODY && mates[v] == NOBODY;
      before = match_waiting(&on, (int)v, waits, most_weight, before, mates);
    }
  }
}
