/* Heavy-edge matching: a work-item takes a vertex, which chooses the heaviest edge to an unmatched neighbour, and
 * matches along it if the neighbour has chosen the same edge.  Rounds repeat this; each needs two launches and no lock.
 *
 * Of edges of one weight the one with the greater hash goes first, which is the same from both ends.  So the heaviest
 * edge of all is always chosen from both ends, and as many vertices match in a round as if edges were in random order.
 * No word is written while others read it: choices are made in one launch, and mates change in the other.  The result
 * does not depend on what runs when.
 *
 * After G. Goodarzi, M. Burtscher, D. Goswami, "Parallel graph partitioning on a CPU-GPU architecture", IPDPSW 2016, and
 * F. Manne, R. Bisseling, "A parallel approximation algorithm for the weighted maximum matching problem", PPAM 2007.
 */
#include "partition/level.h"

KERNEL start_matching(uint level, LEVELS_PARAMETERS, __global int *mates) {
  const level_t on = LEVEL(level);
  const share_t share = share_of(on.n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    if (v < on.n) mates[v] = level == 0u && on.rows[v] == on.rows[v + 1] ? LEFT_OUT : NOBODY;
  }
}

/* Vertices heavier than most_weight together stay apart, or no balance could be found. */
KERNEL choose_mates(uint level, uint seed, int most_weight, LEVELS_PARAMETERS, __global const int *mates,
                    __global int *choices) {
  const level_t on = LEVEL(level);
  const share_t share = share_of(on.n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    if (v >= on.n || mates[v] != NOBODY) continue;
    const int own = vertex_weight(&on, v);
    int best_weight = -1, best = NOBODY;
    uint best_hash = 0u;
    for (int e = on.rows[v]; e < on.rows[v + 1]; e++) {
      const int u = on.columns[e], weight = edge_weight(&on, e);
      if (weight < best_weight || u == (int)v || mates[u] != NOBODY) continue;
      if (vertex_weight(&on, u) > most_weight - own) continue;
      const uint hash = edge_hash(seed, (uint)u, v);
      if (weight > best_weight || hash > best_hash || (hash == best_hash && u > best)) {
        best_weight = weight;
        best_hash = hash;
        best = u;
      }
    }
    choices[v] = best;
  }
}

KERNEL match_mutual(uint level, LEVELS_PARAMETERS, __global const int *choices, __global int *mates) {
  const level_t on = LEVEL(level);
  const share_t share = share_of(on.n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const uint v = i + sg_lane();
    if (v >= on.n || mates[v] != NOBODY) continue;
    const int u = choices[v];
    if (u == NOBODY || choices[u] != (int)v) continue;
    mates[v] = u;
  }
}
