/* The entries of a row, added up by the group of the neighbour: in a table of the row, or in the registers of a sub-group.
 */
#ifndef CLGRAPH_COMMUNITIES_ROWS_H
#define CLGRAPH_COMMUNITIES_ROWS_H
#include "communities/level.h"

#ifndef IN_REGISTERS             /* 1: a sub-group keeps a row of at most one entry a lane in registers */
#define IN_REGISTERS (TEAM > 1 && !GROUP_TEAM)
#endif
/* A group of neighbours, and the weight of the entries to it. */
typedef struct { int group; long weight; } part_t;

/* Returns the part of this lane's group if the lane is the first of its group, else one without a group.  Each lane has an
 * entry; lanes without one pass NOBODY. */
INLINE part_t part_of_lane(int group, long weight, uint n_entries) {
  part_t part = {group, 0l};
  for (uint k = 0; k < n_entries; k++) {
    const int other = sg_broadcast(group, k);
    const long its_weight = sg_broadcast(weight, k);
    if (other != group) continue;
    part.weight += its_weight;
    if (k < sg_lane()) part.group = NOBODY;
  }
  return part;
}

typedef struct { volatile __global int *keys; volatile __global long *weights; uint room; } table_t;

/* Returns the empty table of row v.  On CPUs a team uses the same slots for all its rows, and has twice as many as the
 * longest row has entries; on GPUs each row has a slot for each entry. */
INLINE table_t empty_table(__global const int *row_offsets, uint v, uint row_room, volatile __global int *keys,
                           volatile __global long *weights) {
  table_t table;
  const uint degree = (uint)(row_offsets[v + 1u] - row_offsets[v]);
#if DEV_IS_CPU
  const size_t at = (size_t)(GROUP_TEAM ? get_group_id(0) : sub_group_number()) * row_room;
  table.room = min(row_room, 2u * degree);
#else
  const size_t at = (size_t)row_offsets[v];
  table.room = degree;
#endif
  table.keys = keys + at;
  table.weights = weights + at;
  for (uint k = TEAM_LANE; k < table.room; k += TEAM) {
    table.keys[k] = NOBODY;
    table.weights[k] = 0l;
  }
  team_sync();
  return table;
}
#endif
