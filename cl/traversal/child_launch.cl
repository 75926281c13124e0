/* A round over all vertices.  A work-item relaxes the edges of one vertex, but a row longer than a threshold is relaxed
 * by a grid of its own.  rounds.h explains why the rounds end with the right distances: every edge is relaxed within the
 * round, with a distance that its vertex had during the round.
 *
 * FROM_DEVICE 1: the work-item enqueues a child grid with one work-item per edge.  If the device's queue is full, it
 * relaxes the edges itself.  A launch ends only when its child grids have ended.
 * FROM_DEVICE 0: the work-item lists the row in pieces of PIECE edges, with one atomic per sub-group.  A second launch,
 * relax_pieces, gives each piece to a sub-group.  Round r counts the pieces in word r mod 4 of STATE_PIECES and clears
 * the next word.
 *
 * After J. Wang, S. Yalamanchili, "Characterization and analysis of dynamic parallelism in unstructured GPU applications",
 * IISWC 2014.
 */
#include "traversal/rounds.h"
#include "common/subgroup.h"

#ifndef FROM_DEVICE
#define FROM_DEVICE 0
#endif
#ifndef PIECE
#define PIECE 256
#endif

KERNEL relax_or_launch(int n, uint round, dist_t limit, offset_t threshold, __global const offset_t *restrict row_offsets,
                       __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                       __global int2 *pieces, volatile __global uint *state, volatile __global dist_t *distances,
                       volatile __global uint *work) {
  const int v = get_global_id(0);
  offset_t begin = 0, end = 0;
  dist_t d = FAR_AWAY;
  if (v == 0) store_relaxed(state + (FROM_DEVICE ? STATE_CHILD_GROUPS : STATE_PIECES) + (round + 1u & 3u), 0u);
  if (v < n && !is_over(round, state)) d = load_relaxed(distances + v);
  if (d != FAR_AWAY) {
    begin = row_offsets[v];
    end = row_offsets[v + 1];
  }
  int is_long = end - begin > threshold;
#if FROM_DEVICE
  if (is_long) {
    const uint groups = (uint)((end - begin + WG_SIZE - 1) / WG_SIZE);
    uint first = 0u;
    if (BALANCE) first = fetch_add(state + STATE_CHILD_GROUPS + (round & 3u), groups);
    volatile __global uint *child_work = work + get_num_groups(0) + first;
    is_long = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(groups * (size_t)WG_SIZE, WG_SIZE), ^{
      const offset_t e = begin + (offset_t)get_global_id(0);
      if (e >= end) return;
      relax_edges(d, e, e + 1, 1, round, limit, column_indices, edge_weights, state, distances);
      count_edges(1u, child_work + get_group_id(0));
    }) == CLK_SUCCESS;
  }
#else
  const uint count = is_long ? (uint)((end - begin + PIECE - 1) / PIECE) : 0u, before = sg_exclusive_sum(count);
  const uint all = sg_sum(count);
  uint base = 0u;
  if (all && sg_lane() == 0) base = fetch_add(state + STATE_PIECES + (round & 3u), all);
  base = sg_broadcast(base, 0u) + before;
  for (uint k = 0u; k < count; k++) pieces[base + k] = (int2)(v, (int)k);
#endif
  if (is_long) return;
  relax_edges(d, begin, end, 1, round, limit, column_indices, edge_weights, state, distances);
  count_edges((uint)(end - begin), work + get_group_id(0));
}

#if !FROM_DEVICE
/* first_group: the index in `work` of the first group's word. */
KERNEL relax_pieces(int n, uint round, dist_t limit, int first_group, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const weight_t *restrict edge_weights,
                    __global const int2 *pieces, volatile __global uint *state, volatile __global dist_t *distances,
                    volatile __global uint *work) {
  const uint n_pieces = load_relaxed(state + STATE_PIECES + (round & 3u));
  const uint n_sub_groups = get_num_groups(0) * SUB_GROUPS_PER_GROUP;
  for (uint i = get_group_id(0) * SUB_GROUPS_PER_GROUP + sg_in_group(); i < n_pieces; i += n_sub_groups) {
    const int2 piece = pieces[i];
    const offset_t begin = row_offsets[piece.x] + (offset_t)piece.y * PIECE;
    const offset_t end = min(begin + PIECE, row_offsets[piece.x + 1]);
    relax_edges(load_relaxed(distances + piece.x), begin + (offset_t)sg_lane(), end, SUB_GROUP_SIZE, round, limit,
                column_indices, edge_weights, state, distances);
    if (sg_lane() == 0) count_edges((uint)(end - begin), work + first_group + get_group_id(0));
  }
}
#endif
