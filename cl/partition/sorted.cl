/* Contraction by a sort instead of the tables of hashed.cl.  The entries of both mates are written consecutively, a radix
 * sort orders the entries of each coarse vertex by coarse neighbours, and runs of equal neighbours are added up.
 *
 * A key has the coarse vertex in the high bits and its neighbour in the low bits.  So one sort, whose work does not depend
 * on the lengths of rows, orders all rows.  The result has the form of the tables of hashed.cl: the key at the beginning
 * of each run, and NOBODY elsewhere.  So the same kernels number and write the entries.  Rows are the same on all devices.
 *
 * Each team writes only the slots of its coarse vertex.
 */
#include "partition/level.h"

/* Returns the number of slots of leader v's coarse vertex; u is v's mate, or NOBODY. */
INLINE int n_slots(const level_t *on, int v, int u) {
  return on->rows[v + 1] - on->rows[v] + (u == NOBODY ? 0 : on->rows[u + 1] - on->rows[u]);
}

KERNEL gather_entries(uint level, uint shift, LEVELS_PARAMETERS, __global const int *mates, __global const int *leaders,
                      __global const int *slot_begins, __global ulong *packed, __global int *entry_weights) {
  const level_t on = LEVEL(level);
  const share_t share = team_share_of((uint)levels[(level + 1u) * LEVEL_WORDS + LEVEL_VERTICES]);
  for (uint c = share.first; c < share.end; c += share.step) {
    const int v = leaders[c], u = mates[v], n = n_slots(&on, v, u), of_first = on.rows[v + 1] - on.rows[v];
    for (int k = (int)sg_lane(); k < n; k += SUB_GROUP_SIZE) {
      const int e = k < of_first ? on.rows[v] + k : on.rows[u] + k - of_first;
      packed[slot_begins[c] + k] = (ulong)c << shift | (uint)on.map[on.columns[e]];
      entry_weights[slot_begins[c] + k] = edge_weight(&on, e);
    }
  }
}

KERNEL merge_runs(uint level, uint shift, LEVELS_PARAMETERS, __global const int *mates, __global const int *leaders,
                  __global const int *slot_begins, __global const ulong *packed_sorted,
                  __global const int *entry_weights_sorted, __global int *keys, __global int *weights,
                  __global int *counts) {
  const level_t on = LEVEL(level);
  const share_t share = team_share_of((uint)levels[(level + 1u) * LEVEL_WORDS + LEVEL_VERTICES]);
  for (uint c = share.first; c < share.end; c += share.step) {
    const int v = leaders[c], begin = slot_begins[c], end = begin + n_slots(&on, v, mates[v]);
    int count = 0;
    for (int k = begin + (int)sg_lane(); k < end; k += SUB_GROUP_SIZE) {
      const ulong own = packed_sorted[k];
      const int key = (int)(own & ((1ul << shift) - 1ul)), leads = key != (int)c && (k == begin || packed_sorted[k - 1] != own);
      keys[k] = leads ? key : NOBODY;
      if (!leads) continue;
      int sum = 0;
      for (int i = k; i < end && packed_sorted[i] == own; i++) sum += entry_weights_sorted[i];
      weights[k] = sum;
      count++;
    }
    count = sg_sum(count);
    if (sg_lane() == 0) counts[c] = count;
  }
}
