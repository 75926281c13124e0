/* Bit-sliced counters: slice s is a word with bit s of 32 counters, one for each pair of hash and width in a word of
 * planes (planes.h).
 *
 * A row's counts have SLICES slices.  They are compared with the greatest counts so far, by the borrow of a subtraction
 * and a selection.  They are added to the sums of a work-item, whose TOTAL_SLICES slices suffice for 2^FLUSH_LOG rows.
 * Only a flush converts 32 counters into 32 numbers: the lanes of a sub-group exchange slices and add them up, and each
 * lane then adds some counters to the work-group's.
 *
 * After R. Harley's and H. S. Warren's carry-save counting: "Hacker's Delight", section 5-1.
 */
#ifndef CLGRAPH_SLICES_H
#define CLGRAPH_SLICES_H
#include "common/subgroup.h"
#include "hash_collisions/planes.h"

#ifndef SLICES                   /* a row has less than 2^SLICES entries; 2^SLICES is at least BATCH */
#define SLICES 6
#endif
#ifndef FLUSH_LOG
#define FLUSH_LOG 3
#endif
#ifndef LOCAL_SUMS               /* 1: sums are in local memory, which saves registers */
#define LOCAL_SUMS 1
#endif
#define TOTAL_SLICES (SLICES + FLUSH_LOG)
#if LOCAL_SUMS                   /* work-items' words stand side by side */
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
#define SUB_GROUP_LOG (SUB_GROUP_SIZE >= 64 ? 6 : SUB_GROUP_SIZE >= 32 ? 5 : SUB_GROUP_SIZE >= 16 ? 4 \
                       : SUB_GROUP_SIZE >= 8 ? 3 : SUB_GROUP_SIZE >= 4 ? 2 : 0)
#if DEV_IS_CPU && SUB_GROUP_SIZE > 1  /* exchanges are emulated: unrolled, they make a compiler take minutes */
#define UNROLLED _Pragma("unroll 1")
#else
#define UNROLLED _Pragma("unroll")
#endif

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

/* Add the counts of a row to the sums. */
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

/* In each counter where counts is greater than greatest, greatest becomes counts. */
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

/* Returns the counter of bit p of word i, or -1. */
INLINE int counter_of(int i, uint p) {
  int k = (int)(p & 15u), j = i + (int)(p >> 4) * WORDS;
  return k < N_HASHES && j < N_WIDTHS ? k * N_WIDTHS + j : -1;
}

/* Add the sums of all lanes to local memory and clear them; every lane of the sub-group calls. */
INLINE void flush_sums(SUMS_SPACE uint *sums, __local uint *totals) {
  UNROLLED
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
  UNROLLED
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
#endif
