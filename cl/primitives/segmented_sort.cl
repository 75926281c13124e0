/* Packs row (high bits) and key (low bits) into one number, so that one radix sort sorts the keys of all segments.
 *
 * pack_rows: a work-group takes a chunk of consecutive items, a work-item every WG_SIZE-th of them.  It finds its item's
 * row by steps of doubling length from the row of its previous item, then by bisection.  unpack_rows takes the same chunks
 * and needs no search.
 */
#include "common/types.h"
#include "primitives/sort_keys.h"
#ifndef PACKED_T
#define PACKED_T ulong
#endif
#ifndef PACKED_KEY_BITS          /* bits of a key that are kept; the rest are zero */
#define PACKED_KEY_BITS 32
#endif

KERNEL pack_rows(long n_rows, long n, long chunk, const __global offset_t *restrict row_offsets,
                 const __global key_bits_t *restrict keys, __global PACKED_T *restrict packed) {
  long first = get_group_id(0) * chunk, end = min(n, first + chunk), row = 0;
  for (long i = first + get_local_id(0); i < end; i += WG_SIZE) {
    long step = 1;                                    /* row_offsets[row] <= i always */
    while (row + step < n_rows && row_offsets[row + step] <= i) { row += step; step *= 2; }
    for (; step; step /= 2)
      if (row + step < n_rows && row_offsets[row + step] <= i) row += step;
    packed[i] = (PACKED_T)row << (PACKED_KEY_BITS & (8 * sizeof(PACKED_T) - 1)) | ordered_bits(keys[i]);
  }
}

KERNEL unpack_rows(long n, long chunk, const __global PACKED_T *restrict packed, __global key_bits_t *restrict keys) {
  long first = get_group_id(0) * chunk, end = min(n, first + chunk);
  for (long i = first + get_local_id(0); i < end; i += WG_SIZE) {
    key_bits_t bits = (key_bits_t)(packed[i] & (PACKED_T)((1ul << PACKED_KEY_BITS) - 1ul));
#if KEY_KIND == FLOAT_KEYS
    keys[i] = bits & TOP_BIT ? bits ^ TOP_BIT : ~bits;
#else
    keys[i] = ordered_bits(bits);                     /* its own inverse */
#endif
  }
}
