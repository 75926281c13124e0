/* Contraction: each group of vertices becomes a vertex of the next level.
 *
 *   mark_used       a lane a vertex: marks its label as used
 *   renumber        a lane a vertex: writes the number of its label among the used labels
 *   count_members   a lane a vertex: counts itself and its entries for its group
 *   place_members   a lane a vertex: writes itself into the list of its group
 *   insert_members  a team a group: adds up the entries of its members by the group of the neighbour, in a table
 *   write_rows      a sub-group a group: writes its row from its table
 *   carry_strengths a lane a label: writes the strengths of its group
 *   carry_labels    a lane a vertex: writes the community of its group
 *   project         a lane a vertex: takes the label of its group
 *   link_inside     a sub-group a vertex: unites it with its neighbours of the same community
 *   flatten         a lane a vertex: writes the root of its tree
 *
 * A table has a slot for each entry of its group's members, so it is never full.
 *
 * Races: lanes of a sub-group share a table, see row_table.h.  The order of members in a group, and of entries in a row,
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

#if GROUP_TEAM                   /* Each sub-group of a team takes members of its own, ... */
#define FIRST_MEMBER sg_in_group()
#define MEMBERS_AT_ONCE SUB_GROUPS_PER_GROUP
#define ROW_LANE sg_lane()
#define ROW_LANES SUB_GROUP_SIZE
#else                            /* ... else the team takes one member after the other. */
#define FIRST_MEMBER 0u
#define MEMBERS_AT_ONCE 1
#define ROW_LANE TEAM_LANE
#define ROW_LANES TEAM
#endif
KERNEL insert_members(LEVEL_PARAMETERS, LONG_ROWS_PARAMETERS, uint n_groups, __global const int *groups,
                      __global const int *member_begins, __global const int *members, __global const int *slot_begins,
                      volatile __global int *keys, volatile __global long *weights, __global int *counts) {
  TEAM_SCRATCH
  FOR_EACH_OF_TEAM(g, n_groups, slot_begins) {
    const int begin = slot_begins[g];
    const uint room = (uint)(slot_begins[g + 1u] - begin);
    for (uint k = TEAM_LANE; k < room; k += TEAM) {
      keys[begin + (int)k] = NOBODY;
      weights[begin + (int)k] = 0l;
    }
    team_sync();
    int count = 0;
    for (int at = member_begins[g] + (int)FIRST_MEMBER; at < member_begins[g + 1u]; at += MEMBERS_AT_ONCE) {
      const int v = members[at];
      for (int e = row_offsets[v] + (int)ROW_LANE; e < row_offsets[v + 1]; e += ROW_LANES) {
        const int key = groups[column_indices[e]];
        if (key != (int)g)
          count += insert(keys + begin, weights + begin, room, key, weight_of(is_unit, entry_weights, e));
      }
    }
    count = (int)team_sum(count);
    if (TEAM_LANE == 0) counts[g] = count;
  }
}

KERNEL write_rows(uint n_groups, __global const int *slot_begins, __global const int *keys, __global const long *weights,
                  __global const int *next_offsets, __global int *next_columns, __global long *next_weights) {
  FOR_EACH_OF_SUB_GROUP(g, n_groups) {
    const int begin = slot_begins[g], end = slot_begins[g + 1u];
    int to = next_offsets[g];
    for (int k = begin; k < end; k += SUB_GROUP_SIZE) {
      const int own = k + (int)sg_lane(), key = own < end ? keys[own] : NOBODY;
      const lane_mask_t full = sg_ballot(key != NOBODY);
      if (key != NOBODY) {
        const int at = to + (int)lane_count(full & lanes_below_mask());
        next_columns[at] = key;
        next_weights[at] = weights[own];
      }
      to += (int)lane_count(full);
    }
  }
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

KERNEL link_inside(LEVEL_PARAMETERS, __global const int *labels, volatile __global int *parent) {
  FOR_EACH_OF_SUB_GROUP(v, n) {
    for (int e = row_offsets[v] + (int)sg_lane(); e < row_offsets[v + 1u]; e += SUB_GROUP_SIZE) {
      const int u = column_indices[e];
      if (u < (int)v && labels[u] == labels[v]) link(parent, (int)v, u);
    }
  }
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
