/* A round over all vertices, in which vertices with more than MDA edges are split into parts and a work-item relaxes
 * the edges of one part.  rounds.h explains why the rounds end with the right distances, and which races they have.
 *
 * Part i has the entries [part_begin[i], part_end[i]) and belongs to vertex part_parent[i].  A vertex of degree d has
 * ceil(d / MDA) parts, whose sizes differ by at most one; the first of them is the vertex itself, the others are children.
 * Parts are in the order of their vertices.  If all children were at the end, a few work-groups would have far more
 * work than the others.  Edges always lead to first parts, not to children.
 * ATOMIC 0: a child has a distance of its own, distances[word_of(i)], after the n distances of vertices.  child_update
 * copies it from the parent before each round.  In a round that lowers nothing the copies equal the parents' distances,
 * so the fixed point is the same.
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

/* first_child: exclusive prefix sums of the numbers of children, with the total at the end.  Work-items i < n write the
 * first part of a vertex, the others a child. */
KERNEL fill_parts(int n, int n_parts, __global const offset_t *restrict row_offsets, __global const int *restrict first_child,
                  __global offset_t *restrict part_begin, __global offset_t *restrict part_end,
                  __global int *restrict part_parent) {
  const int item = get_global_id(0), child = item - n;
  if (item >= n_parts) return;
  int v = item, part = 0;
  if (child >= 0) {              /* find the last vertex with first_child <= child */
    int end = n;
    for (v = 0; end - v > 1;) {
      const int middle = v + (end - v) / 2;
      if (first_child[middle] <= child) v = middle;
      else end = middle;
    }
    part = child - first_child[v] + 1;
  }
  const long degree = (long)(row_offsets[v + 1] - row_offsets[v]), parts = (long)(first_child[v + 1] - first_child[v] + 1);
  const int i = v + first_child[v] + part;
  part_begin[i] = row_offsets[v] + (offset_t)(degree * part / parts);
  part_end[i] = row_offsets[v] + (offset_t)(degree * (part + 1) / parts);
  part_parent[i] = v;
}

/* The index of part i's distance: v for the vertex itself, or n + i - v - 1, since i - v - 1 numbers all children. */
INLINE int word_of(int i, int n, __global const int *restrict part_parent) {
  const int v = part_parent[i];
  return ATOMIC || i == 0 || part_parent[i - 1] != v ? v : n + i - v - 1;
}

KERNEL child_update(int n_parts, uint round, int n, __global const int *restrict part_parent, volatile __global uint *state,
                    volatile __global dist_t *distances) {
  const int i = get_global_id(0);
  if (i >= n_parts || is_over(round, state)) return;
  const int word = word_of(i, n, part_parent);
  if (word >= n) store_relaxed(distances + word, load_relaxed(distances + part_parent[i]));
}

KERNEL relax_parts(int n_parts, uint round, dist_t limit, int n, __global const int *restrict column_indices,
                   __global const weight_t *restrict edge_weights, __global const offset_t *restrict part_begin,
                   __global const offset_t *restrict part_end, __global const int *restrict part_parent,
                   volatile __global uint *state, volatile __global dist_t *distances, volatile __global uint *work) {
  const int i = get_global_id(0);
  if (i >= n_parts || is_over(round, state)) return;
  const dist_t d = load_relaxed(distances + word_of(i, n, part_parent));
  if (d == FAR_AWAY) return;
  const offset_t begin = part_begin[i], end = part_end[i];
  relax_edges(d, begin, end, 1, round, limit, column_indices, edge_weights, state, distances);
  count_edges((uint)(end - begin), work + get_group_id(0));
}
