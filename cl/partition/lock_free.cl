/* Matching by rated edges: a work-item takes a vertex, or a sub-group a long row.  The vertex chooses its best edge to an
 * unmatched neighbour, and is matched along it if the neighbour has chosen the same edge.  This is repeated in rounds.  A
 * round needs two launches and no lock.
 *
 * Ratings and hashes are the same from both ends.  So the best edge of all is always chosen from both ends, and edges of
 * equal rating are matched as in a random order.
 * No word is written while others read it: one launch makes choices, the other changes mates.  The result does not
 * depend on timing.
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

#ifndef LONG_ROW                 /* entries.  The lanes of a sub-group share longer rows. */
#define LONG_ROW 64
#endif

/* An edge: its key, 0 for none, and its other end. */
typedef struct { ulong key; int end; } edge_t;

/* Returns the best edge to an unmatched neighbour among every step-th entry of the row of v.  Two vertices that together
 * are heavier than most_weight are not matched, because balance might become impossible. */
INLINE edge_t best_edge(const level_t *on, __global const int *mates, __global const int *parts, int v, uint seed,
                        int most_weight, uint first, uint step) {
  const int own = vertex_weight(on, v), part = parts ? parts[v] : 0;
  edge_t best = {0ul, NOBODY};
  for (int e = on->rows[v] + (int)first; e < on->rows[v + 1]; e += (int)step) {
    const int u = on->columns[e];
    if (u == v || mates[u] != NOBODY || vertex_weight(on, u) > most_weight - own || (parts && parts[u] != part)) continue;
    const ulong key = edge_key(on, seed, v, u, e);
    if (key > best.key || (key == best.key && u > best.end)) {
      best.key = key;
      best.end = u;
    }
  }
  return best;
}

KERNEL choose_mates(uint level, uint seed, int most_weight, int within, uint room, LEVELS_PARAMETERS,
                    __global const int *mates, __global const int *work, __global int *choices) {
  const level_t on = LEVEL(level);
  __global const int *parts = within < 0 ? 0 : work + (size_t)within * room;
  const share_t share = share_of(on.n);
  for (uint i = share.first; i < share.end; i += share.step) {
    const int v = i + sg_lane() < on.n && mates[i + sg_lane()] == NOBODY ? (int)(i + sg_lane()) : NOBODY;
    const int is_long = v != NOBODY && on.rows[v + 1] - on.rows[v] > (SUB_GROUP_SIZE > 1 ? LONG_ROW : INT_MAX);
    for (lane_mask_t left = sg_ballot(is_long); left; left &= left - 1) {
      const int w = sg_broadcast(v, lowest_lane(left));
      const edge_t own = best_edge(&on, mates, parts, w, seed, most_weight, sg_lane(), SUB_GROUP_SIZE);
      const ulong key = sg_greatest(own.key), end = sg_greatest(own.key == key ? (ulong)(own.end + 1) : 0ul);
      if (sg_lane() == 0) choices[w] = (int)end - 1;
    }
    if (v != NOBODY && !is_long) choices[v] = best_edge(&on, mates, parts, v, seed, most_weight, 0u, 1u).end;
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
