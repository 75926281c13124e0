/* A net is a set of vertices that must all differ in colour.  In a graph at distance 2, net v is the closed row of v: v and
 * its neighbours (CLOSED 1).  The nets of a vertex are the nets of all members of its closed row.  In a matrix, net r is
 * the set of columns with an entry in row r, and the nets of a column are the rows in which it has an entry.
 *
 * A team of lanes takes a vertex: TEAM lanes of a sub-group, or a work-group (GROUP_TEAM 1).  A place is a position in
 * the vertex's row.  Rows are sorted, so a repeat equals the entry before it.  A closed row has one place more, for the
 * vertex itself.  All lanes of a sub-group go through every loop together; lanes with nothing left have no places.
 * team_or(x, room) returns the bits that any lane of the team has, team_greatest(x, room) the greatest x.  TEAM_ROOM
 * declares the room for them at the head of a kernel.
 */
#ifndef CLGRAPH_NETS_H
#define CLGRAPH_NETS_H
#include "common/subgroup.h"
#include "common/worklist.h"

#ifndef CLOSED
#define CLOSED 1
#endif
#ifndef GROUP_TEAM
#define GROUP_TEAM 0
#endif
#ifndef TEAM                     /* lanes of a team: a power of two, at most the sub-group size */
#define TEAM 1
#endif
#ifndef BATCH                    /* places that a lane reads before its team exchanges results */
#define BATCH 4
#endif

INLINE uint sg_or(uint x, uint width) {
  for (uint m = width / 2; m; m >>= 1) x |= sg_xor(x, m);
  return x;
}

INLINE uint sg_greatest_of(uint x, uint width) {
  for (uint m = width / 2; m; m >>= 1) x = max(x, sg_xor(x, m));
  return x;
}

#if GROUP_TEAM
#define LANES WG_SIZE
#define team_lane() ((uint)get_local_id(0))
#define looping(p) ((p) != 0)
#define TEAM_ROOM(name) LOCAL_ARRAY uint name[1]
INLINE uint team_or(uint x, __local uint *room) {
  x = sg_or(x, SUB_GROUP_SIZE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) room[0] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (sg_lane() == 0u && x) fetch_or(room, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  return room[0];
}
INLINE uint team_greatest(uint x, __local uint *room) {
  x = sg_greatest_of(x, SUB_GROUP_SIZE);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) room[0] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (sg_lane() == 0u) fetch_max(room, x);
  barrier(CLK_LOCAL_MEM_FENCE);
  return room[0];
}
#else
#define LANES TEAM
#define team_lane() (sg_lane() & (TEAM - 1u))
#define looping(p) (TEAM == 1 ? (p) != 0 : sg_any(p))
#define TEAM_ROOM(name) __local uint *const name = 0
INLINE uint team_or(uint x, __local uint *room) {
  (void)room;
  return TEAM == 1 ? x : sg_or(x, TEAM);
}
INLINE uint team_greatest(uint x, __local uint *room) {
  (void)room;
  return TEAM == 1 ? x : sg_greatest_of(x, TEAM);
}
#endif
#define TEAMS_PER_GROUP (WG_SIZE / LANES)
#define team_number() ((uint)get_group_id(0) * TEAMS_PER_GROUP + (uint)get_local_id(0) / LANES)
#define team_total() ((uint)get_num_groups(0) * TEAMS_PER_GROUP)

/* Returns the net at a place of v's row; -1 after the last place, for a repeat, and for an entry v, since v itself is at
 * the last place. */
INLINE int net_at(int v, offset_t begin, uint place, uint places, __global const int *restrict nets_of) {
  if (place >= places) return -1;
#if CLOSED
  if (place + 1u == places) return v;
#endif
  int net = nets_of[begin + place];
  int repeated = place && nets_of[begin + place - 1] == net;
#if CLOSED
  repeated |= net == v;
#endif
  return repeated ? -1 : net;
}

/* Writes the nets at BATCH places, LANES apart.  On GPUs without branches, so that all loads are in flight together. */
INLINE void nets_at(int v, offset_t begin, uint place, uint places, __global const int *restrict nets_of, int *nets) {
#if DEV_IS_CPU
  for (uint j = 0u; j < BATCH; j++) nets[j] = net_at(v, begin, place + j * LANES, places, nets_of);
#else
  const uint last = max(places, CLOSED + 1u) - CLOSED - 1u;
  int before[BATCH];
  if (places <= CLOSED) begin = 0;
  #pragma unroll
  for (uint j = 0u; j < BATCH; j++) {
    const uint at = place + j * LANES;
    nets[j] = nets_of[begin + (offset_t)min(at, last)];
    before[j] = nets_of[begin + (offset_t)min(max(at, 1u) - 1u, last)];
  }
  #pragma unroll
  for (uint j = 0u; j < BATCH; j++) {
    const uint at = place + j * LANES;
    const int is_none = (at + CLOSED >= places) | ((at > 0u) & (nets[j] == before[j])) | (CLOSED & (nets[j] == v));
    nets[j] = (CLOSED & (at + 1u == places)) ? v : is_none ? -1 : nets[j];
  }
#endif
}
#endif
