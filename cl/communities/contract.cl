/* Contraction: each group of vertices becomes a vertex of the next level.
 *
 *   mark_used       a lane a vertex: marks its label as used
 *   renumber        a lane a vertex: writes the number of its label among the used labels
 *   count_members   a lane a vertex: counts itself and its entries for its group
 *   place_members   a lane a vertex: writes itself into the list of its group
 *   list_groups     a lane a group: lists it if it has many entries
 *   insert_members  adds up the entries of the members of a group by the group of the neighbour, in a table
 *   insert_giants   the same for groups of very many entries: adds the entries of each vertex to the table of its group
 *   write_rows      writes the row of a group from its table
 *   write_giants    the same for groups of very many entries: a work-group a group, or all work-groups
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
#include "communities/contraction.h"
#include "connected_components/union_find.h"

KERNEL mark_used(uint n, __global const int *labels, volatile __global int *used) {
  const place_t place = ALL_GROUPS;
  mark_all(n, labels, used, place);
}
KERNEL renumber(uint n, __global const int *labels, __global const int *numbers, __global int *groups) {
  const place_t place = ALL_GROUPS;
  renumber_all(n, labels, numbers, groups, place);
}
KERNEL count_members(uint n, __global const int *row_offsets, __global const int *groups, volatile __global int *members_of,
                     volatile __global int *entries_of) {
  const place_t place = ALL_GROUPS;
  count_all(n, row_offsets, groups, members_of, entries_of, place);
}
KERNEL place_members(uint n, __global const int *groups, __global const int *member_begins,
                     volatile __global int *members_of, __global int *members) {
  const place_t place = ALL_GROUPS;
  place_all(n, groups, member_begins, members_of, members, place);
}
/* n_long_groups: the lengths of both lists. */
KERNEL list_groups(uint n_groups, __global const int *slot_begins, GROUP_LISTS_PARAMETERS) {
  const group_lists_t lists = GROUP_LISTS;
  const place_t place = ALL_GROUPS;
  list_all_groups(n_groups, slot_begins, &lists, place);
}

#define INSERT_PARAMETERS                                                                             \
  LEVEL_PARAMETERS, SLOTS_PARAMETERS, uint n_groups, __global const int *groups, __global const int *member_begins, \
      __global const int *members, __global const int *slot_begins, volatile __global int *counts
KERNEL insert_members(INSERT_PARAMETERS, GROUP_LISTS_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  const level_t level = LEVEL;
  const slots_t slots = SLOTS;
  const members_t all = {groups, member_begins, members, slot_begins};
  const group_lists_t lists = GROUP_LISTS;
  const place_t place = ALL_GROUPS;
  insert_all(&level, &all, n_groups, &slots, &lists, counts, place, &scratch);
}
#if DIVIDES_ROWS
KERNEL insert_giants(INSERT_PARAMETERS, LONG_ROWS_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  const level_t level = LEVEL;
  const slots_t slots = SLOTS;
  const members_t all = {groups, member_begins, members, slot_begins};
  const long_rows_t rows = LONG_ROWS;
  const place_t place = ALL_GROUPS;
  insert_all_giants(&level, &rows, &all, &slots, counts, place, &scratch);
}
#endif

#define WRITE_PARAMETERS                                                                              \
  uint n_groups, SLOTS_PARAMETERS, GROUP_LISTS_PARAMETERS, __global const int *slot_begins,           \
      __global const int *next_offsets, __global int *next_columns, __global long *next_weights
KERNEL write_rows(WRITE_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  const slots_t slots = SLOTS;
  const next_rows_t next = {next_offsets, next_columns, next_weights};
  const group_lists_t lists = GROUP_LISTS;
  const place_t place = ALL_GROUPS;
  write_all(n_groups, slot_begins, &slots, &lists, &next, place, &scratch);
}
#if DIVIDES_ROWS
KERNEL write_giants(WRITE_PARAMETERS, volatile __global int *counts) {
  const slots_t slots = SLOTS;
  const next_rows_t next = {next_offsets, next_columns, next_weights};
  const group_lists_t lists = GROUP_LISTS;
  const place_t place = ALL_GROUPS;
  write_all_giants(slot_begins, &slots, &lists, &next, counts, place);
}
#endif

KERNEL carry_strengths(uint n, __global const int *used, __global const int *numbers, __global const long *out_group_sums,
                       __global const long *in_group_sums, __global long *next_out_strengths,
                       __global long *next_in_strengths) {
  const place_t place = ALL_GROUPS;
  carry_all_strengths(n, used, numbers, out_group_sums, in_group_sums, next_out_strengths, next_in_strengths, place);
}
KERNEL carry_labels(uint n, __global const int *groups, __global const int *labels, volatile __global int *next_labels) {
  const place_t place = ALL_GROUPS;
  carry_all_labels(n, groups, labels, next_labels, place);
}
KERNEL project(uint n, __global const int *groups, __global const int *next_labels, __global int *labels) {
  const place_t place = ALL_GROUPS;
  project_all(n, groups, next_labels, labels, place);
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
