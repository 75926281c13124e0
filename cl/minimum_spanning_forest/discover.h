/* The lightest edge of every row, or of every component, that leads to another component.
 *
 * COMPONENTS 0: every vertex is a component, and best[v] gets the entry in v's own row
 *            1: component[v] is the root of v's component, and best[root] gets the entry of the edge's lesser end
 */
#ifndef CLGRAPH_MST_DISCOVER_H
#define CLGRAPH_MST_DISCOVER_H
#include "minimum_spanning_forest/rows.h"

#ifndef COMPONENTS
#define COMPONENTS 0
#endif

/* The lightest entry found so far in a row; entry is NO_ENTRY if there is none. */
typedef struct { int row; uint weight, entry; } run_t;

/* Offer a run's entry to its row.  shared: other tiles may have entries of the row too. */
INLINE void deliver(run_t run, int shared, int n, int pass, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, __global const uint *restrict edge_weights,
                    __global const int *restrict component, volatile __global best_t *best) {
  if (run.entry == NO_ENTRY) return;
#if COMPONENTS
  int root = component[run.row], u = column_indices[run.entry];
  if (!may_lower(best, root, run.weight)) return;
  if (u < run.row) run.entry = twin(run.row, u, run.weight, row_offsets, column_indices, edge_weights);
  offer(best, n, root, run.weight, run.entry, pass);
#else
  if (shared) offer(best, n, run.row, run.weight, run.entry, pass);
  else set_best(best, n, run.row, run.weight, run.entry);
#endif
}

/* Whether the entry (v, u) leads to another component. */
INLINE int leads_away(int v, int u, __global const int *restrict component) {
#if COMPONENTS
  return component[u] != component[v];
#else
  return u != v;
#endif
}

/* Each sub-group processes one tile. */
INLINE void discover(int n, int n_tiles, int pass, offset_t m, __global const offset_t *restrict row_offsets,
                     __global const int *restrict column_indices, __global const uint *restrict edge_weights,
                     __global const int *restrict tile_rows, __global const int *restrict component,
                     volatile __global best_t *best) {
  int tile = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (tile >= n_tiles) return;
  const uint lane = sg_lane();
  const offset_t first = (offset_t)tile * TILE, last = min(first + TILE, m);
  rows_t rows = {tile_rows[tile], 0};
  run_t run = {rows.row, 0u, NO_ENTRY};
  const int first_row = rows.row;
  for (offset_t at = first; at < last; at += STEPS * SUB_GROUP_SIZE) {
    uint weight[STEPS];
    int u[STEPS];
    for (int k = 0; k < STEPS; k++) {
      offset_t e = min(at + (offset_t)(k * SUB_GROUP_SIZE + lane), last - 1);
      weight[k] = weight_key_once(edge_weights, e);
      u[k] = load_once(column_indices + e);
    }
    for (int k = 0; k < STEPS; k++) {
      const offset_t step = at + k * SUB_GROUP_SIZE;
      if (step >= last) break;
      int v = row_of(&rows, min(step + (offset_t)lane, last - 1), n, row_offsets);
      const int leaves = step + (offset_t)lane < last && leads_away(v, u[k], component);
      const int lead_row = sg_broadcast(v, 0), last_row = sg_broadcast(v, SUB_GROUP_SIZE - 1);
      const int row_before = sg_broadcast(v, (lane - 1) & (SUB_GROUP_SIZE - 1)), is_head = lane == 0 || row_before != v;
      const int lightest = lightest_lane(leaves, weight[k], sg_ballot(is_head));
      run_t own = {v, sg_broadcast(weight[k], max(lightest, 0)),
                   lightest < 0 ? NO_ENTRY : (uint)(step + (offset_t)lightest)};
      run_t lead = {lead_row, sg_broadcast(own.weight, 0), sg_broadcast(own.entry, 0)};
      if (lead_row != run.row) {
        if (lane == 0)
          deliver(run, run.row == first_row, n, pass, row_offsets, column_indices, edge_weights, component, best);
        run = lead;
      } else if (lead.entry != NO_ENTRY && (run.entry == NO_ENTRY || lead.weight < run.weight)) {
        run = lead;
      }
      if (last_row != lead_row) {
        if (is_head && v != last_row)
          deliver(v == lead_row ? run : own, v == first_row, n, pass, row_offsets, column_indices, edge_weights,
                  component, best);
        run.row = last_row;
        run.weight = sg_broadcast(own.weight, SUB_GROUP_SIZE - 1);
        run.entry = sg_broadcast(own.entry, SUB_GROUP_SIZE - 1);
      }
    }
  }
  if (lane == 0) deliver(run, 1, n, pass, row_offsets, column_indices, edge_weights, component, best);
}
#endif
