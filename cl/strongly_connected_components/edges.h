/* Lists of edges to which all work-groups append. */
#ifndef CLGRAPH_STRONG_COMPONENTS_EDGES_H
#define CLGRAPH_STRONG_COMPONENTS_EDGES_H
#include "strongly_connected_components/state.h"

/* Every lane calls: returns the first of `count` slots that it takes.  One atomic addition serves a sub-group. */
INLINE uint take_slots(volatile __global uint *size, uint count) {
  uint before = sg_exclusive_sum(count), all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1), base = 0u;
  if (all && sg_lane() == 0) base = fetch_add(size, all);
  return sg_broadcast(base, 0u) + before;
}

/* Every work-item of the group calls: the same with one atomic addition on *size for the work-group.  room: two words of
 * local memory, which the next call may use at once, and other code after a barrier. */
INLINE uint take_slots_of_group(volatile __global uint *size, uint count, __local uint *room) {
#if WG_SIZE == SUB_GROUP_SIZE
  return take_slots(size, count);
#else
  if (get_local_id(0) == 0) room[0] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint before = sg_exclusive_sum(count), all = sg_broadcast(before + count, SUB_GROUP_SIZE - 1), slot = 0u;
  if (all && sg_lane() == 0) slot = fetch_add(&room[0], all);
  slot = sg_broadcast(slot, 0u) + before;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) room[1] = room[0] ? fetch_add(size, room[0]) : 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  return room[1] + slot;         /* the next call writes room[1] only after barriers of its own */
#endif
}

/* Blocks of items that a work-group takes: on GPUs every stride-th block, on CPUs consecutive ones. */
typedef struct { uint first, end, step; } blocks_t;
INLINE blocks_t blocks_of(ulong n, uint block_size, uint member, uint members) {
  uint all = (uint)((n + block_size - 1ul) / block_size);
  blocks_t blocks;
#if DEV_IS_CPU
  blocks.first = (uint)((ulong)all * member / members);
  blocks.end = (uint)((ulong)all * (member + 1u) / members);
  blocks.step = 1u;
#else
  blocks.first = member;
  blocks.end = all;
  blocks.step = members;
#endif
  return blocks;
}
#endif
