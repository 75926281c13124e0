/* PageRank on GPUs: a work-group takes blocks of consecutive rows, and its work-items share a block's entries equally.
 *
 * A row lists the predecessors of a vertex, as in the reversed graph.  The host has cut them into blocks.  A block has
 * at most 2 * BLOCK entries and BLOCK rows, or it is one long row, whose pieces of PIECE entries are added up first
 * (add_pieces).  The shares along a block's entries are copied to local memory.  Then each work-item adds up an equal
 * part of them, which may end one row, contain others, and begin another one.  Encoding and races: see state.h.
 *
 * After J. L. Greathouse, M. Daga, "Efficient sparse matrix-vector multiplication on GPUs using the CSR storage format",
 * SC 2014, and D. Merrill, M. Garland, "Merge-based parallel sparse matrix-vector multiplication", SC 2016.
 */
#include "pagerank/state.h"

#ifndef BLOCK                    /* entries and rows of a block, not counting its last row */
#define BLOCK 640
#endif
#ifndef PIECE                    /* entries of a piece of a long row */
#define PIECE 2048
#endif
#define PER_LANE 4               /* entries whose loads a work-item has in flight together */

INLINE rank_t share_of(offset_t e, __global const int *columns, __global const rank_t *weights,
                       __global const rank_t *share) {
#if WEIGHTED
  return share[columns[e]] * weights[e];
#else
  return share[columns[e]];
#endif
}

/* Copy the shares along count entries to local memory. */
INLINE void gather(offset_t first, int count, __global const int *columns, __global const rank_t *weights,
                   __global const rank_t *share, __local rank_t *gathered) {
  int i = get_local_id(0);
  for (; i + (PER_LANE - 1) * WG_SIZE < count; i += PER_LANE * WG_SIZE) {
    rank_t found[PER_LANE];
    #pragma unroll
    for (int k = 0; k < PER_LANE; k++) found[k] = share_of(first + i + k * WG_SIZE, columns, weights, share);
    #pragma unroll
    for (int k = 0; k < PER_LANE; k++) gathered[i + k * WG_SIZE] = found[k];
  }
  for (; i < count; i += WG_SIZE) gathered[i] = share_of(first + i, columns, weights, share);
}

/* The row of a block that has the entry `at`.  starts[v] is the first entry of row v. */
INLINE int row_of(int at, int n_rows, __local const ushort *starts) {
  int low = 0, high = n_rows;
  while (high - low > 1) {
    int middle = (low + high) / 2;
    if (starts[middle] <= at) low = middle;
    else high = middle;
  }
  return low;
}

/* Add up the rows of a block that have entries.  All work-items call this, after a barrier.
 * heads: for each work-item, the sum of its first entries if their row began before them */
INLINE void add_rows(int n_rows, int count, __local const ushort *starts, __local const rank_t *gathered,
                     __local sum_t *heads, __local sum_t *row_sums) {
  int lid = get_local_id(0);
  int each = ((count + WG_SIZE - 1) / WG_SIZE) | 1;  /* odd, so that work-items read from different banks */
  int first = lid * each, end = min(count, first + each);
  sum_t sum = 0, head = 0;
  int v = 0, row_end = 0, is_head = 0;
  if (first < count) {
    v = row_of(first, n_rows, starts);
    row_end = starts[v + 1];
    is_head = starts[v] < first;
  }
  for (int at = first; at < end; at++) {
    while (at >= row_end) {
      if (is_head) head = sum;
      else row_sums[v] = sum;
      is_head = 0;
      sum = 0;
      row_end = starts[++v + 1];
    }
    sum += gathered[at];
  }
  heads[lid] = is_head ? sum : head;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first < count && !is_head) {   /* the last row begins here, and the next work-items may have more of it */
    for (int at = first + each, other = lid + 1; at < row_end; at += each, other++) sum += heads[other];
    row_sums[v] = sum;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

/* Add up a number over the work-group, in a fixed order. */
INLINE sum_t group_sum(sum_t x, __local sum_t *scratch) {
  int i = get_local_id(0);
  scratch[i] = x;
  for (int width = WG_SIZE / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < width) scratch[i] += scratch[i + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  x = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return x;
}

/* pieces: the row of each piece, and the number of the piece within its row */
KERNEL add_pieces(int n, int n_pieces, uint round, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const number_t *restrict weights,
                  __global const int2 *restrict pieces, __global const rank_t *restrict shares,
                  __global sum_t *restrict piece_sums, volatile __global uint *control) {
  LOCAL_ARRAY sum_t scratch[WG_SIZE];
  if (control[DONE]) return;
  __global const rank_t *before = shares + (round & 1u ? 0 : n);
  for (int p = get_group_id(0); p < n_pieces; p += get_num_groups(0)) {
    int2 piece = pieces[p];
    offset_t first = row_offsets[piece.x] + (offset_t)piece.y * PIECE, end = row_offsets[piece.x + 1];
    int count = (int)min((offset_t)PIECE, end - first);
    sum_t sum = 0;
    #pragma unroll 4
    for (int i = get_local_id(0); i < count; i += WG_SIZE) sum += share_of(first + i, column_indices, weights, before);
    sum = group_sum(sum, scratch);
    if (get_local_id(0) == 0) piece_sums[p] = sum;
  }
}

/* blocks: the first row of each block, and the first of its pieces if it is a long row, else -1; (n, -1) at the end */
KERNEL pull_blocks(int n, int n_blocks, uint round, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const number_t *restrict weights,
                   __global const int2 *restrict blocks, __global const sum_t *restrict piece_sums,
                   __global const number_t *restrict scale, __global const rank_t *restrict home,
                   __global const number_t *restrict refuge, __global const setting_t *restrict settings,
                   __global rank_t *restrict ranks, __global rank_t *shares, volatile __global sum_t *partials,
                   volatile __global sum_t *totals, volatile __global uint *control) {
  LOCAL_ARRAY rank_t gathered[2 * BLOCK];
  LOCAL_ARRAY ushort starts[BLOCK + 1];
  LOCAL_ARRAY sum_t row_sums[BLOCK];
  LOCAL_ARRAY sum_t scratch[2 * WG_SIZE];
  LOCAL_ARRAY int is_last;
  if (control[DONE]) return;
  round_t r = begin_round(settings, totals);
  __global const rank_t *before = shares + (round & 1u ? 0 : n);
  __global rank_t *after = shares + (round & 1u ? n : 0);
  sums_t sums = {(sum_t)0, (sum_t)0};
  int lid = get_local_id(0);
  for (int b = get_group_id(0); b < n_blocks; b += get_num_groups(0)) {
    int2 block = blocks[b];
    int row = block.x, n_rows = blocks[b + 1].x - row;
    offset_t first = row_offsets[row];
    int count = (int)(row_offsets[row + n_rows] - first);
    int v = row + min(lid, n_rows - 1);
    rank_t old = ranks[v], own = scale_of(v, scale);  /* loaded early, so that nothing waits for them later */
    if (block.y >= 0) {
      sum_t sum = 0;
      for (int p = lid; p < (count + PIECE - 1) / PIECE; p += WG_SIZE) sum += piece_sums[block.y + p];
      sum = group_sum(sum, scratch);
      if (lid == 0) update(row, sum, old, own, r, home, refuge, ranks, after, &sums);
      continue;
    }
    for (int u = lid; u <= n_rows; u += WG_SIZE) starts[u] = (ushort)(row_offsets[row + u] - first);
    gather(first, count, column_indices, weights, before, gathered);
    barrier(CLK_LOCAL_MEM_FENCE);
    add_rows(n_rows, count, starts, gathered, scratch, row_sums);
    for (int u = lid; u < n_rows; u += WG_SIZE) {
      if (u >= WG_SIZE) old = ranks[row + u], own = scale_of(row + u, scale);
      sum_t sum = starts[u] < starts[u + 1] ? row_sums[u] : (sum_t)0;
      update(row + u, sum, old, own, r, home, refuge, ranks, after, &sums);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  end_round(round, sums, scratch, &is_last, settings, partials, totals, control);
}
