/* One level of a breadth-first search from the frontier: expand its rows and reach the far ends of their edges. */
#ifndef CLGRAPH_BFS_TOP_DOWN_H
#define CLGRAPH_BFS_TOP_DOWN_H
#include "traversal/turn.h"

#define UNREACHED -1

/* The result of a search.  The rows are passed separately, not in this struct: a compiler recognises read-only arrays
 * only if they are parameters of the kernel. */
typedef struct {
  volatile __global int *distances;
  __global int *predecessors;
} tree_t;

/* Every lane calls: reach the far ends of the edges, and push each that was new.  look: 1 loads the distance before the
 * atomic, because most far ends are reached already.
 * Race: several work-items find u in one level.  The compare-exchange lets one of them win, and only the winner writes
 * the predecessor and pushes u.  The load before it may return an old UNREACHED; the compare-exchange then fails. */
INLINE void visit(const edges_t *edges, int depth, int look, tree_t on, frontier_t next,
                  __global const offset_t *restrict row_offsets) {
  entry_t found[STEPS];
  uint length[STEPS], wanted = 0u;
  int was[STEPS];                /* all loads are on their way before one is waited for, and then all atomics */
#pragma unroll
  for (uint k = 0u; k < STEPS; k++) {
    found[k].vertex = edges->u[k];
    length[k] = 0u;
    was[k] = look ? load_relaxed_if(edges->u[k] >= 0, on.distances + edges->u[k]) : UNREACHED;
  }
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    was[k] = compare_exchange_if(edges->u[k] >= 0 && was[k] == UNREACHED, on.distances + edges->u[k], UNREACHED, depth);
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (was[k] == UNREACHED) {
      on.predecessors[edges->u[k]] = edges->v[k];
      wanted |= 1u << k;
    }
#if !ONLY_SHORT_ROWS
#pragma unroll
  for (uint k = 0u; k < STEPS; k++)
    if (wanted >> k & 1u) {
      row_t row = row_of_vertex(edges->u[k], row_offsets);
      length[k] = row.length;
      if (!has_more(row)) wanted &= ~(1u << k);
    }
#endif
  push(found, length, wanted, next);
}

/* Every sub-group calls: expand its share of this turn's frontier.  The edges of its first own rows are already loaded
 * in `at`. */
INLINE void expand(share_t share, lanes_t at, int depth, tree_t on, frontier_t now, frontier_t next,
                   __global const offset_t *restrict row_offsets, __global const int *restrict column_indices) {
  batch_t batch = first_batch(share);
  int ahead = share.own > 0u;
  entry_t own;
  if (ahead) batch.own = WG_SIZE;
  while (ahead || next_batch(&batch, &at.row, &own, now, share, row_offsets)) {
    if (!ahead) sum_lengths(&at);
    for (uint first = 0u; first < at.total; first += STEPS * SUB_GROUP_SIZE) {
      if (!ahead || first) look_up(&at, first, column_indices);
      visit(&at.edges, depth, batch.own >= share.own && !ahead, on, next, row_offsets);
    }
    ahead = 0;
  }
}
#endif
