/* Validate CSR arrays of the user or of other kernels before any other kernel reads them.
 *
 * Each work-group takes a strided set of blocks of 1,024 offsets and of 1,024 entries.  A launch checks entries begin:end,
 * where begin is the end of the launch before.  So entries are checked while later ones are still being copied to the
 * device.  The first launch checks all offsets.  The first wrong block is reported; the host reads that block alone and
 * names the value.  Nothing beyond the n + 1 offsets and the size of the other arrays is read, whatever they contain.  The
 * facts about order, repeats and symmetry are valid only if nothing is wrong.
 *
 * Symmetry is tested by a sum: an entry above the diagonal adds a hash of its ends and its weight, and an entry below
 * subtracts the hash of its reverse.  The sum of a symmetric matrix is 0; the sum of another matrix is 0 with a
 * probability near 2^-60.  This needs no transposing or sorting.
 */
#include "data/rows.h"

#ifndef BLOCK
#define BLOCK 1024               /* positions of a block, which is reported as a whole */
#endif
#define STATE_OFFSET 0           /* first block with an offset below the one before, or ~0 */
#define STATE_COLUMN 1           /* first block with a column that is not a vertex, or ~0 */
#define STATE_WEIGHT 2           /* first block with a weight that is NaN, or ~0 */
#define STATE_DESCENTS 3         /* entries that are less than the one before in their row */
#define STATE_REPEATS 4          /* entries that equal the one before in their row */
#define STATE_LAST 5             /* the last offset, in two words */
#define STATE_SUM 7              /* in two words: 0 if the matrix is symmetric */
#define STATE_WORDS 9
#define WANTS_ORDER 1            /* also find order and repeats */
#define WANTS_SYMMETRY 2         /* also find symmetry */
#define WEIGHTS_NONE 0
#define WEIGHTS_INT 1
#define WEIGHTS_FLOAT 2
#ifndef WEIGHTS
#define WEIGHTS WEIGHTS_NONE
#endif
#ifndef WEIGHT_T                 /* uint or ulong, whatever the weights are: only their bits are read */
#define WEIGHT_T uint
#endif
#define SIGN_BIT (8 * sizeof(WEIGHT_T) - 1)
#define SIGN ((WEIGHT_T)(1ul << SIGN_BIT))
#define INFINITE_BITS (sizeof(WEIGHT_T) == 8 ? (WEIGHT_T)0x7ff0000000000000ul : (WEIGHT_T)0x7f800000ul)

/* A work-item alone in its group reads eight entries at a time; others read one. */
#if WG_SIZE == 1 && !defined(HOST_BUILD)
#define LANES 8
#define LANE_NUMBERS ((int8)(0, 1, 2, 3, 4, 5, 6, 7))
#define VECTOR(T) PASTE(T, 8)
#define MASK(comparison) (comparison)
#define UNSIGNED(ints) as_uint8(ints)
#define WIDE(uints) convert_ulong8(uints)
#define WIDE_MASK(mask) as_ulong8(convert_long8(mask))
#define LOAD(p) vload8(0, p)
#define LAST(x) ((x).s7)
#define TOTAL(x) ((x).s0 + (x).s1 + (x).s2 + (x).s3 + (x).s4 + (x).s5 + (x).s6 + (x).s7)
#define EXTREME(f, x) f(f(f((x).s0, (x).s1), f((x).s2, (x).s3)), f(f((x).s4, (x).s5), f((x).s6, (x).s7)))
#else
#define LANES 1
#define LANE_NUMBERS 0
#define VECTOR(T) T
#define MASK(comparison) (-(comparison))
#define UNSIGNED(ints) ((uint)(ints))
#define WIDE(uints) ((ulong)(uints))
#define WIDE_MASK(mask) ((ulong)(long)(mask))
#define LOAD(p) (*(p))
#define TOTAL(x) (x)
#define EXTREME(f, x) (x)
#endif
typedef VECTOR(int) ints_t;
typedef VECTOR(ulong) ulongs_t;
typedef VECTOR(WEIGHT_T) weights_t;

/* Returns integers in the order of the weights; -0.0 comes before 0.0. */
INLINE weights_t ordered(weights_t bits) {
#if WEIGHTS == WEIGHTS_FLOAT
  return bits ^ ((weights_t)0 - (bits >> (WEIGHT_T)SIGN_BIT) | SIGN);
#else
  return bits ^ SIGN;
#endif
}

#if LANES > 1
/* Returns, for each component, the sum of the components up to it. */
INLINE int8 running_sum(int8 x) {
  x += (int8)(0, x.s0, x.s1, x.s2, x.s3, x.s4, x.s5, x.s6);
  x += (int8)(0, 0, x.s0, x.s1, x.s2, x.s3, x.s4, x.s5);
  return x + (int8)(0, 0, 0, 0, x.s0, x.s1, x.s2, x.s3);
}
#endif

/* The findings of a work-item about the entries that it has read.  u is the row of the last one. */
typedef struct {
  ints_t descents, repeats;
  ulongs_t difference;
  weights_t least, greatest;
  int u;
} findings_t;

/* Report the first block of offsets with one below the offset before it. */
INLINE void check_offsets(int n, long first, long step, const __global offset_t *restrict row_offsets,
                          volatile __global uint *state) {
  const int lane = (int)get_local_id(0);
  for (long from = first; from <= n; from += step) {
    uint falls = 0u;
    if (!from && lane == 0) falls = row_offsets[0] != 0;
    for (long v = max(1l, from) + lane, end = min(n + 1l, from + BLOCK); v < end; v += WG_SIZE)
      falls |= row_offsets[v] < row_offsets[v - 1];
    if (falls) lower_to(state + STATE_OFFSET, (uint)(from / BLOCK));
  }
}

#if LANES > 1
/* Count the rows after u that start at each of the block's entries, and move u to the row of the first one.  Returns
 * whether a row starts there. */
INLINE int count_starts(int n, long from, int count, int *u, const __global offset_t *restrict row_offsets, int *starts) {
  for (int i = 0; i < BLOCK + LANES; i++) starts[i] = 0;
  *u = row_after(*u, from, n, row_offsets);
  for (int row = *u; row + 1 < n && row_offsets[row + 1] < from + count; row++)
    starts[clamp((int)(row_offsets[row + 1] - from), 0, BLOCK)]++;
  return !from || row_offsets[*u] >= from;
}
#endif

#if WEIGHTS != WEIGHTS_NONE
/* Take note of a weight.  Returns it with -0.0 replaced by 0.0, for the sum. */
INLINE weights_t check_weight(weights_t weight, weights_t *magnitude, findings_t *found) {
  found->least = min(found->least, ordered(weight));
  found->greatest = max(found->greatest, ordered(weight));
#if WEIGHTS == WEIGHTS_FLOAT
  *magnitude = max(*magnitude, weight & ~SIGN);
  weight = weight == SIGN ? (weights_t)0 : weight;
#endif
  return weight;
}
#endif

/* Returns the share of entries (row, v) in the sum.  x: a hash of their weights; is_there: which lanes have an entry. */
INLINE ulongs_t share_of_sum(ints_t row, ints_t v, ulongs_t x, ints_t is_there) {
  x ^= (WIDE(UNSIGNED(min(row, v))) << 32 | WIDE(UNSIGNED(max(row, v)))) * 0x9e3779b97f4a7c15ul;
  x ^= x >> 32;                  /* floating-point weights may differ in high bits only */
  x *= 0xbf58476d1ce4e5b9ul;
  x ^= x >> 29;
  const ulongs_t sign = WIDE_MASK(MASK(row > v)), proper = WIDE_MASK(is_there & MASK(row != v));
  return ((x ^ sign) - sign) & proper;
}

/* Check the entries from `from` on, at most BLOCK and none of m on. */
INLINE void check_block(int n, int wants, long from, long m, const __global offset_t *restrict row_offsets,
                        const __global int *restrict column_indices, const __global WEIGHT_T *restrict edge_weights,
                        volatile __global uint *state, findings_t *found) {
  const int count = (int)min((long)BLOCK, m - from);
  ints_t strays = 0;
  weights_t magnitude = (WEIGHT_T)0;
#if LANES > 1
  int starts[BLOCK + LANES], padded[1 + BLOCK + LANES], *columns = padded + 1;
  const int is_first = wants ? count_starts(n, from, count, &found->u, row_offsets, starts) : 0;
  columns[-1] = from ? column_indices[from - 1] : -1;
  for (int i = 0; i < count; i++) columns[i] = column_indices[from + i];
#if WEIGHTS != WEIGHTS_NONE
  WEIGHT_T weights[BLOCK + LANES];
  for (int i = 0; i < count; i++) weights[i] = edge_weights[from + i];
  for (int i = count; i < count + LANES; i++) weights[i] = edge_weights[from];
#endif
#else
  const __global int *columns = column_indices + from;
#if WEIGHTS != WEIGHTS_NONE
  const __global WEIGHT_T *weights = edge_weights + from;
#endif
#endif
  for (int i = (int)get_local_id(0) * LANES; i < count; i += WG_SIZE * LANES) {
    const ints_t v = LOAD(columns + i), is_there = MASK(LANE_NUMBERS + i < count);
    ulongs_t x = 0ul;
    strays |= is_there & MASK(UNSIGNED(v) >= (uint)n);
#if WEIGHTS != WEIGHTS_NONE
    x = WIDE(check_weight(LOAD(weights + i), &magnitude, found)) * 0xd6e8feb86659fd93ul;
#endif
    if (!wants) continue;
#if LANES > 1
    const ints_t begun = LOAD(starts + i), row = found->u + running_sum(begun), before = LOAD(columns + i - 1);
    const ints_t goes_on = MASK(begun == 0) & MASK(LANE_NUMBERS + i >= is_first);
    found->u = LAST(row);
#else
    const int row = found->u = row_after(found->u, from + i, n, row_offsets);
    const int goes_on = MASK(from + i && row_offsets[row] < from + i), before = goes_on ? columns[i - 1] : -1;
#endif
    found->descents -= is_there & goes_on & MASK(v < before);
    found->repeats -= is_there & goes_on & MASK(v == before);
    if (wants == WANTS_SYMMETRY) found->difference += share_of_sum(row, v, x, is_there);
  }
  if (TOTAL(strays)) lower_to(state + STATE_COLUMN, (uint)(from / BLOCK));
  if (WEIGHTS == WEIGHTS_FLOAT && EXTREME(max, magnitude) > INFINITE_BITS)
    lower_to(state + STATE_WEIGHT, (uint)(from / BLOCK));
}

/* wants: the facts to find; begin, end: multiples of BLOCK, but end may also be the size of the other arrays; state: ~0 in
 * its first three words and 0 in the others; ranges: the least and the greatest weight of each work-group, as integers of
 * the same order */
KERNEL check_csr(int n, int wants, long begin, long end, const __global offset_t *restrict row_offsets,
                 const __global int *restrict column_indices, const __global WEIGHT_T *restrict edge_weights,
                 __global WEIGHT_T *restrict ranges, volatile __global uint *state) {
  LOCAL_ARRAY uint sum[2];
  LOCAL_ARRAY WEIGHT_T extremes[2 * WG_SIZE];
  const long last = row_offsets[n], m = clamp(last, 0l, end), step = (long)get_num_groups(0) * BLOCK;
  const long first = (long)get_group_id(0) * BLOCK;
  const int lane = (int)get_local_id(0);
  if (get_global_id(0) == 0 && !begin) {
    state[STATE_LAST] = (uint)last;
    state[STATE_LAST + 1] = (uint)(last >> 32);
  }
  if (lane == 0) sum[0] = sum[1] = 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  check_offsets(n, begin ? n + 1l : first, step, row_offsets, state);
  findings_t found = {(ints_t)0, (ints_t)0, (ulongs_t)0ul, (weights_t)~(WEIGHT_T)0, (weights_t)0, 0};
  for (long from = begin + first; from < m; from += step)
    check_block(n, wants, from, m, row_offsets, column_indices, edge_weights, state, &found);
  if (TOTAL(found.descents)) fetch_add(state + STATE_DESCENTS, (uint)TOTAL(found.descents));
  if (TOTAL(found.repeats)) fetch_add(state + STATE_REPEATS, (uint)TOTAL(found.repeats));
  add_local_pair(sum, TOTAL(found.difference));
  extremes[2 * lane] = EXTREME(min, found.least);
  extremes[2 * lane + 1] = EXTREME(max, found.greatest);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane) return;
  for (int k = 1; k < WG_SIZE; k++) {
    extremes[0] = min(extremes[0], extremes[2 * k]);
    extremes[1] = max(extremes[1], extremes[2 * k + 1]);
  }
  __global WEIGHT_T *range = ranges + 2 * get_group_id(0);
  range[0] = begin ? min(range[0], extremes[0]) : extremes[0];
  range[1] = begin ? max(range[1], extremes[1]) : extremes[1];
  add_pair(state + STATE_SUM, (ulong)sum[1] << 32 | sum[0]);
}
