/* Lists the live edges, whose ends may be in one component that is not known yet.
 *
 * A work-group takes blocks of rows, a work-item the short rows among its ROWS consecutive ones, so the list has the order of
 * the rows, but for the order of sub-groups; longer rows are shared as in search.cl.
 * Vertices with both marks of the search are in one component.  If the search has marked all that it reaches, an edge between
 * different classes joins different components, and is dropped.  If the search was cut off, all vertices with both marks are
 * replaced by the pivot, which joins them to one vertex.  Edges from a vertex to itself are dropped.
 *
 * Race: work-groups take slots of the list by atomic additions, and write to their own slots.
 */
#include "strongly_connected_components/edges.h"

#ifndef ROWS                     /* rows of a block, for each work-item */
#if DEV_IS_CPU
#define ROWS 128
#else
#define ROWS 4
#endif
#endif

typedef struct {
  int pivot, whole;
  __global const int *columns;
  __global const uint *forward, *backward;
} graph_t;

/* Returns whether entry (u, v) is a live edge, and its ends in *edge.  marks: of u */
INLINE int is_live(int u, uint marks, int v, graph_t in, int2 *edge) {
  *edge = (int2)(u, v);
#if SEARCHED
  uint other = marks_of(v, in.forward, in.backward);
  if (in.whole) return u != v && marks == other;
  if (marks == CENTRAL) edge->x = in.pivot;
  if (other == CENTRAL) edge->y = in.pivot;
  return edge->x != edge->y;
#else
  return u != v;
#endif
}

/* Write the live edges of a row from `slot` on if there is a list.  Returns their number. */
INLINE uint list_row(int u, uint marks, offset_t begin, offset_t end, graph_t in, uint slot, __global int2 *edges,
                     uint *rising) {
  uint count = 0u;
  for (offset_t e = begin; e < end; e++) {
    int2 edge;
    if (!is_live(u, marks, in.columns[e], in, &edge)) continue;
    if (edges) edges[slot + count] = edge;
    *rising += edge.x < edge.y;
    count++;
  }
  return count;
}

/* Every lane calls with the same part of a row. */
INLINE void list_together(int u, uint marks, offset_t begin, offset_t end, graph_t in, volatile __global uint *size,
                          __global int2 *edges, uint *rising) {
  for (offset_t base = begin; base < end; base += 4 * SUB_GROUP_SIZE) {
    int2 found[4];
    uint count = 0u;
    for (int k = 0; k < 4; k++) {
      offset_t e = base + k * SUB_GROUP_SIZE + sg_lane();
      int2 edge;
      if (e < end && is_live(u, marks, in.columns[e], in, &edge)) {
        if (count == 0u) found[0] = edge;
        else if (count == 1u) found[1] = edge;
        else if (count == 2u) found[2] = edge;
        else found[3] = edge;
        *rising += edge.x < edge.y;
        count++;
      }
    }
    uint slot = take_slots(size, count);
    for (uint k = 0u; k < 4u; k++)
      if (k < count) edges[slot + k] = found[k];
  }
}

/* Rows of a block: v is the k-th of a work-item.  Returns its length and marks, or 0 if it has no live edges. */
INLINE offset_t row_of(int n, uint block, int k, int *v, uint *marks, offset_t *begin,
                       __global const offset_t *row_offsets, graph_t in) {
  long u = (long)block * (WG_SIZE * ROWS) + (long)get_local_id(0) * ROWS + (long)k;
  *v = 0;
  *begin = 0;
  *marks = 0u;
  if (u >= n) return 0;
  *v = (int)u;
  *marks = marks_of(*v, in.forward, in.backward);
  *begin = row_offsets[u];
  return in.whole && *marks == CENTRAL ? 0 : row_offsets[u + 1] - *begin;
}

KERNEL collect(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
               __global const int2 *restrict pieces, __global const uint *restrict forward,
               __global const uint *restrict backward, volatile __global uint *control, __global int2 *edges) {
  LOCAL_ARRAY uint room[2];
  const graph_t in = {(int)control[PIVOT], is_whole(control), column_indices, forward, backward};
  const blocks_t blocks = blocks_of((ulong)n, WG_SIZE * ROWS, get_group_id(0), get_num_groups(0));
  int u;
  uint marks, rising = 0u, again = 0u;
  offset_t begin;
  for (uint b = blocks.first; b < blocks.end; b += blocks.step) {
    uint count = 0u;
    for (int k = 0; k < ROWS; k++) {
      offset_t length = row_of(n, b, k, &u, &marks, &begin, row_offsets, in);
      if (!CUTS_ROWS || length <= SHORT_ROW) count += list_row(u, marks, begin, begin + length, in, 0u, 0, &rising);
    }
    uint slot = take_slots_of_group(control + N_EDGES, count, room);
    for (int k = 0; k < ROWS; k++) {
      offset_t length = row_of(n, b, k, &u, &marks, &begin, row_offsets, in);
      if (!CUTS_ROWS || length <= SHORT_ROW) slot += list_row(u, marks, begin, begin + length, in, slot, edges, &again);
#if CUTS_ROWS
      for (lane_mask_t waiting = sg_ballot(length > SHORT_ROW && length <= LONG_ROW); waiting; waiting &= waiting - 1) {
        uint owner = lowest_lane(waiting);
        offset_t first = sg_broadcast(begin, owner), last = first + sg_broadcast(length, owner);
        list_together(sg_broadcast(u, owner), sg_broadcast(marks, owner), first, last, in, control + N_EDGES, edges,
                      &rising);
      }
#endif
    }
  }
#if CUTS_ROWS
  const uint sub_groups = (uint)get_num_groups(0) * SUB_GROUPS_PER_GROUP, n_pieces = control[N_PIECES];
  for (uint i = sg_in_group() * (uint)get_num_groups(0) + (uint)get_group_id(0); i < n_pieces; i += sub_groups) {
    int2 piece = pieces[i];
    uint of_row = marks_of(piece.x, forward, backward);
    offset_t first = row_offsets[piece.x] + (offset_t)piece.y * LONG_ROW;
    offset_t last = min(row_offsets[piece.x + 1], first + LONG_ROW);
    if (!(in.whole && of_row == CENTRAL)) list_together(piece.x, of_row, first, last, in, control + N_EDGES, edges, &rising);
  }
#endif
  rising = sg_sum(rising);
  if (rising && sg_lane() == 0) fetch_add(control + N_RISING, rising);
}
