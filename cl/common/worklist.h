/* Appending to a list in global memory with one atomic per sub-group or per work-group. */
#ifndef CLGRAPH_WORKLIST_H
#define CLGRAPH_WORKLIST_H
#include "common/atomics.h"
#include "common/subgroup.h"

/* Every lane calls; lanes with *wanted* get consecutive slots.  One atomic per sub-group. */
INLINE uint push_sub_group(volatile __global uint *size, int wanted) {
  lane_mask_t m = sg_ballot(wanted);
  uint base = 0u, leader = m ? lowest_lane(m) : 0u;
  if (m && sg_lane() == leader) base = fetch_add(size, lane_count(m));
  return sg_broadcast(base, leader) + lane_count(m & lanes_below_mask());
}

/* Every work-item of the group calls.  room: two words of local memory, which the next call may use at once, and other code
 * after a barrier.  One atomic per work-group. */
INLINE uint push_group(volatile __global uint *size, int wanted, __local uint *room) {
  if (get_local_id(0) == 0) room[0] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  lane_mask_t m = sg_ballot(wanted);
  uint slot = 0u, leader = m ? lowest_lane(m) : 0u;
  if (m && sg_lane() == leader) slot = fetch_add(&room[0], lane_count(m));
  slot = sg_broadcast(slot, leader) + lane_count(m & lanes_below_mask());
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) room[1] = room[0] ? fetch_add(size, room[0]) : 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  return room[1] + slot;         /* the next call writes room[1] only after barriers of its own */
}
#endif
