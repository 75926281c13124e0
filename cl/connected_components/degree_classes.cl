/* One union-find per degree class: short rows by work-items, medium rows by sub-groups, long rows by
 * work-groups.  The first kernel takes the short rows and lists the others, medium ones from the front and
 * long ones from the back of one array.
 *
 * After J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for GPUs",
 * HPDC 2018.  Each edge is linked once, from its larger end.
 *
 * size[0], size[1]: medium and long rows listed, zero before link_short.
 */
#include "connected_components/edges.h"
#include "common/worklist.h"

#ifndef SHORT_ROW                /* entries: rows up to SHORT_ROW are short, longer rows up to MEDIUM_ROW medium */
#define SHORT_ROW 16
#endif
#ifndef MEDIUM_ROW
#define MEDIUM_ROW 352
#endif

KERNEL link_short(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  volatile __global int *parent, __global int *restrict rows, volatile __global uint *size) {
  int v = get_global_id(0);
  offset_t begin = v < n ? row_offsets[v] + FIRST_IS_LINKED : 0, end = v < n ? row_offsets[v + 1] : 0, length = end - begin;
  uint medium = push_sub_group(size, length > SHORT_ROW && length <= MEDIUM_ROW);
  uint top = push_sub_group(size + 1, length > MEDIUM_ROW);
  if (length > MEDIUM_ROW) rows[n - 1 - (int)top] = v;
  else if (length > SHORT_ROW) rows[medium] = v;
  else if (length > 0) link_entries(v, load_stale(parent + v), begin, end, 1, SYMMETRIC, column_indices, parent);
}

KERNEL link_medium(__global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                   __global const int *restrict rows, __global const uint *restrict size, volatile __global int *parent) {
  int n_workers = (int)(get_num_groups(0) * SUB_GROUPS_PER_GROUP);
  for (int i = (int)(get_group_id(0) * SUB_GROUPS_PER_GROUP + sg_in_group()); i < (int)size[0]; i += n_workers) {
    int v = rows[i];
    link_entries(v, load_stale(parent + v), row_offsets[v] + FIRST_IS_LINKED + sg_lane(), row_offsets[v + 1],
                 SUB_GROUP_SIZE, SYMMETRIC, column_indices, parent);
  }
}

KERNEL link_long(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                 __global const int *restrict rows, __global const uint *restrict size, volatile __global int *parent) {
  for (int i = (int)get_group_id(0); i < (int)size[1]; i += (int)get_num_groups(0)) {
    int v = rows[n - 1 - i];
    link_entries(v, load_stale(parent + v), row_offsets[v] + FIRST_IS_LINKED + (offset_t)get_local_id(0), row_offsets[v + 1],
                 WG_SIZE, SYMMETRIC, column_indices, parent);
  }
}
