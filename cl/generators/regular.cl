/* Graphs whose offsets and entries have formulas. */
#include "generators/chunk.h"

/* The offset of v is four entries for each vertex before it, minus the entries that rows and columns at the border lack. */
KERNEL grid(int rows, int cols, __global offset_t *restrict row_offsets, __global int *restrict column_indices) {
  const long n = (long)rows * cols;
  FOR_CHUNK(v, n + 1) {
    const long row = v / cols, col = v - row * cols;
    long at = 4 * v - min(v, (long)cols) - max(0l, v - (rows - 1l) * cols) - row - (col > 0) - row;
    row_offsets[v] = (offset_t)at;
    if (v == n) return;
    if (row > 0) column_indices[at++] = (int)(v - cols);
    if (col > 0) column_indices[at++] = (int)(v - 1);
    if (col < cols - 1) column_indices[at++] = (int)(v + 1);
    if (row < rows - 1) column_indices[at++] = (int)(v + cols);
  }
}

/* Before vertex v come the entries of earlier vertices to their parents and to their children. */
INLINE long tree_offset(long v, long n, long arity) { return max(v - 1, 0l) + min(arity * v, max(n - 1, 0l)); }

/* A vertex writes its own entry to its parent, and its parent's entry to it, so no row is too long for one work-item. */
KERNEL tree(int n, int arity, __global offset_t *restrict row_offsets, __global int *restrict column_indices) {
  FOR_CHUNK(v, n + 1l) {
    const long at = tree_offset(v, n, arity);
    row_offsets[v] = (offset_t)at;
    if (v == 0 || v == n) continue;
    const long parent = (v - 1) / arity;
    column_indices[at] = (int)parent;
    column_indices[tree_offset(parent, n, arity) + (parent > 0) + v - 1 - arity * parent] = (int)v;
  }
}

KERNEL cycle(int n, __global offset_t *restrict row_offsets, __global int *restrict column_indices) {
  FOR_CHUNK(v, n + 1l) {
    row_offsets[v] = (offset_t)(2 * v);
    if (v == n) return;
    const int before = v ? (int)v - 1 : n - 1, after = v < n - 1 ? (int)v + 1 : 0;
    column_indices[2 * v] = min(before, after);
    column_indices[2 * v + 1] = max(before, after);
  }
}

/* The bridge is the last entry of vertex size - 1 and the first one of vertex size. */
KERNEL two_cliques(int size, int bridge, __global offset_t *restrict row_offsets,
                   __global int *restrict column_indices) {
  const long degree = size - 1l, half_entries = size * degree;
  FOR_CHUNK(v, 2l * size + 1) row_offsets[v] = (offset_t)(v * degree + (v < size ? 0 : v == size ? bridge : 2 * bridge));
  FOR_CHUNK(e, 2 * (half_entries + bridge)) {
    const long inside = e - half_entries;
    if (inside >= 0 && inside < 2 * bridge) {
      column_indices[e] = inside ? size - 1 : size;
    } else {
      const long of_clique = inside < 0 ? e : inside - 2 * bridge, row = of_clique / degree;
      const long column = of_clique - row * degree;
      column_indices[e] = (int)(column + (column >= row) + (inside < 0 ? 0 : size));
    }
  }
}
