/* A hash table in global memory that adds up weights by key.  A team fills it: one lane, or a sub-group.
 *
 * An empty slot has the key NOBODY.  insert() searches from the slot of the key's hash on, and adds the weight to the slot
 * of the key.  The table must have a slot for each different key.
 *
 * Races: none unless TABLE_IS_SHARED.  Then lanes race for slots.  A slot gets its key by one compare-exchange and keeps
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
#ifndef TEAM                     /* lanes that share a row: 1 or SUB_GROUP_SIZE */
#define TEAM SUB_GROUP_SIZE
#endif
#if TEAM == 1
#define team_sync()
#define team_sum(x) (x)
#define TEAM_LANE 0u
#else
#define team_sync() sg_sync()
#define team_sum(x) sg_sum(x)
#define TEAM_LANE sg_lane()
#endif

#ifndef TABLE_IS_SHARED          /* 1: lanes add to a table at the same time */
#define TABLE_IS_SHARED (TEAM > 1)
#endif

/* Returns 1 if the key was not there before. */
INLINE int insert(volatile __global int *keys, volatile __global TABLE_WEIGHT_T *weights, uint room, int key,
                  TABLE_WEIGHT_T weight) {
  uint slot = (uint)(((ulong)mixed((uint)key) * room) >> 32);
  for (uint tries = 0u; tries < room; tries++) {
#if !TABLE_IS_SHARED
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
