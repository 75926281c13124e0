/* PageRank of a batch of homes: a team of work-items takes blocks of consecutive rows, each work-item for some lanes.
 *
 * The members of a team read the same entries.  The ranks of a vertex are consecutive, so together they load the shares
 * along an entry from one or two cache lines.  A long row is a block by itself, whose pieces are added up first
 * (add_lane_pieces).  On CPUs a team is one work-item, whose vectors have all lanes.  Encoding and races: see state.h.
 */
#include "pagerank/state.h"

#ifndef PIECE                    /* entries of a piece of a long row */
#define PIECE 2048
#endif
#define PER_TURN 4               /* entries whose loads a work-item has in flight together */

/* given: the homes of the lanes, one after the other */
KERNEL interleave(int n, __global const number_t *restrict given, __global number_t *restrict home) {
  for (int v = get_global_id(0); v < n; v += get_global_size(0))
    for (int lane = 0; lane < LANES * TEAM; lane++) home[(size_t)v * LANES * TEAM + lane] = given[(size_t)lane * n + v];
}

/* given: room for the ranks of the lanes, one after the other */
KERNEL separate(int n, __global const number_t *restrict ranks, __global number_t *restrict given) {
  for (int v = get_global_id(0); v < n; v += get_global_size(0))
    for (int lane = 0; lane < LANES * TEAM; lane++) given[(size_t)lane * n + v] = ranks[(size_t)v * LANES * TEAM + lane];
}

INLINE rank_t lanes_at(offset_t e, __global const int *columns, __global const number_t *weights,
                       __global const rank_t *share) {
#if WEIGHTED
  return share[PLACE(columns[e])] * weights[e];
#else
  return share[PLACE(columns[e])];
#endif
}

/* Add up the shares along every step-th entry. */
INLINE sum_t along_entries(offset_t e, offset_t end, int step, __global const int *columns,
                           __global const number_t *weights, __global const rank_t *share) {
  sum_t sum = (sum_t)0;
  for (; e + (PER_TURN - 1) * step < end; e += PER_TURN * step) {
    rank_t found[PER_TURN];
    #pragma unroll
    for (int k = 0; k < PER_TURN; k++) found[k] = lanes_at(e + k * step, columns, weights, share);
    #pragma unroll
    for (int k = 0; k < PER_TURN; k++) sum += AS_SUM(found[k]);
  }
  for (; e < end; e += step) sum += AS_SUM(lanes_at(e, columns, weights, share));
  return sum;
}

/* pieces: the row of each piece, and the number of the piece within its row */
KERNEL add_lane_pieces(int n, int n_pieces, uint round, __global const offset_t *restrict row_offsets,
                       __global const int *restrict column_indices, __global const number_t *restrict weights,
                       __global const int2 *restrict pieces, __global const rank_t *restrict shares,
                       __global sum_t *restrict piece_sums, volatile __global uint *control) {
  LOCAL_ARRAY sum_t scratch[2 * WG_SIZE];
  if (control[DONE]) return;
  __global const rank_t *before = shares + (round & 1u ? 0 : PLACES(n));
  for (int p = get_group_id(0); p < n_pieces; p += get_num_groups(0)) {
    int2 piece = pieces[p];
    offset_t first = row_offsets[piece.x] + (offset_t)piece.y * PIECE;
    offset_t end = min(first + (offset_t)PIECE, row_offsets[piece.x + 1]);
    sums_t sums = {(sum_t)0, (sum_t)0};
    sums.change = along_entries(first + (int)get_local_id(0) / TEAM, end, WG_SIZE / TEAM, column_indices, weights, before);
    sums = over_group(sums, scratch);
    if (get_local_id(0) < TEAM) piece_sums[PLACE(p)] = sums.change;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

/* blocks: the first row of each block, and the first of its pieces if it is a long row, else -1; (n, -1) at the end */
KERNEL pull_lanes(int n, int n_blocks, uint round, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const number_t *restrict weights,
                  __global const int2 *restrict blocks, __global const sum_t *restrict piece_sums,
                  __global const number_t *restrict scale, __global const rank_t *restrict home,
                  __global const number_t *restrict refuge, __global const setting_t *restrict settings,
                  __global rank_t *restrict ranks, __global rank_t *shares, volatile __global sum_t *partials,
                  volatile __global sum_t *totals, volatile __global uint *control) {
  LOCAL_ARRAY sum_t scratch[2 * WG_SIZE];
  LOCAL_ARRAY int is_last;
  if (control[DONE]) return;
  round_t r = begin_round(settings, totals);
  __global const rank_t *before = shares + (round & 1u ? 0 : PLACES(n));
  __global rank_t *after = shares + (round & 1u ? PLACES(n) : 0);
  sums_t sums = {(sum_t)0, (sum_t)0};
  for (int b = get_global_id(0) / TEAM; b < n_blocks; b += get_global_size(0) / TEAM) {
    int2 block = blocks[b];
    int end = blocks[b + 1].x;
    for (int v = block.x; v < end; v++) {
      offset_t first = row_offsets[v], last = row_offsets[v + 1];
      rank_t old = ranks[PLACE(v)];
      sum_t sum = (sum_t)0;
      if (block.y < 0) sum = along_entries(first, last, 1, column_indices, weights, before);
      else for (int p = 0; p < (int)((last - first + PIECE - 1) / PIECE); p++) sum += piece_sums[PLACE(block.y + p)];
      update(v, sum, old, scale_of(v, scale), r, home, refuge, ranks, after, &sums);
    }
  }
  end_round(round, sums, scratch, &is_last, settings, partials, totals, control);
}
