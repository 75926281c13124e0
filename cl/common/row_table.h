/* A hash table in global memory that adds up weights by key.  A team fills it: one lane, a sub-group, or a work-group.
 *
 * An empty slot has the key NOBODY.  insert() searches from the slot of the key's hash on, and adds the weight to the slot
 * of the key.  The table must have a slot for each different key.
 *
 * Races: none with TEAM 1.  In a wider team lanes race for slots.  A slot gets its key by one compare-exchange and keeps
 * it, so each key has one slot, and weights are added by atomics.  The order of keys varies, but the sums do not.
 */
#ifndef CLGRAPH_ROW_TABLE_H
#define CLGRAPH_ROW_TABLE_H
#include "common/atomics.h"
#include "common/shares.h"

#define NOBODY (-1)
#ifndef TABLE_WEIGHT_T
#define TABLE_WEIGHT_T int
#endif
#ifndef GROUP_TEAM               /* 1: the lanes of a work-group share a row; a kernel then begins with TEAM_SCRATCH */
#define GROUP_TEAM 0
#endif
#if GROUP_TEAM
#define TEAM WG_SIZE
#elif !defined TEAM              /* lanes that share a row: 1 or SUB_GROUP_SIZE */
#define TEAM SUB_GROUP_SIZE
#endif
#if GROUP_TEAM
#define TEAM_SCRATCH LOCAL_ARRAY long scratch_[SUB_GROUPS_PER_GROUP];
#define team_sync() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define team_sum(x) group_sum_(sg_sum(x), scratch_)
#define TEAM_LANE ((uint)get_local_id(0))
/* Callers meet again before they write the next sums, at team_sync(). */
INLINE long group_sum_(long sum, __local long *scratch) {
  if (sg_lane() == 0) scratch[sg_in_group()] = sum;
  team_sync();
  sum = 0l;
  for (uint s = 0; s < SUB_GROUPS_PER_GROUP; s++) sum += scratch[s];
  return sum;
}
#elif TEAM == 1
#define TEAM_SCRATCH
#define team_sync()
#define team_sum(x) (x)
#define TEAM_LANE 0u
#else
#define TEAM_SCRATCH
#define team_sync() sg_sync()
#define team_sum(x) sg_sum(x)
#define TEAM_LANE sg_lane()
#endif

/* Returns 1 if the key was not there before. */
INLINE int insert(volatile __global int *keys, volatile __global TABLE_WEIGHT_T *weights, uint room, int key,
                  TABLE_WEIGHT_T weight) {
  uint slot = (uint)(((ulong)mixed((uint)key) * room) >> 32);
  for (uint tries = 0u; tries < room; tries++) {
#if TEAM == 1
    const int found = keys[slot];
    if (found == NOBODY) keys[slot] = key;
    if (found == NOBODY || found == key) {
      weights[slot] += weight;
      return found == NOBODY;
    }
#else
    int found = load_relaxed(keys + slot);
    if (found == NOBODY) found = compare_exchange(keys + slot, NOBODY, key);
    if (found == NOBODY || found == key) {
      fetch_add(weights + slot, weight);
      return found == NOBODY;
    }
#endif
    if (++slot == room) slot = 0u;
  }
  return 0;
}
#endif
