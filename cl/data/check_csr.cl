/* Check CSR arrays that other kernels have written, before any other kernel reads them.
 *
 * A work-group takes a chunk of consecutive offsets and one of consecutive entries, a work-item every WG_SIZE-th of
 * them.  Of what is wrong the block of positions that comes first is reported; the host reads that block alone and
 * names the value.  The rows are sorted if and only if every entry that is less than the entry before it begins a row:
 * then as many descents are found among the entries as at the starts of rows, and STATE_DESCENTS ends as 0 (it counts
 * modulo 2^32).  Nothing is read beyond the n + 1 offsets and the room of the other arrays.
 */
#include "common/atomics.h"

#ifndef BLOCK
#define BLOCK 1024               /* positions that are reported as one */
#endif
#define STATE_OFFSET 0           /* first block with an offset below the one before, or ~0 */
#define STATE_COLUMN 1           /* first block with a column that is no vertex, or ~0 */
#define STATE_WEIGHT 2           /* first block with a weight that is NaN, or ~0 */
#define STATE_DESCENTS 3         /* 0 if the rows are sorted */
#define STATE_LAST 4             /* the last offset, in two words */
#define STATE_WORDS 6
#ifndef WEIGHT_T                 /* uint or ulong, whatever the weights are: only their bits are looked at */
#define WEIGHT_T uint
#endif
#ifndef WEIGHTS_ARE_FLOATS
#define WEIGHTS_ARE_FLOATS 0
#endif
#define WITHOUT_SIGN ((WEIGHT_T)(~0ul >> (65 - 8 * sizeof(WEIGHT_T))))
#define INFINITE_BITS (sizeof(WEIGHT_T) == 8 ? (WEIGHT_T)0x7ff0000000000000ul : (WEIGHT_T)0x7f800000ul)

/* How many of *count* positions a work-group takes. */
INLINE long chunk_of(long count) { return (count + (long)get_num_groups(0) - 1) / (long)get_num_groups(0); }

/* room: how many entries the other arrays have at least; state: ~0 in its first three words and 0 in the others */
KERNEL check_csr(int n, long room, const __global offset_t *restrict row_offsets,
                 const __global int *restrict column_indices, const __global WEIGHT_T *restrict edge_weights,
                 volatile __global uint *state) {
  const long last = row_offsets[n], m = clamp(last, 0l, room), group = (long)get_group_id(0);
  if (get_global_id(0) == 0) {
    state[STATE_LAST] = (uint)last;
    state[STATE_LAST + 1] = (uint)(last >> 32);
  }
  uint descents = 0u;
  long chunk = chunk_of(n + 1l), end = min(n + 1l, (group + 1) * chunk);
  for (long v = group * chunk + (long)get_local_id(0); v < end; v += WG_SIZE) {
    const long begin = row_offsets[v], before = v ? row_offsets[v - 1] : begin;
    if (v ? begin < before : begin != 0) lower_to(state + STATE_OFFSET, (uint)(v / BLOCK));
    if (before >= 0 && before < begin && begin < m) descents -= column_indices[begin] < column_indices[begin - 1];
  }
  chunk = chunk_of(m);
  end = min(m, (group + 1) * chunk);
  for (long k = group * chunk + (long)get_local_id(0); k < end; k += WG_SIZE) {
    const int u = column_indices[k];
    if (u < 0 || u >= n) lower_to(state + STATE_COLUMN, (uint)(k / BLOCK));
    if (k) descents += u < column_indices[k - 1];
#if WEIGHTS_ARE_FLOATS
    if ((edge_weights[k] & WITHOUT_SIGN) > INFINITE_BITS) lower_to(state + STATE_WEIGHT, (uint)(k / BLOCK));
#endif
  }
  if (descents) fetch_add(state + STATE_DESCENTS, descents);
}
