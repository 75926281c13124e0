/* Collisions at distance 1 or 2; a work-item counts one hash of a row at a time.
 *
 * HASH_LANES work-items share a row, each with a different hash.  HASH_LANES is 1, or at least N_HASHES; then a sub-group
 * takes one row or a few and reads adjacent colours of their neighbours.  A work-group takes consecutive tiles of rows
 * (prepare.h), WG_SIZE / HASH_LANES rows at a time.  All widths are counted at once, by one of three METHODs:
 *
 * PAIRS    distance 1, by a histogram of the low bits in which two colours agree (bins.h)
 * SORTED   distance 2, by the same histogram of neighbours in sorted order (network.h); rows of more than LONG_ROW
 *          neighbours are left to sorted.cl
 * BITMAP   distance 2, by a bitmap of the colours of a row (bitmap.h)
 *
 * At distance 2 a closed row is a set of vertices.  Rows are sorted, so parallel entries follow each other and are skipped.
 *
 * count_split_rows (PAIRS and BITMAP): a work-group takes a row of more than LONG_ROW neighbours.  Its slots take every
 * WG_SIZE / HASH_LANES-th entry, and the first slot adds up the results.
 *
 * Races: the sums of a work-group are added by atomics, with barriers before and after.  Bins, bitmaps and keys belong to
 * one work-item; a barrier comes before another work-item reads them.
 */
#include "common/subgroup.h"
#include "hash_collisions/counters.h"

#define PAIRS 1
#define SORTED 2
#define BITMAP 3
#ifndef METHOD
#define METHOD PAIRS
#endif
#ifndef HASH_LANES
#define HASH_LANES 16
#endif
#ifndef HASH_STRIDE              /* number of colours per vertex in the table */
#define HASH_STRIDE 16
#endif
#ifndef COLOR_T
#define COLOR_T ushort
#endif
#ifndef LONG_ROW
#define LONG_ROW 1023
#endif
#ifndef EVALUATE                 /* 1: hashes are evaluated for every entry instead of looked up; not if SORTED */
#define EVALUATE 0
#endif
#ifndef STAGES                   /* 1: only the neighbours are read; 2: the colours, too; for benchmarks */
#define STAGES 3
#endif

#define SLOTS (WG_SIZE / HASH_LANES)
#define ROUNDS (HASH_LANES < N_HASHES ? N_HASHES : 1)
#define IS_COUNTED(bits) (WIDTH_MASK >> (bits) & 1u)
#define INDEX_OF(bits) (popcount(WIDTH_MASK & ((1u << (bits)) - 1u)))

/* The counts of a work-item for one hash, at each width. */
typedef struct {
  uint total[N_WIDTHS], greatest[N_WIDTHS];
} sums_t;

INLINE void clear_sums_of(sums_t *sums) {
  #pragma unroll
  for (int j = 0; j < N_WIDTHS; j++) sums->total[j] = sums->greatest[j] = 0u;
}

INLINE void keep(uint bits, uint count, sums_t *sums) {
  uint j = INDEX_OF(bits);
  sums->total[j] += count;
  sums->greatest[j] = max(sums->greatest[j], count);
}

INLINE uint color_of(int v, uint k, __global const COLOR_T *restrict colors) {
#if EVALUATE
  return hash_one(k, (uint)v) & ((1u << MAX_BITS) - 1u);
#else
  return colors[(size_t)v * HASH_STRIDE + k];
#endif
}

#if METHOD == BITMAP
#include "hash_collisions/bitmap.h"
#else
#include "hash_collisions/bins.h"
#endif
#if METHOD == SORTED
#include "hash_collisions/network.h"
#endif

/* Add the counts of every work-item for hash k to local memory, and clear them. */
INLINE void flush(uint k, sums_t *sums, __local uint *totals, __local uint *maxima) {
  #pragma unroll
  for (int j = 0; j < N_WIDTHS; j++) {
    uint total = sums->total[j], most = sums->greatest[j];
    sums->total[j] = sums->greatest[j] = 0u;
    if (HASH_LANES == 1) {
      total = sg_sum(total);
      most = sg_greatest(most);
    }
    if ((HASH_LANES > 1 || sg_lane() == 0) && total) {
      fetch_add(totals + k * N_WIDTHS + j, total);
      fetch_max(maxima + k * N_WIDTHS + j, most);
    }
  }
}

/* Mark the entries begin, begin + stride, ... of row v for hash k; returns the number of them that join the closed row. */
INLINE uint count_part(int v, uint k, offset_t begin, offset_t end, int stride, offset_t row_begin,
                       __global const int *restrict column_indices, __global const COLOR_T *restrict colors,
                       __local uint *bins) {
  uint members = 0u, own = METHOD == PAIRS ? color_of(v, k, colors) : 0u;
  (void)own;                     /* SORTED marks nothing here */
  for (offset_t e = begin; e < end; e += stride) {
    int u = column_indices[e];
    if (METHOD != PAIRS) members += u != v && (e == row_begin || column_indices[e - 1] != u);
    else if (u == v) continue;
#if METHOD == PAIRS && STAGES == 1
    members += (uint)u;
#elif METHOD != SORTED && STAGES == 2
    members += color_of(u, k, colors) ^ own;
#elif METHOD != SORTED && STAGES == 3
    mark(color_of(u, k, colors) ^ own, bins);
#endif
  }
  return members;
}

KERNEL count_rows(int n, int n_tiles, int tiles_per_group, __global const offset_t *restrict row_offsets,
                  __global const int *restrict column_indices, __global const int *restrict tile_rows,
                  __global const COLOR_T *restrict colors, volatile __global uint *counters) {
  LOCAL_ARRAY uint totals[N_COUNTERS], maxima[N_COUNTERS], bins[BINS * WG_SIZE];
#if METHOD == SORTED
  LOCAL_ARRAY uint workspace[WORKSPACE];
#endif
  sums_t sums;
  int first_tile = (int)get_group_id(0) * tiles_per_group, lane = get_local_id(0) % HASH_LANES;
  __local uint *own_bins = bins + get_local_id(0);
  uint seen = 0u;
  clear_sums(totals, maxima);
  clear_sums_of(&sums);
  for (int b = 0; b < BINS; b++) own_bins[b * WG_SIZE] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = first_tile; t < min(n_tiles, first_tile + tiles_per_group); t++) {
    int first = tile_rows[t], stop = tile_rows[t + 1];
    for (int round = 0; round < ROUNDS; round++) {
      uint k = (uint)(lane + round);
      for (int v = first + (int)get_local_id(0) / HASH_LANES; v < stop; v += SLOTS) {
        offset_t begin = row_offsets[v], end = row_offsets[v + 1];
        if (end == begin || end - begin > LONG_ROW || k >= N_HASHES) continue;
        uint members = count_part(v, k, begin, end, 1, begin, column_indices, colors, own_bins);
        if (STAGES < 3) {
          seen ^= members;
          continue;
        }
#if METHOD == SORTED
        int size = (int)(end - begin) + 1, place = (int)(begin - row_offsets[first]) + v - first;
        __local uint *keys = keys_at(workspace, place, lane, size);
        keep_sorted(v, k, size, members, begin, column_indices, colors, keys, own_bins, &sums);
#else
        keep_row(v, k, members, colors, own_bins, &sums);
#endif
      }
      if (HASH_LANES < N_HASHES) flush(k, &sums, totals, maxima);
    }
#if METHOD == SORTED && LAYOUT == COMPACT
    barrier(CLK_LOCAL_MEM_FENCE);  /* the next tile's rows lie elsewhere */
#endif
  }
  if (HASH_LANES >= N_HASHES) flush((uint)lane, &sums, totals, maxima);
  barrier(CLK_LOCAL_MEM_FENCE);
  publish_sums(totals, maxima, counters);
  if (STAGES < 3 && seen == 0xdeadbeefu) counters[0] = seen;
}

#if METHOD != SORTED
/* Move the marks and members of the lane's other slots to its first slot; returns the members of all. */
INLINE uint gather_slots(int lane, __local const uint *members, __local uint *bins) {
  uint in_row = members[lane];
  for (int s = 1; s < SLOTS; s++) {
    in_row += members[lane + s * HASH_LANES];
    for (int b = 0; b < BINS; b++) merge(bins + b * WG_SIZE + lane, bins + b * WG_SIZE + lane + s * HASH_LANES);
  }
  return in_row;
}

/* Group g takes every get_num_groups-th of the long rows. */
KERNEL count_split_rows(int n, int n_long, __global const offset_t *restrict row_offsets,
                        __global const int *restrict column_indices, __global const int *restrict long_rows,
                        __global const COLOR_T *restrict colors, volatile __global uint *counters) {
  LOCAL_ARRAY uint totals[N_COUNTERS], maxima[N_COUNTERS], bins[BINS * WG_SIZE], members[WG_SIZE];
  sums_t sums;
  int lane = get_local_id(0) % HASH_LANES, slot = get_local_id(0) / HASH_LANES;
  __local uint *own_bins = bins + get_local_id(0);
  clear_sums(totals, maxima);
  for (int b = 0; b < BINS; b++) own_bins[b * WG_SIZE] = 0u;
  for (int row = get_group_id(0); row < n_long; row += get_num_groups(0)) {
    int v = long_rows[row];
    offset_t begin = row_offsets[v], end = row_offsets[v + 1];
    for (int round = 0; round < ROUNDS; round++) {
      uint k = (uint)(lane + round);
      if (k < N_HASHES)
        members[get_local_id(0)] = count_part(v, k, begin + slot, end, SLOTS, begin, column_indices, colors, own_bins);
      barrier(CLK_LOCAL_MEM_FENCE);
      if (k < N_HASHES && slot == 0) {
        clear_sums_of(&sums);
        keep_row(v, k, gather_slots(lane, members, bins), colors, own_bins, &sums);
        #pragma unroll
        for (int j = 0; j < N_WIDTHS; j++) {
          totals[k * N_WIDTHS + j] += sums.total[j];
          maxima[k * N_WIDTHS + j] = max(maxima[k * N_WIDTHS + j], sums.greatest[j]);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  publish_sums(totals, maxima, counters);
}
#endif
