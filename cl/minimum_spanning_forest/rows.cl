/* The phases with which every strategy of minimum spanning forests begins and ends: divide the entries into tiles, make
 * the first round, shorten the trees, and write the forest's edges.
 *
 * parent[v] is v's parent in the tree that it is in so far.  forest[v] is the entry of the edge by which v was hooked, or
 * NO_ENTRY.  Each vertex is hooked at most once, so `forest` has all edges of the forest.
 * The first round needs no atomics: every vertex is a component, and its row has all its edges.  With sorted rows, the
 * first of the lightest entries is the least edge in the order of keys.h.  Only tiles that share a row write the same
 * word of best.
 */
#include "minimum_spanning_forest/climb.h"
#include "minimum_spanning_forest/discover.h"
#include "minimum_spanning_forest/state.h"

/* tile_rows[t] = row of entry t * TILE.  Every vertex starts as a root without a best edge. */
KERNEL initialize(int n, __global const offset_t *restrict row_offsets, volatile __global best_t *best,
                  __global int *restrict tile_rows, __global uint *restrict state, __global int *restrict parent,
                  __global uint *restrict forest) {
  int v = get_global_id(0);
  for (int i = v; i < STATE_WORDS; i += get_global_size(0)) state[i] = 0u;
  if (v >= n) return;
  parent[v] = v;
  forest[v] = NO_ENTRY;
  clear_best(best, n, v);
  offset_t end = row_offsets[v + 1];
  for (offset_t tile = (row_offsets[v] + TILE - 1) / TILE; tile * TILE < end; tile++) tile_rows[tile] = v;
}

/* Writes v's lightest edge to best[v], as the entry in v's own row. */
KERNEL discover_rows(int n, int n_tiles, int turn, offset_t m, __global const offset_t *restrict row_offsets,
                     __global const int *restrict column_indices, __global const uint *restrict edge_weights,
                     __global const int *restrict tile_rows, volatile __global best_t *best) {
  discover(n, n_tiles, turn, m, row_offsets, column_indices, edge_weights, tile_rows, 0, best);
}

/* Hook every vertex along its lightest edge.  Of two vertices that chose each other, the lesser stays a root. */
KERNEL hook_rows(int n, __global const int *restrict column_indices, volatile __global best_t *best,
                 __global int *restrict parent, __global uint *restrict forest) {
  int v = get_global_id(0);
  if (v >= n) return;
  uint e = best_entry(best, n, v);
  if (e == NO_ENTRY) return;
  int u = column_indices[e];
  if (v < u && column_indices[best_entry(best, n, u)] == v) return;
  parent[v] = u;
  forest[v] = e;
}

/* Point every vertex at its root and list the roots: a sub-group takes blocks of vertices and appends to a segment of
 * its own.  With CLIMB_LIMIT there are up to three passes.  A later pass ends at once if no climb of the pass before met
 * the limit.  Three passes of 1,024 steps are enough for any tree. */
#ifndef VERTEX_BLOCK
#define VERTEX_BLOCK (4 * SUB_GROUP_SIZE)
#endif
KERNEL flatten(int n, int n_segments, uint root_capacity, uint turn, uint earlier,
               volatile __global best_t *best, volatile __global int *parent, volatile __global uint *state, __global int *restrict roots,
               __global uint *restrict n_roots) {
  int segment = (int)(get_global_id(0) / SUB_GROUP_SIZE);
  if (segment >= n_segments) return;
  if (earlier && load_relaxed(state + STATE_UNFINISHED + earlier) == 0u) return;
  __global int *own = roots + (size_t)segment * root_capacity;
  uint size = 0u;
  int at_root = 1;
  for (long block = (long)segment * VERTEX_BLOCK; block < n; block += (long)n_segments * VERTEX_BLOCK)
    for (int k = 0; k < VERTEX_BLOCK; k += SUB_GROUP_SIZE) {
      long v = block + k + sg_lane();
      int is_root = v < n && climb(parent, (int)v, &at_root) == (int)v;
      if (is_root) clear_best(best, n, (int)v);
      lane_mask_t found = sg_ballot(is_root);
      if (is_root) own[size + lane_count(found & lanes_below_mask())] = (int)v;
      size += lane_count(found);
    }
  if (!at_root) store_relaxed(state + STATE_UNFINISHED + turn, 1u);
  if (sg_lane() == 0) n_roots[segment] = size;
}

/* Writes the entry of each forest edge in the row of its lesser end; only the first round took entries from the
 * other row. */
KERNEL name_edges(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  __global const uint *restrict edge_weights, __global const uint *restrict forest,
                  __global uint *restrict edges) {
  int v = get_global_id(0);
  if (v >= n) return;
  uint e = forest[v];
  if (e != NO_ENTRY && (offset_t)e >= row_offsets[v] && (offset_t)e < row_offsets[v + 1] && column_indices[e] < v)
    e = twin(v, column_indices[e], weight_key(edge_weights, e), row_offsets, column_indices, edge_weights);
  edges[v] = e;
}
