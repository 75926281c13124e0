/* The entries of a row, added up by the group of the neighbour, in a table of the row. */
#ifndef CLGRAPH_COMMUNITIES_ROWS_H
#define CLGRAPH_COMMUNITIES_ROWS_H
#define TABLE_WEIGHT_T long
#include "communities/level.h"
#include "common/row_table.h"

typedef struct { volatile __global int *keys; volatile __global long *weights; uint room; } table_t;

/* Returns the empty table of row v.  On CPUs a sub-group uses the same slots for all its rows, and has twice as many as
 * its longest row has entries; on GPUs each row has a slot for each entry. */
INLINE table_t empty_table(__global const int *row_offsets, uint v, uint row_room, volatile __global int *keys,
                           volatile __global long *weights) {
  table_t table;
  const uint degree = (uint)(row_offsets[v + 1u] - row_offsets[v]);
#if DEV_IS_CPU
  const size_t at = (size_t)team_number() * row_room;
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
