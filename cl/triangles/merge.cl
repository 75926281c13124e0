/* Triangles of a graph of low degrees on CPUs, without orientation: a work-item merges the sorted rows of neighbours.
 *
 * A triangle w < v < u is counted at u, where w is an entry of both rows of u and v.  A work-item takes BLOCK vertices u at a
 * time, until none is left.  Rows are sorted, so repeats are neighbours; they and self-loops are skipped.
 *
 * Races: counts are added by atomics, so their order does not matter.  Each degree is written by one work-item.
 *
 * After S. Beamer, K. Asanović, D. Patterson, "The GAP Benchmark Suite", 2015: its tc.
 */
#include "data/rows.h"
#include "triangles/rows.h"

#ifndef BLOCK                    /* vertices that a work-item takes at once */
#define BLOCK 1024u
#endif

/* Count the triangles w < v < u, where the entries of u's row before v are first ... end - 1. */
INLINE uint merge_rows(int v, offset_t first, offset_t end, __global const offset_t *row_offsets,
                       __global const int *column_indices, volatile __global uint *counts) {
  const offset_t end_of_v = row_offsets[v + 1];
  offset_t at = row_offsets[v];
  uint found = 0u;
  while (first < end && at < end_of_v) {
    const int a = column_indices[first], b = column_indices[at];
    if (b >= v) break;
    if (a == b && !(at > row_offsets[v] && column_indices[at - 1] == b)) {
      add_pair(counts + 2 * (size_t)a, 1ul);
      found++;
    }
    first += a < b;
    at += b <= a;
  }
  if (found) add_pair(counts + 2 * (size_t)v, found);
  return found;
}

KERNEL count_merged(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                    __global int *restrict degrees, volatile __global uint *counts, volatile __global uint *control) {
  ulong all = 0ul;
  for (;;) {
    const uint first = fetch_add(control + N_TAKEN, 1u) * BLOCK;
    if (first >= (uint)n) break;
    for (int u = (int)first; u < (int)min((uint)n, first + BLOCK); u++) {
      const offset_t begin = row_offsets[u], end = row_offsets[u + 1];
      int degree = 0, before = -1;
      ulong found = 0ul;
      for (offset_t e = begin; e < end; e++) {
        const int v = column_indices[e];
        if (v == u || v == before) continue;
        before = v;
        degree++;
        if (v < u && degree > 1) found += merge_rows(v, begin, e, row_offsets, column_indices, counts);
      }
      degrees[u] = degree;
      if (found) add_pair(counts + 2 * (size_t)u, found);
      all += found;
    }
  }
  if (all) add_pair(control + TOTAL, all);
}
