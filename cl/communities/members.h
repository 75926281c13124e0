/* Adding up the entries of groups of vertices, and writing the rows of the next level; contract.cl has the kernels. */
#ifndef CLGRAPH_COMMUNITIES_MEMBERS_H
#define CLGRAPH_COMMUNITIES_MEMBERS_H
#include "communities/tables.h"

/* Groups of vertices, their members, and the slots of each group. */
typedef struct { __global const int *of, *begins, *members, *slot_begins; } members_t;
INLINE uint n_entries_of(__global const int *slot_begins, uint g) { return (uint)(slot_begins[g + 1u] - slot_begins[g]); }

/* A lane adds up the entries of a group.  Returns the length of its row. */
INLINE int insert_alone(const level_t *level, const members_t *groups, uint g, const slots_t *slots) {
  short_row_t row;
  uint size = 0u;
#pragma unroll
  for (uint i = 0u; i < LANE_ROW; i++) {
    row.groups[i] = NOBODY;
    row.weights[i] = 0l;
  }
  for (int at = groups->begins[g]; at < groups->begins[g + 1u]; at++)
    for (int v = groups->members[at], e = level->row_offsets[v]; e < level->row_offsets[v + 1]; e++, size++) {
      const int key = groups->of[level->columns[e]];
#pragma unroll
      for (uint i = 0u; i < LANE_ROW; i++)  /* A loop with a constant index keeps the row in registers. */
        if (i == size && key != (int)g) {
          row.groups[i] = key;
          row.weights[i] = weight_of(level, e);
        }
    }
  merge_groups(&row);
  int count = 0, to = groups->slot_begins[g];
#pragma unroll
  for (uint i = 0u; i < LANE_ROW; i++) {
    if (row.groups[i] == NOBODY) continue;
    slots->keys[to + count] = row.groups[i];
    slots->weights[to + count] = row.weights[i];
    count++;
  }
  return count;
}

/* Add the entries of v, a vertex of group g, to a table.  Returns how many new parts this lane has put into global memory. */
INLINE int add_entries(const level_t *level, uint v, uint lane, uint lanes, int g, const members_t *groups,
                       table_t *table) {
  int count = 0;
  FOR_EACH_FOUR(e, level->row_offsets[v] + (int)lane, level->row_offsets[v + 1u], (int)lanes) {
    int key[4];
    FOUR_TIMES(i) {
      const int at = FOURTH(e, i, (int)lanes);
      key[i] = at < end_ ? groups->of[level->columns[at]] : g;
    }
    FOUR_TIMES(i) {
      if (key[i] != g) count += add(table, key[i], weight_of(level, FOURTH(e, i, (int)lanes)));
    }
  }
  return count;
}
/* A team adds the entries of group g to a table.  A lane adds the row of a member if it is short, a sub-group if it is
 * longer, and a work-group if it is long.  Returns how many new parts this lane has put into global memory. */
INLINE long add_members(int by_group, const level_t *level, const members_t *groups, uint g, table_t *table) {
  const int begin = groups->begins[g], n_members = groups->begins[g + 1u] - begin;
  const int step = by_group ? SUB_GROUPS_PER_GROUP : 1, first = by_group ? (int)sg_in_group() : 0;
  long count = 0l;
  for (int i = 0; i < n_members; i += SUB_GROUP_SIZE * step) {
    const int own = i + first + (int)sg_lane() * step;
    const uint v = own < n_members ? (uint)groups->members[begin + own] : 0u;
    const uint degree = own < n_members ? degree_of(level, v) : 0u;
    if (degree && degree <= LANE_ROW) count += add_entries(level, v, 0u, 1u, (int)g, groups, table);
    FOR_EACH_MIDDLE_ROW(w, v, degree) count += add_entries(level, w, sg_lane(), SUB_GROUP_SIZE, (int)g, groups, table);
  }
#if DIVIDES_ROWS
  for (int i = 0; by_group && i < n_members; i += SUB_GROUP_SIZE) {
    const int own = i + (int)sg_lane();
    const uint v = own < n_members ? (uint)groups->members[begin + own] : 0u;
    for (lane_mask_t left = sg_ballot(own < n_members && degree_of(level, v) > LONG_ROW); left; left &= left - 1u) {
      const uint w = sg_broadcast(v, lowest_lane(left));
      count += add_entries(level, w, (uint)get_local_id(0), WG_SIZE, (int)g, groups, table);
    }
  }
#endif
  return count;
}
INLINE void insert_together(int by_group, const level_t *level, const members_t *groups, uint g, const slots_t *slots,
                            volatile __global int *counts, __local scratch_t *scratch) {
  const uint n_entries = n_entries_of(groups->slot_begins, g);
  table_t table = empty_table(by_group, n_entries, (size_t)groups->slot_begins[g], n_entries, slots, scratch);
  long count = add_members(by_group, level, groups, g, &table);
  meet(by_group);
  count += move_parts(by_group, 0, &table);
  count = sum_of_team(by_group, count, scratch);
  if (lane_of_team(by_group) == 0) counts[g] = (int)count;
  meet(by_group);
}
#if DIVIDES_ROWS
/* A lane adds the entries of vertex v to the table of group g. */
INLINE void insert_short_row(const level_t *level, uint v, int g, const members_t *groups, const slots_t *slots,
                             volatile __global int *counts) {
  const int begin = groups->slot_begins[g];
  const uint room = n_entries_of(groups->slot_begins, (uint)g);
  int count = 0;
  for (int e = level->row_offsets[v]; e < level->row_offsets[v + 1u]; e++) {
    const int key = groups->of[level->columns[e]];
    if (key != g) count += insert(slots->keys + begin, slots->weights + begin, room, key, weight_of(level, e));
  }
  if (count) fetch_add(counts + g, count);
}
/* A team adds the entries of vertex v to the table of group g, after it has added up those to the same group. */
INLINE void insert_row(int by_group, const level_t *level, uint v, int g, const members_t *groups, const slots_t *slots,
                       volatile __global int *counts, __local scratch_t *scratch) {
  table_t table = empty_table(by_group, degree_of(level, v), (size_t)groups->slot_begins[g],
                                    n_entries_of(groups->slot_begins, (uint)g), slots, scratch);
  long count = add_entries(level, v, lane_of_team(by_group), lanes_of_team(by_group), g, groups, &table);
  meet(by_group);
  count = sg_sum(count + move_parts(by_group, 1, &table));
  if (sg_lane() == 0 && count) fetch_add(counts + g, (int)count);
  meet(by_group);
}
#endif

/* The rows of the next level. */
typedef struct { __global const int *offsets; __global int *columns; __global long *weights; } next_rows_t;
/* A team, or with lanes 1 a lane, writes the row of group g, and empties its slots. */
INLINE void write_row(int by_group, uint g, uint lane, uint lanes, __global const int *slot_begins, const slots_t *slots,
                      const next_rows_t *next, __local scratch_t *scratch) {
  const int begin = slot_begins[g], end = slot_begins[g + 1u];
  int to = next->offsets[g];
#if DIVIDES_ROWS
  if (by_group && lane == 0) scratch->counters[0] = 0u;
  if (by_group) meet(1);
#endif
  for (int k = begin; k < end; k += (int)lanes) {
    const int own = k + (int)lane, key = own < end ? slots->keys[own] : NOBODY;
    int at = to;
    if (lanes == 1u) {
      to += key != NOBODY;
#if DIVIDES_ROWS
    } else if (by_group) {
      if (key != NOBODY) at = to + (int)fetch_add(scratch->counters, 1u);
#endif
    } else {
      const lane_mask_t full = sg_ballot(key != NOBODY);
      at = to + (int)lane_count(full & lanes_below_mask());
      to += (int)lane_count(full);
    }
    if (key == NOBODY) continue;
    next->columns[at] = key;
    next->weights[at] = slots->weights[own];
    slots->keys[own] = NOBODY;
    slots->weights[own] = 0l;
  }
  if (by_group) meet(1);
}
#endif
