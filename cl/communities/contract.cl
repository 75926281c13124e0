/* Contraction: each group of vertices becomes a vertex of the next level.
 *
 *   mark_used       a lane a vertex: marks its label as used
 *   renumber        a lane a vertex: writes the number of its label among the used labels
 *   count_members   a lane a vertex: counts itself and its entries for its group
 *   place_members   a lane a vertex: writes itself into the list of its group
 *   insert_members  adds up the entries of the members of a group by the group of the neighbour, in a table
 *   write_rows      writes the row of a group from its table
 *   carry_strengths a lane a label: writes the strengths of its group
 *   carry_labels    a lane a vertex: writes the community of its group
 *   project         a lane a vertex: takes the label of its group
 *   link_inside     unites each vertex with its neighbours of the same community
 *   flatten         a lane a vertex: writes the root of its tree
 *
 * A group has a slot in global memory for each entry of its members.  insert_members leaves its row in these slots, and
 * write_rows empties them.  Lanes, sub-groups and work-groups take groups by their numbers of entries; see rows.h.
 *
 * Races: lanes of a team share a table, see rows.h.  The order of members in a group, and of entries in a row,
 * depends on atomics, but no result depends on it.  All writers of a used mark, and all members that write the community
 * of their group, write the same value.  For link_inside see union_find.h.
 */
#include "communities/rows.h"
#include "connected_components/union_find.h"

KERNEL mark_used(uint n, __global const int *labels, volatile __global int *used) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n) store_relaxed(used + labels[v], 1);
  }
}

KERNEL renumber(uint n, __global const int *labels, __global const int *numbers, __global int *groups) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n) groups[v] = numbers[labels[v]];
  }
}

KERNEL count_members(uint n, __global const int *row_offsets, __global const int *groups, volatile __global int *members_of,
                     volatile __global int *entries_of) {
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n) continue;
    fetch_add(members_of + groups[v], 1);
    fetch_add(entries_of + groups[v], row_offsets[v + 1u] - row_offsets[v]);
  }
}

KERNEL place_members(uint n, __global const int *groups, __global const int *member_begins,
                     volatile __global int *members_of, __global int *members) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n) members[member_begins[groups[v]] + fetch_add(members_of + groups[v], -1) - 1] = (int)v;
  }
}

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

/* Move the parts of a table from local memory to global memory.  Returns how many new ones this lane has put there. */
INLINE int move_parts(int by_group, const table_t *table) {
  int count = 0;
#if DIVIDES_ROWS
  const int has_more = *table->counter != 0u;
  meet(by_group);                /* From here on the counter counts parts that are written one after the other. */
  for (uint k = lane_of_team(by_group); k < table->local_room; k += lanes_of_team(by_group)) {
    const part_t part = take(table, k);
    if (part.group == NOBODY) continue;
    count++;
    if (has_more) {
      insert(table->more_keys, table->more_weights, table->more_room, part.group, part.weight);
    } else {
      const uint to = fetch_add(table->counter, 1u);
      table->more_keys[to] = part.group;
      table->more_weights[to] = part.weight;
    }
  }
#endif
  return count;
}
INLINE void insert_together(int by_group, const level_t *level, const members_t *groups, uint g, const slots_t *slots,
                            __global int *counts, __local scratch_t *scratch) {
  const uint n_entries = n_entries_of(groups->slot_begins, g);
  const table_t table = empty_table(by_group, n_entries, (size_t)groups->slot_begins[g], n_entries, slots, scratch);
  long count = 0l;
  const int first = by_group ? (int)sg_in_group() : 0, step = by_group ? SUB_GROUPS_PER_GROUP : 1;
  for (int at = groups->begins[g] + first; at < groups->begins[g + 1u]; at += step) {
    const int v = groups->members[at];
    for (int e = level->row_offsets[v] + (int)sg_lane(); e < level->row_offsets[v + 1]; e += SUB_GROUP_SIZE) {
      const int key = groups->of[level->columns[e]];
      if (key != (int)g) count += add(&table, key, weight_of(level, e));
    }
  }
  meet(by_group);
  count += move_parts(by_group, &table);
  count = sum_of_team(by_group, count, scratch);
  if (lane_of_team(by_group) == 0) counts[g] = (int)count;
  meet(by_group);
}
KERNEL insert_members(LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, SLOTS_PARAMETERS, uint n_groups, __global const int *groups,
                      __global const int *member_begins, __global const int *members, __global const int *slot_begins,
                      __global int *counts) {
  LOCAL_ARRAY scratch_t scratch;
  const level_t level = LEVEL;
  const slots_t slots = SLOTS;
  const members_t all = {groups, member_begins, members, slot_begins};
  const place_t place = ALL_GROUPS;
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (g < n_groups && n_entries <= LANE_ROW) counts[g] = insert_alone(&level, &all, g, &slots);
    FOR_EACH_MIDDLE_ROW(h, g, n_entries) insert_together(0, &level, &all, h, &slots, counts, &scratch);
  }
  FOR_EACH_LONG_ROW(g, place) insert_together(1, &level, &all, g, &slots, counts, &scratch);
}

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
KERNEL write_rows(uint n_groups, LONG_ROWS_PARAMETERS, SLOTS_PARAMETERS, __global const int *slot_begins,
                  __global const int *next_offsets, __global int *next_columns, __global long *next_weights) {
  LOCAL_ARRAY scratch_t scratch;
  const slots_t slots = SLOTS;
  const next_rows_t next = {next_offsets, next_columns, next_weights};
  const place_t place = ALL_GROUPS;
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (n_entries && n_entries <= LANE_ROW) write_row(0, g, 0u, 1u, slot_begins, &slots, &next, &scratch);
    FOR_EACH_MIDDLE_ROW(h, g, n_entries) write_row(0, h, sg_lane(), SUB_GROUP_SIZE, slot_begins, &slots, &next, &scratch);
  }
  FOR_EACH_LONG_ROW(g, place) write_row(1, g, (uint)get_local_id(0), WG_SIZE, slot_begins, &slots, &next, &scratch);
}

KERNEL carry_strengths(uint n, __global const int *used, __global const int *numbers, __global const long *out_group_sums,
                       __global const long *in_group_sums, __global long *next_out_strengths,
                       __global long *next_in_strengths) {
  FOR_EACH_OF_LANE(c, n) {
    if (c >= n || !used[c]) continue;
    next_out_strengths[numbers[c]] = out_group_sums[c];
    if (DIRECTED) next_in_strengths[numbers[c]] = in_group_sums[c];
  }
}

KERNEL carry_labels(uint n, __global const int *groups, __global const int *labels, volatile __global int *next_labels) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n) store_relaxed(next_labels + groups[v], labels[v]);
  }
}

KERNEL project(uint n, __global const int *groups, __global const int *next_labels, __global int *labels) {
  FOR_EACH_OF_LANE(v, n) {
    if (v < n) labels[v] = next_labels[groups[v]];
  }
}

/* Lanes unite v with its neighbours of lesser numbers in the same community. */
INLINE void link_row(const level_t *level, uint v, uint lane, uint lanes, __global const int *labels,
                     volatile __global int *parent) {
  for (int e = level->row_offsets[v] + (int)lane; e < level->row_offsets[v + 1u]; e += (int)lanes) {
    const int u = level->columns[e];
    if (u < (int)v && labels[u] == labels[v]) link(parent, (int)v, u);
  }
}
KERNEL link_inside(LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, __global const int *labels, volatile __global int *parent) {
  const level_t level = LEVEL;
  const place_t place = ALL_GROUPS;
  FOR_EACH_AT(place, v, n) {
    const uint degree = v < n ? degree_of(&level, v) : 0u;
    if (degree && degree <= LANE_ROW) link_row(&level, v, 0u, 1u, labels, parent);
    FOR_EACH_MIDDLE_ROW(w, v, degree) link_row(&level, w, sg_lane(), SUB_GROUP_SIZE, labels, parent);
  }
  FOR_EACH_LONG_ROW(v, place) link_row(&level, v, (uint)get_local_id(0), WG_SIZE, labels, parent);
}

/* This does not halve paths: a halving could overwrite the root that another lane has written by a vertex below it. */
KERNEL flatten(uint n, volatile __global int *parent) {
  FOR_EACH_OF_LANE(v, n) {
    if (v >= n) continue;
    int root = load_stale(parent + v), above;
    while ((above = load_stale(parent + root)) != root) root = above;
    store_relaxed(parent + v, root);
  }
}
