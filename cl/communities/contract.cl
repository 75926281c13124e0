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
 *   write_giants    the same for groups of very many entries
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
#include "communities/members.h"
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

#ifndef GIANT                    /* On GPUs all work-groups share a group of more entries. */
#define GIANT 4096u
#endif
#define GROUP_LISTS_PARAMETERS __global int *long_groups, volatile __global uint *n_long_groups, __global int *giants

#define FOR_EACH_LONG_GROUP(g, place)                                                                 \
  const long_rows_t long_ = {long_groups, n_long_groups, 0};                                          \
  FOR_EACH_LONG_ROW_OF(long_, i_, g, place)

/* n_long_groups: the lengths of both lists. */
KERNEL list_groups(uint n_groups, __global const int *slot_begins, GROUP_LISTS_PARAMETERS) {
  FOR_EACH_OF_LANE(g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (n_entries > GIANT) giants[fetch_add(n_long_groups + 1, 1u)] = (int)g;
    else if (n_entries > LONG_ROW) long_groups[fetch_add(n_long_groups, 1u)] = (int)g;
  }
}

#define INSERT_PARAMETERS                                                                             \
  LEVEL_PARAMETERS, SLOTS_PARAMETERS, uint n_groups, __global const int *groups, __global const int *member_begins, \
      __global const int *members, __global const int *slot_begins, volatile __global int *counts
KERNEL insert_members(INSERT_PARAMETERS, GROUP_LISTS_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  const level_t level = LEVEL;
  const slots_t slots = SLOTS;
  const members_t all = {groups, member_begins, members, slot_begins};
  const place_t place = ALL_GROUPS;
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (g < n_groups && n_entries <= LANE_ROW) counts[g] = insert_alone(&level, &all, g, &slots);
    if (n_entries > GIANT) counts[g] = 0;
    FOR_EACH_MIDDLE_ROW(h, g, n_entries) insert_together(0, &level, &all, h, &slots, counts, &scratch);
  }
  FOR_EACH_LONG_GROUP(g, place) insert_together(1, &level, &all, g, &slots, counts, &scratch);
}

#if DIVIDES_ROWS
KERNEL insert_giants(INSERT_PARAMETERS, LONG_ROWS_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  const level_t level = LEVEL;
  const slots_t slots = SLOTS;
  const members_t all = {groups, member_begins, members, slot_begins};
  const place_t place = ALL_GROUPS;
  FOR_EACH_AT(place, v, n) {
    const int is_of_giant = v < n && n_entries_of(slot_begins, (uint)groups[v]) > GIANT;
    const uint degree = is_of_giant ? degree_of(&level, v) : 0u;
    if (degree && degree <= LANE_ROW) insert_short_row(&level, v, groups[v], &all, &slots, counts);
    FOR_EACH_MIDDLE_ROW(w, v, degree) insert_row(0, &level, w, groups[w], &all, &slots, counts, &scratch);
  }
  FOR_EACH_LONG_ROW(v, place) {
    if (n_entries_of(slot_begins, (uint)groups[v]) > GIANT)
      insert_row(1, &level, v, groups[v], &all, &slots, counts, &scratch);
  }
}
#endif

#define WRITE_PARAMETERS                                                                              \
  uint n_groups, SLOTS_PARAMETERS, GROUP_LISTS_PARAMETERS, __global const int *slot_begins,           \
      __global const int *next_offsets, __global int *next_columns, __global long *next_weights
KERNEL write_rows(WRITE_PARAMETERS) {
  LOCAL_ARRAY scratch_t scratch;
  const slots_t slots = SLOTS;
  const next_rows_t next = {next_offsets, next_columns, next_weights};
  const place_t place = ALL_GROUPS;
  FOR_EACH_AT(place, g, n_groups) {
    const uint n_entries = g < n_groups ? n_entries_of(slot_begins, g) : 0u;
    if (n_entries && n_entries <= LANE_ROW) write_row(0, g, 0u, 1u, slot_begins, &slots, &next, &scratch);
    FOR_EACH_MIDDLE_ROW(h, g, n_entries) write_row(0, h, sg_lane(), SUB_GROUP_SIZE, slot_begins, &slots, &next, &scratch);
  }
  FOR_EACH_LONG_GROUP(g, place) write_row(1, g, (uint)get_local_id(0), WG_SIZE, slot_begins, &slots, &next, &scratch);
}

#if DIVIDES_ROWS
/* All work-groups write the row of a group together.  counts: the lengths of the rows, which are counted down. */
KERNEL write_giants(WRITE_PARAMETERS, volatile __global int *counts) {
  const uint n_giants = n_long_groups[1];
  for (uint i = 0u; i < n_giants; i++) {
    const int g = giants[i], end = slot_begins[g + 1];
    for (int k = slot_begins[g] + (int)(get_group_id(0) * WG_SIZE); k < end; k += (int)get_global_size(0)) {
      const int own = k + (int)get_local_id(0), key = own < end ? keys[own] : NOBODY;
      const lane_mask_t full = sg_ballot(key != NOBODY);
      int to = 0;
      if (full && sg_lane() == 0) to = next_offsets[g] + fetch_add(counts + g, -(int)lane_count(full));
      to = sg_broadcast(to, 0u);
      if (key == NOBODY) continue;
      const int at = to - 1 - (int)lane_count(full & lanes_below_mask());
      next_columns[at] = key;
      next_weights[at] = weights[own];
      keys[own] = NOBODY;
      weights[own] = 0l;
    }
  }
}
#endif

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
