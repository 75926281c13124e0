/* Forests of parts of a graph as lists of edges, in the order of their entries in the whole graph.
 *
 * A work-item takes an edge, or a vertex.  An edge is its lesser end (its row), its greater end, its weight and its
 * entry.  Two such lists are merged into one, which is a graph whose rows have each edge once.  Its forest is the forest
 * of both parts, because every edge of that forest is in the forest of one part.  Edges of equal weight keep the order
 * of the whole graph, because their entries do.
 *
 * WEIGHTED  0: edges have no weights
 */
#include "minimum_spanning_forest/keys.h"

#ifndef WEIGHTED
#define WEIGHTED 1
#endif

/* Returns the number of ascending `values` that are less than x. */
INLINE uint count_below(uint n, const __global uint *restrict values, uint x) {
  uint low = 0u, high = n;
  while (low < high) {
    uint middle = low + (high - low) / 2u;
    if (values[middle] < x) low = middle + 1u;
    else high = middle;
  }
  return low;
}

/* *n_edges = the number of entries in front of the words NO_ENTRY. */
KERNEL count_edges(int n, const __global uint *restrict in_order, __global int *restrict n_edges) {
  int i = get_global_id(0);
  if (i > n) return;
  int before = i == 0 || in_order[i - 1] != NO_ENTRY, here = i < n && in_order[i] != NO_ENTRY;
  if (before && !here) *n_edges = i;
}

/* Writes the edges of a part's forest.  Entry i of the part is entry `first` + i of the whole graph, or part_entries[i]. */
KERNEL take_edges(int n, int n_edges, int is_listed, uint first, const __global uint *restrict in_order,
                  __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  __global const uint *restrict edge_weights, __global const uint *restrict part_entries,
                  __global uint *restrict rows, __global int *restrict columns, __global uint *restrict weights,
                  __global uint *restrict entries) {
  int i = get_global_id(0);
  if (i >= n_edges) return;
  uint e = in_order[i];
  int low = 0, high = n - 1;
  while (low < high) {             /* the last row that begins at or before e */
    int middle = low + (high - low + 1) / 2;
    if (row_offsets[middle] <= (offset_t)e) low = middle;
    else high = middle - 1;
  }
  rows[i] = (uint)low;
  columns[i] = column_indices[e];
#if WEIGHTED
  weights[i] = edge_weights[e];
#endif
  entries[i] = is_listed ? part_entries[e] : first + e;
}

/* Writes the edges of one list to their positions in the merged list.  It is launched once for each of the two lists. */
KERNEL merge_edges(int n_edges, int n_others, const __global uint *restrict rows, const __global int *restrict columns,
                   const __global uint *restrict weights, const __global uint *restrict entries,
                   const __global uint *restrict other_entries, __global uint *restrict all_rows,
                   __global int *restrict all_columns, __global uint *restrict all_weights,
                   __global uint *restrict all_entries) {
  int i = get_global_id(0);
  if (i >= n_edges) return;
  uint at = (uint)i + count_below((uint)n_others, other_entries, entries[i]);
  all_rows[at] = rows[i];
  all_columns[at] = columns[i];
#if WEIGHTED
  all_weights[at] = weights[i];
#endif
  all_entries[at] = entries[i];
}

/* Writes the row offsets of a list. */
KERNEL find_offsets(int n, int n_edges, const __global uint *restrict rows, __global offset_t *restrict row_offsets) {
  int v = get_global_id(0);
  if (v <= n) row_offsets[v] = (offset_t)count_below((uint)n_edges, rows, (uint)v);
}
