/* Collisions at distance 1 or 2, a work-item one hash of a row at a time.
 *
 * HASH_LANES work-items share a row, each with another hash: 1, or at least N_HASHES, so that a sub-group takes one row
 * or a few and reads their neighbours' colours side by side.  A work-group takes consecutive tiles of rows
 * (prepare.h), WG_SIZE / HASH_LANES rows at a time.
 *
 * METHOD says how all widths are counted at once:
 * PAIRS    distance 1: two vertices collide at all widths up to the number of low bits in which their colours agree; a
 *          histogram of that number, summed from above, gives the collisions of a row at every width.
 * SORTED   distance 2: the colours of the closed row, bits reversed, are sorted by Batcher's odd-even merge network, cut
 *          to the row's length; the histogram is that of neighbours in order, and at width b there is one colour more
 *          than there are pairs that agree in fewer than b bits.  A work-item sorts in a part of local memory of its own:
 *          PADDED gives each a multiple of the bank count and one more, so that the lanes of a sub-group meet
 *          in no bank; COMPACT lays rows one behind the other, which takes less room and lets banks conflict.
 *          Rows of more than LONG_ROW neighbours are left to sorted.cl.
 * BITMAP   distance 2: a work-item has a bitmap of the 2^MAX_BITS colours in local memory, word w of all work-items
 *          side by side; it counts what is set, and folds the bitmap in half for the width below.
 *
 * A closed row is a set of vertices: in sorted rows, parallel entries follow each other.
 *
 * count_split_rows: a work-group a row of more than LONG_ROW neighbours (PAIRS and BITMAP): its slots take every
 * WG_SIZE / HASH_LANES-th entry, and the first of them adds up.
 */
#include "common/subgroup.h"
#include "hash_collisions/counters.h"

#define PAIRS 1
#define SORTED 2
#define BITMAP 3
#ifndef METHOD
#define METHOD PAIRS
#endif
#define PADDED 1
#define COMPACT 2
#ifndef LAYOUT
#define LAYOUT PADDED
#endif
#ifndef HASH_LANES
#define HASH_LANES 16
#endif
#ifndef HASH_STRIDE              /* colours of a vertex in the table */
#define HASH_STRIDE 16
#endif
#ifndef COLOR_T
#define COLOR_T ushort
#endif
#ifndef LONG_ROW
#define LONG_ROW 1023
#endif
#ifndef STRIDE                   /* PADDED: words of a work-item */
#define STRIDE 65
#endif
#ifndef WORKSPACE                /* SORTED: words of a work-group */
#define WORKSPACE (STRIDE * WG_SIZE)
#endif
#ifndef EVALUATE                 /* hashes are evaluated for every entry in place of looked up; not if SORTED */
#define EVALUATE 0
#endif
#ifndef STAGES                   /* 1: only the neighbours are read; 2: the colours, too; for benchmarks */
#define STAGES 3
#endif

#define SLOTS (WG_SIZE / HASH_LANES)
#define ROUNDS (HASH_LANES < N_HASHES ? N_HASHES : 1)
#if METHOD == BITMAP
#define BINS (MAX_BITS > 5 ? 1 << (MAX_BITS - 5) : 1)
#else
#define BINS (MAX_BITS + 1)
#endif
#define IS_COUNTED(bits) (WIDTH_MASK >> (bits) & 1u)
#define INDEX_OF(bits) (popcount(WIDTH_MASK & ((1u << (bits)) - 1u)))

typedef struct {
  uint total[N_WIDTHS], greatest[N_WIDTHS];
} sums_t;

INLINE uint color_of(int v, uint k, __global const COLOR_T *restrict colors) {
#if EVALUATE
  return hash_one(k, (uint)v) & ((1u << MAX_BITS) - 1u);
#else
  return colors[(size_t)v * HASH_STRIDE + k];
#endif
}

INLINE void keep(uint bits, uint count, sums_t *sums) {
  uint j = INDEX_OF(bits);
  sums->total[j] += count;
  sums->greatest[j] = max(sums->greatest[j], count);
}

#if METHOD != BITMAP
/* The number of low bits in which colours agree that differ in these bits, MAX_BITS at most. */
INLINE uint agreeing(uint differ) {
#if METHOD == SORTED
  return (uint)clz(differ) - (32u - MAX_BITS);       /* reversed */
#else
  return lowest_lane(differ | 1u << MAX_BITS);
#endif
}

/* bins[b * WG_SIZE]: pairs that agree in b bits; they are cleared.  excess: what of them is no collision. */
INLINE void keep_bins(uint excess, __local uint *bins, sums_t *sums) {
  uint sum = 0u;
  #pragma unroll
  for (int bits = MAX_BITS; bits > 0; bits--) {
    sum += bins[bits * WG_SIZE];
    bins[bits * WG_SIZE] = 0u;
    if (IS_COUNTED(bits)) keep(bits, sum - excess, sums);
  }
}
#endif

#if METHOD == SORTED
INLINE void sort_network(__local uint *keys, int n) {
  for (int p = 1; p < n; p *= 2)
    for (int k = p; k > 0; k /= 2)
      for (int start = k == p ? 0 : k; start + k < n; start += 2 * k)
        for (int i = start; i < min(start + k, n - k); i++)
          if (((i ^ (i + k)) & ~(2 * p - 1)) == 0) {
            uint a = keys[i], b = keys[i + k];
            keys[i] = min(a, b);
            keys[i + k] = max(a, b);
          }
}
#endif

#if METHOD == BITMAP
INLINE void mark(uint color, __local uint *words) { words[(color >> 5) * WG_SIZE] |= 1u << (color & 31u); }

/* Count the colours of each width, of a set of this many vertices, and clear the bitmap. */
INLINE void keep_bitmap(uint members, __local uint *words, sums_t *sums) {
  for (int bits = MAX_BITS; bits > 5; bits--) {
    uint n_colors = 0u;
    int half_size = 1 << max(0, bits - 6);
    for (int w = 0; w < half_size; w++) {
      uint low = words[w * WG_SIZE], high = words[(w + half_size) * WG_SIZE];
      n_colors += popcount(low) + popcount(high);
      words[w * WG_SIZE] = low | high;
      words[(w + half_size) * WG_SIZE] = 0u;
    }
    #pragma unroll
    for (int counted = 6; counted <= MAX_BITS; counted++)
      if (counted == bits && IS_COUNTED(counted)) keep(counted, members - n_colors, sums);
  }
  uint word = words[0];
  words[0] = 0u;
  #pragma unroll
  for (int bits = 5; bits > 0; bits--) {
    if (bits > MAX_BITS) continue;
    if (IS_COUNTED(bits)) keep(bits, members - popcount(word), sums);
    word = (word | word >> (1u << (bits - 1))) & ((1u << (1u << (bits - 1))) - 1u);
  }
}
#endif

/* Add what every work-item has counted of hash k to local memory, and clear it. */
INLINE void flush(uint k, sums_t *sums, __local uint *totals, __local uint *maxima) {
  #pragma unroll
  for (int j = 0; j < N_WIDTHS; j++) {
    uint total = sums->total[j], most = sums->greatest[j];
    sums->total[j] = sums->greatest[j] = 0u;
#if HASH_LANES == 1
    total = sg_sum(total);
    most = sg_greatest(most);
    if (sg_lane() == 0 && total) {
#else
    if (total) {
#endif
      fetch_add(totals + k * N_WIDTHS + j, total);
      fetch_max(maxima + k * N_WIDTHS + j, most);
    }
  }
}

INLINE void clear_sums_of(sums_t *sums) {
  #pragma unroll
  for (int j = 0; j < N_WIDTHS; j++) sums->total[j] = sums->greatest[j] = 0u;
}

/* Count the entries begin, begin + stride, ... of row v for hash k; returns how many join a closed row. */
INLINE uint count_part(int v, uint k, offset_t begin, offset_t end, int stride, offset_t row_begin,
                       __global const int *restrict column_indices, __global const COLOR_T *restrict colors,
                       __local uint *bins) {
  uint members = 0u;
#if METHOD == PAIRS
  uint own = color_of(v, k, colors);
  for (offset_t e = begin; e < end; e += stride) {
    int u = column_indices[e];
    if (u == v) continue;
#if STAGES == 1
    members += (uint)u;
#elif STAGES == 2
    members += color_of(u, k, colors) ^ own;
#else
    bins[agreeing(color_of(u, k, colors) ^ own) * WG_SIZE] += 1u;
#endif
  }
#else
  for (offset_t e = begin; e < end; e += stride) {
    int u = column_indices[e];
    members += u != v && (e == row_begin || column_indices[e - 1] != u);
#if METHOD == BITMAP && STAGES == 2
    members += color_of(u, k, colors);
#elif METHOD == BITMAP && STAGES == 3
    mark(color_of(u, k, colors), bins);
#endif
  }
#endif
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
  uint seen = 0u;
  clear_sums(totals, maxima);
  clear_sums_of(&sums);
  for (int b = 0; b < BINS; b++) bins[b * WG_SIZE + get_local_id(0)] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int t = first_tile; t < min(n_tiles, first_tile + tiles_per_group); t++) {
    int first = tile_rows[t], stop = tile_rows[t + 1];
    for (int round = 0; round < ROUNDS; round++) {
      uint k = (uint)(lane + round);
      for (int v = first + (int)get_local_id(0) / HASH_LANES; v < stop; v += SLOTS) {
        offset_t begin = row_offsets[v], end = row_offsets[v + 1];
        if (end == begin || end - begin > LONG_ROW || k >= N_HASHES) continue;
        __local uint *own_bins = bins + get_local_id(0);
        uint members = count_part(v, k, begin, end, 1, begin, column_indices, colors, own_bins);
#if STAGES < 3
        seen ^= members;
#elif METHOD == PAIRS
        keep_bins(members, own_bins, &sums);  /* of pairs none is too many */
#elif METHOD == BITMAP
        mark(color_of(v, k, colors), own_bins);
        keep_bitmap(members + 1u, own_bins, &sums);
#else
        int size = (int)(end - begin) + 1;
#if LAYOUT == PADDED
        __local uint *keys = workspace + get_local_id(0) * STRIDE;
#else
        __local uint *keys = workspace + ((int)(begin - row_offsets[first]) + v - first) * HASH_LANES + lane * size;
#endif
        for (int i = 1; i < size; i++) keys[i] = color_of(column_indices[begin + i - 1], k, colors);
        keys[0] = color_of(v, k, colors);
        sort_network(keys, size);
        for (int i = 1; i < size; i++) own_bins[agreeing(keys[i] ^ keys[i - 1]) * WG_SIZE] += 1u;
        keep_bins((uint)size - 1u - members, own_bins, &sums);
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
/* Group g takes every get_num_groups-th of the long rows. */
KERNEL count_split_rows(int n, int n_long, __global const offset_t *restrict row_offsets,
                        __global const int *restrict column_indices, __global const int *restrict long_rows,
                        __global const COLOR_T *restrict colors, volatile __global uint *counters) {
  LOCAL_ARRAY uint totals[N_COUNTERS], maxima[N_COUNTERS], bins[BINS * WG_SIZE], members[WG_SIZE];
  sums_t sums;
  int lane = get_local_id(0) % HASH_LANES, slot = get_local_id(0) / HASH_LANES;
  clear_sums(totals, maxima);
  for (int b = 0; b < BINS; b++) bins[b * WG_SIZE + get_local_id(0)] = 0u;
  for (int row = get_group_id(0); row < n_long; row += get_num_groups(0)) {
    int v = long_rows[row];
    offset_t begin = row_offsets[v], end = row_offsets[v + 1];
    for (int round = 0; round < ROUNDS; round++) {
      uint k = (uint)(lane + round);
      if (k < N_HASHES)
        members[get_local_id(0)] = count_part(v, k, begin + slot, end, SLOTS, begin, column_indices, colors,
                                              bins + get_local_id(0));
      barrier(CLK_LOCAL_MEM_FENCE);
      if (k < N_HASHES && slot == 0) {
        __local uint *own_bins = bins + lane;
        uint in_row = members[lane];
        for (int s = 1; s < SLOTS; s++) {
          in_row += members[lane + s * HASH_LANES];
          for (int b = 0; b < BINS; b++) {
            __local uint *other = own_bins + b * WG_SIZE + s * HASH_LANES;
#if METHOD == BITMAP
            own_bins[b * WG_SIZE] |= *other;
#else
            own_bins[b * WG_SIZE] += *other;
#endif
            *other = 0u;
          }
        }
        clear_sums_of(&sums);
#if METHOD == BITMAP
        mark(color_of(v, k, colors), own_bins);
        keep_bitmap(in_row + 1u, own_bins, &sums);
#else
        keep_bins(in_row, own_bins, &sums);
#endif
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
