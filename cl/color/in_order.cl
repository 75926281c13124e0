/* The sequential greedy colouring, for CPUs: one work-item takes the vertices one after the other, and each gets the
 * least colour that its neighbours do not have.  With few cores it is as fast as jones_plassmann.cl, which gives the same
 * result.  It is not slowed down by an order in which each vertex waits for the one before.
 *
 * used has a word per colour: the number of the last vertex, counted from 1, of which a neighbour had that colour.
 *
 * Races: none.
 */
#include "common/types.h"

KERNEL color_in_order(int n, uint n_words, __global const offset_t *restrict row_offsets,
                      __global const int *restrict column_indices, __global const int *restrict vertices,
                      __global uint *restrict used, __global int *restrict colors) {
  if (get_global_id(0)) return;
  for (uint c = 0u; c < n_words; c++) used[c] = 0u;
  for (int i = 0; i < n; i++) colors[i] = -1;
  for (int i = 0; i < n; i++) {
    const int v = vertices[i];
    const uint turn = (uint)i + 1u;
    const offset_t last = row_offsets[v + 1];
    for (offset_t e = row_offsets[v]; e < last; e++) {
      const int u = column_indices[e], color = colors[u];
      if (u != v && color >= 0) used[color] = turn;
    }
    uint c = 0u;
    while (used[c] == turn) c++;
    colors[v] = (int)c;
  }
}
