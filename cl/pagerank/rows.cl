/* PageRank on CPUs: a work-item takes blocks of consecutive rows and adds up the shares along each row.
 *
 * A row lists the predecessors of a vertex, as in the reversed graph.  Encoding and races: see state.h.
 *
 * After L. Page, S. Brin, R. Motwani, T. Winograd, "The PageRank citation ranking", Stanford, 1999, as power iteration.
 */
#include "pagerank/state.h"

INLINE sum_t along_row(offset_t e, offset_t end, __global const int *columns, __global const number_t *weights,
                       __global const rank_t *share) {
  sum_t a = 0, b = 0, c = 0, d = 0;  /* four sums, since an addition takes several cycles */
  for (; e + 4 <= end; e += 4) {
    rank_t s = share[columns[e]], t = share[columns[e + 1]], u = share[columns[e + 2]], v = share[columns[e + 3]];
#if WEIGHTED
    s *= weights[e], t *= weights[e + 1], u *= weights[e + 2], v *= weights[e + 3];
#endif
    a += s, b += t, c += u, d += v;
  }
  for (; e < end; e++) {
    rank_t s = share[columns[e]];
#if WEIGHTED
    s *= weights[e];
#endif
    a += s;
  }
  return (a + b) + (c + d);
}

/* blocks: first row of each block, and n at the end */
KERNEL pull_rows(int n, int n_blocks, uint round, __global const offset_t *restrict row_offsets,
                 __global const int *restrict column_indices, __global const number_t *restrict weights,
                 __global const int *restrict blocks, __global const number_t *restrict scale,
                 __global const rank_t *restrict home, __global const number_t *restrict refuge,
                 __global const setting_t *restrict settings, __global rank_t *restrict ranks, __global rank_t *shares,
                 volatile __global sum_t *partials, volatile __global sum_t *totals, volatile __global uint *control) {
  LOCAL_ARRAY sum_t scratch[2 * WG_SIZE];
  LOCAL_ARRAY int is_last;
  if (control[DONE]) return;
  round_t r = begin_round(settings, totals);
  __global const rank_t *before = shares + (round & 1u ? 0 : n);
  __global rank_t *after = shares + (round & 1u ? n : 0);
  sums_t sums = {(sum_t)0, (sum_t)0};
  for (int b = get_global_id(0); b < n_blocks; b += get_global_size(0))
    for (int v = blocks[b]; v < blocks[b + 1]; v++) {
      sum_t sum = along_row(row_offsets[v], row_offsets[v + 1], column_indices, weights, before);
      update(v, sum, ranks[v], scale_of(v, scale), r, home, refuge, ranks, after, &sums);
    }
  end_round(round, sums, scratch, &is_last, settings, partials, totals, control);
}
