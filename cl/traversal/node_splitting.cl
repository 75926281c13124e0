/* A round over all vertices, of which those with more than MDA edges are split: a work-item relaxes the edges of one
 * part.  Why the rounds end with the right distances, rounds.h says.
 *
 * Parts 0 ... n - 1 are the vertices themselves with the first of their edges; those behind are children, whose other
 * edges they have.  Part i has the entries [part_begin[i], part_end[i]) and belongs to vertex part_parent[i].  A vertex of
 * degree d has ceil(d / MDA) parts, whose sizes differ by at most one.  Edges lead to parents only.
 * ATOMIC 0: a child has a distance of its own, distances[i], which child_update copies from the parent before each round.
 * Behind a round that lowered nothing the copies were equal to the parents', so the fixed point is the same.
 * ATOMIC 1: children read the parent's distance.
 *
 * After A. Raval, R. Nasre, V. Kumar, R. Vasudevan, S. Vadhiyar, K. Pingali, "Dynamic load balancing strategies for graph
 * applications on GPUs", arXiv:1711.00231, 2017.
 */
#include "traversal/rounds.h"

KERNEL count_children(int n, int mda, __global const offset_t *restrict row_offsets, __global int *restrict counts) {
  int v = get_global_id(0);
  if (v >= n) return;
  const offset_t degree = row_offsets[v + 1] - row_offsets[v];
  counts[v] = degree ? (int)((degree - 1) / mda) : 0;
}

/* first_child: sums of the counts before each vertex, and of all. */
KERNEL fill_parts(int n, int n_parts, __global const offset_t *restrict row_offsets, __global const int *restrict first_child,
                  __global offset_t *restrict part_begin, __global offset_t *restrict part_end,
                  __global int *restrict part_parent) {
  int i = get_global_id(0);
  if (i >= n_parts) return;
  int v = i, part = 0;
  if (i >= n) {                  /* the last vertex whose first child is not behind this one */
    int end = n;
    for (v = 0; end - v > 1;) {
      int middle = v + (end - v) / 2;
      if (first_child[middle] <= i - n) v = middle;
      else end = middle;
    }
    part = i - n - first_child[v] + 1;
  }
  const long degree = (long)(row_offsets[v + 1] - row_offsets[v]), parts = (long)(first_child[v + 1] - first_child[v] + 1);
  part_begin[i] = row_offsets[v] + (offset_t)(degree * part / parts);
  part_end[i] = row_offsets[v] + (offset_t)(degree * (part + 1) / parts);
  part_parent[i] = v;
}

KERNEL child_update(int n, uint round, int n_parts, __global const int *restrict part_parent, volatile __global uint *state,
                    volatile __global dist_t *distances) {
  int i = n + (int)get_global_id(0);
  if (i < n_parts && !is_over(round, state)) store_relaxed(distances + i, load_relaxed(distances + part_parent[i]));
}

KERNEL relax_parts(int n_parts, uint round, dist_t limit, __global const int *restrict column_indices,
                   __global const weight_t *restrict edge_weights, __global const offset_t *restrict part_begin,
                   __global const offset_t *restrict part_end, __global const int *restrict part_parent,
                   volatile __global uint *state, volatile __global dist_t *distances, volatile __global uint *work) {
  int i = get_global_id(0);
  if (i >= n_parts || is_over(round, state)) return;
  const dist_t d = load_relaxed(distances + (ATOMIC ? part_parent[i] : i));
  if (d == FAR_AWAY) return;
  const offset_t begin = part_begin[i], end = part_end[i];
  relax_edges(d, begin, end, 1, round, limit, column_indices, edge_weights, state, distances);
  count_edges((uint)(end - begin), work + get_group_id(0));
}
