/* Collisions at distance 1 of up to 16 hashes and 31 widths at once, by bit planes; a work-item takes a row.
 *
 * A work-group takes consecutive tiles of rows (prepare.h).  It loads the neighbours of a tile into local memory, and each
 * of its work-items takes every WG_SIZE-th row.  Two vertices collide at a width if all bit planes of that width agree.
 * So an exclusive or per word, and an AND with the agreement at the width before, test 2 x 16 pairs of hash and width at
 * once.  Self-loops start with no agreement, so they do not count.  Counting is bitwise too (slices.h): full adders of
 * three words each count BATCH neighbours before a carry moves to the higher slices.
 *
 * count_long_rows: a work-group takes a row of more than LONG_ROW neighbours and loads it piece by piece; work-items take
 * every WG_SIZE-th neighbour.
 *
 * Races: the counters of a work-group and of the device (counters.h) are changed by atomics only.  Everything else has one
 * writer, and barriers separate loading a tile, reading it, and loading the next.
 *
 * STAGES 1 only loads the neighbours, STAGES 2 also counts but keeps nothing: for benchmarks, with wrong results.
 */
#include "common/bits.h"
#include "hash_collisions/slices.h"

#ifndef TILE_STEP
#define TILE_STEP 4096
#endif
#ifndef LONG_ROW
#define LONG_ROW 63
#endif
#ifndef BATCH                    /* neighbours counted before a carry moves on: 4 or 8 */
#define BATCH 8
#endif
#ifndef STAGES
#define STAGES 3
#endif
#define TILE (TILE_STEP + LONG_ROW)        /* entries that a tile may have */
#define TILE_QUADS ((TILE + 3 + 3) / 4)    /* up to three words before them align the loads */
#define PIECE_LIMIT (WG_SIZE * ((1 << SLICES) - 1))
#define PIECE (TILE < PIECE_LIMIT ? TILE : PIECE_LIMIT)

/* Copies entries begin ... begin + size - 1; entry i is then tile[i - begin + the result]. */
INLINE int load_tile(offset_t begin, int size, __global const int *restrict column_indices, __local int4 *tile) {
  int shift = (int)(begin & 3), words = size + shift, quads = words / 4;
  __global const int *from = column_indices + (begin - shift);
  #pragma unroll 4
  for (int q = get_local_id(0); q < quads; q += WG_SIZE) tile[q] = ((__global const int4 *)from)[q];
  for (int i = 4 * quads + get_local_id(0); i < words; i += WG_SIZE) ((__local int *)tile)[i] = from[i];
  return shift;
}

/* Finds the agreement of v, whose words are own, with the vertex of this entry; no bits if the entry does not exist. */
INLINE void agreement(int exists, __local const int *entry, int n, int v, __global const uint *restrict planes,
                      const uint *own, uint *agree) {
  #pragma unroll
  for (int i = 0; i < WORDS; i++) agree[i] = 0u;
  if (!exists) return;
  int u = *entry;
  uint words[TABLE_WORDS], alive = u != v ? ~0u : 0u, sum = alive;
  load_planes(n, u, planes, words);
  #pragma unroll
  for (int i = 0; i < TABLE_WORDS; i++) sum = and_equal(sum, words[i], own[i]);
  sum = (alive & 0xffffu) | sum << 16;
  #pragma unroll
  for (int i = 0; i < WORDS; i++) {
    #pragma unroll
    for (int l = 0; l < LAYERS; l++) sum = and_equal(sum, words[i * LAYERS + l], own[i * LAYERS + l]);
    agree[i] = sum;
  }
}

/* Count four entries, of which only the first `existing` exist; the carries `fours` have weight 4. */
INLINE void count_four(int existing, __local const int *entries, int stride, int n, int v,
                       __global const uint *restrict planes, const uint *own, uint (*counts)[WORDS], uint *fours) {
  uint a[WORDS], b[WORDS], c[WORDS], d[WORDS], first[WORDS], second[WORDS];
  agreement(existing > 0, entries, n, v, planes, own, a);
  agreement(existing > 1, entries + stride, n, v, planes, own, b);
  agreement(existing > 2, entries + 2 * stride, n, v, planes, own, c);
  agreement(existing > 3, entries + 3 * stride, n, v, planes, own, d);
  full_add(counts[0], a, b, first);
  full_add(counts[0], c, d, second);
  full_add(counts[1], first, second, fours);
}

/* Count the collisions of v with count entries, each stride words after the one before. */
INLINE void count_entries(int count, __local const int *entries, int stride, int n, int v,
                          __global const uint *restrict planes, const uint *own, uint (*counts)[WORDS]) {
  uint carry[WORDS];
  int q = 0;
#if BATCH == 8
  for (; q + 8 <= count; q += 8) {
    uint fours[WORDS];
    count_four(4, entries + q * stride, stride, n, v, planes, own, counts, fours);
    count_four(4, entries + (q + 4) * stride, stride, n, v, planes, own, counts, carry);
    full_add(counts[2], fours, carry, carry);
    ripple(counts, 3, carry);
  }
#endif
  for (; q + 4 <= count; q += 4) {
    count_four(4, entries + q * stride, stride, n, v, planes, own, counts, carry);
    ripple(counts, 2, carry);
  }
  if (q < count) {
    count_four(count - q, entries + q * stride, stride, n, v, planes, own, counts, carry);
    ripple(counts, 2, carry);
  }
}

/* Count row v, whose entries lie in local memory. */
INLINE void count_row(int count, __local const int *entries, int n, int v, __global const uint *restrict planes,
                      uint (*counts)[WORDS]) {
  uint own[TABLE_WORDS];
  load_planes(n, v, planes, own);
  clear_counts(counts);
  count_entries(count, entries, 1, n, v, planes, own, counts);
}

/* Returns a value that depends on all counts, so that compilers do not remove them. */
INLINE uint mixed(uint (*counts)[WORDS]) {
  uint all = 0u;
  #pragma unroll
  for (int s = 0; s < SLICES; s++)
    #pragma unroll
    for (int i = 0; i < WORDS; i++) all ^= counts[s][i];
  return all;
}

/* A group takes tiles_per_group consecutive tiles, tile t the rows tile_rows[t] ... tile_rows[t + 1] - 1. */
KERNEL count_tiles(int n, int n_tiles, int tiles_per_group, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const int *restrict tile_rows,
                   __global const uint *restrict planes, volatile __global uint *counters) {
  LOCAL_ARRAY int4 tile[TILE_QUADS];
  LOCAL_ARRAY uint totals[N_COUNTERS], maxima[N_COUNTERS];
  DECLARE_SUMS
  uint greatest[SLICES][WORDS];
  uint seen = 0u;
  int rounds = 0, first_tile = (int)get_group_id(0) * tiles_per_group;
  clear_sums(totals, maxima);
  clear_totals(sums);
  clear_counts(greatest);
  barrier(CLK_LOCAL_MEM_FENCE);  /* not for the sums, which wait for the barriers of a tile: PoCL's compiler aborts
                                  * the process without it where offsets are long */
  for (int t = first_tile; t < min(n_tiles, first_tile + tiles_per_group); t++) {
    int first = tile_rows[t], stop = tile_rows[t + 1];
    offset_t begin = row_offsets[first];
    int size = (int)min(row_offsets[stop] - begin, (offset_t)TILE);
    int shift = load_tile(begin, size, column_indices, tile);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (STAGES == 1)
      for (int i = get_local_id(0); i < size; i += WG_SIZE) seen |= (uint)((__local int *)tile)[i];
    for (int base = first; STAGES > 1 && base < stop; base += WG_SIZE) {
      const int v = base + get_local_id(0);
      const offset_t from = v < stop ? row_offsets[v] : begin;
      const int count = v < stop ? (int)min(row_offsets[v + 1] - from, (offset_t)(LONG_ROW + 1)) : 0;
      if (count && count <= LONG_ROW) {
        uint counts[SLICES][WORDS];
        count_row(count, (__local const int *)tile + shift + (int)(from - begin), n, v, planes, counts);
        if (STAGES == 2) seen ^= mixed(counts);
        if (STAGES == 3) keep_greater(greatest, counts);
        if (STAGES == 3) add_row(sums, counts);
      }
      if (STAGES == 3 && ++rounds == 1 << FLUSH_LOG) {
        flush_sums(sums, totals);
        rounds = 0;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (STAGES == 3) {
    flush_sums(sums, totals);
    flush_greatest(greatest, maxima);
    barrier(CLK_LOCAL_MEM_FENCE);
    publish_sums(totals, maxima, counters);
  } else if (seen == 0xdeadbeefu) {
    counters[0] = seen;
  }
}

/* Group g takes every get_num_groups-th of the long rows. */
KERNEL count_long_rows(int n, int n_long, __global const offset_t *restrict row_offsets,
                       __global const int *restrict column_indices, __global const int *restrict long_rows,
                       __global const uint *restrict planes, volatile __global uint *counters) {
  LOCAL_ARRAY int4 tile[TILE_QUADS];
  LOCAL_ARRAY uint totals[N_COUNTERS], maxima[N_COUNTERS];
  DECLARE_SUMS
  uint own[TABLE_WORDS], counts[SLICES][WORDS];
  for (int row = get_group_id(0); row < n_long; row += get_num_groups(0)) {
    int v = long_rows[row], rounds = 0;
    offset_t end = row_offsets[v + 1];
    clear_sums(totals, maxima);
    clear_totals(sums);
    load_planes(n, v, planes, own);
    for (offset_t begin = row_offsets[v]; begin < end; begin += PIECE) {
      int size = (int)min(end - begin, (offset_t)PIECE);
      int shift = load_tile(begin, size, column_indices, tile), lane = get_local_id(0);
      barrier(CLK_LOCAL_MEM_FENCE);
      clear_counts(counts);
      count_entries(max(0, (size - lane + WG_SIZE - 1) / WG_SIZE), (__local const int *)tile + shift + lane, WG_SIZE, n,
                    v, planes, own, counts);
      add_row(sums, counts);
      if (++rounds == 1 << FLUSH_LOG) {
        flush_sums(sums, totals);
        rounds = 0;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    flush_sums(sums, totals);
    barrier(CLK_LOCAL_MEM_FENCE);
    publish_sums(totals, totals, counters);  /* the counters that this work-item clears next */
  }
}
