/* Components of an unchecked matrix, by groups of one work-item on a CPU.
 *
 * Each group unites the vertices within its block without atomics, and checks all that it reads. Then Rem's algorithm
 * unites vertices along the entries that lead from one block to another. The matrix need not be symmetric: each row is
 * read whole.
 */
#include "connected_components/rem.h"

#define MATRIX_WRONG 0           /* 1: the arrays are not a valid graph */
#define MATRIX_BLOCKS 1          /* the number of roots of each block */
#ifndef CROSSING_ROWS            /* rows per word of `crossing`, a bit each; block sizes are multiples of this */
#define CROSSING_ROWS 32
#endif

typedef struct {
  int first, end;
} block_t;

/* Returns this group's block of vertices. It is empty after the last block. */
INLINE block_t own_block(int n, int block_size) {
  const long first = min((long)n, (long)block_size * (long)get_global_id(0));
  return (block_t){(int)first, (int)min((long)n, first + block_size)};
}

INLINE int is_outside(int u, block_t block) {
  return (uint)(u - block.first) >= (uint)(block.end - block.first);
}

/* Like rem_unite, but without atomics, because no other work-item touches the trees. */
INLINE void unite_alone(int u, int v, __global int *parent) {
  int p = parent[u], q = parent[v];
  while (p != q) {
    if (p < q) {
      int t = p; p = q; q = t;
      t = u; u = v; v = t;
    }
    parent[u] = q;
    if (p == u) return;
    u = p;
    p = parent[u];
  }
}

/* Rows of a block are read only if its offsets lie within the entries and do not decrease. */
KERNEL unite_blocks(int n, int m, int block_size, __global const int *restrict row_offsets,
                    __global const int *restrict column_indices, __global int *restrict parent,
                    __global uint *restrict crossing, __global uint *words) {
  const block_t block = own_block(n, block_size);
  uint is_wrong = row_offsets[block.first] < 0 || row_offsets[block.end] > m, largest = 0u, bits = 0u;
  if (block.first == 0) is_wrong |= row_offsets[0] != 0;
  for (int v = block.first; v < block.end; v++) is_wrong |= row_offsets[v + 1] < row_offsets[v];
  for (int v = block.first; v < block.end; v++) parent[v] = v;
  for (int v = block.first; !is_wrong && v < block.end; v++) {
    int root = parent[v];
    uint crosses = 0u;
    for (int e = row_offsets[v]; e < row_offsets[v + 1]; e++) {
      const int u = column_indices[e];
      if (is_outside(u, block)) {
        largest = max(largest, (uint)u);
        crosses = 1u;
        continue;
      }
      const int p = parent[u];
      if (p == root) continue;
      if (p == u && root < u) {  /* most vertices have no tree yet */
        parent[u] = root;
      } else {
        unite_alone(u, v, parent);
        root = parent[v];
      }
    }
    bits |= crosses << v % CROSSING_ROWS;
    if (v % CROSSING_ROWS == CROSSING_ROWS - 1 || v == block.end - 1) {
      crossing[v / CROSSING_ROWS] = bits;
      bits = 0u;
    }
  }
  if (is_wrong || largest >= (uint)n) words[MATRIX_WRONG] = 1u;
}

KERNEL unite_crossing(int n, int block_size, __global const int *restrict row_offsets,
                      __global const int *restrict column_indices, __global const uint *restrict crossing,
                      __global const uint *words, volatile __global int *parent) {
  const block_t block = own_block(n, block_size);
  if (words[MATRIX_WRONG]) return;
  for (int at = block.first; at < block.end; at += CROSSING_ROWS)
    for (uint left = crossing[at / CROSSING_ROWS]; left; left &= left - 1u) {
      const int v = at + (int)lowest_lane(left);
      for (int e = row_offsets[v]; e < row_offsets[v + 1]; e++) {
        const int u = column_indices[e];
        if (is_outside(u, block)) rem_unite(u, v, parent);
      }
    }
}

/* Point every vertex at its root, and count the roots of each block. Nothing links meanwhile, so roots are final. */
KERNEL flatten_blocks(int n, int block_size, volatile __global int *parent, __global uint *words) {
  const block_t block = own_block(n, block_size);
  uint n_roots = 0u;
  if (words[MATRIX_WRONG]) return;
  for (int v = block.first; v < block.end; v++) {
    int start = load_stale(parent + v), root = start, next = load_stale(parent + root);
    while (next != root) {
      root = next;
      next = load_stale(parent + root);
    }
    if (root != start) store_relaxed(parent + v, root);
    n_roots += root == v;
  }
  words[MATRIX_BLOCKS + get_global_id(0)] = n_roots;
}

/* Number the roots in order, over all blocks. */
KERNEL number_roots(int n, int block_size, __global const int *restrict parent, __global const uint *words,
                    __global int *restrict labels) {
  const block_t block = own_block(n, block_size);
  if (words[MATRIX_WRONG] || !words[MATRIX_BLOCKS + get_global_id(0)]) return;
  int number = 0;
  for (int b = 0; b < (int)get_global_id(0); b++) number += (int)words[MATRIX_BLOCKS + b];
  for (int v = block.first; v < block.end; v++)
    if (parent[v] == v) labels[v] = number++;
}

/* Every other vertex gets the number of its root. */
KERNEL number_others(int n, int block_size, __global const int *restrict parent, __global const uint *words,
                     __global int *labels) {
  const block_t block = own_block(n, block_size);
  if (words[MATRIX_WRONG]) return;
  for (int v = block.first; v < block.end; v++)
    if (parent[v] != v) labels[v] = labels[parent[v]];
}
