/* Triangles of an oriented graph (rows.h) on CPUs: a work-item marks the entries of a forward row in an array of all
 * vertices, and looks up the marks of the entries of its forward neighbours' rows.
 *
 * A work-item takes BLOCK vertices u at a time, until none is left.  The mark of an entry is its place in the row of u,
 * from 1 on.  hits[place] counts the triangles found at the entry; hits[0] is for entries without a mark, so the inner
 * loop has no branch to mispredict.  Marks and hits are 0 between vertices.
 *
 * Races: a work-item has marks and hits of its own.  Counts are added by atomics, so their order does not matter.
 *
 * After M. Latapy, "Main-memory triangle computations for very large (sparse (power-law)) graphs", TCS 2008: its new-listing
 * with an array.
 */
#include "data/rows.h"
#include "triangles/rows.h"

#ifndef BLOCK                    /* vertices that a work-item takes at once */
#define BLOCK 64u
#endif

/* Count the triangles at u.  Returns their number. */
INLINE ulong count_at(int u, __global const offset_t *forward_offsets, __global const int *forward_columns,
                      __global uint *marks, __global uint *hits, volatile __global uint *counts) {
  const offset_t begin = forward_offsets[u], end = forward_offsets[u + 1];
  if (end - begin < 2) return 0ul;
  ulong found = 0ul;
  for (offset_t e = begin; e < end; e++) marks[forward_columns[e]] = (uint)(e - begin) + 1u;
  for (offset_t e = begin; e < end; e++) {
    const int v = forward_columns[e];
    uint here = 0u;
    for (offset_t f = forward_offsets[v]; f < forward_offsets[v + 1]; f++) {
      const uint place = marks[forward_columns[f]];
      here += place != 0u;
      hits[place]++;
    }
    if (here) add_pair(counts + 2 * (size_t)v, here);
    found += here;
  }
  for (offset_t e = begin; e < end; e++) {
    const int w = forward_columns[e];
    const uint place = (uint)(e - begin) + 1u;
    if (hits[place]) add_pair(counts + 2 * (size_t)w, hits[place]);
    hits[place] = 0u;
    marks[w] = 0u;
  }
  hits[0] = 0u;
  if (found) add_pair(counts + 2 * (size_t)u, found);
  return found;
}

KERNEL count_marked(int n, int n_hits, __global const offset_t *restrict forward_offsets,
                    __global const int *restrict forward_columns, __global uint *restrict marks,
                    __global uint *restrict hits, volatile __global uint *counts, volatile __global uint *control) {
  __global uint *own_marks = marks + (size_t)get_global_id(0) * (size_t)n;
  __global uint *own_hits = hits + (size_t)get_global_id(0) * (size_t)n_hits;
  ulong found = 0ul;
  for (;;) {
    const uint first = fetch_add(control + N_TAKEN, 1u) * BLOCK;
    if (first >= (uint)n) break;
    for (uint u = first; u < min((uint)n, first + BLOCK); u++)
      found += count_at((int)u, forward_offsets, forward_columns, own_marks, own_hits, counts);
  }
  if (found) add_pair(control + TOTAL, found);
}
