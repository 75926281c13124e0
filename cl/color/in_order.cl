/* The sequential greedy colouring, for CPUs: one work-item takes the vertices one after the other, and each gets the
 * least colour that its neighbours do not have (first fit).  On few cores this is faster than parallel colourings, which
 * must find and repair conflicts.  It is not slowed down by an order in which each vertex waits for the one before.
 *
 * Races: none.
 */
#include "common/types.h"

#define NO_COLOR -1
#define WORD_ENTRIES 63          /* Up to this many neighbours leave one of 64 colours free, so a word marks them. */
#define N_LENGTHS 33             /* bit lengths of degrees: 0 to 32 */
#define AHEAD 8                  /* vertices between a prefetch of a row and its use */
#define LINE_ENTRIES 16          /* entries in a cache line of 64 bytes */

/* Returns the least colour that no neighbour of v has.  by_number: vertices are taken by number, so neighbours after v
 * have no colour yet.  Word c + 1 of used has the last turn, counted from 1, in which a neighbour had colour c. */
INLINE int first_fit(int v, uint turn, int by_number, __global const offset_t *restrict row_offsets,
                     __global const int *restrict column_indices, __global const int *restrict colors,
                     __global uint *restrict used) {
  const offset_t first = row_offsets[v], last = row_offsets[v + 1];
  if (last - first <= WORD_ENTRIES) {
    ulong taken = 0ul;
#ifdef __clang__                 /* PoCL would vectorize this loop.  Rows are too short for that: grids took twice the time. */
    #pragma clang loop vectorize(disable)
#endif
    for (offset_t e = first; e < last; e++) {
      const int u = column_indices[e];
      if (by_number ? u >= v : u == v) continue;
      const uint c = (uint)colors[u];
      taken |= c <= WORD_ENTRIES ? 1ul << (c & 63u) : 0ul;
    }
    return (int)popcount(taken & ~(taken + 1ul));
  }
  for (offset_t e = first; e < last; e++) {
    const int u = column_indices[e];
    if (by_number ? u >= v : u == v) continue;
    used[colors[u] + 1] = turn;
  }
  int c = 0;
  while (used[c + 1] == turn) c++;
  return c;
}

INLINE uint leading_zeros(int v, __global const offset_t *restrict row_offsets) {
  return clz((uint)(row_offsets[v + 1] - row_offsets[v]));
}

/* Lists the vertices by falling bit length of their degrees, and by number if these are equal. */
KERNEL list_by_length(int n, __global const offset_t *restrict row_offsets, __global int *restrict vertices) {
  LOCAL_ARRAY int ends[N_LENGTHS];
  if (get_global_id(0)) return;
  for (int k = 0; k < N_LENGTHS; k++) ends[k] = 0;
  for (int v = 0; v < n; v++) ends[leading_zeros(v, row_offsets)]++;
  for (int k = 1; k < N_LENGTHS; k++) ends[k] += ends[k - 1];
  for (int v = n - 1; v >= 0; v--) vertices[--ends[leading_zeros(v, row_offsets)]] = v;
}

KERNEL color_in_order(int n, uint n_words, __global const offset_t *restrict row_offsets,
                      __global const int *restrict column_indices, __global const int *restrict vertices,
                      __global uint *restrict used, __global int *restrict colors) {
  if (get_global_id(0)) return;
  for (uint c = 0u; c < n_words; c++) used[c] = 0u;
  for (int v = 0; v < n; v++) colors[v] = NO_COLOR;
  for (int i = 0; i < n; i++) {
    const __global int *row = column_indices + row_offsets[vertices[min(i + AHEAD, n - 1)]];
    for (int line = 0; line < 3; line++) FETCH_AHEAD(row + line * LINE_ENTRIES);
    const int v = vertices[i];
    colors[v] = first_fit(v, (uint)i + 1u, 0, row_offsets, column_indices, colors, used);
  }
}

KERNEL color_by_number(int n, uint n_words, __global const offset_t *restrict row_offsets,
                       __global const int *restrict column_indices, __global uint *restrict used,
                       __global int *restrict colors) {
  if (get_global_id(0)) return;
  for (uint c = 0u; c < n_words; c++) used[c] = 0u;
  for (int v = 0; v < n; v++)
    colors[v] = first_fit(v, (uint)v + 1u, 1, row_offsets, column_indices, colors, used);
}
