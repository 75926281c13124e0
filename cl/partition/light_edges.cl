/* Drops the lightest edges of the next level, while it is in the tables of contraction, so that the level has no more
 * entries than allowed.
 *
 *   count_weights  a work-item takes a slot and counts its weight in a histogram by powers of two (classes)
 *   drop_light     a sub-group takes a coarse vertex: entries of the heaviest classes stay, up to the allowed number.
 *                  One class stays only in part; a hash of the edge, the same from both ends, selects its entries
 *
 * So the level stays symmetric, and an edge that stays keeps its weight.  The total weight of the edges becomes less.
 *
 * After L. Gottesbueren, N. Maas, D. Rosch, P. Sanders, D. Seemaier, "Linear-time multilevel graph partitioning via edge
 * sparsification", ESA 2025.
 */
#include "partition/level.h"

#define CLASSES 32               /* one for each bit of a weight */

INLINE uint class_of(int weight) { return 32u - (uint)clz((uint)weight); }

KERNEL count_weights(uint level, __global const long *levels, __global const int *keys, __global const int *weights,
                     volatile __global uint *class_counts) {
  LOCAL_ARRAY uint counts[CLASSES];
  const uint n = (uint)levels[level * LEVEL_WORDS + LEVEL_ENTRIES];
  for (uint i = get_local_id(0); i < CLASSES; i += WG_SIZE) counts[i] = 0u;
  local_barrier();
  const share_t share = share_of(n);
  for (uint i = share.first; i < share.end; i += share.step)
    if (i + sg_lane() < n && keys[i + sg_lane()] != NOBODY) fetch_add(counts + class_of(weights[i + sg_lane()]), 1u);
  local_barrier();
  for (uint i = get_local_id(0); i < CLASSES; i += WG_SIZE)
    if (counts[i]) fetch_add(class_counts + i, counts[i]);
}

/* counts: entries of each coarse row. */
KERNEL drop_light(uint level, uint seed, uint n_per_vertex, LEVELS_PARAMETERS, __global const int *mates,
                  __global const int *leaders, __global const int *slot_begins, __global const uint *class_counts,
                  __global const int *weights, __global int *keys, __global int *counts) {
  const level_t on = LEVEL(level);
  const uint n = (uint)levels[(level + 1u) * LEVEL_WORDS + LEVEL_VERTICES];
  ulong left = (ulong)n * n_per_vertex;
  uint partial = CLASSES;        /* the class of which only *left* entries stay; lighter classes are dropped */
  while (partial && class_counts[partial - 1u] <= left) left -= class_counts[--partial];
  if (!partial) return;
  const uint of_partial = class_counts[--partial];
  const share_t share = team_share_of(n);
  for (uint c = share.first; c < share.end; c += share.step) {
    const int v = leaders[c], u = mates[v], begin = slot_begins[c];
    const int end = begin + on.rows[v + 1] - on.rows[v] + (u == NOBODY ? 0 : on.rows[u + 1] - on.rows[u]);
    int count = 0;
    for (int k = begin + (int)sg_lane(); k < end; k += SUB_GROUP_SIZE) {
      if (keys[k] == NOBODY) continue;
      const uint own = class_of(weights[k]);
      const int stays = own > partial || (own == partial &&
                                          (ulong)edge_hash(seed, c, (uint)keys[k]) * of_partial >> 32 < left);
      if (!stays) keys[k] = NOBODY;
      count += stays;
    }
    count = sg_sum(count);
    if (sg_lane() == 0) counts[c] = count;
  }
}
