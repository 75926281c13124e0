/* Units of edges, which rest while the keys that they read do not change.
 *
 * A unit is the edges that a sub-group takes from a block of a work-group.  It has slots for the chunks of vertices in which
 * its edges have their ends, apart for first and second ends.  Stamps of chunks tell when a key was last lowered there.
 */
#ifndef CLGRAPH_STRONG_COMPONENTS_UNITS_H
#define CLGRAPH_STRONG_COMPONENTS_UNITS_H
#include "strongly_connected_components/edges.h"

#ifndef EACH                     /* edges of a block, for each work-item: 4 to 64 */
#if DEV_IS_CPU
#define EACH 64
#else
#define EACH 4
#endif
#endif
#define BLOCK_EDGES (WG_SIZE * EACH)
#define UNIT_EDGES (SUB_GROUP_SIZE * EACH)  /* consecutive edges that a sub-group takes */
#define AHEAD 4u                 /* units whose stamps a sub-group loads together */
#define EMPTY (~0u)              /* in a slot for a chunk */
#define MANY (~1u)               /* in the first slot, if there are more chunks than slots: the unit never rests */

typedef struct {                 /* the arrays of a propagation */
  volatile __global uint *after_keys, *before_keys, *after_stamps, *before_stamps;
  __global uint *chunks;         /* for each unit SLOTS chunks: TAIL_SLOTS of first ends, and HEAD_SLOTS of second ends */
} propagated_t;

/* The first edge of a lane in a block; its others follow SUB_GROUP_SIZE apart. */
INLINE ulong first_edge(ulong block) { return block * BLOCK_EDGES + sg_in_group() * UNIT_EDGES + sg_lane(); }
INLINE ulong unit_of(ulong block) { return block * SUB_GROUPS_PER_GROUP + sg_in_group(); }

/* Write the different ones among the chunks of a sub-group to n_slots slots, in order.  Every lane calls. */
INLINE void list_chunks(const uint *own, __global uint *slots, uint n_slots) {
  uint least = 0u;
  for (uint slot = 0u; slot <= n_slots; slot++) {
    uint next = EMPTY;
    for (int k = 0; k < EACH; k++)
      if (own[k] >= least) next = min(next, own[k]);
    next = sg_least(next);
    if (next == EMPTY) {         /* there are no more */
      for (uint i = slot + sg_lane(); i < n_slots; i += SUB_GROUP_SIZE) slots[i] = EMPTY;
      return;
    }
    if (sg_lane() == 0) slots[slot < n_slots ? slot : 0u] = slot < n_slots ? next : MANY;
    least = next + 1u;
  }
}

/* The ways in which units of blocks b, b + step ... are awake: a key that they read was lowered in step t - 1, or in this
 * step.  Every lane calls. */
INLINE void find_awake(uint t, const uint *block, uint *ways, propagated_t on) {
  for (uint k = 0u; k < AHEAD; k++) ways[k] = 0u;
  for (uint slot = sg_lane(); slot < SLOTS; slot += SUB_GROUP_SIZE) {
    const uint way = slot < TAIL_SLOTS ? AFTER : BEFORE;
    uint chunk[AHEAD];
#pragma unroll
    for (uint k = 0u; k < AHEAD; k++) chunk[k] = block[k] == EMPTY ? EMPTY : on.chunks[unit_of(block[k]) * SLOTS + slot];
#pragma unroll
    for (uint k = 0u; k < AHEAD; k++) {
      volatile __global uint *stamps = way == AFTER ? on.after_stamps : on.before_stamps;
      const uint stamp = load_relaxed_if(chunk[k] < MANY, stamps + (chunk[k] < MANY ? chunk[k] : 0u));
      if (chunk[k] == MANY || (chunk[k] < MANY && stamp + 1u >= t)) ways[k] |= way;
    }
  }
#pragma unroll
  for (uint k = 0u; k < AHEAD; k++) ways[k] = (sg_any(ways[k] & AFTER) ? AFTER : 0u) | (sg_any(ways[k] & BEFORE) ? BEFORE : 0u);
}
#endif
