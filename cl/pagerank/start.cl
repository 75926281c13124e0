/* PageRank and its relatives: the values before the first round, their shares, and the mass of the first round.
 *
 * Encoding and races: see state.h.
 */
#include "pagerank/state.h"

/* Write the ranks before the first round, and their shares.  out_offsets: row offsets of the graph itself.  Without
 * weights, this kernel also writes the scale of PageRank. */
KERNEL start(int n, __global const number_t *restrict initial, __global const offset_t *restrict out_offsets,
             __global number_t *restrict scale, __global const setting_t *restrict settings,
             __global rank_t *restrict ranks, __global rank_t *restrict shares, volatile __global sum_t *partials,
             volatile __global sum_t *totals, volatile __global uint *control) {
  LOCAL_ARRAY sum_t scratch[2 * WG_SIZE];
  LOCAL_ARRAY int is_last;
  sums_t sums = {(sum_t)0, (sum_t)0};
  for (int v = get_global_id(0) / TEAM; v < n; v += get_global_size(0) / TEAM) {
#if INITIAL
    rank_t rank = (rank_t)initial[v];
#else
    rank_t rank = (rank_t)(number_t)settings[FIRST];
#endif
#if !WEIGHTED && EPILOGUE == PAGERANK
    offset_t degree = out_offsets[v + 1] - out_offsets[v];
    number_t own = degree > 0 ? (number_t)1 / (number_t)degree : (number_t)0;
    if (MEMBER == 0) scale[v] = own;
#else
    number_t own = scale_of(v, scale);
#endif
    store(v, rank, own, ranks, shares, &sums);
  }
  end_round(0u, sums, scratch, &is_last, settings, partials, totals, control);
}
