/* Collisions at distance 1 of up to 16 hashes and 31 widths at once, by bit planes: a work-item a row.
 *
 * A work-group takes consecutive tiles of rows (prepare.h), loads the neighbours of each into local memory, and each
 * of its work-items takes every WG_SIZE-th row.  Two vertices collide at a width where all its planes agree, so an
 * exclusive or of each word, and an and with what agreed at the width before, tells of 2 x 16 pairs of hash and width
 * at once; the self-loops of a row begin with nothing that agrees.
 *
 * Counting is bitwise, too: slice s of a number is a word that holds bit s of 32 counters, and full adders of three
 * words each (Harley and Seal's tree) count BATCH neighbours before a carry moves through the other slices.  A row's
 * SLICES slices are compared with the greatest so far, which is a subtraction's borrow and a selection, and added to
 * TOTAL_SLICES slices of the sum of 2^FLUSH_LOG rows; that goes to local memory, added up over the sub-group by exchanges
 * of slices.  Only there 32 counters become as many numbers.
 *
 * count_long_rows: a work-group a row of more than LONG_ROW neighbours, which it loads piece by piece; work-items take
 * every WG_SIZE-th of them.
 *
 * STAGES 1 only loads the neighbours, STAGES 2 also counts but keeps nothing: for benchmarks, with wrong results.
 */
#include "common/bits.h"
#include "common/subgroup.h"
#include "hash_collisions/planes.h"

#ifndef TILE_STEP
#define TILE_STEP 4096
#endif
#ifndef LONG_ROW
#define LONG_ROW 63
#endif
#ifndef SLICES                   /* LONG_ROW < 2^SLICES, and BATCH <= 2^SLICES */
#define SLICES 6
#endif
#ifndef BATCH                    /* 4 or 8: one carry through all slices for so many entries */
#define BATCH 8
#endif
#ifndef FLUSH_LOG
#define FLUSH_LOG 3
#endif
#ifndef LOCAL_SUMS               /* sums stand in local memory, which saves registers */
#define LOCAL_SUMS 0
#endif
#ifndef STAGES
#define STAGES 3
#endif
/* Where exchanges are emulated, unrolled ones make a compiler take minutes. */
#define ROLLED_UP (DEV_IS_CPU && SUB_GROUP_SIZE > 1)
#define TOTAL_SLICES (SLICES + FLUSH_LOG)
#if LOCAL_SUMS
#define SUMS_SPACE __local
#define SLICE_AT(s, i) (((s) * WORDS + (i)) * WG_SIZE)
#define DECLARE_SUMS                                                   \
  LOCAL_ARRAY uint all_sums[TOTAL_SLICES * WORDS * WG_SIZE];           \
  __local uint *sums = all_sums + get_local_id(0);
#else
#define SUMS_SPACE
#define SLICE_AT(s, i) ((s) * WORDS + (i))
#define DECLARE_SUMS uint sums[TOTAL_SLICES * WORDS];
#endif
#define TILE (TILE_STEP + LONG_ROW)        /* entries that a tile may have */
#define TILE_QUADS ((TILE + 3 + 3) / 4)    /* up to three words before them align the loads */
#define PIECE_LIMIT (WG_SIZE * ((1 << SLICES) - 1))
#define PIECE (TILE < PIECE_LIMIT ? TILE : PIECE_LIMIT)

#if SUB_GROUP_SIZE >= 64
#define SUB_GROUP_LOG 6
#elif SUB_GROUP_SIZE >= 32
#define SUB_GROUP_LOG 5
#elif SUB_GROUP_SIZE >= 16
#define SUB_GROUP_LOG 4
#elif SUB_GROUP_SIZE >= 8
#define SUB_GROUP_LOG 3
#elif SUB_GROUP_SIZE >= 4
#define SUB_GROUP_LOG 2
#else
#define SUB_GROUP_LOG 0
#endif

/* Copies entries begin ... begin + size - 1; entry i is then tile[i - begin + the result]. */
INLINE int load_tile(offset_t begin, int size, __global const int *restrict column_indices, __local int4 *tile) {
  int shift = (int)(begin & 3), words = size + shift, quads = words / 4;
  __global const int *from = column_indices + (begin - shift);
  #pragma unroll 4
  for (int q = get_local_id(0); q < quads; q += WG_SIZE) tile[q] = ((__global const int4 *)from)[q];
  for (int i = 4 * quads + get_local_id(0); i < words; i += WG_SIZE) ((__local int *)tile)[i] = from[i];
  return shift;
}

/* What agrees between v, whose words are own, and entry q of its row; nothing beyond the row's end. */
INLINE void agreement(int q, int count, int checked, int n, int v, __local const int *entries, int stride,
                      __global const uint *restrict planes, const uint *own, uint *agree) {
  #pragma unroll
  for (int i = 0; i < WORDS; i++) agree[i] = 0u;
  if (checked && q >= count) return;
  int u = entries[q * stride];
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

INLINE void full_add(uint *sum, const uint *a, const uint *b, uint *carry) {
  #pragma unroll
  for (int i = 0; i < WORDS; i++) {
    uint x = sum[i], y = a[i], z = b[i];
    carry[i] = (x & y) | (z & (x | y));
    sum[i] = x ^ y ^ z;
  }
}

/* Add carries of weight 2^from, which is at least 4. */
INLINE void ripple(uint (*counts)[WORDS], int from, uint *carry) {
  #pragma unroll
  for (int s = 2; s < SLICES; s++)
    if (s >= from) {
      #pragma unroll
      for (int i = 0; i < WORDS; i++) {
        uint both = counts[s][i] & carry[i];
        counts[s][i] ^= carry[i];
        carry[i] = both;
      }
    }
}

#define ROW_ARGUMENTS_ count, checked, n, v, entries, stride, planes, own
INLINE void count_four(int q, int count, int checked, int n, int v, __local const int *entries, int stride,
                       __global const uint *restrict planes, const uint *own, uint (*counts)[WORDS], uint *fours) {
  uint a[WORDS], b[WORDS], c[WORDS], d[WORDS], first[WORDS], second[WORDS];
  agreement(q, ROW_ARGUMENTS_, a);
  agreement(q + 1, ROW_ARGUMENTS_, b);
  agreement(q + 2, ROW_ARGUMENTS_, c);
  agreement(q + 3, ROW_ARGUMENTS_, d);
  full_add(counts[0], a, b, first);
  full_add(counts[0], c, d, second);
  full_add(counts[1], first, second, fours);
}

/* Count the collisions of v with count entries, each stride words after the one before. */
INLINE void count_entries(int count, int n, int v, __local const int *entries, int stride,
                          __global const uint *restrict planes, const uint *own, uint (*counts)[WORDS]) {
  uint carry[WORDS];
  int q = 0, checked = 0;
#if BATCH == 8
  for (; q + 8 <= count; q += 8) {
    uint fours[WORDS];
    count_four(q, ROW_ARGUMENTS_, counts, fours);
    count_four(q + 4, ROW_ARGUMENTS_, counts, carry);
    full_add(counts[2], fours, carry, carry);
    ripple(counts, 3, carry);
  }
#endif
  for (; q + 4 <= count; q += 4) {
    count_four(q, ROW_ARGUMENTS_, counts, carry);
    ripple(counts, 2, carry);
  }
  if (q < count) {
    checked = 1;
    count_four(q, ROW_ARGUMENTS_, counts, carry);
    ripple(counts, 2, carry);
  }
}

INLINE void add_row(SUMS_SPACE uint *sums, uint (*counts)[WORDS]) {
  #pragma unroll
  for (int i = 0; i < WORDS; i++) {
    uint carry = 0u;
    #pragma unroll
    for (int s = 0; s < TOTAL_SLICES; s++) {
      SUMS_SPACE uint *sum = sums + SLICE_AT(s, i);
      uint x = *sum, y = s < SLICES ? counts[s < SLICES ? s : 0][i] : 0u;
      *sum = x ^ y ^ carry;
      carry = (x & y) | (carry & (x | y));
    }
  }
}

/* Where counts is the greater of the two numbers, greatest becomes counts. */
INLINE void keep_greater(uint (*greatest)[WORDS], uint (*counts)[WORDS]) {
  #pragma unroll
  for (int i = 0; i < WORDS; i++) {
    uint above = 0u;
    #pragma unroll
    for (int s = 0; s < SLICES; s++)
      above = (counts[s][i] & ~greatest[s][i]) | (~(counts[s][i] ^ greatest[s][i]) & above);
    #pragma unroll
    for (int s = 0; s < SLICES; s++) greatest[s][i] = bitselect(greatest[s][i], counts[s][i], above);
  }
}

INLINE void clear_counts(uint (*counts)[WORDS]) {
  #pragma unroll
  for (int s = 0; s < SLICES; s++)
    #pragma unroll
    for (int i = 0; i < WORDS; i++) counts[s][i] = 0u;
}

INLINE void clear_totals(SUMS_SPACE uint *sums) {
  #pragma unroll
  for (int at = 0; at < TOTAL_SLICES * WORDS; at++) sums[SLICE_AT(0, at)] = 0u;
}

/* The counter of bit p of word i, or -1. */
INLINE int counter_of(int i, uint p) {
  int k = (int)(p & 15u), j = i + (int)(p >> 4) * WORDS;
  return k < N_HASHES && j < N_WIDTHS ? k * N_WIDTHS + j : -1;
}

/* Add the sums of all lanes to local memory and clear them; every lane of the sub-group calls. */
INLINE void flush_sums(SUMS_SPACE uint *sums, __local uint *totals) {
#if ROLLED_UP
  #pragma unroll 1
#else
  #pragma unroll
#endif
  for (int i = 0; i < WORDS; i++) {
    uint slices[TOTAL_SLICES + SUB_GROUP_LOG];
    #pragma unroll
    for (int s = 0; s < TOTAL_SLICES; s++) {
      slices[s] = sums[SLICE_AT(s, i)];
      sums[SLICE_AT(s, i)] = 0u;
    }
    #pragma unroll
    for (int level = 0; level < SUB_GROUP_LOG; level++) {
      uint carry = 0u;
      #pragma unroll
      for (int s = 0; s < TOTAL_SLICES + SUB_GROUP_LOG; s++)
        if (s < TOTAL_SLICES + level) {
          uint x = slices[s], y = sg_xor(x, 1u << level);
          slices[s] = x ^ y ^ carry;
          carry = (x & y) | (carry & (x | y));
        }
      slices[TOTAL_SLICES + level] = carry;
    }
    for (uint p = sg_lane(); p < 32u; p += SUB_GROUP_SIZE) {
      int counter = counter_of(i, p);
      uint sum = 0u;
      #pragma unroll
      for (int s = 0; s < TOTAL_SLICES + SUB_GROUP_LOG; s++) sum += ((slices[s] >> p) & 1u) << s;
      if (counter >= 0 && sum) fetch_add(totals + counter, sum);
    }
  }
}

INLINE void flush_greatest(uint (*greatest)[WORDS], __local uint *maxima) {
#if ROLLED_UP
  #pragma unroll 1
#else
  #pragma unroll
#endif
  for (int level = 0; level < SUB_GROUP_LOG; level++) {
    uint other[SLICES][WORDS];
    #pragma unroll
    for (int s = 0; s < SLICES; s++)
      #pragma unroll
      for (int i = 0; i < WORDS; i++) other[s][i] = sg_xor(greatest[s][i], 1u << level);
    keep_greater(greatest, other);
  }
  #pragma unroll
  for (int i = 0; i < WORDS; i++)
    for (uint p = sg_lane(); p < 32u; p += SUB_GROUP_SIZE) {
      int counter = counter_of(i, p);
      uint most = 0u;
      #pragma unroll
      for (int s = 0; s < SLICES; s++) most |= ((greatest[s][i] >> p) & 1u) << s;
      if (counter >= 0) fetch_max(maxima + counter, most);
    }
}

/* A group takes tiles_per_group consecutive tiles, tile t the rows tile_rows[t] ... tile_rows[t + 1] - 1. */
KERNEL count_tiles(int n, int n_tiles, int tiles_per_group, __global const offset_t *restrict row_offsets,
                   __global const int *restrict column_indices, __global const int *restrict tile_rows,
                   __global const uint *restrict planes, volatile __global uint *counters) {
  LOCAL_ARRAY int4 tile[TILE_QUADS];
  LOCAL_ARRAY uint totals[N_COUNTERS], maxima[N_COUNTERS];
  DECLARE_SUMS
  uint greatest[SLICES][WORDS];
#if STAGES < 3
  uint seen = 0u;
#endif
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
#if STAGES == 1
    for (int i = get_local_id(0); i < size; i += WG_SIZE) seen |= (uint)((__local int *)tile)[i];
#else
    for (int base = first; base < stop; base += WG_SIZE) {
      int v = base + get_local_id(0);
      offset_t from = v < stop ? row_offsets[v] : begin;
      int count = v < stop ? (int)min(row_offsets[v + 1] - from, (offset_t)(LONG_ROW + 1)) : 0;
      if (count && count <= LONG_ROW) {
        uint own[TABLE_WORDS], counts[SLICES][WORDS];
        load_planes(n, v, planes, own);
        clear_counts(counts);
        count_entries(count, n, v, (__local const int *)tile + shift + (int)(from - begin), 1, planes, own, counts);
#if STAGES == 2
        #pragma unroll
        for (int s = 0; s < SLICES; s++)
          #pragma unroll
          for (int i = 0; i < WORDS; i++) seen ^= counts[s][i];
#else
        keep_greater(greatest, counts);
        add_row(sums, counts);
#endif
      }
#if STAGES == 3
      if (++rounds == 1 << FLUSH_LOG) {
        flush_sums(sums, totals);
        rounds = 0;
      }
#endif
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
  }
#if STAGES == 3
  flush_sums(sums, totals);
  flush_greatest(greatest, maxima);
  barrier(CLK_LOCAL_MEM_FENCE);
  publish_sums(totals, maxima, counters);
#else
  if (seen == 0xdeadbeefu) counters[0] = (uint)rounds;
#endif
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
      count_entries(max(0, (size - lane + WG_SIZE - 1) / WG_SIZE), n, v, (__local const int *)tile + shift + lane,
                    WG_SIZE, planes, own, counts);
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
