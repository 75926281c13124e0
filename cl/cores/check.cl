/* Whether a graph with sorted rows is simple, as core numbers need it.
 *
 * found[LOOPS] is the greatest vertex with a self-loop plus 1, found[REPEATS] the greatest row with two equal entries plus
 * 1; each is 0 if there is none.
 *
 * Races: maxima by atomics, which do not depend on their order.
 */
#include "common/atomics.h"
#include "data/rows.h"

#define LOOPS 0
#define REPEATS 1
#define FOUND_WORDS 2

/* A work-item looks for a vertex in its own row, by bisection. */
KERNEL find_loops(int n, __global const offset_t *restrict row_offsets, __global const int *restrict column_indices,
                  volatile __global uint *found) {
  const int v = get_global_id(0);
  if (v >= n) return;
  offset_t first = row_offsets[v], end = row_offsets[v + 1];
  const offset_t stop = end;
  while (first < end) {
    const offset_t middle = first + (end - first) / 2;
    if (column_indices[middle] < v) first = middle + 1;
    else end = middle;
  }
  if (first < stop && column_indices[first] == v) fetch_max(found + LOOPS, (uint)v + 1u);
}

/* A work-item compares every stride-th entry with the next one.  If they are equal, it looks whether their rows are, too. */
KERNEL find_repeats(int n, long m, __global const offset_t *restrict row_offsets,
                    __global const int *restrict column_indices, volatile __global uint *found) {
  for (long e = get_global_id(0); e + 1 < m; e += get_global_size(0))
    if (column_indices[e] == column_indices[e + 1]) {
      const int row = row_after(0, e, n, row_offsets);
      if (e + 1 < (long)row_offsets[row + 1]) fetch_max(found + REPEATS, (uint)row + 1u);
    }
}
