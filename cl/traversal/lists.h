/* Lists in global memory to which all work-groups append in one turn, and which they read in a later one.
 *
 * A sub-group may collect HELD items in local memory first, so that one atomic addition serves many items.
 * A list never runs out of room: its users append an item at most once, and it has room for all items.
 * A fence must stand between the appending and the reading; levels.h has it (LISTED).
 */
#ifndef CLGRAPH_TRAVERSAL_LISTS_H
#define CLGRAPH_TRAVERSAL_LISTS_H
#include "traversal/row_edges.h"

#ifndef HELD                     /* items that a sub-group buffers before it appends them to a list by one atomic */
#define HELD 0
#endif

/* A list in global memory, and the items that a sub-group has buffered for it: held[0] counts them.  held is 0 without
 * a buffer. */
typedef struct { __global int *items; volatile __global uint *size; __local int *held; } list_t;
#define HELD_WORDS (HELD + 1)

/* Every lane calls: write the buffered items to the list, and return the first of `more` slots behind them.
 * Race: sub-groups of all work-groups add to the size at the same time.  The addition gives each of them slots of its
 * own, so the stores of items need no atomics. */
INLINE uint release(list_t to, uint more) {
  uint count = 0u, base = 0u;
  if (to.held) {
    sg_sync();
    count = (uint)to.held[0];
  }
  if (!(count + more)) return 0u;
  if (sg_lane() == 0) base = fetch_add(to.size, count + more);
  base = sg_broadcast(base, 0u);
  for (uint i = sg_lane(); i < count; i += SUB_GROUP_SIZE) to.items[base + i] = to.held[1u + i];
  if (count) {
    sg_sync();
    if (sg_lane() == 0) to.held[0] = 0;
  }
  return base + count;
}

/* Every lane calls: append each item k for which bit k of wanted is set.  Items go to the buffer while it has room.
 * Lane 0 writes held[0] after all lanes have read it: sg_sync separates the two, and the write from the next reads. */
INLINE void append(const int *item, uint wanted, list_t to) {
  const uint count = popcount(wanted), before = sg_exclusive_sum(count);
  const uint all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1);
  if (!all) return;
  uint slot;
  if (to.held) {
    sg_sync();
    const uint held = (uint)to.held[0];
    if (held + all <= HELD) {
      sg_sync();
      if (sg_lane() == 0) to.held[0] = (int)(held + all);
      slot = 1u + held + before;
#pragma unroll
      for (uint k = 0u; k < STEPS; k++)
        if (wanted >> k & 1u) to.held[slot++] = item[k];
      return;
    }
  }
  slot = release(to, all) + before;
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) to.items[slot++] = item[k];
}
#endif
