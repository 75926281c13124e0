/* The vertices of a sub-group that have no colour yet, in a ring in global memory, packed into four words each.
 *
 * Entries are read ahead: a lane has loaded its next entry before it takes it.  All lanes of the sub-group call.
 */
#ifndef CLGRAPH_OPEN_QUEUE_H
#define CLGRAPH_OPEN_QUEUE_H
#include "color/small_vertex.h"

typedef struct {
  __global uint4 *entries;
  uint room, head, size;
  uint known;                    /* number of lanes that have loaded their next entry */
  uint4 next;
} ring_t;

INLINE uint4 packed(const small_t *x) {
  return (uint4)(x->v, x->pending, x->set | x->mark, WIDE ? x->base : (uint)x->first);
}
INLINE small_t unpacked(uint4 entry, int wanted, __global const offset_t *restrict row_offsets) {
  small_t x;
  x.v = entry.x;
  x.pending = entry.y;
  x.set = entry.z & ~MARK;
  x.mark = entry.z & MARK;
  x.base = WIDE ? entry.w : 0u;
  x.first = (offset_t)entry.w;
  x.degree = 0u;
  if (wanted & (WIDE | (sizeof(offset_t) > sizeof(uint)))) {
    x.first = row_offsets[x.v];
    x.degree = (uint)(row_offsets[x.v + 1u] - x.first);
  }
  return x;
}

/* Takes out one entry per lane; returns the number of lanes that got one. */
INLINE uint take_entries(ring_t *queue, uint4 *entry) {
  const uint lane = sg_lane(), count = min(queue->size, (uint)SUB_GROUP_SIZE);
  uint at = queue->head + lane;
  if (lane < count && lane >= queue->known) queue->next = queue->entries[at < queue->room ? at : at - queue->room];
  *entry = queue->next;
  queue->head += count;
  if (queue->head >= queue->room) queue->head -= queue->room;
  queue->size -= count;
  queue->known = min(queue->size, (uint)SUB_GROUP_SIZE);
  at = queue->head + lane;
  if (lane < queue->known) queue->next = queue->entries[at < queue->room ? at : at - queue->room];
  return count;
}
/* Appends the vertices of the lanes for which `open` holds. */
INLINE void put_open(ring_t *queue, const small_t *x, int open) {
  const lane_mask_t keeping = sg_ballot(open);
  uint place = queue->head + queue->size + lane_count(keeping & lanes_below_mask());
  if (place >= queue->room) place -= queue->room;
  if (open) queue->entries[place] = packed(x);
  queue->size += lane_count(keeping);
  sg_sync();
}
#endif
